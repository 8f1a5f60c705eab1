"""Can these counts have come from this code? Instructions that run one after the other are executed equally often.

Counts by number or offset that were put to the wrong function, the wrong build, or one line off, break that rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassmix.listing import Function

#: Opcodes after which control may go elsewhere, or which a warp may execute once for each of its diverged parts.
_TRANSFERS = frozenset(
    """BRA BRX BRXU JMP JMX JMXU CALL CAL JCAL RET EXIT KILL BREAK BRK BSSY BSYNC SSY SYNC PBK PCNT CONT PRET BPT
    WARPSYNC YIELD NANOSLEEP BMOV RPCMOV ENDCOLLECTIVE LONGJMP PREEXIT ACQBULK ELECT""".split()
)
_SHIFTS = (1, -1, 2, -2, 3, -3, 4, -4)
_ENDS = frozenset({"EXIT", "KILL", "BPT"})
_ADDRESS = re.compile(r"(?:^|[ ,])(0x[0-9a-f]+)\s*$")


@dataclass(frozen=True, slots=True)
class FlowCheck:
    """What speaks against the counts being a function's, each in one phrase.

    ``contradictions`` are proof; ``doubts`` are neighbours with unequal counts, which a sampled or patched source has.
    """

    contradictions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def check_flow(
    function: Function, counts: Mapping[int, int], helpers: Sequence[Function] = (), *, partial: bool = False
) -> FlowCheck:
    """Compare counts with the code that they are said to be of.

    :param counts: executions by the index of an instruction in the listing's columns.
    :param helpers: the functions behind it in its section, which the counts may reach into.
    :param partial: whether an index that is not among the counts may have been executed all the same.
    """
    if not counts:
        return FlowCheck()
    stop = max(f.code_stop for f in (function, *helpers))
    targets = _targets((function, *helpers), stop)
    if partial:
        targets |= {index for i in range(function.start, stop) if i not in counts for index in (i, i + 1)}
    doubts = _unequal(function, counts, range(function.start, stop), targets)
    found = _beyond(function, counts, stop) + ([] if partial else _at_the_ends(function, counts, stop))
    better = _better_shift(function, counts, stop, targets, len(doubts)) if doubts else 0
    if better:
        found.append(f"the counts fit the code {abs(better)} instructions further {'on' if better > 0 else 'up'}")
    return FlowCheck(tuple(found), tuple(doubts))


def _at_the_ends(function: Function, counts: Mapping[int, int], stop: int) -> list[str]:
    found: list[str] = []
    entered = counts.get(function.start, 0)
    if not entered:
        found.append("the first instruction was not counted")
    left = sum(count for index, count in counts.items() if index < stop and _ends(function, index))
    if left < entered:
        found.append(f"it was entered {entered} times and left {left} times")
    return found


def _beyond(function: Function, counts: Mapping[int, int], stop: int) -> list[str]:
    beyond = [index for index in counts if counts[index] and not function.start <= index < stop]
    what = f"{len(beyond)} counted instructions stand in the padding or behind the end of the code"
    return [what] if beyond else []


def _better_shift(function: Function, counts: Mapping[int, int], stop: int, targets: set[int], unequal: int) -> int:
    """By how many instructions the counts have to be moved to fit far better; 0 if they need not.

    What lies outside once they are moved is left out; so the code must be long enough for the rest to say something.
    """
    for shift in _SHIFTS:
        moved = {index + shift: count for index, count in counts.items()}
        window = range(function.start + max(shift, 0), stop + min(shift, 0))
        if len(window) >= 8 * abs(shift) and 2 * len(_unequal(function, moved, window, targets)) < unequal:
            return shift
    return 0


def _ends(function: Function, index: int) -> bool:
    return function.columns.mnemonics[index].partition(".")[0] in _ENDS


def _unequal(function: Function, counts: Mapping[int, int], window: range, targets: set[int]) -> list[str]:
    columns = function.columns
    found: list[str] = []
    before: int | None = None
    for index in window:
        count = counts.get(index, 0)
        if index in targets:
            before = None
        guarded = bool(columns.guards[index].strip())  # a tracer may leave out what its guard turned off
        if before is not None and (count > before if guarded else count != before):
            found.append(f"instruction {index - function.start} was executed {count} times, the one before it {before}")
        before = before if guarded and before is not None else count
        if columns.mnemonics[index].partition(".")[0] in _TRANSFERS:
            before = None
    return found


def _targets(functions: Sequence[Function], stop: int) -> set[int]:
    """Indices that a branch or a call can lead to."""
    found = {index for function in functions for index in (function.start, *function.labels.values())}
    columns, start = functions[0].columns, functions[0].start
    places = {columns.offsets[i].lstrip("0"): i for i in range(start, stop)}
    for index in range(start, stop):
        opcode = columns.mnemonics[index].partition(".")[0]
        if opcode in _TRANSFERS and (match := _ADDRESS.search(columns.tails[index])):
            target = places.get(match[1].removeprefix("0x").lstrip("0"))
            found.update(() if target is None else (target,))
    return found
