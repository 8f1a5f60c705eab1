"""From what a source counted to instructions, by their places in the code; what contradicts it is taken back."""

from __future__ import annotations

from typing import Any

import pytest

from sassmix.counts import (
    CLOCK_READ,
    CODE_READS_CLOCK,
    GUARDED_END,
    NO_EXIT,
    UNKNOWN_END,
    UNTOLD_EXIT,
    CountRow,
    Counts,
    KernelNames,
)
from sassmix.listing import Columns, Function
from sassmix.parsing import parse
from sassmix.resolution import Resolution, resolve
from tests.conftest import Body, written

CODE = ["MOV R1, R2", "FADD R2, R2, R3", "FMUL R2, R2, R3", "EXIT"]


def resolved(rows: list[CountRow], code: list[str] | None = None, damage: str = "", **said: Any) -> Resolution:
    """The resolution of rows in a small kernel; no kernel with an empty code."""
    function = parse(written(Body("k", code or CODE))).functions[0] if code != [] else None
    if function and damage:
        function.damage.append(damage)
    return resolve(Counts(path="k", names=KernelNames(mangled="k"), rows=rows, **{"kind": "other", **said}), function)


def row_of(index: int, *, issued: int = 4, **said: Any) -> CountRow:
    return CountRow(issued, index=index, **said)


WHOLE = [row_of(index) for index in range(4)]


@pytest.mark.parametrize("by", ["index", "offset"])
def test_each_row_has_its_place_by_number_or_by_offset(by: str) -> None:
    rows = [CountRow(4, index=place) if by == "index" else CountRow(4, offset=16 * place) for place in range(4)]
    found = resolved(rows)
    assert found.placed == list(enumerate(rows))
    assert found.resolved == list(zip(["MOV", "FADD", "FMUL", "EXIT"], rows, strict=True))
    assert (found.checked, found.called, found.conflicts) == (["the flow of the code"], [], [])


@pytest.mark.parametrize("code", [None, []])
def test_rows_that_name_themselves_have_no_place_and_nothing_to_check(code: list[str] | None) -> None:
    found = resolved([CountRow(4, mnemonic=name) for name in ("FADD", "EXIT")], code)
    assert (found.placed, found.called, found.checked, found.conflicts) == ([], [], [], [])


def test_of_rows_with_places_one_without_ran_elsewhere() -> None:
    first, last, nameless = CountRow(4, mnemonic="FADD"), CountRow(4, mnemonic="FMUL"), CountRow(4, name="?")
    rows = [first, *WHOLE, nameless, last, *WHOLE]
    assert resolved(rows).called == [("FADD", first), ("FMUL", last)]
    assert resolved(rows, []).called == []


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (CountRow(1, name="OPCODE_5", index=7), "OPCODE_5"),
        (CountRow(1, index=7, offset=16), "OPCODE_7"),
        (CountRow(1, offset=0x90), "offset 0x90"),
        (CountRow(1), "?"),
    ],
)
def test_what_is_not_resolved_has_the_best_name_there_is(row: CountRow, name: str) -> None:
    assert resolved([row], []).unresolved == [(name, row)]
    assert {n for n, _ in resolved([row, row_of(99, name="far")]).unresolved} == {name, "far"}


@pytest.mark.parametrize("offset", [0, 16, 32, 48, 64])
def test_number_and_offset_of_a_row_have_to_agree(offset: int) -> None:
    rows = [*WHOLE[:1], row_of(1, offset=offset), *WHOLE[2:]]
    said = {16: False}.get(offset, True)
    found = resolved(rows)
    assert bool(found.conflicts) == said
    if offset < 64 and said:
        assert f"OPCODE_1 has the offset {offset:#x} of instruction {offset // 16}" in found.conflicts


def test_an_opcode_that_the_code_lacks_is_a_contradiction_unless_lines_are_missing() -> None:
    rows = [CountRow(4, mnemonic=name) for name in ("HMMA.16816.F32", "FADD.FTZ")]
    assert resolved(rows).conflicts == ["HMMA was counted, but does not stand in the function"]
    assert resolved(rows, damage="cut").conflicts == []
    assert resolved(rows, [*CODE, "CALL.ABS.NOINC `(f)"]).conflicts == []


BROKEN = [row_of(index, issued=issued) for index, issued in enumerate((4, 4, 3, 4))]


