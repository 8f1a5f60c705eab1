"""The code that a capture carries is checked like a listing: what is cut out of it never becomes a "no"."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix import resolution
from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.own_code import matrix_idle, own_code
from sassmix.readers._csv_holes import holes_of
from sassmix.resolution import Resolution, resolve
from tests.conftest import FIXTURES, Body, written

MEASURED = FIXTURES / "counts" / "h200" / "micro.source.csv"
MATRIX = re.compile(r"(?:@!?U?P\d\s+)?(?:HMMA|DMMA|IMMA|BMMA|HGMMA|IGMMA|QGMMA)\b")
HEAD = "Address,Source,Instructions Executed,Thread Instructions Executed,Predicated-On Thread Instructions Executed"


@pytest.fixture(autouse=True)
def any_opcode(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check is made where a matrix multiply was not counted; how it works is tested on opcodes of all kinds."""
    monkeypatch.setattr(resolution, "matrix_idle", lambda _: True)


class Row(NamedTuple):
    """A row of a page: lanes as the profiler counted them, with the guard's outcome and without."""

    address: int
    text: str
    issued: int
    lanes: int
    on: int


class Verdict(NamedTuple):
    active: bool | None
    complete: str
    consistent: str

    @property
    def whole(self) -> bool:
        return self.complete == self.consistent == "pass"


@cache
def pages() -> dict[str, list[Row]]:
    """The rows of every kernel that was measured."""
    found: dict[str, list[Row]] = {}
    with MEASURED.open(newline="") as file:
        for cells in csv.reader(file):
            if cells[:1] == ["Kernel Name"]:
                rows = found.setdefault(cells[1], [])
            elif cells and cells[0].startswith("0x"):
                rows.append(Row(int(cells[0], 16), cells[1].strip(), *map(int, (cells[2], cells[3], cells[4]))))
    return found


def verdict(path: Path, rows: Sequence[Row], *listings: Path) -> Verdict:
    """What a page says of a kernel."""
    lines = [f'{row.address:#x},"{row.text}",{row.issued},{row.lanes},{row.on}' for row in rows]
    path.write_text("\n".join(['"Kernel Name","k"', HEAD, *lines]) + "\n")
    kernels = sassmix.mix([path, *listings], arch="sm_90a").to_dict()["kernels"]
    (kernel,) = (kernel for kernel in kernels if kernel["basis"] == "dynamic")
    return verdict_of(kernel)


def verdict_of(kernel: dict[str, object]) -> Verdict:
    evidence = kernel["evidence"]
    assert isinstance(evidence, list)
    status = {item["check"]: item["status"] for item in evidence}
    active = kernel["tensor_core_active"]
    assert active is None or isinstance(active, bool)
    return Verdict(active, status["complete"], status["consistent"])


def test_what_was_measured_whole_is_whole(tmp_path: Path) -> None:
    found = [verdict(tmp_path / "x.csv", rows) for rows in pages().values()]
    matrix = [any(row.on and MATRIX.match(row.text) for row in rows) for rows in pages().values()]
    assert found == [Verdict(active, "pass", "pass") for active in matrix]
    assert any(matrix) and not all(matrix)


def cuts(rows: list[Row], how: str) -> Iterator[tuple[list[Row], list[Row]]]:
    """A page of which something is missing, and what that is: the end, the begin, or eight rows in between."""
    for at in range(1, len(rows)):
        if how == "end":
            yield rows[:at], rows[at:]
        elif how == "begin":
            yield rows[at:], rows[:at]
        else:
            yield rows[:at] + rows[at + 8 :], rows[at : at + 8]


@pytest.mark.parametrize("how", ["end", "begin", "between"])
@pytest.mark.parametrize("name", pages())
def test_a_page_cut_anywhere_is_not_whole(name: str, how: str, tmp_path: Path) -> None:
    """Unless nothing of what is missing was executed; by the begin, where rows are left that read no register."""
    every = 1 if len(pages()[name]) < 90 else 11
    made = list(islice(cuts(pages()[name], how), 0, None, every))
    matrix = any(row.on and MATRIX.match(row.text) for row in pages()[name])
    for rows, missing in made:
        if any(row.issued for row in missing):
            found = verdict(tmp_path / "x.csv", rows)
            plain = how == "begin" and not re.search(r"\bR\d|^@", rows[0].text.partition(",")[2])
            assert not found.whole or plain, (len(rows), missing[0])
            assert found.active is not False or (plain and not matrix)


