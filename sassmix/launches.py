"""Counts put together: every source of one kernel, matched with its function and resolved, all launches of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.agreement import Agreement, Side, compare
from sassmix.counts import CountRow, Counts
from sassmix.listing import Function
from sassmix.matching import Match, match, same_number
from sassmix.report import STATIC_UNIT, UNITS
from sassmix.resolution import Resolution, resolve

#: Of several sources for one kernel the first in this order is reported; the others are compared with it.
_ORDER = ("cutracer-trace", "ncu-source", "cutracer-hist", "ncu-raw", "nvbit-hist")


@dataclass(slots=True)
class Launches:
    """The counts of one kernel by one kind of source: every launch, every file."""

    match: Match
    helpers: Sequence[Function] = ()
    parts: list[tuple[Counts, Resolution]] = field(default_factory=list)

    @property
    def first(self) -> Counts:
        """The counts of the first launch."""
        return self.parts[0][0]

    def counted(self, what: str) -> tuple[Counter[str], Counter[str]]:
        """Counts by mnemonic and by unresolved name, all launches together."""
        sums: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for _, resolution in self.parts:
            for total, part in zip(sums, resolution.counted(what), strict=True):
                total.update(part)
        return sums


def gather(all_counts: Sequence[Counts], functions: Sequence[Function], arch: str | None) -> list[list[Launches]]:
    """Match and resolve everything, and put together what belongs to one kernel.

    :param arch: the user's word on the architecture.
    :returns: for each kernel its sources, the one to report first.
    """
    kernels: dict[tuple[object, ...], dict[str, Launches]] = {}
    archs: dict[str | None, set[str]] = {}
    for counts in all_counts:
        archs.setdefault(counts.names.best, set()).update(() if counts.arch is None else (counts.arch,))
    for counts in all_counts:
        found = match(counts.names, arch or counts.arch, functions)
        helpers = _behind(found.function, functions)
        callees = _called(found.function, helpers, functions)
        launches = kernels.setdefault(_identity(counts, found, archs[counts.names.best]), {}).setdefault(
            counts.kind, Launches(found, helpers)
        )
        launches.parts.append((counts, resolve(counts, found.function, helpers, callees)))
    return [
        sorted(sources.values(), key=lambda s: _ORDER.index(s.first.kind) if s.first.kind in _ORDER else len(_ORDER))
        for sources in kernels.values()
    ]


def _behind(function: Function | None, functions: Sequence[Function]) -> list[Function]:
    """The helpers in a function's section, on which numbers and offsets go on."""
    if function is None or function.section is None:
        return []
    same = (f for f in functions if f.columns is function.columns and f.section == function.section)
    return [f for f in same if f.start >= function.stop and f.role == "helper"]


def _called(
    function: Function | None, helpers: Sequence[Function], functions: Sequence[Function]
) -> Sequence[Function] | None:
    """The functions in other sections that may run when a function does; None where they are not all known.

    Calls through a register are taken to lead to the helpers in the section, if it has any.
    """
    known = {f.name: f for f in functions if function and same_number(f.arch, function.arch)}
    inside = {f.name for f in (*([function] if function else []), *helpers)}
    found: dict[str, Function] = {}
    open_ends = [*([function] if function else []), *helpers]
    while open_ends:
        caller = open_ends.pop()
        names = [name for name in caller.calls if name not in found and name not in inside]
        if (caller.unknown_calls and not helpers) or any(name not in known for name in names):
            return None
        found.update((name, known[name]) for name in names)
        open_ends += [known[name] for name in names]
    return tuple(found.values())


def executed(launches: Launches, what: str) -> tuple[Counter[int] | None, str]:
    """Counts by place in the columns of the listing, all launches together; None and the reason where nothing tells."""
    if any(resolution.conflicts for _, resolution in launches.parts):
        return None, "the counts contradict the listing or one another"
    if not all(resolution.placed for _, resolution in launches.parts):
        return None, "the counts do not say for certain which instruction of the listing they belong to"
    total: Counter[int] = Counter()
    for _, resolution in launches.parts:
        for place, row in resolution.placed:
            total[place] += getattr(row, what) or 0
    return total, ""


def _side(launches: Launches) -> Side:
    """What a source says on a kernel, as far as other sources can be compared with it."""
    resolved, unresolved = launches.counted("issued")
    has_active = all(resolution.has("active") for _, resolution in launches.parts)
    return Side(
        source=launches.first.kind,
        unit=UNITS["threads" if by_thread(launches) else "issued"],
        launches=launch_count(launches),
        opcodes=+_by_opcode(resolved),
        unresolved=unresolved.total(),
        whole=not any(counts.lost or counts.gaps for counts, _ in launches.parts),
        called=_by_opcode(_sum(row for _, resolution in launches.parts for row in resolution.called)),
        active=_by_opcode(launches.counted("active")[0]) if has_active else None,
        hardware=_hardware_total(launches),
    )


def compared(sources: Sequence[Launches]) -> Agreement:
    """The sources of a kernel side by side, with its code where it is among the inputs."""
    main = sources[0]
    sides = [_side(launches) for launches in sources]
    if main.match.function is None:
        return compare(sides)
    functions = (main.match.function, *main.helpers)
    opcodes = sum((_by_opcode(f.counts() + f.unread()) for f in functions), Counter[str]())
    code = Side(source="listing", unit=STATIC_UNIT, launches=None, opcodes=opcodes)
    return compare(sides, code, sum(f.padding for f in functions))


def _sum(rows: Iterable[tuple[str, CountRow]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for name, row in rows:
        total[name] += row.issued
    return total


def _hardware_total(launches: Launches) -> int | None:
    totals = [counts.hardware.get("inst_executed") for counts, _ in launches.parts]
    return None if None in totals else int(sum(number for number in totals if number is not None))


def _by_opcode(counts: Mapping[str, int]) -> Counter[str]:
    """Counts by mnemonic put together by opcode."""
    total: Counter[str] = Counter()
    for mnemonic, count in counts.items():
        total[mnemonic.partition(".")[0].upper()] += count
    return total


def _identity(counts: Counts, found: Match, archs: set[str]) -> tuple[object, ...]:
    """What makes two sources speak of one kernel; one that names no architecture means the only one of that name."""
    if found.function:
        return (found.function.name, found.function.arch)
    only = next(iter(archs)) if len(archs) == 1 else None
    return (counts.names.best or counts.path, counts.arch or only)


def launch_count(main: Launches) -> int | None:
    """Launches of all files together (those in parts were put together when they were read)."""
    numbers = [counts.launches for counts, _ in main.parts]
    return None if None in numbers else sum(n for n in numbers if n is not None)


def iteration(path: str) -> str:
    """The number of the iteration in the name of a tracer's file; the launches of each are counted anew."""
    found = re.search(r"_iter([0-9]+)_", Path(path).name)
    return found[1] if found else ""


def by_thread(launches: Launches) -> bool:
    """Whether the source counted threads, so that its numbers are no warp instructions."""
    return any("warp instructions" in counts.missing for counts, _ in launches.parts)