@pytest.mark.parametrize(
    ("said", "tells"),
    [
        ({}, True),
        ({"gaps": ["cut"]}, True),  # nothing else could speak up
        ({"gaps": ["cut"], "lost": ["cut"]}, False),
        ({"lost": ["cut"]}, False),
        ({"gaps": ["cut"], "table": {0: "MOV R1, R2"}}, False),
        ({"table": {0: "MOV R1, R2"}}, True),
    ],
)
def test_the_flow_of_a_part_tells_only_where_nothing_else_does(said: dict[str, Any], tells: bool) -> None:
    found = resolved(BROKEN, **said)
    assert bool(found.doubts) == ("the flow of the code" in found.checked) == tells


def test_rows_with_number_and_offset_speak_for_themselves() -> None:
    rows = [CountRow(row.issued, index=row.index, offset=16 * (row.index or 0)) for row in BROKEN]
    assert resolved(rows).doubts and not resolved(rows, gaps=["cut"]).doubts


@pytest.mark.parametrize(
    ("table", "conflicts"),
    [
        ({0: "MOV R9, R9", 3: "EXIT"}, []),
        ({1: "FADD.FTZ R9, R9, R9"}, []),
        ({1: "HMMA R1"}, ["the source has HMMA as instruction 1, the listing FADD"]),
        ({9: "HMMA R1"}, ["the source has HMMA as instruction 9, the listing nothing"]),
    ],
)
def test_the_table_of_a_source_has_to_fit_the_listing(table: dict[int, str], conflicts: list[str]) -> None:
    found = resolved(WHOLE, table=table)
    assert "the source's own table" in found.checked
    assert [text for text in found.conflicts if "as instruction" in text] == conflicts
    assert bool(found.conflicts) == bool(conflicts)


CLOCKED = ["MOV R1, R2", "CS2R R2, SR_CLOCKLO", "FMUL R2, R2, R3", "EXIT"]


@pytest.mark.parametrize(
    ("gap", "code", "said", "left"),
    [
        ("cut", CODE, {}, ["cut"]),
        (CLOCK_READ, CODE, {}, []),
        (CLOCK_READ, CLOCKED, {}, [CLOCK_READ]),
        (CLOCK_READ, [], {}, [CLOCK_READ]),
        (None, CLOCKED, {"kind": "cutracer-hist"}, [CODE_READS_CLOCK]),
        (CLOCK_READ, CLOCKED, {"kind": "cutracer-hist"}, [CLOCK_READ]),
        (None, CODE, {"kind": "cutracer-hist"}, []),
        (None, CLOCKED, {"kind": "cutracer-trace"}, []),
        (NO_EXIT, CODE, {}, []),
        (NO_EXIT, [], {}, [UNTOLD_EXIT]),
        ("cut", [], {}, ["cut"]),
        (UNKNOWN_END, CODE, {}, [UNKNOWN_END]),
        (UNKNOWN_END, CODE, {"last": frozenset({3})}, []),
        (UNKNOWN_END, CODE, {"last": frozenset({2, 3})}, [UNKNOWN_END]),
        (UNKNOWN_END, [*CODE[:3], "@P0 EXIT"], {"last": frozenset({3})}, [GUARDED_END]),
        (UNKNOWN_END, [*CODE[:3], "@PT EXIT"], {"last": frozenset({3})}, []),
        (None, [*CODE[:3], "@P0 EXIT"], {"last": frozenset({3})}, []),
    ],
)
def test_a_gap_stays_unless_the_instructions_close_it(
    gap: str | None, code: list[str], said: dict[str, Any], left: list[str]
) -> None:
    found = resolved(WHOLE, code, gaps=[gap] if gap else [], **said)
    assert found.gaps == left


STRAIGHT, CALLING = CODE, [CODE[0], "CALL.REL.NOINC `($k$h)", *CODE[2:]]
HELPER = ["IADD3 R1, R2, R3, RZ", "RET.REL.NODEC R20 `(k)"]
INNER = [*STRAIGHT, *HELPER]


def between(code: list[str] = STRAIGHT, helper: list[str] = HELPER) -> tuple[Function, Function]:
    """A kernel and a helper in its section; in the listing one function stands before them, and one behind."""
    kernel = Body("k", code, helpers=[Body("$k$h", helper, kernel=False)])
    text = written(Body("before", [*["LOP3 R1, R2"] * 9, "EXIT"]), kernel, Body("behind", ["POPC R1, R2", "EXIT"]))
    _, found, inner, _ = parse(text).functions
    return found, inner


