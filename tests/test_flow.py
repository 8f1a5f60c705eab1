"""Counts that cannot have come from the code are found out: real ones from an H200 fit, one line off they do not."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.flow import FlowCheck, check_flow, entry_opcodes
from sassmix.listing import Function, Listing
from sassmix.matching import match
from sassmix.parsing import parse
from sassmix.resolution import resolve
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


#: Another function of the listing; nothing in it says anything on the one behind it.
BEFORE = Body("before", ["MOV R1, R2", "@P0 BRA 0x30", "@P0 BRA 0x40", *["FADD R1, R2, R3"] * 3, "EXIT"])


def flow(code: list[str], counts: list[int], *, partial: bool = False) -> FlowCheck:
    """The check of counts, one for each instruction; -1 for one that is not among them."""
    function = parse(written(BEFORE, Body("k", code))).functions[1]
    placed = {index: count for index, count in enumerate(counts, function.start) if count >= 0}
    found = check_flow(function, placed, partial=partial)
    if not partial and any(placed.values()):
        assert check_flow(function, {index: count for index, count in placed.items() if count}) == found
    return found


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
    assert bool(found.doubts) == (at_label < 9), "what did not fall through has jumped"


CODE = ["MOV R1, R2", "FADD R2, R2, R3", "FMUL R2, R2, R3", "EXIT"]
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


GUARD_AT_A_LABEL = ["MOV R1, R2", "@P1 BRA `(.L_1)", "FADD R2, R2, R3", ".L_1:", "@P2 FMUL R2, R2, R3"]


@pytest.mark.parametrize(
    ("counts", "doubts"),
    [
        ([8, 8, 3, 8, 8, 8], 0),
        ([8, 8, 3, 3, 8, 8], 0),  # a tracer that leaves out what the guard turned off
        ([8, 8, 3, 8, 5, 5], 1),  # what came to the guard at the label came behind it too
        ([8, 8, 3, 3, 2, 2], 1),
        ([8, 8, 3, 0, 3, 3], 1),
    ],
)
def test_a_guard_at_a_label_lets_no_count_get_lost(counts: list[int], doubts: int) -> None:
    code = [
        *GUARD_AT_A_LABEL,
        "FADD R2, R2, R3",
        "EXIT",
    ]
    assert len(flow(code, counts).doubts) == doubts


def test_an_end_to_which_a_jump_may_lead_lets_out_all_that_it_counts() -> None:
    """Eight came to the end, five of them by the jump, and four went on."""
    code = [
        *GUARD_AT_A_LABEL,
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


NEXT = "FADD R2, R2, R3"
NOTED = '-0x10 (*"BRANCH_TARGETS .L_1"*)'


@pytest.mark.parametrize(
    ("jump", "target"),
    [
        ("@P0 BRA `(.L_1)", True),
        ("@P0 BRA 0x30", True),
        ("BRA.U !UP0, 0x30", True),
        ("@P0 BRA 0x40", False),
        ("@P0 BRA 0x9990", False),
        ("@P0 BRX R2 0x30", True),
        ("@P0 IADD3 R1, R2, 0x30, RZ", False),
        ("@P0 IADD R1, R2, 0x30", False),
        ("@P0 NOP", False),
    ],
)
def test_a_jump_may_lead_to_a_label_or_to_an_address(jump: str, target: bool) -> None:
    """Only a jump, and only one of this function."""
    code = ["MOV R1, R2", jump, NEXT, *([".L_1:"] if "`" in jump else []), "FMUL R2, R2, R3", "EXIT"]
    jumps = jump.split()[-2] in {"BRA", "BRX"} or "BRA.U" in jump or "BRX" in jump
    found = flow(code, [9, 9, 5 if jumps else 9, 9 if jumps else 12, 9 if jumps else 12])
    told = "instruction 3 was executed 9 times, the one before it 5" if jumps else "instruction 3 was executed 12 times"
    assert bool(found.doubts) != target
    assert target or told in found.doubts[0]


@pytest.mark.parametrize(
    ("code", "counts", "left"),
    [
        # Three left at the guarded end, five went on, some of them many times.
        (["MOV R1, R2", "@P0 EXIT", NEXT, ".L_1:", NEXT, "@P1 BRA `(.L_1)", "EXIT"], [8, 8, 5, 20, 20, 5], 8),
        # Three came to the guarded end and left, five jumped over it.
        (["MOV R1, R2", "@P1 BRA `(.L_1)", NEXT, "@P0 EXIT", ".L_1:", NEXT, "EXIT"], [8, 8, 3, 3, 5, 5], 8),
        # The same, through a register.
        (["MOV R1, R2", "BRX R2", NEXT, "EXIT", NEXT, "EXIT"], [8, 8, 3, 3, 5, 5], 8),
        # All left at the first end; what stands behind it was not executed.
        (["MOV R1, R2", "@P0 EXIT", NEXT, "EXIT"], [8, 8, 0, 0], 8),
        # Nobody left at the first end, seven at the second.
        (["MOV R1, R2", "@P0 EXIT", "BAR.SYNC 0x0", "@P1 EXIT", f"BRX R2 {NOTED}", "EXIT"], [8, 8, 8, 8, 8, 7], 7),
        # Where a jump through a register leads is not noted: it may have led behind the guarded end.
        (["MOV R1, R2", "@P0 EXIT", "BAR.SYNC 0x0", "@P1 EXIT", "BRX R2", "EXIT"], [8, 8, 8, 8, 8, 7], 8),
        # A loop from the first instruction on is not entered again.
        ([".L_1:", "MOV R1, R2", "@P0 BRA `(.L_1)", "EXIT"], [24, 24, 8], 24),
    ],
)
def test_as_many_leave_as_came(code: list[str], counts: list[int], left: int) -> None:
    told = [f"it was entered {counts[0]} times and left {left} times"] if left < counts[0] else []
    assert list(flow(code, counts).contradictions) == told


@pytest.mark.parametrize(
    ("code", "counts", "doubts"),
    [
        (["MOV R1, R2", "YIELD", "@P0 FADD R2, R2, R3", NEXT, "EXIT"], [4, 4, 5, 3, 3], ["3 was executed 3 times"]),
        (["MOV R1, R2", NEXT, "@P0 FADD R2, R2, R3", NEXT, "EXIT"], [4, -1, 5, 3, 3], ["3 was executed 3 times"]),
        (["MOV R1, R2", NEXT, NEXT, NEXT, NEXT, "EXIT"], [4, -1, 4, 3, -1, 7], ["3 was executed 3 times"]),
        (["MOV R1, R2", NEXT, "EXIT"], [4, -1, 7], []),
    ],
)
def test_what_follows_a_gap_is_held_against_what_is_counted_there(
    code: list[str], counts: list[int], doubts: list[str]
) -> None:
    """A gap of the flow, or of the counts."""
    found = flow(code, counts, partial=-1 in counts).doubts
    assert len(found) == len(doubts) and all(text in told for text, told in zip(doubts, found, strict=True))


def test_unequal_neighbours_are_no_proof_of_another_place() -> None:
    """Where no other place fits better; and the first instruction has to be counted."""
    assert flow([*[NEXT] * 20, "EXIT"], [*[4] * 10, 3, *[4] * 10]).contradictions == ()
    assert flow(["MOV R1, R2", "EXIT"], [0, 4]).contradictions == ("the first instruction was not counted",)


@pytest.mark.parametrize("shift", [1, 2])
@pytest.mark.parametrize("short", [False, True])
def test_code_may_be_too_short_to_tell_how_far_off_counts_are(shift: int, short: bool) -> None:
    """Eight instructions for each by which they have to be moved, those left out that lie outside then."""
    length = 9 * shift - short
    loop = [".L_1:", *[NEXT] * (length - 2 * shift - 2), "BRA.U UP0, `(.L_1)"]
    code = [*[NEXT] * shift, *loop, *[NEXT] * shift, "EXIT"]
    right = [*[4] * shift, *[40] * (length - 2 * shift - 1), *[4] * (shift + 1)]
    moved = [*right[shift:], *[4] * shift]
    told = [text for text in flow(code, moved).contradictions if "fit the code" in text]
    assert bool(told) != short


@pytest.mark.parametrize(("loops", "told"), [(1, False), (2, False), (3, True), (9, True)])
def test_another_place_has_to_fit_more_than_twice_as_well(loops: int, told: bool) -> None:
    """Two neighbours are unequal wherever the counts are put, and one at the head of each loop where they are off."""
    code, right = [NEXT] * 10, [*[4] * 4, 3, *[4] * 5]
    for number in range(loops):
        code += [*[NEXT] * 8, f".L_{number}:", *[NEXT] * 8, f"@P0 BRA `(.L_{number})"]
        right += [*[4] * 8, *[40] * 9]
    found = flow([*code, "EXIT"], [*right[1:], 4, 4])
    assert len(found.doubts) == 2 + loops
    assert any("fit the code 1 instruction further on" in text for text in found.contradictions) == told


@pytest.mark.parametrize(
    ("code", "opcodes"),
    [
        (["MOV.X R1, R2", "@P0 FADD R1, R2, R3", "FMUL R1, R2, R3", "@P1 BRA `(f)", "IADD3 R1"], ["MOV", "FMUL"]),
        (["MOV R1, R2", "MOV R1, R3", "EXIT", "FMUL R1"], ["MOV", "EXIT"]),
        (["MOV R1, R2", ".L_1:", "FMUL R1, R2, R3", "@P0 EXIT", "IADD3 R1"], ["MOV", "FMUL"]),
        (["MOV R1, R2", "WARPSYNC.ALL", "IADD3 R1", "BRX R2", "FMUL R1"], ["MOV", "WARPSYNC", "IADD3", "BRX"]),
        (["MOV R1, R2", "WARPSYNC.COLLECTIVE R1, `(f)", "IADD3 R1"], ["MOV", "WARPSYNC"]),
        (["MOV R1, R2", "CALL.REL.NOINC `(f)", "IADD3 R1"], ["MOV", "CALL"]),
        (["EXIT"], ["EXIT"]),
    ],
)
def test_every_warp_executes_what_stands_up_to_the_first_jump(code: list[str], opcodes: list[str]) -> None:
    function = parse(written(BEFORE, Body("k", code))).functions[1]
    assert list(entry_opcodes(function)) == opcodes


@pytest.mark.parametrize(
    ("jump", "doubted"),
    [
        ("CALL.REL.NOINC `(f)", False),
        ("CALL.REL.NOINC 0x0", False),  # where it leads is put in later
        ("CALL.REL.NOINC R8 `(k)", False),
        ("@P0 CALL.REL.NOINC 0x40", False),
        ("CALL.REL.NOINC 0x40", True),
        ("CALL.REL.NOINC `(.L_2)", True),
        ("BRA.DIV 0x40", False),
        ("BRA.CONV 0x40", False),
        ("BRA.U !UP0, 0x40", False),
        ("BRA P1, 0x40", False),
        ("@PT CALL.REL.NOINC 0x40", True),
    ],
)
def test_what_is_led_to_is_executed_as_often(jump: str, doubted: bool) -> None:
    """Ten times by a jump or a call, if it is not conditional."""
    code = ["MOV R1, R2", ".L_1:", jump, "@P0 BRA `(.L_1)", "EXIT", ".L_2:", "FADD R1, R2, R3", "EXIT"]
    told = flow(code, [4, 40, 40, 4, 0, 0]).doubts
    assert bool(told) == doubted
    assert not doubted or told == ("instruction 4 was executed 0 times, jumps and calls led to it 40 times",)


@pytest.mark.parametrize(
    ("passing", "behind", "doubted"),
    [
        ("BSYNC B0", 1, False),  # the parts of a warp have come together
        ("BSYNC B0", 0, True),
        ("WARPSYNC.ALL", 0, True),
        ("BSSY B0, `(.L_1)", 0, True),
        ("NANOSLEEP 0x10", 0, True),
        ("WARPSYNC.COLLECTIVE R1, `(.L_1)", 0, False),
        ("BRA 0x30", 0, False),
    ],
)
def test_behind_what_control_passes_something_is_executed(passing: str, behind: int, doubted: bool) -> None:
    code = ["MOV R1, R2", passing, NEXT, ".L_1:", NEXT, "EXIT"]
    assert bool(flow(code, [8, 8, behind, 8, 8]).doubts) == doubted