def without(rows: list[Row], opcode: str) -> list[Row]:
    return [row._replace(issued=0, lanes=0, on=0) if opcode_of(row) == opcode else row for row in rows]


def opcode_of(row: Row) -> str:
    return row.text.split()[row.text.startswith("@")].partition(".")[0]


@pytest.mark.parametrize("name", pages())
def test_an_opcode_without_counts_among_neighbours_with_some_is_seen(name: str, tmp_path: Path) -> None:
    """But for those that stand alone between jumps, and jumps: a kernel of equal flow may have gone another way."""
    rows = pages()[name]
    opcodes = sorted({opcode_of(row) for row in rows if row.issued and not MATRIX.match(row.text)} - {"BRA"})
    matrix = sorted({opcode_of(row) for row in rows if row.issued and MATRIX.match(row.text)})
    assert [verdict(tmp_path / "x.csv", without(rows, opcode)).active for opcode in matrix] == [None] * len(matrix)
    seen = [not verdict(tmp_path / "x.csv", without(rows, opcode)).whole for opcode in opcodes]
    assert sum(seen) >= 0.9 * len(seen)


def traced(rows: list[Row], *, lost: str = "", relative: bool = True) -> str:
    """A trace of the page's counts, without a completion record; of the instructions that match ``lost``, no record.

    :param relative: whether the texts of the table count addresses from the first instruction on.
    """
    first, warps = rows[0].address, rows[0].issued
    texts = [re.sub(r"0x[0-9a-f]{9,}", lambda m: hex(int(m[0], 16) - first * relative), row.text) for row in rows]
    table = {str(number): {"sass": f"{text} ;"} for number, text in enumerate(texts)}
    head = {"type": "kernel_metadata", "mangled_name": "k", "sm_family": 90, "instructions": table}
    records: list[dict[str, object]] = [{**head, "instrument_modes": ["opcode_only"]}]
    for warp in range(warps):
        for number, row in sorted(enumerate(rows), key=lambda item: "EXIT" in item[1].text):  # with one, a warp ends
            if not lost or not re.match(lost, row.text):
                times = row.issued // warps + (warp < row.issued % warps)
                place = {"grid_launch_id": 0, "cta": [0, 0, 0], "warp": warp, "opcode_id": number}
                records += [{"type": "opcode_only", **place, "active_mask": "0xffffffff"}] * times
    return "".join(f"{json.dumps({**record, 'trace_index': n})}\n" for n, record in enumerate(records))


def ends_alone(rows: list[Row]) -> bool:
    """Whether warps end at one place; and nothing is called, since a trace numbers the instructions of that again."""
    ends = [row for row in rows if row.issued and "EXIT" in row.text]
    return len(ends) == 1 and not any(row.issued and re.match("CALL|RET", row.text) for row in rows)


SMALL = [name for name, rows in pages().items() if sum(row.issued for row in rows) < 9000 and ends_alone(rows)]


@pytest.mark.parametrize("relative", [True, False], ids=["relative", "absolute"])
@pytest.mark.parametrize("name", SMALL)
def test_records_cut_out_of_a_trace_are_missed_by_its_own_table(name: str, relative: bool, tmp_path: Path) -> None:
    rows, path = pages()[name], tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k.ndjson"
    matrix = any(row.issued and MATRIX.match(row.text) for row in rows)
    for lost in ("", MATRIX.pattern if matrix else r"(?:@!?P\d\s+)?(?:IMAD|LDC)\b"):
        path.write_text(traced(rows, lost=lost, relative=relative))
        (kernel,) = sassmix.mix(path).to_dict()["kernels"]
        found = verdict_of(kernel)
        if lost:
            assert found.active is None and "warn" in found
        else:
            assert found == Verdict(matrix, "pass", "pass")


