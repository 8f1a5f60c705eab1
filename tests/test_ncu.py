"""Nsight Compute's exports: nothing counted is lost, whatever the columns, the locale and the text around them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import mix
from sassmix.counts import Counts
from sassmix.errors import InputError
from sassmix.own_texts import mnemonic_of
from sassmix.readers import Reader, ncu_raw, ncu_source
from sassmix.readers._csv_layout import mnemonics_of
from sassmix.readers._csv_lines import cells_of, columns_of
from sassmix.readers._csv_numbers import _read_odd, read_column
from sassmix.readers._csv_section import Section
from tests.conftest import FIXTURES

NCU = FIXTURES / "counts" / "ncu"
Write = Callable[[str | bytes], Path]

CASE = """==PROF== Connected to process 4242 (./bench)
==WARNING== Note: example text
result, "so far": 1,2,3,4
"Kernel Name","gemm<float, (int)4>(const float *, float *)"
"#","Address","Source","# Warp Instructions Executed","# Thread Instructions Executed"
"0","0x7f2e30a00000","      LDC R1, c[0x0][0x28]","1,024","32,768"
"1","0x7f2e30a00010","@P0   EXIT","1,024","0"
"2","0x7f2e30a00020","      HMMA.16816.F32 R4, R8, R10, R4","65,536","2,097,152"
"3","0x7f2e30a00030","      BRA `(.L_x_0) 0x7f2e30a00030","0","0"
==PROF== Disconnected from process 4242
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str | bytes) -> Path:
        path = tmp_path / "export.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def read(reader: Reader, path: Path) -> list[Counts]:
    return [item for item in reader.read(path) if isinstance(item, Counts)]


def source(path: Path) -> list[Counts]:
    assert ncu_source.READER.sniff(path.read_bytes()[: 1 << 18])
    return read(ncu_source.READER, path)


def opcodes(counts: Counts) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in counts.rows:
        if row.issued:
            found[row.mnemonic or row.name or ""] += row.issued
    return found


def test_source_page_with_other_columns(write: Write) -> None:
    [counts] = source(write(CASE))
    assert counts.names.demangled == "gemm<float, (int)4>(const float *, float *)"
    assert [(row.mnemonic, row.issued, row.active, row.threads) for row in counts.rows] == [
        ("LDC", 1024, 1024, 32768),
        ("EXIT", 1024, 0, 0),
        ("HMMA.16816.F32", 65536, 65536, 2097152),
        ("BRA", 0, 0, 0),
    ]
    assert [(row.index, row.offset) for row in counts.rows] == [(0, 0), (1, 16), (2, 32), (3, 48)]
    assert (counts.launches, counts.warps, counts.gaps, counts.problems) == (1, 1024, [], [])


def test_micro_kernels_keep_every_count() -> None:
    wanted: dict[str, int] = {}
    rows: dict[str, int] = {}
    name = ""
    for cells in csv.reader((NCU / "micro.source.csv").read_text().splitlines()):
        if cells[0] == "Kernel Name":
            name = cells[1]
        elif cells[0] != "Address":
            wanted[name] = wanted.get(name, 0) + int(cells[2])
            rows[name] = rows.get(name, 0) + 1
    found = source(NCU / "micro.source.csv")
    assert {counts.names.demangled: counts.total for counts in found} == wanted
    assert {counts.names.demangled: len(counts.rows) for counts in found} == rows
    assert all(row.offset == 16 * (row.index or 0) for counts in found for row in counts.rows)
    assert not [problem for counts in found for problem in counts.problems]


def test_source_and_raw_page_agree_on_launches_warps_and_totals() -> None:
    pages = source(NCU / "vecadd.source.csv"), read(ncu_raw.READER, NCU / "vecadd_op.raw.csv")
    per_page = [[(counts.launches, counts.warps, counts.total) for counts in page] for page in pages]
    assert per_page[0] == per_page[1]
    assert [counts.hardware["inst_executed"] for counts in pages[1]] == [counts.total for counts in pages[0]]
    assert all("printed twice" in counts.problems[0].message for counts in pages[0])


