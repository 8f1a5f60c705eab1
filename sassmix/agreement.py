"""Do the sources of one kernel agree? Their totals per opcode side by side, and what explains a difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sassmix.errors import listed, number_of

#: Opcodes that a sentence names.
_SHOWN = 8


@dataclass(slots=True, kw_only=True)
class Side:
    """What one source says on a kernel.

    :param source: its kind, as in the report's ``inputs``; ``listing`` is the code itself.
    :param unit: what it counts, as in the report's ``unit``.
    :param launches: how many launches the counts are of; None where that is not known.
    :param opcodes: resolved counts by opcode. What is not resolved is in ``unresolved``; all together is ``total``.
    :param whole: whether the capture is whole and unfiltered.
    :param called: the part of ``opcodes`` that ran in functions that the kernel calls, where the source tells.
    :param active: counts by opcode with at least one active lane; None where the source does not tell.
    :param hardware: what the hardware's instruction counter has; None where the source has none.
    """

    source: str
    unit: str
    launches: int | None
    opcodes: Counter[str]
    unresolved: int = 0
    whole: bool = True
    called: Counter[str] = field(default_factory=Counter)
    active: Counter[str] | None = None
    hardware: int | None = None

    @property
    def total(self) -> int:
        """Everything that was counted."""
        return self.opcodes.total() + self.unresolved

    def to_dict(self) -> dict[str, Any]:
        """The entry of a check's ``sources``."""
        return {
            "source": self.source,
            "unit": self.unit,
            "launches": self.launches,
            "total": self.total,
            "unresolved": self.unresolved,
            "hardware_total": self.hardware,
            "opcodes": dict(sorted(self.opcodes.items(), key=lambda item: (-item[1], item[0]))),
        }


@dataclass(slots=True)
class Agreement:
    """The sources, the one that is reported first; what agrees, what contradicts, and differences with their reason.

    ``doubts`` are differences that have a likely reason but no certain one; ``explained`` have one, or say why there
    is nothing to compare.
    """

    sides: list[Side] = field(default_factory=list)
    agreed: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)

    @property
    def differences(self) -> list[str]:
        """Everything in words that is not the same on all sides."""
        return [*self.conflicts, *self.doubts, *self.explained]


def compare(sides: Sequence[Side], code: Side | None = None, padding: int = 0) -> Agreement:
    """Compare the first source with the others, with the hardware's counter and with the code.

    :param code: the listing of the kernel without its padding, None where there is none.
    :param padding: the instructions of padding that were left out of it.
    """
    result = Agreement([*sides, *([code] if code else [])])
    main, *others = sides
    for other in others:
        _compare(main, other, result)
    for side in sides:
        _with_hardware(side, result)
    if code and main.whole and not main.unresolved:
        _with_code(main, code, result)
    if code and padding:
        result.explained.append(
            f"{number_of(padding, 'instruction')} of padding behind the code {'is' if padding == 1 else 'are'} "
            "left out of the listing"
        )
    return result


def _compare(main: Side, other: Side, result: Agreement) -> None:
    if main.unit != other.unit:
        _compare_units(main, other, result)
    elif not (main.whole and other.whole):
        _compare_parts(main, other, result)
    elif main.unresolved or other.unresolved:
        _compare_totals(main, other, result)
    else:
        _compare_opcodes(main, other, result)


def _same_launches(main: Side, other: Side) -> bool:
    return main.launches is not None and main.launches == other.launches


def _compare_units(main: Side, other: Side, result: Agreement) -> None:
    """Numbers of two units are no equals; but what no warp executed, no thread has executed."""
    threads, warps = (main, other) if "thread" in main.unit else (other, main)
    if _same_launches(main, other) and warps.whole and not warps.unresolved:
        found = [name for name in sorted(threads.opcodes) if threads.opcodes[name] and not warps.opcodes[name]]
        result.conflicts += [f"{name}: none by {warps.source}, executed by {threads.source}" for name in found]
    result.explained.append(
        f"the numbers of {other.source} are not compared with those of {main.source}: one counts {main.unit}, the "
        f"other {other.unit}"
    )