# made-up kernels of any shape


class Program:
    """Code and counts written together: what is entered so often executes its instructions so often.

    ``{number}`` in a text is the address of a line; ``calls`` are the lines that call the function.
    """

    def __init__(self) -> None:
        self.lines: list[tuple[str, int]] = []
        self.calls: list[int] = []

    def add(self, text: str, issued: int) -> None:
        self.lines.append((text, issued))

    def body(self, shapes: Sequence[Shape], entered: int, end: str) -> None:
        """A function with its end, the branch to itself behind it, and what fills it up."""
        for shape in shapes:
            write(self, shape, entered)
        self.add(end, entered)
        self.add(f"BRA {{{len(self.lines)}}}", 0)
        while len(self.lines) % 8:
            self.add("NOP", 0)

    def rows(self, base: int = 0x7F0000001000) -> list[Row]:
        texts = [re.sub(r"\{(\d+)\}", lambda m: hex(base + 16 * int(m[1])), text) for text, _ in self.lines]
        return [
            Row(base + 16 * n, text, issued, 32 * issued, 0 if text.startswith("@") else 32 * issued)
            for n, (text, (_, issued)) in enumerate(zip(texts, self.lines, strict=True))
        ]


class Shape(NamedTuple):
    """A part of a function: instructions in a row, a call, or a part that may be left out or done again."""

    kind: str
    texts: tuple[str, ...] = ()
    number: int = 0
    inner: tuple[Shape, ...] = ()

    def has(self, kind: str) -> bool:
        return self.kind == kind or any(shape.has(kind) for shape in self.inner)


PLAIN = ["FADD R2, R2, R3", "IMAD R4, R2, R3, RZ", "@P1 FMUL R5, R2, R3", "BSSY B0, {next}", "BSYNC B0"]
HMMA = "HMMA.16816.F32 R4, R8, R12, R4"
STRAIGHT = st.lists(st.sampled_from([*PLAIN, HMMA]), max_size=4).map(lambda t: Shape("straight", (*t, PLAIN[0])))
SHAPES = st.recursive(
    STRAIGHT | st.just(Shape("call")),
    lambda inner: st.builds(
        lambda kind, number, shapes: Shape(kind, number=number, inner=tuple(shapes)),
        st.sampled_from(["if", "loop"]),
        st.integers(0, 8),
        st.lists(inner, min_size=1),
    ),
    max_leaves=8,
)


def write(program: Program, shape: Shape, entered: int) -> None:
    lines = program.lines
    if shape.kind == "straight":
        for text in shape.texts:
            program.add(text.replace("next", str(len(lines) + 1)), entered)
    elif shape.kind == "call":
        program.calls.append(len(lines))
        program.add("CALL.REL.NOINC", entered)
    else:
        begin, loop = len(lines), shape.kind == "loop"
        times = entered * (shape.number + 1) if loop else min(shape.number, entered)
        if not loop:
            program.add("", entered)
        for inner in shape.inner:
            write(program, inner, times)
        if loop:
            program.add(f"@P0 BRA {{{begin}}}", times)
        else:
            lines[begin] = (f"@P0 BRA {{{len(lines)}}}", entered)


def program_of(kernel: list[Shape], function: list[Shape]) -> list[Row]:
    """A kernel of eight warps that calls a function, as the rows of a page."""
    program = Program()
    program.add("S2R R0, SR_TID.X", 8)
    program.body(kernel, 8, "EXIT")
    called = sum(program.lines[at][1] for at in program.calls)
    for at in program.calls:
        program.lines[at] = (f"CALL.REL.NOINC {{{len(program.lines)}}}", program.lines[at][1])
    program.body([shape for shape in function if not shape.has("call")], called, "RET.REL.NODEC R20, {0}")
    return program.rows()