def place(number: int, by: str, **said: Any) -> CountRow:
    """A row that says its place by its number, by its offset, or by both."""
    index, offset = number if by != "offset" else None, 16 * number if by != "index" else None
    return CountRow(4, index=index, offset=offset, **said)


def counts(rows: list[CountRow], **said: Any) -> Counts:
    return Counts(path="k", kind="other", names=KernelNames(mangled="k"), rows=rows, **said)


def mnemonics(code: list[str]) -> list[str]:
    return [text.partition(" ")[0] for text in code]


EACH_WAY = pytest.mark.parametrize("by", ["index", "offset", "both"])


@EACH_WAY
@pytest.mark.parametrize("code", [STRAIGHT, CALLING])
def test_places_go_on_into_the_helpers_and_end_there(code: list[str], by: str) -> None:
    function, helper = between(code)
    rows = [place(number, by) for number in range(6)]
    found = resolve(counts(rows), function, [helper])
    assert found.placed == [(function.start + number, row) for number, row in enumerate(rows)]
    assert found.resolved == list(zip(mnemonics([*code, *HELPER]), rows, strict=True))
    assert (found.conflicts, found.doubts, found.unresolved) == ([], [], [])
    for helpers, first in (([], 4), ([helper], 6)):
        off = place(first, by)
        (told,) = resolve(counts([*rows[:first], off]), function, helpers).conflicts
        assert told.endswith("lies outside of the function")


@EACH_WAY
def test_the_places_of_a_helper_count_from_its_own_start(by: str) -> None:
    code = [HELPER[0], "EXIT"]
    rows = [place(number, by) for number in range(2)]
    assert resolve(counts(rows), between(helper=code)[1]).resolved == list(zip(mnemonics(code), rows, strict=True))


@pytest.mark.parametrize(("size", "fits"), [(None, True), (3, False), (4, True), (5, False), (6, True), (7, False)])
def test_a_source_may_count_the_helpers_or_leave_them_out(size: int | None, fits: bool) -> None:
    function, helper = between()
    found = resolve(counts([place(number, "index") for number in range(6)], size=size), function, [helper])
    assert found.conflicts == ([] if fits else [f"the source counts {size} instructions in it, the listing 4"])


@pytest.mark.parametrize("where", ["kernel", "helper"])
def test_what_was_counted_stands_in_the_kernel_or_its_helpers(where: str) -> None:
    """Not in what stands before or behind them, unless they call it."""
    function, helper = between()
    named = [CountRow(4, mnemonic=name.lower()) for name in [*mnemonics(INNER), "LOP3", "POPC"]]
    found = resolve(counts(named), function, [helper])
    assert found.conflicts == [f"{name} was counted, but does not stand in the function" for name in ("LOP3", "POPC")]
    call = "CALL.ABS.NOINC `(behind)"
    function, helper = between([call, *STRAIGHT[1:]]) if where == "kernel" else between(helper=[call, *HELPER[1:]])
    assert resolve(counts(named), function, [helper]).conflicts == []


@EACH_WAY
def test_the_words_of_a_row_are_held_against_its_place(by: str) -> None:
    """They count all the same; what only the listing names is taken back."""
    rows = [place(0, by), place(1, by, mnemonic="fadd.ftz"), place(2, by, sass="MUFU.RCP R1, R2 ;"), place(3, by)]
    found = resolve(counts(rows), between()[0])
    assert found.conflicts == ["the source has MUFU.RCP where the listing has FMUL"]
    assert found.resolved == [("fadd.ftz", rows[1]), ("MUFU.RCP", rows[2])]
    assert [row for _, row in found.unresolved] == [rows[0], rows[3]]


def test_what_the_table_of_a_source_names_stays_though_the_listing_does_not_fit() -> None:
    rows = [place(number, "index", name=f"OPCODE_{number}") for number in range(4)]
    found = resolve(counts(rows, table={1: "MUFU.RCP R1, R2", 3: "EXIT", 2: "???"}), between()[0])
    assert found.resolved == [("MUFU.RCP", rows[1]), ("EXIT", rows[3])]
    assert found.unresolved == [("OPCODE_0", rows[0]), ("OPCODE_2", rows[2])]


