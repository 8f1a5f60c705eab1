"""Damaged exports of Nsight Compute: whatever is lost is told, and no kernel loses its matrix work in silence."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sassmix import mix
from sassmix.counts import NO_ADDRESS, Counts
from sassmix.errors import SassmixError
from sassmix.labels import demangled
from sassmix.own_texts import is_end
from sassmix.parsing import parse
from sassmix.readers import ncu_raw, ncu_source
from sassmix.report import KernelReport, Report
from sassmix.resolution import resolve
from tests.conftest import FIXTURES

PAGES = FIXTURES / "counts"
REAL = [PAGES / "ncu" / name for name in ("micro.source.csv", "vecadd.source.csv")]
#: What the profiler and programs print before, between and behind the tables.
CHATTER = [
    *("==PROF== Connected to process 4242 (./bench)", "==WARNING== Note: example text", "", "  "),
    *("total,of all,1,2,3,4", "iteration 3, 5.2 ms", '"quoted", "text"', "GFLOPS 5,100", 'so "far', "0x7fff1234"),
    *("9999", '"xx"', "Device 0: H200", "1,2,3,4,5,6,7"),
]
#: Lines that are no rows, as a row may look that is damaged.
NO_ROWS = ["9999", '"xx"', "x,y", "total: 5 ms", '"quoted", "text"', "0,0,0", "0x7efa317a", "A,B,C,D,E,F"]


def sections(path: Path) -> dict[str, str]:
    """The launches of a page as they stand there, by kernel."""
    found = re.split(r'(?m)^(?="?Kernel Name)', path.read_text())[1:]
    return {next(csv.reader([section.splitlines()[0]]))[1]: section for section in found}


def renamed(section: str, name: str) -> str:
    """The launch as one of another kernel."""
    title, _, rest = section.partition("\n")
    return title.replace(next(csv.reader([title]))[1], name) + "\n" + rest


SECTIONS = sections(REAL[0])
MATRIX = next(name for name in SECTIONS if "wmma" in name or "hmma" in name)
PLAIN = [name for name in SECTIONS if "MMA" not in SECTIONS[name] and "CALL" not in SECTIONS[name]][:2]
IDLER = renamed(SECTIONS[PLAIN[1]], MATRIX)
#: A kernel that does matrix work in the last but one of four launches, and not in the first.
SOURCE = "".join([IDLER, SECTIONS[PLAIN[0]], SECTIONS[MATRIX], SECTIONS[PLAIN[1]]])


def quoted(page: str) -> str:
    """The page as the profiler itself quotes it."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(csv.reader(page.splitlines()))
    return text.getvalue()


def without_addresses(page: str) -> str:
    lines = page.splitlines(keepends=True)
    return "".join(line if line.startswith("Kernel Name") else line.partition(",")[2] for line in lines)


LAUNCHES = [json.loads(line) for line in (FIXTURES / "opcodes" / "h200_launches.jsonl").read_text().splitlines()]
BARE, ALL = "sass__inst_executed_per_opcode", "sass__inst_executed_per_opcode_with_modifier_all"
HEAD = ["ID", "Process ID", "Host Name", "Kernel Name", "Block Size", "Grid Size", "CC", BARE, ALL]


def raw_page(*launches: dict[str, Any]) -> str:
    """A raw page with named instances, of launches that were measured."""
    pipes = sorted({pipe for launch in launches for pipe in launch["pipes"]})
    columns = [f"sm__inst_executed_pipe_{pipe.replace('hfma2', 'op_hmma_type_hfma2')}.sum" for pipe in pipes]
    rows = [[*HEAD, *columns], [*[""] * len(HEAD), *["inst"] * len(pipes)]]
    for number, launch in enumerate(launches):
        named = Counter(launch["per_opcode_with_modifiers"])
        bare: Counter[str] = Counter()
        for name, count in named.items():
            bare[name.partition(".")[0]] += count
        counted = [f"{launch['pipes'].get(pipe, 0):,.6f}" for pipe in pipes]
        start = [str(number), "7", "host", launch["kernel"], "(256, 1, 1)", "(4, 1, 1)", "9.0"]
        rows.append([*start, instances(bare), instances(named), *counted])
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return text.getvalue()