def _compare_parts(main: Side, other: Side, result: Agreement) -> None:
    """A part of a capture has no more than the whole."""
    part, whole = (main, other) if other.whole else (other, main)
    if _same_launches(main, other) and whole.whole and not whole.unresolved:
        more = [name for name in sorted(part.opcodes) if part.opcodes[name] > whole.opcodes[name]]
        result.conflicts += [
            f"{name}: {part.opcodes[name]:,} by {part.source}, only {whole.opcodes[name]:,} by {whole.source}"
            for name in more
        ]
    elif not other.whole and not _same_launches(main, other):
        result.doubts.append(
            f"{other.source} may be of other launches ({_launches(other)}) than {main.source} ({_launches(main)}), "
            "and is not whole"
        )
    result.explained.append(
        f"{other.source} is not compared with {main.source} in full: {part.source} is not known to be whole"
    )


def _compare_totals(main: Side, other: Side, result: Agreement) -> None:
    """Where one of them does not name its instructions."""
    nameless = (main if main.unresolved else other).source
    if _per_launch(main, other, main.total, other.total):
        result.agreed.append(f"the total of {other.source}")
        result.explained.append(
            f"only the totals of {main.source} and {other.source} are compared: {nameless} does not name its opcodes"
        )
    else:
        result.doubts.append(
            f"{main.source} has {number_of(main.total, 'instruction')}, {other.source} {other.total:,}; what differs "
            f"cannot be told, since {nameless} does not name its opcodes"
        )


def _per_launch(main: Side, other: Side, ours: int, theirs: int) -> bool:
    """Whether two counts are the same for each launch; as they stand where a number of launches is not known."""
    if main.launches is None or other.launches is None:
        return ours == theirs
    return ours * other.launches == theirs * main.launches


def _compare_opcodes(main: Side, other: Side, result: Agreement) -> None:
    pairs = {name: (main.opcodes[name], other.opcodes[name]) for name in sorted({*main.opcodes, *other.opcodes})}
    unequal = [name for name, pair in pairs.items() if not _per_launch(main, other, *pair)]
    unknown = main.launches is None or other.launches is None
    if not unequal:
        per_launch = "" if unknown or main.launches == other.launches else ", launch by launch"
        result.agreed.append(f"{other.source}{per_launch}")
    elif unknown and all(ours * other.total == theirs * main.total for ours, theirs in pairs.values()):
        result.agreed.append(f"{other.source}, in proportion")
    elif reason := _called(main, other) or _called(other, main) or _predication(main, other):
        result.explained.append(reason)
    elif not unknown and main.launches != other.launches:
        told = f"{main.source} has {_launches(main)}, {other.source} {_launches(other)}"
        result.explained.append(f"{told}: their counts are of other runs and are not compared")
    else:
        result.conflicts += [
            f"{name}: {ours:,} by {main.source}, {theirs:,} by {other.source}"
            for name, (ours, theirs) in pairs.items()
            if name in unequal
        ]


def _launches(side: Side) -> str:
    return "an unknown number of launches" if side.launches is None else number_of(side.launches, "launch")


def _called(full: Side, part: Side) -> str | None:
    """Whether all that one has more are the functions that the kernel calls."""
    if not full.called or full.launches != part.launches or full.opcodes - full.called != part.opcodes:
        return None
    more = number_of(full.called.total(), "instruction")
    return f"{full.source} counts the functions that the kernel calls ({more}), {part.source} does not"


def _predication(main: Side, other: Side) -> str | None:
    """Whether one leaves out the instructions that a false guard turned off in all lanes."""
    for full, part in ((main, other), (other, main)):
        if full.active is not None and full.launches == part.launches and +full.active == +part.opcodes:
            less = number_of(full.total - part.total, "instruction")
            return f"{part.source} leaves out what a false guard turned off in all lanes ({less})"
    return None


def _with_hardware(side: Side, result: Agreement) -> None:
    if side.hardware is None:
        return
    if side.hardware == side.total:
        result.agreed.append("the hardware's instruction counter")
    else:
        result.explained.append(
            f"the hardware's counter has {number_of(side.hardware, 'instruction')}, "
            f"the counts per opcode {side.total:,}: each is measured in a run of its own, "
            "and a kernel that waits runs another number each time"
        )


def _with_code(main: Side, code: Side, result: Agreement) -> None:
    idle = [f"{name} ({code.opcodes[name]:,})" for name in sorted(code.opcodes) if not main.opcodes[name]]
    if idle:
        result.explained.append(f"in the code, but not counted: {listed(idle, _SHOWN)}")