@given(st.lists(SHAPES, max_size=4), st.lists(SHAPES, max_size=2), st.data())
def test_what_is_cut_out_of_any_kernel_never_becomes_a_no(
    tmp_path_factory: pytest.TempPathFactory, kernel: list[Shape], function: list[Shape], data: st.DataObject
) -> None:
    rows = program_of(kernel, function)
    path = tmp_path_factory.mktemp("cut") / "x.csv"
    matrix = any(row.issued and MATRIX.match(row.text) for row in rows)
    at = data.draw(st.integers(1, len(rows) - 1))
    behind = data.draw(st.integers(at + 1, len(rows)))
    assert verdict(path, rows) == Verdict(matrix, "pass", "pass")
    for part in (rows[:at], rows[at:], rows[:at] + rows[behind:], without(rows, "HMMA")):
        lost = sum(row.issued for row in rows) > sum(row.issued for row in part)
        assert not lost or verdict(path, part).active is not False or not (matrix or part[0] is rows[0])


# where the texts of a page lead

BASE = 0x1000
TRAP = f"BRA {BASE + 0x30:#x}"


@pytest.mark.parametrize(
    ("texts", "issued", "told"),
    [
        (["MOV R1, RZ", "@P0 BRA 0x1020", "EXIT"], [8, 8, 8], ""),
        (["MOV R1, RZ", "@P0 BRA 0x20", "EXIT"], [8, 8, 8], ""),  # counted from the first instruction on
        (["MOV R1, RZ", "@P0 BRA 0x1030", "EXIT"], [8, 8, 8], "BRA leads to 0x1030"),
        (["MOV R1, RZ", "@P0 BRA 0x1030", "EXIT"], [8, 0, 8], "BRA leads to 0x1030"),
        (["MOV R1, RZ", "@P0 BRA P1, 0x1030", "EXIT"], [8, 8, 8], "BRA leads to 0x1030"),
        (["MOV R1, RZ", "BRA.U !UP0, 0x1030", "EXIT"], [8, 8, 8], "BRA leads to 0x1030"),
        (["MOV R1, RZ", "BRA.DIV UR4, 0x1030", "EXIT"], [8, 8, 8], "BRA leads to 0x1030"),
        (["MOV R1, RZ", "BRA `(.L_x_1) 0xff0", "EXIT"], [8, 8, 8], "BRA leads to 0xff0"),
        (["MOV R1, RZ", "BSSY B0, 0x1030 ;", "EXIT"], [8, 8, 8], "BSSY leads to 0x1030"),
        (["MOV R1, RZ", "CALL.REL.NOINC 0x1030", "EXIT"], [8, 8, 8], "CALL leads to 0x1030"),
        (["MOV R1, RZ", "CALL.REL.NOINC 0x1030", "EXIT"], [8, 0, 8], ""),  # nothing of it ran
        (["MOV R1, RZ", "CALL.REL.NOINC R8, 0x1030", "EXIT"], [8, 8, 8], ""),
        (["MOV R1, RZ", "RET.REL.NODEC R8, 0x1030", "EXIT"], [8, 8, 8], ""),
        (["MOV R1, RZ", "IADD3 R1, R2, 0x1030", "EXIT"], [8, 8, 8], ""),
        (["MOV R1, RZ", "BRX R2 -0x190", "EXIT"], [8, 8, 8], "BRX leads through a register"),
        (["MOV R1, RZ", "BRX R2 -0x190", "EXIT"], [8, 0, 8], ""),
        (["MOV R1, RZ", "BRX R2 -0x190", "EXIT", TRAP, "NOP"], [8, 8, 8, 0, 0], ""),
        (["MOV R1, RZ", "BRX R2 -0x190", "EXIT", "BRA 0x30", "NOP"], [8, 8, 8, 0, 0], ""),
        (["MOV R1, RZ", "BRX R2 -0x190", "EXIT", "BRA 0x1010"], [8, 8, 8, 0], "BRX leads through a register"),
        (["MOV R1, R2", "EXIT", "NOP"], [8, 8, 0], "the first row is 'MOV R1, R2'"),
        (["MOV R1, R2", "EXIT"], [8, 8], ""),  # no compiler has made it
        (["@P0 MOV R1, RZ", "EXIT"], [8, 8], "the first row is '@P0 MOV R1, RZ'"),
        (["STG.E [R2.64], RZ", "EXIT", "NOP"], [8, 8, 0], "the first row is 'STG.E [R2.64], RZ'"),
        (["@PT LDC R1, c[0x0][0x28]", "EXIT"], [8, 8], ""),
        (["S2UR UR4, SR_CTAID.X", "EXIT"], [8, 8], ""),
    ],
)
def test_where_a_branch_leads_there_is_a_row(texts: list[str], issued: list[int], told: str) -> None:
    found = holes_of([BASE + 16 * number for number in range(len(texts))], texts, issued)
    assert [text[: len(told)] for text in found] == ([told] if told else [])