def test_equal_sections_without_samples_are_launches(write: Write) -> None:
    found = source(write(CASE + CASE))
    assert [counts.total for counts in found] == [67584, 67584]
    assert "counted as another launch" in found[1].problems[0].message


@pytest.mark.parametrize("mark", [",", ".", " ", "'", "\u2019", "\u00a0", "\u202f", "\u2009"])
def test_thousands_separators(write: Write, mark: str) -> None:
    text = CASE.replace("2,097,152", f"2{mark}097{mark}152")
    for number in ("1,024", "32,768", "65,536"):
        text = text.replace(f'"{number}"', f'"{number.replace(",", mark)}"')
    [counts] = source(write(text))
    assert counts.total == 67584
    assert bool(counts.problems) == (mark == "."), "only a point may as well start a fraction"


@pytest.mark.parametrize(
    ("texts", "values", "doubt"),
    [
        (["1,024", "12"], [1024, 12], False),
        (["1.024", "12"], [1024, 12], True),
        (["1.024", "1.024.000"], [1024, 1024000], False),
        (["1,024", "2048"], [1024, 2048], True),
        (["32.000000", "1.024"], [32, None], False),
        (["1,024.000000"], [1024], False),
        (["12,34,567"], [1234567], False),
        (["1e3"], [1000], False),
        (["-1", "nan", "inf", "", "1.5", "9" * 30, "0x10", "\u00b2"], [None] * 8, False),
        (["9" * 5000, "7"], [None, 7], False),
    ],
)
def test_numbers_of_a_column(texts: list[str], values: list[int | None], doubt: bool) -> None:
    column = read_column(texts)
    assert (column.values, bool(column.doubt)) == (values, doubt)
    assert set(column.bad) == {at for at, value in enumerate(values) if value is None}


NUMBERS = st.integers(0, 1 << 70).map("{:,}".format) | st.integers(0, 9999).map(str)
ODD_NUMBERS = st.text("0123,;.' \n", max_size=6) | st.lists(NUMBERS, max_size=2).map(";".join)


@given(st.lists(NUMBERS) | st.lists(NUMBERS | ODD_NUMBERS))
def test_numbers_read_together_are_read_as_each_alone(texts: list[str]) -> None:
    assert read_column(texts) == _read_odd(texts)


@pytest.mark.parametrize("bad", ["-5", "NaN", "", "many", "9" * 40])
def test_a_bad_count_loses_its_row_only(write: Write, bad: str) -> None:
    [counts] = source(write(CASE.replace('"65,536"', f'"{bad}"')))
    assert counts.total == 2048
    assert [(problem.severity, problem.line) for problem in counts.problems] == [("warning", 8)]
    assert [row.index for row in counts.rows] == [0, 1, 3]
    assert counts.lost and counts.gaps


def test_a_row_cut_off_is_told(write: Write) -> None:
    [counts] = source(write(CASE[: CASE.index('"65,536"')]))
    assert counts.total == 2048
    assert {problem.line for problem in counts.problems} == {5, 8}, "the row, and the table that is the last one"
    assert counts.lost


ROWS = '"Kernel Name","k"\nAddress,Source,Instructions Executed,Thread Instructions Executed\n'


@pytest.mark.parametrize(
    ("row", "kept", "lost"),
    [
        ("0x1010,MOV R2,7,224", 7, 0),
        ("0x1010,MOV R2,7,224,,", 7, 0),
        ("0x1010,MOV R2,1,024,224", 0, 1),
        ("0x1010,MOV R2,7", 0, 1),
        ("0x1010,MOV R2,7,", 7, 0),
        ("0x1010,MO", 0, 1),
        ("1010,MOV R2,1,024,224", 0, 1),
    ],
)
def test_a_row_of_another_width_is_lost(write: Write, row: str, kept: int, lost: int) -> None:
    """More cells: a separator within a number that is not quoted; fewer: cut off, perhaps within the last number."""
    [counts] = source(write(f"{ROWS}0x1000,MOV R1,7,224\n{row}\n0x1020,EXIT,7,224\n"))
    assert (counts.total, len(counts.lost)) == (14 + kept, lost)
    assert [problem.line for problem in counts.problems if "malformed" in problem.message] == [4] * lost


