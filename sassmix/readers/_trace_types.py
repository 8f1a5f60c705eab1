"""Where a trace records the same instruction with several types of records: each execution is counted once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sassmix.readers._trace_query import Aggregate, Group

#: The type that is written for every instruction.
WHOLE = "opcode_only"
_Typed = dict[str | None, list[Group]]


def executed(found: Aggregate, types: Collection[str]) -> tuple[list[Group], set[str], bool]:
    """The instructions, each execution once; the types that recorded the same; whether ``WHOLE`` has less than another.

    A type counts an instruction once, but it need not be in every warp. So the fullest type tells, apart for the warps
    whose types have the same order; of equal ones one that has the instruction's text.
    """
    if not found.overlapping:
        return [group for group in found.groups if group.type in types], set(), False
    chosen: list[Group] = []
    several: set[str] = set()
    short = False
    for kinds, of_types in _by_place(found.overlapping):
        best = max(of_types, key=lambda kind: (_fullness(of_types[kind]), -kinds.index(str(kind))))
        chosen += of_types[best]
        several |= set(map(str, of_types)) if len(of_types) > 1 else set()
        short |= WHOLE in kinds and _fullness(of_types.get(WHOLE, []))[0] < _fullness(of_types[best])[0]
    return chosen, several, short


def _by_place(groups: Sequence[tuple[tuple[str, ...], Group]]) -> list[tuple[tuple[str, ...], _Typed]]:
    """By instruction and types of the warp. Where an address is missing, the number alone tells the instruction."""
    addressed = all(group.pc for _, group in groups)
    places: dict[tuple[object, ...], tuple[tuple[str, ...], _Typed]] = {}
    for kinds, group in groups:
        place = (kinds, group.number, group.pc if addressed or group.number is None else None)
        places.setdefault(place, (kinds, {}))[1].setdefault(group.type, []).append(group)
    return list(places.values())


def _fullness(groups: Sequence[Group]) -> tuple[int, bool]:
    return sum(group.records for group in groups), any(group.sass for group in groups)
