"""Counts put together: every source of one kernel, matched with its function and resolved, all launches of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.counts import Counts
from sassmix.listing import Function
from sassmix.matching import Match, match
from sassmix.resolution import Resolution, resolve

#: Of several sources for one kernel the first in this order is reported; the others are compared with it.
_ORDER = ("cutracer-trace", "ncu-source", "cutracer-hist", "ncu-raw", "nvbit-hist")


@dataclass(slots=True)
class Launches:
    """The counts of one kernel by one kind of source: every launch, every file."""

    match: Match
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
        launches = kernels.setdefault(_identity(counts, found, archs[counts.names.best]), {}).setdefault(
            counts.kind, Launches(found)
        )
        launches.parts.append((counts, resolve(counts, found.function, helpers)))
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