def instances(counts: Counter[str]) -> str:
    return f"{counts.total():,} ({'; '.join(f'{name}: {count:,}' for name, count in counts.items())})"


def does_matrix_work(launch: dict[str, Any]) -> bool:
    return bool(launch["pipes"].get("tensor", 0) > launch["pipes"].get("tensor_hfma2", 0))


BUSY = next(launch for launch in LAUNCHES if does_matrix_work(launch))
IDLE = [launch for launch in LAUNCHES if not does_matrix_work(launch)][:2]
RAW = raw_page({**IDLE[0], "kernel": BUSY["kernel"]}, IDLE[0], BUSY, IDLE[1])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page") / "export.csv"


def reported(page: Path, text: str, *more: Path) -> dict[str | None, KernelReport]:
    """What is said of each kernel; nothing where nothing could be read."""
    page.write_bytes(text.encode())
    try:
        found: Report = mix([page, *more], arch=None if more else "sm_90")
    except SassmixError:
        return {}
    return {kernel.demangled: kernel for kernel in found.kernels if kernel.basis == "dynamic"}


def status(kernel: KernelReport, check: str) -> str:
    return next(item.status for item in kernel.evidence if item.check == check)


def damages(text: str) -> Iterator[st.SearchStrategy[str]]:
    """A page that is cut off, has lost a part, or has something else in the place of a part."""
    places = st.integers(1, len(text) - 1)
    # Where a line ends, another export may have ended too: nothing shows such a cut.
    yield places.filter(lambda at: text[at - 1] != "\n").map(lambda at: text[:at])
    sizes = st.sampled_from([1, 2, 5, 20, 100, 400])
    yield st.builds(lambda at, size: text[:at] + text[at + size :], places, sizes)
    others = st.sampled_from(["\n", '"', ",", '","', "9", "x", "\0" * 20, "\n9999\n", "(", ")", ";", ":", "0x"])
    yield st.builds(lambda at, size, other: text[:at] + other + text[at + size :], places, sizes | st.just(0), others)
    yield st.builds(lambda at, size: text[:at] + "\0" * len(text[at : at + size]) + text[at + size :], places, sizes)


@pytest.mark.parametrize("write", [str, quoted, without_addresses], ids=lambda write: write.__name__)
@given(data=st.data())
def test_no_damage_hides_the_matrix_work_of_a_source_page(page: Path, write: Any, data: st.DataObject) -> None:
    """Not even where another launch of the kernel, without such work, is there as a whole."""
    text = write(SOURCE)
    found = reported(page, data.draw(st.one_of(*damages(text))))
    assert MATRIX not in found or found[MATRIX].tensor.active is not False


@pytest.mark.parametrize("write", [str, quoted], ids=lambda write: write.__name__)
@given(data=st.data())
def test_behind_a_cut_other_launches_may_be_missing(page: Path, write: Any, data: st.DataObject) -> None:
    """Also of a kernel that is whole as far as the page goes."""
    whole, name_and_columns = IDLER + SECTIONS[PLAIN[0]], "".join(SECTIONS[MATRIX].splitlines(keepends=True)[:2])
    text, stop = write(SOURCE), len(write(whole + name_and_columns))
    places = st.integers(len(write(IDLER)) + 1, len(write(whole))) | st.integers(len(write(whole)) + 1, stop)
    # A last row that is whole and lacks the end of its line is no cut one.
    at = data.draw(places.filter(lambda at: "\n" not in text[at - 1 : at + 1]))
    assert reported(page, text[:at])[MATRIX].tensor.active is None


@given(data=st.data())
def test_no_damage_hides_the_matrix_work_of_a_raw_page(page: Path, data: st.DataObject) -> None:
    text = data.draw(st.one_of(*damages(RAW)))
    names = re.findall(r"Kernel Name|" + re.escape(BUSY["kernel"]), text)
    assume(len(names) == 3 or "Kernel Name" not in names)  # a name that is another one now names another kernel
    found = reported(page, text)
    assert BUSY["kernel"] not in found or found[BUSY["kernel"]].tensor.active is not False


