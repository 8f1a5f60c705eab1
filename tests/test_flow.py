"""Counts that cannot have come from the code are found out: real ones from an H200 fit, one line off they do not."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sassmix.counts import (
    CLOCK_READ,
    CODE_READS_CLOCK,
    NO_EXIT,
    UNKNOWN_END,
    UNTOLD_EXIT,
    CountRow,
    Counts,
    KernelNames,
)
from sassmix.counts import (
    GUARDED_END as ENDED_UNDER_GUARD,
)
from sassmix.flow import FlowCheck, check_flow
from sassmix.listing import Function, Listing
from sassmix.matching import match
from sassmix.parsing import parse
from sassmix.resolution import Resolution, resolve
from tests.conftest import Body, written

FOLDER = Path(__file__).parent.parent / "fixtures" / "counts" / "h200"
Rows = list[tuple[int, str, int]]


def measured() -> Iterator[tuple[str, Rows]]:
    """Kernels with offset, text and executions of each instruction, as the profiler exported them."""
    name: str = ""
    rows: Rows = []
    with (FOLDER / "micro.source.csv").open(newline="") as handle:
        for row in csv.reader(handle):
            if row and row[0] == "Kernel Name":
                if rows:
                    yield name, rows
                name, rows = row[1], []
            elif row and row[0].startswith("0x"):
                rows.append((int(row[0], 16), row[1].strip(), int(row[2])))
    yield name, rows


LISTING: Listing = parse((FOLDER / "micro.sass").read_text())
KERNELS = list(measured())


def function_of(name: str) -> tuple[Function, list[Function]]:
    found = match(KernelNames(demangled=name), None, LISTING.functions)
    assert found.how == "demangled" and found.function
    function = found.function
    behind = [f for f in LISTING if f.section == function.section and f is not function]
    return function, behind


def as_counts(name: str, rows: Rows, *, shift: int = 0, by: str = "index") -> Counts:
    first = rows[0][0]
    found = [((address - first) // 16 + shift, executed) for address, _, executed in rows if executed]
    if by == "index":
        made = [CountRow(name=f"OPCODE_{i}", index=i, issued=n) for i, n in found if i >= 0]
    else:
        made = [CountRow(name=f"OPCODE_{i}", offset=16 * i, issued=n) for i, n in found if i >= 0]
    return Counts(path="k", kind="cutracer-hist", names=KernelNames(demangled=name), rows=made)


def by_mnemonic(rows: Rows) -> dict[str, int]:
    sums: dict[str, int] = {}
    for _, text, executed in rows:
        words = text.split()
        mnemonic = words[1] if words[0].startswith("@") else words[0]
        sums[mnemonic] = sums.get(mnemonic, 0) + executed
    return {mnemonic: count for mnemonic, count in sums.items() if count}


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
@pytest.mark.parametrize("by", ["index", "offset"])
def test_real_counts_resolve_to_what_the_profiler_named(name: str, rows: Rows, by: str) -> None:
    function, helpers = function_of(name)
    result = resolve(as_counts(name, rows, by=by), function, helpers)
    assert result.conflicts == result.doubts == []
    assert result.unresolved == []
    assert dict(result.counted("issued")[0]) == by_mnemonic(rows)


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_counts_that_are_off_are_found_out_and_nothing_is_claimed(name: str, rows: Rows, shift: int) -> None:
    function, helpers = function_of(name)
    counts = as_counts(name, rows, shift=shift)
    result = resolve(counts, function, helpers)
    assert result.conflicts
    assert result.resolved == []
    assert sum(result.counted("issued")[1].values()) == counts.total


def test_counts_of_another_kernel_are_found_out() -> None:
    wrong = 0
    for (name, rows), (other, _) in zip(KERNELS, KERNELS[1:] + KERNELS[:1], strict=True):
        function, helpers = function_of(other)
        result = resolve(as_counts(name, rows), function, helpers)
        wrong += bool(result.conflicts or result.doubts)
    assert wrong >= 0.9 * len(KERNELS)


def test_empty_counts_contradict_nothing() -> None:
    function, helpers = function_of(KERNELS[0][0])
    assert check_flow(function, {}, helpers) == FlowCheck()


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
def test_rows_without_a_place_are_not_missing(name: str, rows: Rows) -> None:
    """Where some rows name their instruction and no place, what is not at its place may be among them."""
    function, helpers = function_of(name)
    counts = {function.start + index: count for index, (_, _, count) in enumerate(rows) if index % 3}
    assert not check_flow(function, counts, helpers, partial=True).contradictions
    assert check_flow(function, counts, helpers).contradictions


GUARDED_END = ["S2R R0, SR_TID.X", "ISETP.GE.AND P0, PT, R0, R1, PT", "@P0 EXIT", *["FADD R2, R2, R3"] * 5, "STG R2"]


def flow(code: list[str], counts: list[int]) -> FlowCheck:
    """The check of counts, one for each instruction."""
    function = parse(written(Body("k", code))).functions[0]
    return check_flow(function, dict(enumerate(counts, function.start)))


@pytest.mark.parametrize(
    ("counts", "contradicted"),
    [
        ([8] * 9 + [8], False),
        ([8] * 3 + [5] * 7, False),
        ([8, 8, 3, *[5] * 7], False),
        ([8] * 9 + [0], True),
        ([8] * 3 + [5] * 6 + [2], True),
    ],
)
@pytest.mark.parametrize("label", [True, False])
def test_a_guarded_end_lets_out_no_more_than_does_not_go_on(counts: list[int], contradicted: bool, label: bool) -> None:
    """The third case: a tracer that leaves out what the guard turned off."""
    code = [*GUARDED_END, *([".L_last:"] if label else []), "EXIT"]
    found = flow(code, counts)
    assert bool([text for text in found.contradictions if "entered" in text]) == contradicted
    assert bool(found.doubts) == contradicted


@pytest.mark.parametrize("before", [0, 5])
@pytest.mark.parametrize("at_label", [0, 4, 5, 9])
def test_what_falls_through_into_a_label_is_counted_there_too(before: int, at_label: int) -> None:
    code = ["MOV R1, R2", "@P0 BRA `(.L_1)", "FADD R2, R2, R3", ".L_1:", "FMUL R2, R2, R3", "EXIT"]
    found = flow(code, [9, 9, before, at_label, at_label])
    assert bool(found.doubts) == (at_label < before)


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
    other = CountRow(4, mnemonic="FADD")
    assert resolved([*WHOLE, other]).called == [("FADD", other)]
    assert resolved([*WHOLE, other], []).called == []


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
        (UNKNOWN_END, [*CODE[:3], "@P0 EXIT"], {"last": frozenset({3})}, [ENDED_UNDER_GUARD]),
        (UNKNOWN_END, [*CODE[:3], "@PT EXIT"], {"last": frozenset({3})}, []),
        (None, [*CODE[:3], "@P0 EXIT"], {"last": frozenset({3})}, []),
    ],
)
def test_a_gap_stays_unless_the_instructions_close_it(
    gap: str | None, code: list[str], said: dict[str, Any], left: list[str]
) -> None:
    found = resolved(WHOLE, code, gaps=[gap] if gap else [], **said)
    assert found.gaps == left


LOOP = [*["FADD R1, R2, R3"] * 20, ".L_1:", *["FMUL R1, R2, R3"] * 20, "@P0 BRA `(.L_1)", *["MOV R1, R2"] * 10, "EXIT"]
LOOPED = [*[4] * 20, *[40] * 21, *[4] * 11]


@pytest.mark.parametrize("shift", [-2, -1, 0, 1, 2])
def test_how_far_off_counts_are_is_told(shift: int) -> None:
    """By how much they have to be moved, and where to: against their own shift."""
    moved = LOOPED[:1] * shift + LOOPED[: len(LOOPED) - shift] if shift >= 0 else LOOPED[-shift:] + LOOPED[-1:] * -shift
    told = [text for text in flow(LOOP, moved).contradictions if "fit the code" in text]
    number = f"{abs(shift)} instruction{'s' if abs(shift) > 1 else ''}"
    assert told == ([f"the counts fit the code {number} further {'up' if shift > 0 else 'on'}"] if shift else [])


@pytest.mark.parametrize(("beyond", "told"), [(1, "1 counted instruction stands"), (2, "2 counted instructions stand")])
def test_counts_behind_the_end_are_told(beyond: int, told: str) -> None:
    assert flow(["MOV R1, R2", "EXIT"], [4] * 2).contradictions == ()
    assert flow(["MOV R1, R2", "EXIT"], [4] * (2 + beyond)).contradictions == (
        f"{told} in the padding or behind the end of the code",
    )


JUMPED = ["MOV R1, R2", "@P1 BRA `(.L_1)", "FADD R2, R2, R3", ".L_1:", "@P2 FMUL R2, R2, R3"]


@pytest.mark.parametrize(
    ("counts", "doubts"),
    [
        ([8, 8, 3, 8, 8, 8], 0),
        ([8, 8, 3, 3, 8, 8], 0),  # a tracer that leaves out what the guard turned off
        ([8, 8, 3, 8, 5, 5], 1),  # what came to the guard at the label came behind it too
        ([8, 8, 3, 3, 2, 2], 1),
        ([8, 8, 3, 0, 3, 3], 0),
    ],
)
def test_a_guard_at_a_label_lets_no_count_get_lost(counts: list[int], doubts: int) -> None:
    code = [
        "MOV R1, R2",
        "@P1 BRA `(.L_1)",
        "FADD R2, R2, R3",
        ".L_1:",
        "@P2 FMUL R2, R2, R3",
        "FADD R2, R2, R3",
        "EXIT",
    ]
    assert len(flow(code, counts).doubts) == doubts


def test_an_end_to_which_a_jump_may_lead_lets_out_all_that_it_counts() -> None:
    """Eight came to the end, five of them by the jump, and four went on."""
    code = [
        "MOV R1, R2",
        "@P1 BRA `(.L_1)",
        "FADD R2, R2, R3",
        ".L_1:",
        "@P2 FMUL R2, R2, R3",
        "@P0 EXIT",
        "MOV R1, R2",
    ]
    assert flow([*code, "EXIT"], [8, 8, 3, 3, 8, 4, 4]) == FlowCheck()


def test_unequal_neighbours_are_doubted_among_rows_without_a_place_too() -> None:
    function = parse(written(Body("k", CODE))).functions[0]
    for counts in ({0: 4, 1: 3}, {0: 4, 1: 4, 2: 3, 3: 3}):
        placed = {function.start + index: count for index, count in counts.items()}
        assert len(check_flow(function, placed, partial=True).doubts) == 1
    assert check_flow(function, {function.start: 4, function.start + 2: 3}, partial=True) == FlowCheck()
