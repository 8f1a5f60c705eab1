"""Why a capture is not known to be whole, once its instructions are known: gaps that these close, and new ones."""

from __future__ import annotations

from collections.abc import Sequence

from sassmix.counts import (
    CLOCK_READ,
    CODE_READS_CLOCK,
    GUARDED_END,
    NO_EXIT,
    UNKNOWN_END,
    UNTOLD_EXIT,
    CountRow,
    Counts,
)
from sassmix.flow import entry_opcodes
from sassmix.listing import CALLS, Function
from sassmix.own_texts import guard_of
from sassmix.own_texts import opcode_of as _base

Named = Sequence[tuple[str, CountRow]]


def gaps_of(counts: Counts, function: Function | None, resolved: Named, *, whole: bool) -> list[str]:
    """The gaps of a source, those first that only the instructions show.

    :param resolved: the rows with the mnemonic of each.
    :param whole: whether that are all rows.
    """
    ends = _ends(counts, function, resolved)
    closed = {
        CLOCK_READ: function is not None and not _reads_clock(function),
        NO_EXIT: any(row.issued and _base(name) == "EXIT" for name, row in resolved),
        UNKNOWN_END: ends is not None,
    }
    still = [gap for gap in counts.gaps if not closed.get(gap)]
    return [
        *([GUARDED_END] if UNKNOWN_END in counts.gaps and ends else []),
        *([CODE_READS_CLOCK] if _is_timed(counts, function) else []),
        *(_skipped(function, resolved) if function and whole else []),
        *_called(resolved),
        *(UNTOLD_EXIT if gap == NO_EXIT and not whole else gap for gap in still),
    ]


def _is_timed(counts: Counts, function: Function | None) -> bool:
    told = counts.kind != "cutracer-hist" or CLOCK_READ in counts.gaps
    return not told and function is not None and _reads_clock(function)


def _skipped(function: Function, resolved: Named) -> list[str]:
    """Every warp executes what stands in front of the first branch; where that was not counted, rows are missing."""
    counted = {_base(name) for name, row in resolved if row.issued}
    missing = [opcode for opcode in entry_opcodes(function) if opcode not in counted]
    return [f"{opcode} stands where every warp comes through, but was not counted" for opcode in missing]


def _called(resolved: Named) -> list[str]:
    """What was called is a part of the kernel; where nothing returned, it was not counted, whoever left it out."""
    calls = sum(row.issued if row.active is None else row.active for name, row in resolved if _base(name) in CALLS)
    if not calls or any(row.issued and _base(name) == "RET" for name, row in resolved):
        return []
    return [f"CALL was executed {calls} times and RET never: what was called may be missing"]


def _reads_clock(function: Function) -> bool:
    columns = function.columns
    return any(
        columns.mnemonics[i].startswith(("CS2R", "S2R", "S2UR")) and "CLOCK" in columns.tails[i]
        for i in range(function.start, function.stop)
    )


def _ends(counts: Counts, function: Function | None, resolved: Named) -> set[int] | None:
    """The guarded ones of the EXITs (or of the NOPs right behind one) that the warps ended with; None if it is else."""
    opcodes = {row.index: _base(name) for name, row in resolved if row.index is not None}
    ends = {i - 1 if opcodes.get(i) == "NOP" else i for i in counts.last or ()}
    if not ends or any(opcodes.get(i) != "EXIT" for i in ends):
        return None
    return {i for i in ends if _guard(counts, function, i) not in {"", "@PT", "@UPT"}}


def _guard(counts: Counts, function: Function | None, number: int) -> str:
    if function and number < len(function):
        return function.columns.guards[function.start + number].strip()
    return guard_of(counts.table.get(number, ""))