@pytest.mark.parametrize("text", [SOURCE, quoted(SOURCE), RAW], ids=["source", "quoted", "raw"])
def test_whole_pages_give_verdicts(page: Path, text: str) -> None:
    found = reported(page, text)
    busy = BUSY["kernel"] if text is RAW else MATRIX
    assert {name: kernel.tensor.active for name, kernel in found.items()} == {name: name == busy for name in found}
    assert {status(kernel, "complete") for kernel in found.values()} == {"pass"}
    assert len(found) == 3


# lines of a source page


@given(st.lists(st.tuples(st.integers(3, 80), st.sampled_from(NO_ROWS)), min_size=1, max_size=8))
def test_every_line_among_the_rows_that_is_none_is_told(page: Path, odd: list[tuple[int, str]]) -> None:
    """With its line, and as a gap of the kernel among whose rows it stands; the others are whole."""
    lines = SOURCE.splitlines()
    for at, line in sorted(odd, reverse=True):
        lines.insert(at, line)
    page.write_text("\n".join(lines) + "\n")
    found = [counts for counts in ncu_source.READER.read(page) if isinstance(counts, Counts)]
    wanted = [at + 1 + number for number, (at, _) in enumerate(sorted(odd))]
    assert {problem.line for problem in found[0].problems} >= set(wanted)
    assert [bool(counts.gaps) for counts in found] == [True, False, False, False]
    assert sum(row.issued for row in found[0].rows) == read(page, SOURCE)[0].total


def read(page: Path, text: str) -> list[Counts]:
    page.write_text(text)
    reader = ncu_raw.READER if '"ID",' in text else ncu_source.READER
    return [counts for counts in reader.read(page) if isinstance(counts, Counts)]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
@given(lines=st.lists(st.tuples(st.integers(0, 20), st.sampled_from(CHATTER)), min_size=1, max_size=6))
def test_what_is_printed_between_the_tables_changes_nothing(
    page: Path, path: Path, lines: list[tuple[int, str]]
) -> None:
    text = path.read_text()
    parts = re.split(r'(?m)^(?="?Kernel Name)', text)
    for at, line in lines:
        parts.insert(min(at, len(parts)), f"{line}\n")
    found, wanted = read(page, "".join(parts)), read(page, text)
    assert [(c.rows, c.gaps, len(c.problems)) for c in found] == [(c.rows, c.gaps, len(c.problems)) for c in wanted]


@pytest.mark.parametrize("lost", [0, 1, 2, 3])
@pytest.mark.parametrize("instead", [[], ['"xx","yy"'], ["\0\0\0"]])
def test_a_table_that_lost_its_head_may_be_of_any_kernel(page: Path, lost: int, instead: list[str]) -> None:
    """Its name (1), the names of its columns (2), or both."""
    name, columns, *rows = SECTIONS[MATRIX].splitlines()
    head = [*([name] if lost != 1 else []), *([columns] if lost != 2 else [])] if lost != 3 else []
    text = IDLER + SECTIONS[PLAIN[0]]
    text += "\n".join([*head, *instead, *rows]) + "\n" + SECTIONS[PLAIN[1]]
    found = reported(page, text)
    assert found[MATRIX].tensor.active is (True if lost == 0 else None)
    assert (found[PLAIN[0]].tensor.active is False) == (lost == 0 and instead != ["\0\0\0"])


def test_rows_at_the_start_below_no_head_may_be_of_any_kernel(page: Path) -> None:
    rows = SECTIONS[MATRIX].split("\n", 2)[2]
    found = reported(page, rows + IDLER + SECTIONS[PLAIN[0]])
    assert {name: kernel.tensor.active for name, kernel in found.items()} == {MATRIX: None, PLAIN[0]: None}


@pytest.mark.parametrize("text", ["xx yy", "foo();", "", "MOV R1, R2 ; HMMA"])
@pytest.mark.parametrize("addresses", [True, False])
def test_a_text_that_is_no_instruction_is_no_absence(page: Path, text: str, *, addresses: bool) -> None:
    whole = SECTIONS[MATRIX] if addresses else without_addresses(SECTIONS[MATRIX])
    damaged = re.sub(r'"[^"]*\b(?<!HF)[A-Z]*MMA\.[^"]*"', f'"{text}"', whole)
    found = reported(page, damaged)
    assert damaged != whole
    assert found[MATRIX].tensor.active is None


