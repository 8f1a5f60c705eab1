"""Counts put together: every source of one kernel, matched with its function and resolved, all launches of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from sassmix.agreement import Agreement, Side, compare
from sassmix.counts import CountRow, Counts
from sassmix.listing import Function
from sassmix.matching import Functions, Match, distinct, match, same_number
from sassmix.own_texts import by_opcode, mnemonic_of, other_tables
from sassmix.report import STATIC_UNIT, UNITS
from sassmix.resolution import Resolution, resolve

#: Of several sources for one kernel the first in this order is reported; the others are compared with it.
_ORDER = ("cutracer-trace", "ncu-source", "cutracer-hist", "ncu-raw", "nvbit-hist")
#: Where each row is a launch of its own. The texts of two tools that counted the same launches may stand in one file.
_BY_LAUNCH = frozenset({"ncu-raw"})


@dataclass(slots=True)
class Launches:
    """The counts of one kernel by one kind of source: every launch, every file."""

    match: Match
    helpers: Sequence[Function] = ()
    parts: list[tuple[Counts, Resolution]] = field(default_factory=list)
    #: The names of all functions that there are, and the architectures on which one has the kernel's name, if not here.
    listed: Sequence[str] = ()
    elsewhere: Sequence[str] = ()
    #: Captures of the same kernel, by any source, that hold no counts.
    empty: list[Counts] = field(default_factory=list)

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

    @property
    def standing(self) -> set[str]:
        """The mnemonics of the code that the source carries: of its tables, and of rows that were not executed, too."""
        found = {row.mnemonic for counts, _ in self.parts for row in counts.rows}
        found |= {mnemonic_of(text) for counts, _ in self.parts for text in set(counts.table.values())}
        return {name for name in found if name}


def gather(all_counts: Sequence[Counts], functions: Sequence[Function], arch: str | None) -> list[list[Launches]]:
    """Match and resolve everything, and put together what belongs to one kernel.

    :param arch: the user's word on the architecture.
    :returns: for each kernel its sources, the one to report first. A kernel of which nothing was counted is none.
    """
    kernels: dict[tuple[object, ...], dict[tuple[str, bool, bool], Launches]] = {}
    empty: dict[tuple[object, ...], list[Counts]] = {}
    archs: dict[str | None, set[str]] = {}
    for counts in all_counts:
        archs.setdefault(counts.names.best, set()).update(() if counts.arch is None else (counts.arch,))
    named = {(c.path, c.names.best) for c in all_counts if c.kind in _BY_LAUNCH and not _nameless(c)}
    functions = Functions(functions)
    names = tuple(dict.fromkeys(function.name for function in functions))
    for counts in all_counts:
        found = match(counts.names, arch or counts.arch, functions)
        identity = _identity(counts, found, archs[counts.names.best])
        if not counts.rows:
            empty.setdefault(identity, []).append(counts)
            continue
        helpers = _behind(found.function, functions)
        callees = _called(found.function, helpers, functions)
        new = Launches(found, helpers, listed=names, elsewhere=_elsewhere(counts, found, functions))
        launches = kernels.setdefault(identity, {}).setdefault(_sort(counts, named), new)
        launches.parts.append((counts, resolve(counts, found.function, helpers, callees)))
    for identity, sources in kernels.items():
        for launches in sources.values():
            launches.empty = empty.get(identity, [])
            tables = [(counts.path, counts.table) for counts, _ in launches.parts]
            launches.parts[0][1].doubts += other_tables(tables)
    return [
        [launches for _, launches in sorted(sources.items(), key=lambda item: _rank(*item[0]))]
        for sources in kernels.values()
    ]


def _sort(counts: Counts, named: Container[tuple[str, str | None]] = ()) -> tuple[str, bool, bool]:
    """What can be added up: one kind of source, one unit, and either opcodes or totals of the same launches.

    :param named: files by launch, and kernels in them with opcodes: a total beside these is of another launch.
    """
    nameless = _nameless(counts) and (counts.path, counts.names.best) not in named
    return counts.kind, _threaded(counts), nameless


def _nameless(counts: Counts) -> bool:
    return not any(_names_instruction(row) for row in counts.rows)


def _names_instruction(row: CountRow) -> bool:
    return bool(row.mnemonic or row.sass) or row.index is not None or row.offset is not None


def _rank(kind: str, threaded: bool, nameless: bool) -> tuple[int, bool, bool]:
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), nameless, threaded)


def _elsewhere(counts: Counts, found: Match, functions: Sequence[Function]) -> tuple[str, ...]:
    """The architectures of the functions that have the name and were not chosen."""
    if found.function is not None:
        return ()
    anywhere = match(counts.names, None, functions)
    names = {anywhere.function.name} if anywhere.function else set(anywhere.candidates)
    archs = {f.arch for f in functions if f.name in names and f.arch} if len(names) == 1 else set()
    return tuple(sorted(archs)) if anywhere.function or len(archs) > 1 else ()


def _behind(function: Function | None, functions: Sequence[Function]) -> list[Function]:
    """The helpers in a function's section, on which numbers and offsets go on."""
    if function is None or function.section is None:
        return []
    same = (f for f in functions if f.columns is function.columns and f.section == function.section)
    return [f for f in same if f.start >= function.stop and f.role == "helper"]