@pytest.mark.parametrize(("first", "step", "fits"), [(0, 16, True), (64, 16, False), (64, 8, True), (8, 8, True)])
def test_a_kernel_begins_at_certain_addresses(first: int, step: int, fits: bool) -> None:
    addresses = [BASE + first + step * number for number in range(2)]
    assert bool(holes_of(addresses, ["MOV R1, RZ", "EXIT"], [8, 8])) != fits


# the code of a capture, put together


def capture(rows: list[CountRow], **said: object) -> Counts:
    return Counts(path="k", kind="other", names=KernelNames(mangled="k"), rows=rows, **said)  # type: ignore[arg-type]


def at(offset: int, text: str, issued: int = 8, active: int | None = None) -> CountRow:
    return CountRow(issued, text.split()[text.startswith("@")], offset=offset, sass=text, active=active)


def checked(rows: list[CountRow], **said: object) -> Resolution:
    return resolve(capture(rows, **said), None)


def test_a_capture_without_texts_or_with_two_of_them_carries_no_code() -> None:
    assert own_code(capture([CountRow(8, "EXIT", offset=0), CountRow(8, "EXIT", index=1)])) is None
    assert own_code(capture([CountRow(8, "EXIT", sass="EXIT")])) is None
    assert own_code(capture([at(0, "MOV R1, RZ"), at(0, "EXIT")])) is None
    assert own_code(capture([CountRow(8, index=0)], table={0: "EXIT"}, arch="sm_61")) is None
    for arch in ("sm_90a", "sm_70", None):
        assert own_code(capture([CountRow(8, index=0)], table={0: "EXIT ;"}, arch=arch)) is not None


HEAD_ROW, END_ROW = at(0, "S2R R0, SR_TID.X"), at(32, "EXIT")