@pytest.mark.parametrize(
    ("issued", "lanes", "odd"), [(4, 128, False), (4, 129, True), (4, 0, True), (0, 32, True), (0, 0, False)]
)
def test_threads_and_warps_that_contradict_one_another(page: Path, issued: int, lanes: int, *, odd: bool) -> None:
    """A warp that issues without a guard has 1 to 32 lanes."""
    head = "Kernel Name,k\nAddress,Source,Instructions Executed,Predicated-On Thread Instructions Executed,More\n"
    rows = f'0x1000,MOV R1,4,128,0\n0x1010,"HMMA.16816.F32 R4, R8, R10, R4",{issued},{lanes},0\n0x1020,EXIT,4,128,0\n'
    [counts] = read(page, head + rows)
    assert bool(counts.gaps) == odd == bool(counts.problems)
    assert counts.rows[1].threads == (None if odd and lanes else lanes)
    assert reported(page, head + rows)["k"].tensor.active is (True if issued and lanes else None)


# without addresses


LISTED = PAGES / "h200" / "micro.source.csv", PAGES / "h200" / "micro.sass"
FUNCTIONS = {str(demangled(f.name)).partition("(")[0]: f for f in parse(LISTED[1].read_text()).functions}
IN_LISTING = sections(LISTED[0])
WITHOUT = {name: without_addresses(section) for name, section in IN_LISTING.items() if "CALL" not in section}


def test_rows_without_addresses_are_believed_and_told(page: Path) -> None:
    """What the profiler writes is whole as it is; that nothing could show otherwise is said."""
    for beside in ([], [LISTED[1]]):
        whole = reported(page, "".join(IN_LISTING.values()), *beside)
        found = reported(page, "".join(WITHOUT.values()), *beside)
        assert {name: k.tensor.active for name, k in found.items()} == {n: whole[n].tensor.active for n in found}
        assert len(found) == len(WITHOUT)
    assert all([p.message for p in counts.problems] == [NO_ADDRESS] for counts in read(page, "".join(WITHOUT.values())))


@given(st.data())
def test_a_row_without_an_address_that_is_left_out_is_seen_by_the_code(page: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in WITHOUT if "MMA" in WITHOUT[name]]))
    lines = WITHOUT[name].splitlines()
    rows = [at for at, line in enumerate(lines) if "MMA" in line]
    at = data.draw(st.sampled_from(rows))
    stop = data.draw(st.sampled_from([at + 1, rows[-1] + 1]))
    found = reported(page, "\n".join(lines[:at] + lines[stop:]) + "\n", LISTED[1])
    assert all(kernel.tensor.active is not False for kernel in found.values())
    assert all(
        status(kernel, "complete") != "pass" or status(kernel, "consistent") == "fail" for kernel in found.values()
    )


@pytest.mark.parametrize("name", ["k_div", "k_switch", "k_grid"])
def test_rows_that_end_where_a_kernel_can_end_are_not_all(page: Path, name: str) -> None:
    """But behind it the code goes on."""
    whole = WITHOUT[f"{name}(int *, int)"]
    lines = whole.splitlines()
    texts = [next(csv.reader([line]))[0].strip() if line else "" for line in lines]
    ends = [at for at, text in enumerate(texts[:-20]) if at > 1 and is_end(text)]
    assert ends
    for at in ends:
        [counts] = read(page, "\n".join(lines[: at + 1]) + "\n")
        assert any("no addresses" in gap for gap in resolve(counts, FUNCTIONS[name]).gaps)
    [counts] = read(page, whole)
    assert not resolve(counts, FUNCTIONS[name]).gaps


# the raw page


def row_of(text: str, number: int) -> str:
    return text.splitlines()[number + 2]


@pytest.mark.parametrize("left_out", [1, 2])
def test_a_launch_that_is_left_out_is_seen_by_the_ids(page: Path, left_out: int) -> None:
    """But for the first ones, as people begin with 1, and the last ones."""
    for counts in read(page, RAW.replace(f"{row_of(RAW, left_out)}\n", "")):
        assert any(f"no row has the ID {left_out}" in gap for gap in counts.gaps)
    for end in (0, 3):
        assert not any(counts.gaps for counts in read(page, RAW.replace(f"{row_of(RAW, end)}\n", "")))


