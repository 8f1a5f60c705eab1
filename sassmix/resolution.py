"""From what a source counted to instructions: by its own table, else by offset, else by number, each checked.

A contradiction is evidence, never a shift: what was resolved through a listing that does not fit is taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sassmix.counts import CountRow, Counts
from sassmix.errors import number_of
from sassmix.evidence import few
from sassmix.flow import FlowCheck, check_flow
from sassmix.gaps import gaps_of
from sassmix.listing import Function
from sassmix.own_code import OwnCode, matrix_idle, own_code
from sassmix.own_texts import contradictions, mnemonic_of, named, opcode_of, shared_numbers

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
        return _sum(self.resolved, what), _sum(self.unresolved, what)

    def has(self, what: str) -> bool:
        """Whether the source tells this for every row."""
        return all(getattr(row, what) is not None for _, row in self.resolved + self.unresolved)


def _sum(rows: Sequence[tuple[str, CountRow]], what: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for name, row in rows:
        total[name] += getattr(row, what) or 0
    return total


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
    places = _Places(counts, function, helpers, result, leaves=callees is None or bool(callees))
    by_number: list[tuple[str, CountRow]] = []
    by_listing: list[tuple[str, CountRow]] = []
    for row in counts.rows:
        own, numbered = named(counts, row)
        index = places.index(row)
        result.placed += [] if index is None else [(index, row)]
        listed = function.columns.mnemonics[index] if function and index is not None else None
        if own and listed and opcode_of(own) != opcode_of(listed):
            result.conflicts.append(f"the source has {own} where the listing has {listed}")
        if own and numbered:
            by_number.append((own, row))
        elif own:
            result.resolved.append((own, row))
        elif listed:
            by_listing.append((listed, row))
        else:
            result.unresolved.append((_name(row), row))
        result.called += [(own, row)] if own and index is None else []
    if not places.found:
        result.called = []
    places.check()
    result.conflicts += _absent(function, helpers, result)
    shared = shared_numbers(counts, by_number + by_listing, result.resolved, callees if function else None)
    result.conflicts += contradictions(counts, shared)
    _take_named(result, by_number, shared, certain=True)
    _take_named(result, by_listing, shared, certain=not result.conflicts)
    result.placed = [(i, row) for i, row in result.placed if row.index is None or row.index >= shared]
    code = (function, *helpers) if function else ()
    result.gaps = gaps_of(counts, code, result.resolved, whole=not result.unresolved, callees=callees)
    numbered = bool(counts.table) or any(row.offset is None for row in counts.rows)
    whole = not (result.gaps or counts.lost or (shared and numbered))
    # Where no matrix multiply stands idle in the code, the check says nothing of what is asked.
    if whole and (function is None or result.called) and matrix_idle(counts) and (carried := own_code(counts)):
        _check_own(result, carried)
    return result


def _check_own(result: Resolution, own: OwnCode) -> None:
    """Hold a whole capture against the code that it carries; what contradicts it has lost a part."""
    kernel, *behind = own.functions
    known = {"partial": own.partial, "anywhere": own.anywhere, "exact": own.exact}
    flow = check_flow(kernel, own.counts, behind, **known, own=True)
    _take_flow(result, flow, "the flow of the code that the capture carries")
    result.gaps += flow.contradictions


def _take_flow(result: Resolution, flow: FlowCheck, what: str) -> None:
    result.checked.append(what)
    if flow.doubts:
        result.doubts.append(f"neighbours in the code have unequal counts: {few(flow.doubts)}")


def _take_named(result: Resolution, rows: Sequence[tuple[str, CountRow]], shared: int, *, certain: bool) -> None:
    """Rows that are known by their place: resolved, unless that is not certain or may be the place of another."""
    for mnemonic, row in rows:
        theirs = row.index is not None and row.index < shared
        if theirs and _SHARED not in result.doubts:
            result.doubts.append(_SHARED)
        if certain and not theirs:
            result.resolved.append((mnemonic, row))
        else:
            result.unresolved.append((_name(row), row))


def _absent(function: Function | None, helpers: Sequence[Function], result: Resolution) -> list[str]:
    """Opcodes that the source names and that do not stand in the code, where all of the code is known."""
    named = {opcode_of(name) for name, row in result.resolved if row.mnemonic}
    if (
        function is None
        or not named
        or function.damage
        or any(f.calls or f.unknown_calls for f in (function, *helpers))
    ):
        return []
    columns, stop = function.columns, max(f.stop for f in (function, *helpers))
    standing = {opcode_of(mnemonic) for mnemonic in columns.mnemonics[function.start : stop]}
    missing = sorted(named - standing)
    return [f"{opcode} was counted, but does not stand in the function" for opcode in missing]


def _name(row: CountRow) -> str:
    if row.name:
        return row.name
    return (
        f"OPCODE_{row.index}" if row.index is not None else f"offset {row.offset:#x}" if row.offset is not None else "?"
    )


class _Places:
    """Where the rows stand in the listing's columns."""

    def __init__(
        self,
        counts: Counts,
        function: Function | None,
        helpers: Sequence[Function],
        result: Resolution,
        *,
        leaves: bool,
    ) -> None:
        self.counts, self.function, self.helpers, self.result, self.leaves = counts, function, helpers, result, leaves
        self.found: Counter[int] = Counter()
        self.by_offset: dict[int, int] = {}
        if function is not None:
            offsets = function.columns.offsets
            stop = max(f.stop for f in (function, *helpers))
            first = int(offsets[function.start], 16) if len(function) and offsets[function.start] else 0
            self.by_offset = {int(offsets[i], 16) - first: i for i in range(function.start, stop) if offsets[i]}
            self.stop = stop

    def index(self, row: CountRow) -> int | None:
        """The place of a row: by its offset, else by its number; None where it has neither or lies outside."""
        offset = row.offset if self.by_offset else None  # in a listing without addresses it tells nothing
        if self.function is None or (offset is None and row.index is None):
            return None
        by_number = self.function.start + row.index if row.index is not None else None
        place = self.by_offset.get(offset) if offset is not None else by_number
        if place is None or place >= self.stop:
            if not (self.leaves and row.sass):  # a called function's row, which says itself what it is
                self.result.conflicts.append(f"{_name(row)} lies outside of the function")
            return None
        # Where the disassembler prints nothing for an address, numbers run ahead of the lines.
        if offset is not None and by_number is not None and place != by_number and not self.function.missing:
            self.result.conflicts.append(
                f"{_name(row)} has the offset {offset:#x} of instruction {place - self.function.start}"
            )
        self.found[place] += row.issued
        return place

    def check(self) -> None:
        """Compare the counts with the flow of the code, the sizes, and the table of the source with the listing."""
        function, counts, result = self.function, self.counts, self.result
        if function is None:
            return
        if counts.size is not None and counts.size not in (len(function), self.stop - function.start):
            result.conflicts.append(
                f"the source counts {number_of(counts.size, 'instruction')} in it, the listing {len(function):,}"
            )
        result.conflicts += self._table_conflicts(function)
        if self.found and self._flow_tells():
            placeless = any(row.mnemonic and row.offset is None and row.index is None for row in counts.rows)
            flow = check_flow(function, self.found, self.helpers, partial=placeless)
            _take_flow(result, flow, "the flow of the code")
            result.conflicts += flow.contradictions

    def _flow_tells(self) -> bool:
        """A part of a capture does not add up; but where nothing else could speak up, the flow has to."""
        whole = not self.counts.lost and not self.counts.gaps
        doubled = any(row.offset is not None and row.index is not None for row in self.counts.rows)
        return whole or not (doubled or self.counts.table or self.counts.lost)

    def _table_conflicts(self, function: Function) -> list[str]:
        found = []
        known = {number: own for number, text in self.counts.table.items() if (own := mnemonic_of(text))}
        if known:
            self.result.checked.append("the source's own table")
        for number, own in sorted(known.items()):
            index = function.start + number
            listed = function.columns.mnemonics[index] if index < self.stop else None
            if listed is None or opcode_of(own) != opcode_of(listed):
                found.append(f"the source has {own} as instruction {number}, the listing {listed or 'nothing'}")
        return found