@pytest.mark.parametrize("end", ["", "\n", '"'])
def test_the_last_number_may_be_cut(write: Write, end: str) -> None:
    last = f'"{224}"' if end == '"' else f"224{end}"
    [counts] = source(write(f"{ROWS}0x1000,MOV R1,7,224\n0x1010,EXIT,7,{last}"))
    assert bool(counts.gaps) == (end == "")


@given(st.integers(0, 11), st.sampled_from([8, 16]))
def test_a_row_left_out_is_seen(tmp_path_factory: pytest.TempPathFactory, missing: int, step: int) -> None:
    """By the first address, by the step, by EXIT. Before sm_70 each fourth place holds a control word."""
    places = [place for place in range(16) if step == 16 or place % 4][:12]
    rows = [f"{0x1000 + step * at:#x},{'EXIT' if at == places[-1] else 'FADD'},4,128\n" for at in places]
    path = tmp_path_factory.mktemp("hole") / "x.csv"
    path.write_text(ROWS + "".join(rows))
    assert [counts.gaps for counts in source(path)] == [[]]
    path.write_text(ROWS + "".join(rows[:missing] + rows[missing + 1 :]))
    assert all(counts.gaps for counts in source(path))


@pytest.mark.parametrize(
    ("last", "whole"),
    [
        ("EXIT", True),
        ("@P0 EXIT", False),
        ("@!UP0 EXIT", False),
        ("@PT EXIT", True),
        ("@!PT EXIT", False),
        ("RET.REL.NODEC R20 `(k)", True),
        ("@P1 RET.REL.NODEC R20 `(k)", False),
        ("BRA `(.L_x_0)", True),
        ("BRA.DIV UR4, `(.L_x_0)", False),
        ("BRA !P5, `(.L_x_0)", False),
        ("CALL.REL.NOINC `(f)", False),
        ("NOP ; MOV R1", False),
        ("NOP", False),
        ("FADD R1, R1, R1", False),
        ("EXIT ; FADD R1, R1, R1", False),
        ("EXITS", False),
    ],
)
@pytest.mark.parametrize("behind", ["", "NOP"])
def test_rows_end_where_no_warp_goes_on(write: Write, last: str, whole: bool, behind: str) -> None:
    """At the end of the page, and in front of an address at which a called function may begin."""
    texts = ["CALL.REL.NOINC `(f)", "EXIT", "MOV R1", last, *([behind] if behind else [])]
    rows = [f'{0x1000 + 16 * at:#x},"{text}",4,128\n' for at, text in enumerate(texts)]
    function = [f'{0x1100 + 16 * at:#x},"{text}",4,128\n' for at, text in enumerate(["MOV R1", "RET R2"])]
    for tail in ([], function):
        [counts] = source(write(ROWS + "".join(rows + tail)))
        assert bool(counts.gaps) != whole


@pytest.mark.parametrize(("step", "whole"), [(16, True), (8, True), (32, False), (48, False), (64, False)])
@pytest.mark.parametrize("text", ["MOV R1, RZ", "CALL.REL.NOINC `(f)", "@PT EXIT"])
def test_two_rows_tell_the_step(write: Write, step: int, whole: bool, text: str) -> None:
    """Whatever the architecture, instructions are 8 or 16 bytes long."""
    [counts] = source(write(f'{ROWS}0x1000,"{text}",4,128\n{0x1000 + step:#x},EXIT,4,128\n'))
    assert bool(counts.gaps) != whole