def test_a_row_behind_the_units_of_a_further_table_is_told(page: Path) -> None:
    """Where the line end between them is lost, the row is none of units."""
    lines = RAW.splitlines()
    glued = [*lines[:2], lines[2], lines[0], lines[1] + lines[4], *lines[5:]]
    assert any("left out" in problem.message for counts in read(page, "\n".join(glued)) for problem in counts.problems)
    assert reported(page, "\n".join(glued))[BUSY["kernel"]].tensor.active is not False


def test_ids_go_on_below_a_further_header(page: Path) -> None:
    lines = RAW.splitlines(keepends=True)
    found = read(page, "".join([*lines[:4], *lines[:2], *lines[4:]]))
    assert len(found) == 4 and not any(counts.gaps for counts in found)


def test_a_launch_that_is_given_twice_counts_once(page: Path) -> None:
    """By all its cells, below one header; else it is told, and the page is not taken for whole."""
    again = row_of(RAW, 1)
    found = read(page, f"{RAW}{again}\n")
    assert [counts.total for counts in found] == [counts.total for counts in read(page, RAW)]
    assert [(problem.severity, problem.line) for problem in found[0].problems] == [("info", 7)]
    assert not any(counts.gaps for counts in found)
    for twice in (RAW + RAW, f"{RAW}{again.replace('9.0', '8.0')}\n"):
        assert any(
            problem.line and "counted twice" in problem.message for c in read(page, twice) for problem in c.problems
        )
        assert any(counts.gaps for counts in read(page, twice))
    other_run = [counts.gaps for counts in read(page, RAW + RAW.replace('"7"', '"8"'))]
    assert other_run == [[]] * 8, "another process"


@pytest.mark.parametrize("head", ["", RAW.splitlines()[0][:100], '"ID","Kernel'])
@pytest.mark.parametrize("first", [True, False])
def test_rows_below_no_header_are_lost_launches(page: Path, head: str, *, first: bool) -> None:
    """Of any kernel; below another header they may seem to be its rows."""
    rows = f"{head}\n{row_of(RAW, 2)}\n"
    others = raw_page({**IDLE[0], "kernel": BUSY["kernel"]}, IDLE[0])
    text = rows + others if first else others + rows
    if head or first:
        found = read(page, text)
        assert all(counts.gaps for counts in found)
        assert sum(counts.total for counts in found) == sum(counts.total for counts in read(page, others))
        line = 2 if first else 6
        assert line in {problem.line for counts in read(page, text) for problem in counts.problems}


NAMED = "640 (LDC: 160; HMMA.16816.F32: 320; EXIT: 160)"


@pytest.mark.parametrize(
    ("bare", "cell", "unit"),
    [
        ("640 (LDC: 160; HMMA: 320; EXIT: 160)", "640 (LDC: 160; FADD: 320; EXIT: 160)", ""),
        ("n/a", "(LDC: 160; EXIT: 160)", ""),
        ("n/a", "0.64 (LDC: 0.16; HMMA.16816.F32: 0.00; EXIT: 0.48)", "Kinst"),
        ("n/a", "1 (LDC: 0.00; HMMA.16816.F32: 0; EXIT: 1.00)", "Minst"),
        ("n/a", "640 (LDC: 160; HMMA", ""),
        ("n/a", "640 (LDC: 160; HMM; EXIT: 160)", ""),
        ("n/a", "320 (LDC: 160; HMMA.16816.F32: 320; EXIT: 160)", ""),
        ("n/a", "640 (LDC: 160; EXIT: 160)", ""),
        ("n/a", "640 ()", ""),
        ("n/a", "", ""),
        ("n/a", "n/a", ""),
    ],
)
def test_instances_that_may_not_be_all_are_no_absence(page: Path, bare: str, cell: str, unit: str) -> None:
    """Of a kernel whose other launch is whole."""
    head = ["ID", "Kernel Name", "CC", BARE, ALL]
    good = ["0", "k", "9.0", "n/a", "32 (EXIT: 32)"]
    text = io.StringIO()
    rows = [head, ["", "", "", unit, unit], good, ["1", "k", "9.0", bare, cell]]
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    kernel = reported(page, text.getvalue())["k"]
    assert kernel.tensor.active is not False
    assert kernel.tensor.active or any(status(kernel, check) != "pass" for check in ("complete", "resolved"))