@pytest.mark.parametrize(
    ("rows", "idle"),
    [
        ([at(16, "FADD R1, R1, R1", 0)], False),
        ([at(16, "HMMA.16816.F32 R4, R8, R12, R4", 0)], True),
        ([at(16, "@P0 UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], !UPT", 0)], True),
        ([at(16, "HMMA.16816.F32 R4, R8, R12, R4", 1)], False),
        ([at(16, "HMMA.16816.F32 R4, R8, R12, R4", 0), at(48, "IMMA.16832.S8.S8 R4, R8, R12, R4", 1)], False),
        ([at(16, "what is this", 0)], True),
        ([], True),
        ([at(16, "FADD R1, R1, R1"), at(64, "MOV R1, RZ")], False),
        ([at(16, "HFMA2.MMA R1, -RZ, RZ, 0, 0", 0)], False),
    ],
    ids="no-multiply idle guarded ran another-ran unreadable hole behind-an-end fp16".split(),
)
@pytest.mark.parametrize("table", [False, True], ids=["rows", "table"])
def test_a_multiply_is_idle_if_it_stands_in_the_code_or_may_and_none_was_counted(
    rows: list[CountRow], idle: bool, table: bool
) -> None:
    rows = [HEAD_ROW, *rows, END_ROW]
    if not table:
        assert matrix_idle(capture(rows)) == idle
        return
    numbered = [CountRow(row.issued, index=(row.offset or 0) // 16) for row in rows if row.issued]
    texts = {(row.offset or 0) // 16: row.sass or "" for row in rows}
    assert matrix_idle(capture(numbered, table=texts)) == idle


def test_functions_begin_behind_padding_and_behind_holes() -> None:
    texts = ["S2R R0, SR_TID.X", "EXIT", "BRA 0x20", "NOP", "MOV R1, RZ", "RET R2"]
    own = own_code(capture([*(at(16 * n, text) for n, text in enumerate(texts)), at(0x100, "FADD R1, R1, R2")]))
    assert own and [(f.start, f.stop, f.role) for f in own.functions] == [
        (0, 4, "kernel"),
        (4, 6, "helper"),
        (6, 7, "helper"),
    ]
    assert (own.counts, own.partial, own.anywhere, own.exact) == (dict.fromkeys(range(7), 8), False, False, False)


def test_what_stands_in_a_hole_is_not_known() -> None:
    """As in a trace without a table, which has the texts of what was executed only."""
    own = own_code(capture([at(0, "S2R R0, SR_TID.X"), at(0x40, "MOV R1, RZ", 4), at(0x50, "EXIT", 4)]))
    assert own and [sorted(f.unreadable) for f in own.functions] == [[1], []]
    for end, told in ((4, 0), (8, 1)):
        found = checked([at(0, "S2R R0, SR_TID.X", 4), at(0x40, "MOV R1, RZ", 4), at(0x50, "EXIT", end)])
        assert (len(found.doubts), found.gaps) == (told, [])


@pytest.mark.parametrize(("base", "target", "anywhere"), [(0, 0x20, False), (0x1000, 0x1020, False), (0, 0x1020, True)])
def test_a_branch_to_elsewhere_may_lead_anywhere(base: int, target: int, anywhere: bool) -> None:
    rows = [at(0, "S2R R0, SR_TID.X"), at(16, f"@P0 BRA {target:#x}"), at(32, "EXIT")]
    own = own_code(capture(rows, base=base))
    assert own and own.anywhere == anywhere


@pytest.mark.parametrize("place", ["offset", "number", "table"])
def test_each_source_is_held_against_its_own_code(place: str) -> None:
    texts = ["S2R R0, SR_TID.X", "FADD R1, R0, R0", "HMMA.16816.F32 R4, R8, R12, R4", "FADD R1, R1, R1", "EXIT"]
    for lost in (None, 2):
        counted = [(n, text) for n, text in enumerate(texts) if n != lost]
        if place == "offset":
            rows = [at(16 * n, text, 0 if n == lost else 8) for n, text in enumerate(texts)]
            found = checked(rows)
        elif place == "number":
            rows = [CountRow(8, index=n, offset=0x5000 + 16 * n, sass=text) for n, text in counted]
            found = checked(rows, table=dict(enumerate(texts)))  # of the table the numbers tell, wherever it was put
        else:
            found = checked([CountRow(8, index=n) for n, _ in counted], table=dict(enumerate(texts)))
        assert found.checked == ["the flow of the code that the capture carries"]
        assert (len(found.doubts), found.gaps) == (0 if lost is None else 1, [])


@pytest.mark.parametrize(
    ("ends", "told"),
    [(8, []), (3, ["it was entered 8 times and left 3 times"])],
)
def test_more_entered_than_left_is_a_gap(ends: int, told: list[str]) -> None:
    rows = [at(0, "S2R R0, SR_TID.X"), at(16, "@P0 BRA 0x30"), at(32, "EXIT", ends), at(48, "BRX R2 -0x40")]
    assert checked([*rows, at(64, "BRA 0x40", 0)]).gaps == told


@pytest.mark.parametrize(
    "said",
    [
        {"gaps": ["cut"]},
        {"gaps": ["a filter"], "lost": ["a filter"]},
    ],
)
def test_a_part_need_not_flow(said: dict[str, list[str]]) -> None:
    """A filter, a window, an open end: what is known to be missing is no contradiction."""
    broken = [at(0, "S2R R0, SR_TID.X"), at(16, "FADD R1, R0, R0", 3), at(32, "EXIT")]
    assert checked(broken).doubts
    assert not checked(broken, **said).doubts and not checked(broken, **said).checked


@pytest.mark.parametrize("placeless", [True, False])
def test_rows_without_a_place_may_be_any_instruction(placeless: bool) -> None:
    table = dict(enumerate(["S2R R0, SR_TID.X", "FADD R1, R0, R0", "FMUL R1, R0, R0", "EXIT"]))
    rows = [CountRow(8, index=number) for number in (0, 1, 3)]
    found = checked([*rows, *([CountRow(8, "FMUL")] if placeless else [])], table=table)
    assert found.checked and bool(found.doubts) != placeless


@pytest.mark.parametrize("exact", [True, False])
def test_a_guard_hides_nothing_where_what_it_turned_off_is_counted(exact: bool) -> None:
    """As a profiler's page shows, where a guarded instruction was issued with no lane on."""
    off = at(16, "@P0 IMAD R4, R0, R0, RZ", 8, active=0 if exact else 8)
    rows = [at(0, "S2R R0, SR_TID.X"), off, at(32, "@P1 HMMA.16816.F32 R4, R8, R12, R4", 0), at(48, "EXIT")]
    assert bool(checked(rows).doubts) == exact


def test_numbers_that_are_not_the_kernels_alone_are_held_against_nothing() -> None:
    """Where a call was executed, and what was called numbers its instructions from 0 too."""
    texts = dict(enumerate(["S2R R0, SR_TID.X", "CALL.REL.NOINC 0x90", "EXIT"]))
    rows = [CountRow(16, index=0), CountRow(16, index=1), CountRow(8, index=2)]
    assert not checked(rows, table=texts, entered=8).checked


def test_counts_are_not_of_another_place_than_their_own_text() -> None:
    texts = ["S2R R0, SR_TID.X", *["FADD R1, R1, R2"] * 20, *["FMUL R1, R1, R2"] * 20, "@P0 BRA 0x150", "EXIT"]
    moved = [4] * 20 + [40] * 21 + [4, 4]
    found = checked([at(16 * n, text, count) for n, (text, count) in enumerate(zip(texts, moved, strict=True))])
    assert found.doubts and not found.gaps


KERNEL = ["S2R R0, SR_TID.X", "CALL.REL.NOINC `(f)", "EXIT", ".L_t:", "BRA `(.L_t)", *["NOP"] * 4]
CALLED = ["FADD R2, R2, R3", "@P0 BRA `(.L_r)", HMMA, "FMUL R2, R2, R3", ".L_r:", "RET.REL.NODEC R20 `(k)"]


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(("lost", "active"), [("", True), ("HMMA", None), ("FADD", True)])
def test_a_called_function_behind_its_kernel_is_held_against_its_own_text(
    listed: bool, lost: str, active: bool | None, tmp_path: Path
) -> None:
    """In the listing it has a section of its own; on the page it follows, and where a multiple of 128 ends, at once."""
    begin = 0x7F0000001080
    texts = [text for text in KERNEL if ":" not in text], [text for text in CALLED if ":" not in text]
    led = {"`(f)": hex(begin), "`(.L_t)": hex(begin - 80), "`(.L_r)": hex(begin + 64), "`(k)": hex(begin - 128)}
    rows = []
    for number, line in enumerate([*texts[0], *texts[1]]):
        text = re.sub(r"`\(\S+\)", lambda m: led[m[0]], line)
        issued = 0 if text.startswith(("BRA", "NOP")) else 4 if text.startswith((HMMA, "FMUL")) else 8
        rows.append(Row(begin - 128 + 16 * number, text, issued, 32 * issued, 32 * issued))
    listing = tmp_path / "k.sass"
    if listed:
        listing.write_text(written(Body("k", KERNEL), Body("f", CALLED, kernel=False)))
    found = verdict(tmp_path / "k.csv", without(rows, lost), *([listing] if listed else []))
    assert (found.active, found.whole) == (active, not lost)