def _called(function: Function | None, helpers: Sequence[Function], functions: Functions) -> Sequence[Function] | None:
    """The functions in other sections that may run when a function does; None where they are not all known.

    Calls through a register are taken to lead to the helpers in the section, if it has any.
    """
    inside = {f.name for f in (*([function] if function else []), *helpers)}
    found: dict[str, Function] = {}
    open_ends = [*([function] if function else []), *helpers]
    while open_ends:
        caller = open_ends.pop()
        named = {name: _meant(name, caller, functions) for name in caller.calls if name not in inside}
        if (caller.unknown_calls and not helpers) or any(len(possible) != 1 for possible in named.values()):
            return None
        new = {name: possible[0] for name, possible in named.items() if name not in found}
        found |= new
        open_ends += new.values()
    return tuple(found.values())


def _meant(name: str, caller: Function, functions: Functions) -> list[Function]:
    """What a call can lead to: a function of the same listing, else one of any other; a copy is no other."""
    possible = [f for f in functions.named(name) if same_number(f.arch, caller.arch)]
    return distinct([f for f in possible if f.columns is caller.columns] or possible)


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
        opcodes=+by_opcode(resolved.items()),
        unresolved=unresolved.total(),
        whole=not any(counts.lost or resolution.gaps for counts, resolution in launches.parts),
        called=by_opcode((name, row.issued) for _, found in launches.parts for name, row in found.called),
        active=by_opcode(launches.counted("active")[0].items()) if has_active else None,
        hardware=_hardware_total(launches),
    )


def compared(sources: Sequence[Launches]) -> Agreement:
    """The sources of a kernel side by side, with its code where it is among the inputs."""
    main = sources[0]
    sides = [_side(launches) for launches in sources]
    kinds = Counter(side.source for side in sides)
    for launches, side in zip(sources, sides, strict=True):
        if kinds[side.source] > 1:
            nameless = all(_nameless(counts) for counts, _ in launches.parts)
            words = ["threads"] * by_thread(launches) + ["totals"] * nameless
            side.source += f" ({', '.join(words)})" if words else ""
    if main.match.function is None:
        return compare(sides)
    functions = (main.match.function, *main.helpers)
    opcodes = sum((by_opcode((f.counts() + f.unread()).items()) for f in functions), Counter[str]())
    code = Side(source="listing", unit=STATIC_UNIT, launches=None, opcodes=opcodes)
    return compare(sides, code, sum(f.padding for f in functions))


def _hardware_total(launches: Launches) -> int | None:
    totals = [counts.hardware.get("inst_executed") for counts, _ in launches.parts]
    return None if None in totals else int(sum(number for number in totals if number is not None))


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


def by_thread(launches: Launches) -> bool:
    """Whether the source counted threads, so that its numbers are no warp instructions."""
    return _threaded(launches.first)


def _threaded(counts: Counts) -> bool:
    return "warp instructions" in counts.missing
