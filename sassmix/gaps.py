"""Why a capture is not known to be whole, once its instructions are known: gaps that these close, and new ones."""

from __future__ import annotations

from collections.abc import Sequence

from sassmix.columns import ALWAYS
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
from sassmix.errors import number_of
from sassmix.flow import entry_opcodes
from sassmix.listing import CALLS, Function
from sassmix.own_texts import guard_of, opcode_of
from sassmix.sums import beside_lost

Named = Sequence[tuple[str, CountRow]]


def gaps_of(
    counts: Counts,
    code: Sequence[Function],
    resolved: Named,
    *,
    whole: bool,
    callees: Sequence[Function] | None = (),
) -> list[str]:
    """The gaps of a source, those first that only the instructions show.

    :param code: the function that was matched and its helpers; empty without one.
    :param resolved: the rows with the mnemonic of each.
    :param whole: whether that are all rows.
    :param callees: the functions in other sections that may run, too; None where they are not all known.
    """
    function = code[0] if code else None
    ends = _ends(counts, function, resolved)
    closed = {
        CLOCK_READ: function is not None and not _reads_clock(function),
        NO_EXIT: any(row.issued and opcode_of(name) == "EXIT" for name, row in resolved),
        UNKNOWN_END: ends is not None,
    }
    still = [gap for gap in counts.gaps if not closed.get(gap)]
    return [
        *([GUARDED_END] if UNKNOWN_END in counts.gaps and ends else []),
        *([CODE_READS_CLOCK] if _is_timed(counts, function) else []),
        *(_skipped(code, callees, resolved) if whole else []),
        *_called(code, callees, resolved),
        *_without_addresses(counts, function, resolved),
        *(UNTOLD_EXIT if gap == NO_EXIT and not whole else gap for gap in still),
    ]


def _without_addresses(counts: Counts, function: Function | None, resolved: Named) -> list[str]:
    """Rows of a page that have no addresses are all there if they are the function's, in order, but for its padding."""
    if counts.kind != "ncu-source" or function is None or any(row.offset is not None for row in counts.rows):
        return []
    opcodes = {row.index: opcode_of(name) for name, row in resolved}
    listed = function.columns.mnemonics[function.start : function.code_stop]
    whole = all(opcodes.get(number) == opcode_of(mnemonic) for number, mnemonic in enumerate(listed))
    return [] if whole else ["the rows have no addresses, and are not all instructions of the listing's function"]


def _is_timed(counts: Counts, function: Function | None) -> bool:
    told = counts.kind != "cutracer-hist" or CLOCK_READ in counts.gaps
    return not told and function is not None and _reads_clock(function)


def _skipped(code: Sequence[Function], callees: Sequence[Function] | None, resolved: Named) -> list[str]:
    """Where all come through that enter a kernel or are called, all is counted; else rows are missing."""
    if not code:
        return []
    counted = {opcode_of(name) for name, row in resolved if row.issued}
    missing = [opcode for opcode in _certain(code, callees, resolved) if opcode not in counted]
    found = [f"{opcode} stands where every warp comes through, but was not counted" for opcode in missing]
    placed = any(row.index is not None or row.offset is not None for _, row in resolved)
    return found or (beside_lost(code, counted) if not placed and all(map(_is_all, code)) else [])


def _is_all(function: Function) -> bool:
    """Whether nothing else than a function and its helpers runs, and all of it is known."""
    seen = not (function.damage or function.unreadable or function.missing)
    return seen and not (function.calls or function.unknown_calls)


def _certain(code: Sequence[Function], callees: Sequence[Function] | None, resolved: Named) -> list[str]:
    """The opcodes that whatever enters the kernel executes, or whatever calls one of the functions that it may call."""
    found = entry_opcodes(code[0])
    possible = [*code[1:], *(callees or ())]
    known = callees is not None and possible and not any(f.unknown_calls for f in (code[0], *possible))
    if known and _calls([*code, *possible], resolved, certain=True):
        first, *others = (entry_opcodes(function, straight=True) for function in possible)
        found += [opcode for opcode in first if all(opcode in other for other in others)]
    return list(dict.fromkeys(found))


def _called(code: Sequence[Function], callees: Sequence[Function] | None, resolved: Named) -> list[str]:
    """What was called is a part of the kernel; what did not return was not counted, whoever left it out."""
    returned = sum(row.issued for name, row in resolved if name[:3].upper() == "RET" and opcode_of(name) == "RET")
    calls = _calls([*code, *(callees or ())], resolved, certain=returned > 0)
    if returned >= calls:
        return []
    returns = number_of(returned, "time") if returned else "never"
    return [f"CALL was executed {number_of(calls, 'time')} and RET {returns}: what was called may be missing"]


def _calls(code: Sequence[Function], resolved: Named, *, certain: bool) -> int:
    """How often something was called, for certain or perhaps: under a guard, only the lanes tell."""
    guarded = certain and any(_calls_under_guard(function) for function in code)
    calls = [row for name, row in resolved if "CAL" in name.upper() and opcode_of(name) in CALLS]
    return sum(
        row.active if row.active is not None else 0 if guarded or (certain and guard_of(row.sass or "")) else row.issued
        for row in calls
    )


def _calls_under_guard(function: Function) -> bool:
    columns, window = function.columns, slice(function.start, function.code_stop)
    guarded = zip(columns.mnemonics[window], columns.guards[window], strict=True)
    return any(guard.strip() for name, guard in guarded if "CAL" in name and opcode_of(name) in CALLS)


def _reads_clock(function: Function) -> bool:
    columns = function.columns
    return any(
        columns.mnemonics[i].startswith(("CS2R", "S2R", "S2UR")) and "CLOCK" in columns.tails[i]
        for i in range(function.start, function.stop)
    )


def _ends(counts: Counts, function: Function | None, resolved: Named) -> set[int] | None:
    """The guarded ones of the EXITs (or of the NOPs right behind one) that the warps ended with; None if it is else."""
    if not counts.last:
        return None
    opcodes = {row.index: opcode_of(name) for name, row in resolved if row.index is not None}
    ends = {i - 1 if opcodes.get(i) == "NOP" else i for i in counts.last}
    if any(opcodes.get(i) != "EXIT" for i in ends):
        return None
    return {i for i in ends if _guard(counts, function, i) not in ALWAYS}


def _guard(counts: Counts, function: Function | None, number: int) -> str:
    if function and number < len(function):
        return function.columns.guards[function.start + number].strip()
    return guard_of(counts.table.get(number, ""))