@pytest.mark.parametrize("mark", [",", ".", "'", "\u202f", "\u00a0", " ", ""])
def test_separators_of_thousands_change_no_count(page: Path, mark: str) -> None:
    cells = re.sub(r"(?<=\d),(?=\d{3}[;) ])", mark, RAW)
    assert cells != RAW or mark == ","
    found, wanted = read(page, cells), read(page, RAW)
    assert [[(row.mnemonic, row.issued) for row in counts.rows] for counts in found] == [
        [(row.mnemonic, row.issued) for row in counts.rows] for counts in wanted
    ]


def test_a_launch_without_matrix_work_contradicts_no_other_one(page: Path) -> None:
    """Its tensor pipe was not used, that of another launch of the kernel was."""
    kernel = reported(page, RAW)[BUSY["kernel"]]
    assert (kernel.tensor.active, status(kernel, "consistent"), kernel.launches) == (True, "pass", 2)


@pytest.mark.parametrize("part", ["tensor_op_hmma", "tensor_op_gmma", "tensor_op_dmma"])
def test_a_part_of_the_tensor_pipe_is_its_use(page: Path, part: str) -> None:
    head = f'"ID","Kernel Name","CC","{ALL}","sm__inst_executed_pipe_{part}.sum"\n'
    kernel = reported(page, f'{head}"0","k","9.0","64 (EXIT: 64)","32.000000"\n')["k"]
    assert (kernel.tensor.active, status(kernel, "consistent")) == (None, "fail")


# units and several files


@pytest.mark.parametrize("what", ["issued", "active", "threads"])
@pytest.mark.parametrize("path", [*REAL, LISTED[0]], ids=lambda path: path.name)
def test_each_unit_is_the_sum_of_its_column(path: Path, what: str) -> None:
    columns = {"issued": "Instructions Executed", "threads": "Predicated-On Thread Instructions Executed"}
    wanted: Counter[str] = Counter()
    once = sections(path)
    for name, section in once.items():
        for row in csv.DictReader(section.splitlines()[1:]):
            wanted[name] += int(row.get(columns.get(what, ""), None) or 0)
    found = mix(path, counts=what, arch="sm_90a")
    for kernel in found.kernels:
        name, executed = kernel.demangled or kernel.name, kernel.executed
        if what in columns and what in executed:
            assert executed[what] == (kernel.launches or 0) * wanted[name]
        active = executed.get("active", executed["issued"])
        assert executed["issued"] >= active >= executed.get("threads", 0) / 32
        assert (kernel.unit == "warp instructions issued") == (what == "issued" or what not in executed)


@pytest.mark.parametrize("form", ["part", "reordered"])
def test_the_same_counts_in_another_file_are_told(tmp_path: Path, form: str) -> None:
    """An export of some of the kernels, or with its rows in another order, is no equal file, but its counts are."""
    rows = ["0x1000,MOV R1,4,128,0", "0x1010,FADD R1,4,128,0", "0x1020,EXIT,4,128,0"]
    head = "Address,Source,Instructions Executed,Thread Instructions Executed,More\n"
    tables = [f"Kernel Name,{name}\n{head}" + "\n".join(rows) + "\n" for name in ("k", "f")]
    (tmp_path / "a.csv").write_text("".join(tables))
    (tmp_path / "b.csv").write_text(tables[0] if form == "part" else "".join(reversed(tables)))
    told = [problem for problem in mix(tmp_path).problems if "is it a copy?" in problem.message]
    assert [problem.message.partition(":")[0] for problem in told] == (["k"] if form == "part" else ["f", "k"])
    (tmp_path / "b.csv").write_text("".join(tables).replace(",4,128", ",8,256"))
    assert not [problem for problem in mix(tmp_path).problems if "is it a copy?" in problem.message]