@EACH_WAY
@pytest.mark.parametrize("apart", [1, 3])
def test_rows_of_one_place_are_put_together(by: str, apart: int) -> None:
    """A source may give an instruction more than once, for each launch or each warp."""
    rows = [place(number, by) for number in range(4)] * apart
    found = resolve(counts([*rows, *rows[::-1]]), between()[0])
    assert (found.conflicts, found.doubts) == ([], [])
    assert found.counted("issued")[0].total() == 4 * 2 * len(rows)
    assert resolve(counts([*rows, *rows[2:3]]), between()[0]).doubts


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (None, True),
        (CountRow(4, mnemonic="MOV"), False),  # it may be the first one
        (CountRow(4, name="all"), True),
        (place(1, "index", mnemonic="FADD"), True),
        (place(1, "offset", mnemonic="FADD"), True),
    ],
)
def test_what_is_not_at_its_place_may_be_among_the_rows_without_one(row: CountRow | None, told: bool) -> None:
    rows = [place(1, "index", name="at 1") for _ in range(row is None or row.index is row.offset)]
    rows += [place(2, "index"), place(3, "index"), *([row] if row else [])]
    assert ("the first instruction was not counted" in resolve(counts(rows), between()[0]).conflicts) == told


def test_of_the_neighbours_with_unequal_counts_three_are_named() -> None:
    rows = [CountRow(issued, index=index) for index, issued in enumerate([4, 3, 4, 3, 4, 3, 4])]
    (doubt,) = resolve(counts(rows), between([*["FADD R1, R2, R3"] * 6, "EXIT"])[0]).doubts
    assert doubt.startswith("neighbours in the code have unequal counts: instruction 1 was executed 3 times")
    assert doubt.endswith(" and 3 more") and "instruction 3" in doubt and "instruction 4" not in doubt


@pytest.mark.parametrize("hidden", [True, False])
def test_numbers_run_ahead_of_the_lines_where_an_address_is_not_printed(hidden: bool) -> None:
    text = written(Body("k", ["MOV R1, R2", "NOP", "FADD R1, R2, R3", "EXIT"]))
    function = parse("".join(line for line in text.splitlines(keepends=True) if " NOP" not in line)).functions[0]
    rows = [CountRow(4, index=index - (not hidden), offset=16 * index) for index in (2, 3)]
    found = resolve(counts([CountRow(4, index=0, offset=0), *rows]), function)
    assert (found.conflicts, function.missing) == ([], 1)
    assert [name for name, _ in found.resolved] == ["MOV", "FADD", "EXIT"]


@pytest.mark.parametrize("numbered", [True, False])
def test_a_listing_without_addresses_knows_numbers_only(numbered: bool) -> None:
    """It contradicts no offset; nor does one line without address stand for the first one."""
    function = parse("MOV R1, R2 ;\nFADD R1, R2, R3 ;\nEXIT ;\n").functions[0]
    rows = [CountRow(4, index=number if numbered else None, offset=16 * number) for number in range(3)]
    found = resolve(counts(rows), function)
    assert (found.conflicts, found.doubts) == ([], [])
    assert [name for name, _ in found.resolved] == (["MOV", "FADD", "EXIT"] if numbered else [])
    assert len(found.placed) == len(found.resolved) == 3 - len(found.unresolved)


@pytest.mark.parametrize("lost", range(3))
def test_a_line_without_an_address_stands_for_no_other(lost: int) -> None:
    offsets = ["" if number == lost else f"{16 * number:04x}" for number in range(3)]
    columns = Columns(offsets, [""] * 3, ["MOV", "FADD", "EXIT"], [""] * 3)
    function = Function(name="k", arch="sm_90", role="kernel", section=None, columns=columns, start=0, stop=3)
    placed = resolve(counts([place(number, "offset") for number in range(3)]), function).placed
    assert [number for number, _ in placed] == [number for number in range(3) if number != lost]


def test_a_number_against_an_offset_is_told_with_both() -> None:
    rows = [*(place(number, "both") for number in range(3)), CountRow(4, index=3, offset=16)]
    assert "OPCODE_3 has the offset 0x10 of instruction 1" in resolve(counts(rows), between()[0]).conflicts


