"""From what a source counted to instructions: by its own table, else by offset, else by number, each checked.

A contradiction is evidence, never a shift: what was resolved through a listing that does not fit is taken back.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sassmix.counts import CLOCK_READ, NO_EXIT, UNKNOWN_END, CountRow, Counts
from sassmix.evidence import few
from sassmix.flow import check_flow
from sassmix.listing import Function

_SASS = re.compile(r"\s*(@!?U?P[0-9T]\s+)?([A-Z_][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)")
_CALLS = frozenset({"CALL", "CAL", "JCAL"})
_SHARED = "functions that the kernel calls number their instructions from 0 too, so its numbers may be theirs"


@dataclass(slots=True)
class Resolution:
    """The counts by mnemonic, and what the checks found.

    ``conflicts`` are proof that something is wrong, ``doubts`` are odd; ``checked`` names the comparisons. ``called``
    are those of the ``resolved`` that ran outside of the function, ``placed`` those with one place in the columns.
    """

    resolved: list[tuple[str, CountRow]] = field(default_factory=list)
    unresolved: list[tuple[str, CountRow]] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    called: list[tuple[str, CountRow]] = field(default_factory=list)
    placed: list[tuple[int, CountRow]] = field(default_factory=list)

    def counted(self, what: str) -> tuple[Counter[str], Counter[str]]:
        """Counts by mnemonic and by unresolved name: ``issued``, ``active`` or ``threads``."""
        sums: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for counter, rows in zip(sums, (self.resolved, self.unresolved), strict=True):
            for name, row in rows:
                counter[name] += getattr(row, what) or 0
        return sums

    def has(self, what: str) -> bool:
        """Whether the source tells this for every row."""
        return all(getattr(row, what) is not None for _, row in self.resolved + self.unresolved)


def mnemonic_of(sass: str) -> str | None:
    """The mnemonic of an instruction's text in any tool's spelling."""
    match = _SASS.match(sass)
    return match[2] if match else None


def resolve(
    counts: Counts,
    function: Function | None,
    helpers: Sequence[Function] = (),
    callees: Sequence[Function] | None = (),
) -> Resolution:
    """Find the instruction of every row.

    :param function: the function that the counts were matched with, None if there is none.
    :param helpers: the functions behind it in its section; numbers and offsets go on into them.
    :param callees: the functions in other sections that it calls, directly or not; None where they are not all known.
    """
    result = Resolution()
    places = _Places(counts, function, helpers, result)
    by_listing: list[tuple[str, CountRow]] = []
    for row in counts.rows:
        own = _own(counts, row)
        index = places.index(row)
        result.placed += [] if index is None else [(index, row)]
        listed = function.columns.mnemonics[index] if function and index is not None else None
        if own and listed and _base(own) != _base(listed):
            result.conflicts.append(f"the source has {own} where the listing has {listed}")
        if own:
            result.resolved.append((own, row))
            result.called += [(own, row)] if index is None else []
        elif listed:
            by_listing.append((listed, row))
        else:
            result.unresolved.append((_name(row), row))
    if not places.located:
        result.called = []
    places.check()
    result.conflicts += _absent(function, helpers, result)
    shared = _shared_numbers(counts, by_listing, callees)
    if shared:
        result.doubts.append(_SHARED)
    for mnemonic, row in by_listing:
        if result.conflicts or (row.index is not None and row.index < shared):
            result.unresolved.append((_name(row), row))
        else:
            result.resolved.append((mnemonic, row))
    result.placed = [(i, row) for i, row in result.placed if row.index is None or row.index >= shared]
    result.gaps = _open_gaps(counts, function, result)
    return result


def _shared_numbers(
    counts: Counts, by_listing: Sequence[tuple[str, CountRow]], callees: Sequence[Function] | None
) -> int:
    """How many numbers, from 0, may stand for an instruction of a called function too: each has its own from 0 on.

    None, unless the kernel executed a call to another section and the source does not say that it left them out.
    """
    if callees == () or counts.root_only or not any(row.issued and _base(name) in _CALLS for name, row in by_listing):
        return 0
    return max(map(len, callees), default=0) if callees is not None else sys.maxsize


def _absent(function: Function | None, helpers: Sequence[Function], result: Resolution) -> list[str]:
    """Opcodes that the source names and that do not stand in the code, where all of the code is known."""
    named = {_base(name) for name, row in result.resolved if row.mnemonic}
    if (
        function is None
        or not named
        or function.damage
        or any(f.calls or f.unknown_calls for f in (function, *helpers))
    ):
        return []
    columns, stop = function.columns, max(f.stop for f in (function, *helpers))
    standing = {_base(mnemonic) for mnemonic in columns.mnemonics[function.start : stop]}
    missing = sorted(named - standing)
    return [f"{opcode} was counted, but does not stand in the function" for opcode in missing]


def _own(counts: Counts, row: CountRow) -> str | None:
    """What the source itself says that the instruction is."""
    text = row.sass or (counts.table.get(row.index) if row.index is not None else None)
    return row.mnemonic or (mnemonic_of(text) if text else None)


def _name(row: CountRow) -> str:
    if row.name:
        return row.name
    return (
        f"OPCODE_{row.index}" if row.index is not None else f"offset {row.offset:#x}" if row.offset is not None else "?"
    )


def _base(mnemonic: str) -> str:
    return mnemonic.partition(".")[0].upper()


class _Places:
    """Where the rows stand in the listing's columns."""

    def __init__(
        self, counts: Counts, function: Function | None, helpers: Sequence[Function], result: Resolution
    ) -> None:
        self.counts, self.function, self.helpers, self.result = counts, function, helpers, result
        self.found: Counter[int] = Counter()
        self.located = False
        self.by_offset: dict[int, int] = {}
        if function:
            offsets = function.columns.offsets
            stop = max(f.stop for f in (function, *helpers))
            first = int(offsets[function.start], 16) if len(function) and offsets[function.start] else 0
            self.by_offset = {int(offsets[i] or "0", 16) - first: i for i in range(function.start, stop)}
            self.stop = stop

    def index(self, row: CountRow) -> int | None:
        """The place of a row: by its offset, else by its number; None where it has neither or lies outside."""
        if self.function is None or (row.offset is None and row.index is None):
            return None
        by_number = self.function.start + row.index if row.index is not None else None
        place = self.by_offset.get(row.offset) if row.offset is not None else by_number
        if place is None or place >= self.stop:
            self.result.conflicts.append(f"{_name(row)} lies outside of the function")
            return None
        if row.offset is not None and by_number is not None and place != by_number and not self._hidden():
            self.result.conflicts.append(
                f"{_name(row)} has the offset {row.offset:#x} of instruction {place - self.function.start}"
            )
        self.located = True
        self.found[place] += row.issued
        return place

    def _hidden(self) -> bool:
        """Where the disassembler prints nothing for an address, numbers run ahead of the lines."""
        return bool(self.function and self.function.missing)

    def check(self) -> None:
        """Compare the counts with the flow of the code, the sizes, and the table of the source with the listing."""
        function, counts, result = self.function, self.counts, self.result
        if function is None:
            return
        if counts.size is not None and counts.size not in (len(function), self.stop - function.start):
            result.conflicts.append(f"the source counts {counts.size} instructions in it, the listing {len(function)}")
        result.conflicts += [text for text in self._table_conflicts() if text not in result.conflicts]
        if self.located and self._flow_tells():
            result.checked.append("the flow of the code")
            placeless = any(row.mnemonic and row.offset is None and row.index is None for row in counts.rows)
            flow = check_flow(function, self.found, self.helpers, partial=placeless)
            result.conflicts += flow.contradictions
            if flow.doubts:
                result.doubts.append(f"neighbours in the code have unequal counts: {few(flow.doubts)}")

    def _flow_tells(self) -> bool:
        """A part of a capture does not add up; but where nothing else could speak up, the flow has to."""
        whole = not self.counts.lost and not self.counts.gaps
        doubled = any(row.offset is not None and row.index is not None for row in self.counts.rows)
        return whole or not (doubled or self.counts.table or self.counts.lost)

    def _table_conflicts(self) -> list[str]:
        function = self.function
        if not function or not self.counts.table:
            return []
        self.result.checked.append("the source's own table")
        found = []
        for number, text in sorted(self.counts.table.items()):
            index = function.start + number
            own = mnemonic_of(text)
            listed = function.columns.mnemonics[index] if index < self.stop else None
            if own and (listed is None or _base(own) != _base(listed)):
                found.append(f"the source has {own} as instruction {number}, the listing {listed or 'nothing'}")
        return found


def _open_gaps(counts: Counts, function: Function | None, result: Resolution) -> list[str]:
    """The gaps that stay once the instructions are known."""
    closed = {
        CLOCK_READ: function is not None and not _reads_clock(function),
        NO_EXIT: any(_base(name) == "EXIT" for name, _ in result.resolved),
        UNKNOWN_END: _all_warps_ended(counts, result),
    }
    return [gap for gap in counts.gaps if not closed.get(gap)]


def _reads_clock(function: Function) -> bool:
    columns = function.columns
    return any(
        columns.mnemonics[i].startswith(("CS2R", "S2R", "S2UR")) and "CLOCK" in columns.tails[i]
        for i in range(function.start, function.stop)
    )


def _all_warps_ended(counts: Counts, result: Resolution) -> bool:
    """Whether every warp's last instruction was EXIT (or the NOP that some kernels have right behind one)."""
    opcodes = {row.index: _base(name) for name, row in result.resolved if row.index is not None}
    last = counts.last or frozenset()
    ends = (opcodes.get(i) == "EXIT" or (opcodes.get(i) == "NOP" and opcodes.get(i - 1) == "EXIT") for i in last)
    return bool(last) and all(ends)