@pytest.mark.parametrize("text", ["MOV R1 ; HMMA R1", "MOV R1, R2 ; HMMA.16816.F32 R1 ;", "@P0 MOV R1 ; HMMA R1"])
def test_a_text_with_two_instructions_is_none(write: Write, text: str) -> None:
    [counts] = source(write(f"{ROWS}0x1000,{text.replace(',', '')},7,224\n0x1010,EXIT,7,224\n"))
    assert [(row.mnemonic, row.name is None) for row in counts.rows] == [(None, False), ("EXIT", True)]


def test_a_section_without_rows_is_a_launch_without_counts(write: Write) -> None:
    """At the end of the page the same is true of all that may have followed."""
    head = CASE.partition('"0"')[0]
    found = source(write(CASE + head))
    assert [(counts.total, bool(counts.gaps), counts.names.best) for counts in found] == [
        (67584, True, found[0].names.best),
        (0, True, found[0].names.best),
    ]


def test_samples_prove_a_copy(tmp_path: Path) -> None:
    """The same samples at the same instructions are one launch, in files of any name and order of sections."""
    data = (NCU / "micro.source.csv").read_text()
    sections = ["Kernel Name" + part for part in data.split("Kernel Name")[1:]]
    once = tmp_path / "a.csv"
    once.write_text(data)
    (tmp_path / "b.csv").write_text("".join(reversed(sections)))
    sampled = {c.names.best: c.identity is not None for c in source(once)}
    alone, both = ({k.demangled: k.launches for k in mix(path).kernels} for path in (once, tmp_path))
    assert any(sampled.values())
    assert both == {name: launches if sampled[name] else 2 * (launches or 0) for name, launches in alone.items()}
    told = [p.message for p in mix(tmp_path).problems if "counted once" in p.message]
    assert len(told) == sum(sampled.values())