@pytest.mark.parametrize(("number", "told"), [(3, "FMUL"), (4, "nothing"), (6, "nothing")])
def test_a_table_ends_with_the_code(number: int, told: str) -> None:
    """What stands behind is another function's."""
    code = [*STRAIGHT[:2], *STRAIGHT[1:3]]
    found = resolve(counts([place(0, "index")], table={number: "MUFU.RCP R1"}), between(code)[0])
    assert f"the source has MUFU.RCP as instruction {number}, the listing {told}" in found.conflicts


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_not_counted_is_missed_where_all_is_resolved(whole: bool) -> None:
    rows = [CountRow(4, mnemonic="EXIT"), *([] if whole else [CountRow(4, name="?")])]
    missed = [gap.partition(" ")[0] for gap in resolve(counts(rows), between()[0]).gaps]
    assert missed == (["MOV", "FADD", "FMUL"] if whole else [])


def test_an_empty_function_has_no_places() -> None:
    function = Function(name="k", arch="sm_90", role="kernel", section=None, columns=Columns(), start=0, stop=0)
    for by in ("index", "offset"):
        found = resolve(counts([place(0, by)]), function)
        assert len(found.unresolved) == 1 and not found.placed


LEAVING = ["MOV R1, R2", "CALL.ABS.NOINC `(behind)", *STRAIGHT[2:]]
SHARED = "functions that the kernel calls number their instructions from 0 too"


@pytest.mark.parametrize("length", [None, 1, 2, 9])
@EACH_WAY
def test_the_number_of_an_instruction_may_be_that_of_a_called_function(by: str, length: int | None) -> None:
    """Up to the length of the longest one; all, where one is not known. What says itself what it is stays."""
    function, _ = between(LEAVING)
    callees = [parse(written(Body("f", ["NOP"] * n))).functions[0] for n in (1, length or 1)]
    rows = [place(number, by) for number in range(4)] + [place(0, by, sass="MOV R1, R2")]
    rows[4].issued = 0
    found = resolve(counts(rows), function, callees=callees if length else None)
    taken = 0 if by == "offset" else min(4, length or 4)
    assert [row for _, row in found.unresolved] == rows[:taken]
    assert {(name, row.index) for name, row in found.resolved[:1]} == {("MOV", rows[4].index)}
    assert [row for _, row in found.placed] == (rows[taken:4] if taken else rows)
    assert [SHARED in doubt for doubt in found.doubts] == [True] * bool(taken)


@pytest.mark.parametrize("listed", [True, False])
def test_where_the_code_is_not_known_a_call_may_lead_anywhere(listed: bool) -> None:
    """The table of a source tells of one function; of which, is not certain."""
    rows = [place(number, "index") for number in range(4)]
    found = resolve(counts(rows, table=dict(enumerate(LEAVING))), between(LEAVING)[0] if listed else None)
    assert [row for _, row in (found.resolved if listed else found.unresolved)] == rows


@pytest.mark.parametrize("shared", [True, False])
def test_a_table_and_records_that_differ_contradict_themselves_unless_both_may_be_right(shared: bool) -> None:
    rows = [place(0, "index", sass="MOV R1, R2"), place(1, "index", sass="CALL.ABS.NOINC `(behind)")]
    found = resolve(counts(rows, table={0: "MUFU.RCP R1, R2"}), between(LEAVING)[0], callees=None if shared else ())
    assert ("the source itself calls instruction 0 MUFU.RCP and MOV" in found.conflicts) != shared


@pytest.mark.parametrize("what", ["issued", "active", "threads"])
@pytest.mark.parametrize("known", [(None, None), (3, None), (None, 3), (0, 3)])
def test_each_number_of_the_rows_is_added_up_where_it_is_known(what: str, known: tuple[int | None, int | None]) -> None:
    rows = [CountRow(7, mnemonic="FADD"), CountRow(7, mnemonic="FADD"), CountRow(7, name="?")]
    for row, number in zip(rows[1:], known, strict=True):
        row.active = row.threads = number
    rows[0].active = rows[0].threads = 2
    found = resolve(counts(rows), None)
    resolved, unresolved = found.counted(what)
    if what == "issued":
        assert (resolved, unresolved) == ({"FADD": 14}, {"?": 7})
    else:
        assert (resolved["FADD"], unresolved["?"]) == (2 + (known[0] or 0), known[1] or 0)
    assert found.has(what) == (what == "issued" or None not in known)