@pytest.mark.parametrize("names", [("a/x.csv", "b/x.csv"), ("a/x_iter0_.csv", "a/x_iter1_.csv")])
def test_equal_files_are_told(tmp_path: Path, names: tuple[str, str]) -> None:
    """Without samples nothing proves a copy: both count, unless they are iterations of one run it is said."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CASE)
    report = mix(tmp_path)
    assert report.kernels[0].launches == 2
    told = [p for p in report.problems if "is it a copy?" in p.message]
    assert [p.severity for p in told] == (["warning"] if "iter" not in names[0] else [])


def test_a_line_without_an_end_is_a_row_without_a_count(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sassmix.readers._csv_lines._LONGEST", 1 << 12)
    monkeypatch.setattr("sassmix.readers._csv_lines._BLOCK", 1 << 10)
    [counts] = source(write(CASE.replace('"65,536"', "9" * 100_000)))
    assert [(row.index, row.issued) for row in counts.rows] == [(0, 1024), (1, 1024), (3, 0)]
    assert {problem.line for problem in counts.problems} == {8}
    assert counts.lost


COLUMN_SETS = [
    ["Address", "Source", "Instructions Executed"],
    ["Address", "Source", "Instructions Executed", "Thread Instructions Executed"],
    ["#", "Source", "inst_executed", "thread_inst_executed", "thread_inst_executed_true"],
    ["Source", "# Samples", "# Warp Instructions Executed [inst]", "Address"],
    ["Address", "Source", "Instructions Executed", "# Samples", "Instructions Executed"],
]


@pytest.mark.parametrize("columns", COLUMN_SETS, ids=" ".join)
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
@pytest.mark.parametrize("units", [False, True])
def test_column_sets(write: Write, columns: list[str], quoting: int, units: bool) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(["Kernel Name", "k(int, int)"])
    writer.writerow(columns)
    if units:
        writer.writerow(["" if column in ("Address", "Source", "#") else "inst" for column in columns])
    for number, sass in enumerate(["      MOV R1, R2", "@!P0  BRA 0x1000", "      EXIT"]):
        cells = {"#": number, "Address": f"0x{4096 + 16 * number:x}", "Source": sass, "# Samples": 0}
        writer.writerow([cells.get(column, 7 + number) for column in columns])
    [counts] = source(write(text.getvalue()))
    assert (counts.names.demangled, opcodes(counts)) == ("k(int, int)", Counter(MOV=7, BRA=8, EXIT=9))
    assert [row.index for row in counts.rows] == [0, 1, 2]
    known = "thread_inst_executed_true" in columns
    assert [row.threads is not None for row in counts.rows][1] == known, "without the guard's lanes nobody knows"


def test_lines_of_sources_are_no_instructions(write: Write) -> None:
    """With --print-source cuda,sass lines without an address stand between the instructions."""
    lines = CASE.splitlines(keepends=True)
    lines.insert(6, '"17","","A = b[i];","66,560","2,097,152"\n')
    [counts] = source(write("".join(lines)))
    assert counts.total == 67584
    view = '"#","Source","Instructions Executed"\n"1","int A","5"\n"2","A = b[i];","7"\n'
    with pytest.raises(InputError):
        source(write(view))
    [counts] = source(write(view + CASE))
    assert "lines of a source file" in counts.problems[0].message


def test_functions_behind_the_kernel_have_no_number(write: Write) -> None:
    behind = '"4","0x7f2e30b00000","      RET","5","5"\n"5","0x7f2e30900000","      NOP","6","6"\n'
    [counts] = source(write(CASE.replace("==PROF== Disc", behind + "==PROF== Disc")))
    assert [(row.index, row.offset) for row in counts.rows[4:]] == [(None, 0x100000), (None, None)]
    assert [problem.line for problem in counts.problems if problem.severity == "info"] == [10]


@pytest.mark.parametrize("order", list(permutations(range(5, 9))))
def test_rows_in_another_order_keep_their_place(write: Write, order: tuple[int, ...]) -> None:
    lines = CASE.splitlines(keepends=True)
    lines[5:9] = [lines[at] for at in order]
    [counts] = source(write("".join(lines)))
    assert all(row.offset == 16 * (row.index or 0) for row in counts.rows)
    assert {row.index: row.mnemonic for row in counts.rows} == {0: "LDC", 1: "EXIT", 2: "HMMA.16816.F32", 3: "BRA"}


@pytest.mark.parametrize(("target", "known"), [("0x7f2e30a00000", False), ("0X7F2E30A00000", False), ("0x7f0", True)])
def test_where_a_branch_leads_back_the_warps_are_not_known(write: Write, target: str, known: bool) -> None:
    [counts] = source(write(CASE.replace("`(.L_x_0) 0x7f2e30a00030", target)))
    assert counts.warps == (1024 if known else None)


@pytest.mark.parametrize("column", range(6))
def test_each_column_that_is_read_tells_launches_apart(write: Write, column: int) -> None:
    head = "Address,Source,# Samples,Instructions Executed,Thread Instructions Executed,Predicated-On Thread "
    cells = ["0x10", "MOV R1", "20", "32", "512", "512"]
    others = [f"{cell}6" if at == column else cell for at, cell in enumerate(cells)]
    start = f"{head}Instructions Executed\n{','.join(cells)}\n"
    pages = (f"{start}{','.join(row)}\n" for row in (cells, cells, others))
    first, same, other = (source(write(page))[0].identity for page in pages)
    assert first == same != other
    assert first and other


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_and_line_ends(write: Write, encoding: str) -> None:
    [counts] = source(write(CASE.replace("\n", "\r\n").encode(encoding)))
    assert counts.total == 67584
    assert not counts.problems


@pytest.mark.parametrize("name", ["_Z4gemmIfLi4EEvPKfPf", "k"])
def test_names_as_they_stand(write: Write, name: str) -> None:
    [counts] = source(write(CASE.replace("gemm<float, (int)4>(const float *, float *)", name)))
    assert (counts.names.mangled if name.startswith("_Z") else counts.names.demangled) == name
    assert counts.names.best == name


def test_missing_column_and_missing_rows(write: Write) -> None:
    with pytest.raises(InputError, match="Instructions Executed"):
        source(write('"Kernel Name","k"\n"Address","Source","# Samples"\n"0x10","EXIT","1"\n'))
    with pytest.raises(InputError, match="no instruction"):
        source(write("\n".join(CASE.splitlines()[:5])))


@given(
    st.permutations(range(7)),
    st.lists(st.tuples(st.integers(0, 800), st.sampled_from(["a, b", '"', '"x","y', "==PROF== z", "1,2,3,4,5,6,7"]))),
)
def test_order_and_chatter_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], chatter: list[tuple[int, str]]
) -> None:
    text = (NCU / "micro.source.csv").read_text()
    sections = ["Kernel Name" + part for part in text.split("Kernel Name")[1:]]
    lines = "".join(sections[number] for number in order).splitlines()
    for at, line in chatter:
        lines.insert(at, line)
    path = tmp_path_factory.mktemp("ncu") / "x.csv"
    path.write_text("\n".join(lines))
    wanted = sorted((str(c.names.demangled), sorted(opcodes(c).items())) for c in source(NCU / "micro.source.csv"))
    assert sorted((str(c.names.demangled), sorted(opcodes(c).items())) for c in source(path)) == wanted


RAW = """"ID","Process ID","Kernel Name","Block Size","Grid Size","CC","{metric}","smsp__inst_executed.sum",\
"sm__inst_executed_pipe_tensor.sum","sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"
"","","","block","block","","","inst","inst","inst"
"0","7","k(int)","(96, 1, 1)","(2, 3, 1)","9.0","{cell}","100","40","8.000000"
"""
ALL = "sass__inst_executed_per_opcode_with_modifier_all"


@pytest.mark.parametrize("cell", ["1,280 (HMMA.16816.F32: 1,160; EXIT: 120)", "1280; HMMA.16816.F32: 1160; EXIT: 120"])
def test_raw_page_with_named_instances(write: Write, cell: str) -> None:
    path = write('==PROF== chatter\n"an open quote\n' + RAW.format(metric=ALL, cell=cell))
    assert ncu_raw.READER.sniff(path.read_bytes())
    [counts] = read(ncu_raw.READER, path)
    assert opcodes(counts) == Counter({"HMMA.16816.F32": 1160, "EXIT": 120})
    assert all(row.mnemonic for row in counts.rows)
    assert (counts.arch, counts.warps, counts.launches) == ("sm_90", 18, 1)
    assert counts.hardware == {"inst_executed": 100.0, "tensor": 40.0, "tensor_hfma2": 8.0}
    assert not counts.problems


@pytest.mark.parametrize(
    ("metric", "cell", "names"),
    [
        (ALL, "640 (600; 40)", {f"instance 0 of {ALL}": 600, f"instance 1 of {ALL}": 40}),
        (ALL, "640", {"all instructions": 640}),
        (ALL, "n/a", {"all instructions": 100}),
        ("launch__grid_size", "6", {"all instructions": 100}),
        (ALL, "640 (EXIT: 600)", {"EXIT": 600, "not among the instances": 40}),
        (ALL + "_category", "9", {"all instructions": 100}),
        ("sass__inst_executed_per_opcode_category", "64 (Load/Store: 64)", {"Load/Store (category)": 64}),
        (ALL, "640 (EXIT: 600; MOV: -3)", {"EXIT": 600}),
    ],
)
def test_raw_page_names_what_it_cannot_resolve(write: Write, metric: str, cell: str, names: dict[str, int]) -> None:
    [counts] = read(ncu_raw.READER, write(RAW.format(metric=metric, cell=cell)))
    assert opcodes(counts) == Counter(names)
    assert bool(counts.problems) == (not metric.endswith("opcode_category"))


def test_raw_page_loses_only_the_row_cut_off(write: Write) -> None:
    text = RAW.format(metric=ALL, cell="7 (EXIT: 7)")
    last = text.splitlines()[-1]
    found = read(ncu_raw.READER, write(text + last[:30] + "\n" + last.replace("0", "1", 1) + "\n" + last[:40]))
    assert [counts.total for counts in found] == [7, 0, 7, 0]
    assert [problem.line for counts in found for problem in counts.problems] == [4, 6]


@pytest.mark.parametrize("good", [0, 1, 2])
@given(st.integers(0, 100))
def test_a_raw_page_cut_anywhere_is_not_whole(tmp_path_factory: pytest.TempPathFactory, good: int, kept: int) -> None:
    """Wherever within its last row: what is left of it is lost for its kernel, or for all where that is not certain."""
    head, units, row = RAW.format(metric=ALL, cell="7 (EXIT: 7)").splitlines()
    cut = row[: min(2 + kept, len(row) - 1)]
    path = tmp_path_factory.mktemp("cut") / "x.csv"
    others = [row.replace('"0"', f'"{number}"', 1) for number in range(1, good + 1)]
    path.write_text("\n".join([head, units, *others, cut]))
    found = read(ncu_raw.READER, path)
    assert [counts.total for counts in found] == [7] * good + [0]
    named = cut.startswith('"0","7","k(int)",') and (cut.count('"') % 2 == 1 or cut.endswith(","))
    assert found[-1].lost and found[-1].names.best == ("k(int)" if named else None)
    assert all(counts.gaps for counts in found), "behind the cut may have been other launches of any kernel"


@pytest.mark.parametrize(
    ("old", "new"), [('"7",', ""), ('"7",', '"7","7",'), ('"8.000000"', '"8.000000","1"'), ('"100",', "")]
)
def test_of_a_malformed_row_the_kernel_is_not_certain(write: Write, old: str, new: str) -> None:
    text = RAW.format(metric=ALL, cell="7 (EXIT: 7)")
    last = text.splitlines()[-1].replace('"0"', '"1"')
    whole, malformed = read(ncu_raw.READER, write(f"{text}{last.replace(old, new)}\n"))
    assert (malformed.names.best, malformed.total, bool(malformed.lost)) == (None, 0, True)
    assert malformed.lost[0] in whole.gaps


@pytest.mark.parametrize(("known", "told"), [("0", [4]), ("1", []), ("", [])])
def test_two_launches_with_one_id_are_told(write: Write, known: str, told: list[int]) -> None:
    text = RAW.format(metric=ALL, cell="7 (EXIT: 7)")
    again = text.splitlines()[-1].replace('"0"', f'"{known}"', 1)
    found = read(ncu_raw.READER, write(f"{text}{again}\n"))
    assert [problem.line for counts in found for problem in counts.problems] == told


@pytest.mark.parametrize(
    ("cell", "lost", "gaps"),
    [
        ("96 (LDC: 32; EXIT: 64)", 0, 0),
        ("50 (LDC: 32; EXIT: 64)", 1, 1),
        ("96 (LDC: 32; EXIT: 6", 1, 1),
        ("(LDC: 32; EXIT: 64)", 0, 1),
        ("(LDC: 32)", 0, 1),
        ("32 (LDC: 32)", 0, 0),
        ("(LDC: 32; EXIT: 0)", 0, 1),
    ],
)
def test_what_is_not_as_the_profiler_wrote_it(write: Write, cell: str, lost: int, gaps: int) -> None:
    [counts] = read(ncu_raw.READER, write(RAW.format(metric=ALL, cell=cell)))
    assert (len(counts.lost), len(counts.gaps)) == (lost, gaps)


def test_details_page_is_told(write: Write) -> None:
    path = write('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","k","x","inst","1"\n')
    assert ncu_raw.READER.sniff(path.read_bytes())
    with pytest.raises(InputError, match="--page raw"):
        read(ncu_raw.READER, path)


@given(st.binary(max_size=300), st.integers(0, 4000), st.sampled_from(["source", "raw"]))
def test_hostile_bytes_never_raise(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int, page: str) -> None:
    reader, data = (ncu_source.READER, CASE.encode()) if page == "source" else (ncu_raw.READER, b"")
    data = data or (NCU / "vecadd_op.raw.csv").read_bytes()
    path = tmp_path_factory.mktemp("junk") / "x"
    path.write_bytes(data[:at] + junk + data[at + len(junk) // 2 :])
    reader.sniff(path.read_bytes())
    try:
        found = read(reader, path)
    except InputError:
        return
    assert all(row.issued >= 0 for counts in found for row in counts.rows)


def lines_of(width: int) -> st.SearchStrategy[list[str]]:
    """Lines that are quoted as the profiler quotes rows of so many cells, or nearly so, and others."""
    cells = st.lists(st.text('a,"', max_size=3), min_size=width, max_size=width).map('","'.join)
    quoted = st.builds("{}{}{}".format, st.sampled_from(['"', '"', "a"]), cells, st.sampled_from(['"', '"', ""]))
    others = st.lists(st.text('ab", 0x', max_size=8), min_size=1, max_size=6)
    return quoted.map(lambda line: [line, line]) | st.lists(quoted, min_size=1, max_size=3) | others


@given(st.data(), st.integers(1, 4))
def test_lines_read_together_are_read_as_each_alone(data: st.DataObject, width: int) -> None:
    lines, most = data.draw(lines_of(width)), data.draw(st.integers(1, width))
    found = columns_of(lines, width, most)
    if found is not None:
        rows = [cells_of(line) for line in lines]
        assert {len(row) for row in rows} == {width}
        assert found == [[row[at] for row in rows] for at in range(most)]


@given(st.lists(st.lists(st.text("a0 -", max_size=3), min_size=5, max_size=5), min_size=2), st.booleans())
def test_whole_rows_are_read_together(rows: list[list[str]], quoted: bool) -> None:
    quote = '"' if quoted else ""
    lines = [",".join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    assert columns_of(lines, 5, 3) == [[row[at] for row in rows] for at in range(3)]


def pages() -> list[list[str]]:
    """Lines of several kernels, as they stand in the fixture, and as the profiler quotes them, with more columns."""
    lines = (NCU / "micro.source.csv").read_text().splitlines()
    whole = io.StringIO()
    writer = csv.writer(whole, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for cells in csv.reader(lines):
        writer.writerow([*cells, *(f"{cells[-1]} {more}" for more in range(3) if len(cells) > 2)])
    return [lines[:130], whole.getvalue().splitlines()[:130]]


PAGES = pages()
ODD_LINES = ["", "==PROF== x", 'so "far', "0x10", '"a","b"', "total,of all,1,2,3,4", '"0x10","a","1","2"']
DAMAGES = ["", '"', '""', ",", '","', '","","', "\r", '"a"b"', "0x", "1,024", '"1,024"', " "]


@given(st.data())
def test_rows_taken_together_are_taken_as_each_alone(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever is damaged within lines, is put between them or is missing."""
    lines = list(data.draw(st.sampled_from(PAGES)))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        start = data.draw(st.integers(0, len(line)))
        stop = data.draw(st.sampled_from([start, start + 1, start + 4, len(line)]))
        damaged = line[:start] + data.draw(st.sampled_from(DAMAGES)) + line[stop:]
        lines[at : at + data.draw(st.integers(0, 1))] = [data.draw(st.sampled_from([*ODD_LINES, damaged]))]
    path = tmp_path_factory.mktemp("rows") / "x.csv"
    path.write_bytes(data.draw(st.sampled_from(["\n", "\r\n"])).join(lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        together = outcome(path)
        patch.setattr(Section, "take", lambda *_: False)
        assert outcome(path) == together


def outcome(path: Path) -> list[Counts] | str:
    try:
        return read(ncu_source.READER, path)
    except InputError as error:
        return str(error)


TEXTS = st.text("@P0!UT \tA.;x", max_size=12).map(str.strip) | st.sampled_from(["@P1   BRA 0x10", "MOV R1, R2"])


@given(st.lists(TEXTS))
def test_mnemonics_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert mnemonics_of(texts) == [mnemonic_of(text) for text in texts]
