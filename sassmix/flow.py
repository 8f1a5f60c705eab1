"""Can these counts have come from this code? Instructions that run one after the other are executed equally often.

Counts by number or offset that were put to the wrong function, the wrong build, or one line off, break that rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassmix.errors import number_of
from sassmix.listing import Function

#: Opcodes after which control may go elsewhere, or which a warp may execute once for each of its diverged parts.
_TRANSFERS = frozenset(
    """BRA BRX BRXU JMP JMX JMXU CALL CAL JCAL RET EXIT KILL BREAK BRK BSSY BSYNC SSY SYNC PBK PCNT CONT PRET BPT
    WARPSYNC YIELD NANOSLEEP BMOV RPCMOV ENDCOLLECTIVE LONGJMP PREEXIT ACQBULK ELECT""".split()
)
_SHIFTS = (1, -1, 2, -2, 3, -3, 4, -4)
_ENDS = frozenset({"EXIT", "KILL", "BPT"})
_ADDRESS = re.compile(r"(?:^|[ ,])0x0*([0-9a-f]*)\s*$")


@dataclass(frozen=True, slots=True)
class FlowCheck:
    """What speaks against the counts being a function's, each in one phrase.

    ``contradictions`` are proof; ``doubts`` are neighbours with unequal counts, which a sampled or patched source has.
    """

    contradictions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Code:
    """The instructions that counts may belong to, ``start`` to ``stop`` in the columns.

    :param targets: indices that a branch or a call can lead to.
    :param partial: whether an index that is not among the counts may have been executed all the same.
    """

    function: Function
    start: int
    stop: int
    targets: frozenset[int]
    partial: bool

    def opcode(self, index: int) -> str:
        return self.function.columns.mnemonics[index].partition(".")[0]

    def guarded(self, index: int) -> bool:
        """Whether it has a guard; a tracer may leave out what the guard turned off."""
        return bool(self.function.columns.guards[index].strip())


@dataclass(frozen=True, slots=True)
class _Step:
    """An instruction with its count, and how often control came to it from the one before it.

    :param before: None where the one before it does not tell.
    :param exact: whether control comes from nowhere else.
    """

    index: int
    count: int
    before: int | None
    exact: bool


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
    code = _Code(function, function.start, stop, _targets((function, *helpers), stop), partial)
    doubts = _unequal(code, counts, range(code.start, stop))
    found = _beyond(code, counts) + ([] if partial else _at_the_ends(code, counts))
    better = _better_shift(code, counts, len(doubts)) if doubts else 0
    if better:
        found.append(
            f"the counts fit the code {number_of(abs(better), 'instruction')} further {'on' if better > 0 else 'up'}"
        )
    return FlowCheck(tuple(found), tuple(doubts))


def _at_the_ends(code: _Code, counts: Mapping[int, int]) -> list[str]:
    found: list[str] = []
    entered = counts.get(code.start, 0)
    if not entered:
        found.append("the first instruction was not counted")
    steps = list(_steps(code, counts, range(code.start, code.stop)))
    left = sum(_left(code, step, counts) for step in steps if code.opcode(step.index) in _ENDS)
    if left < entered:
        found.append(f"it was entered {entered} times and left {left} times")
    return found


def _left(code: _Code, step: _Step, counts: Mapping[int, int]) -> int:
    """How often control ended here, at most: what came to a guarded end and is counted behind it went on."""
    following = step.index + 1
    if not code.guarded(step.index) or following in code.targets or step.before is None or not step.exact:
        return step.count
    return max(0, min(step.count, step.before - counts.get(following, 0)))


def entry_opcodes(function: Function) -> list[str]:
    """The opcodes that every warp executes: unguarded, and in front of any branch, exit or label."""
    found: list[str] = []
    columns, targets = function.columns, set(function.labels.values())
    for index in range(function.start, function.code_stop):
        opcode = columns.mnemonics[index].partition(".")[0]
        if opcode in _TRANSFERS or (index in targets and index > function.start):
            break
        if not columns.guards[index].strip():
            found.append(opcode)
    return list(dict.fromkeys(found))


def _beyond(code: _Code, counts: Mapping[int, int]) -> list[str]:
    beyond = [index for index in counts if counts[index] and not code.start <= index < code.stop]
    counted = number_of(len(beyond), "counted instruction", "stands", "stand")
    what = f"{counted} in the padding or behind the end of the code"
    return [what] if beyond else []


def _better_shift(code: _Code, counts: Mapping[int, int], unequal: int) -> int:
    """By how many instructions the counts have to be moved to fit far better; 0 if they need not.

    What lies outside once they are moved is left out; so the code must be long enough for the rest to say something.
    """
    for shift in _SHIFTS:
        moved = {index + shift: count for index, count in counts.items()}
        window = range(code.start + max(shift, 0), code.stop + min(shift, 0))
        if len(window) >= 8 * abs(shift) and 2 * len(_unequal(code, moved, window)) < unequal:
            return shift
    return 0


def _unequal(code: _Code, counts: Mapping[int, int], window: range) -> list[str]:
    return [
        f"instruction {step.index - code.start} was executed {step.count} times, the one before it {step.before}"
        for step in _steps(code, counts, window)
        if step.before is not None and not _fits(step.count, step.before, step.exact, code.guarded(step.index))
    ]


def _fits(count: int, before: int, exact: bool, guarded: bool) -> bool:
    """At a label, control may come from elsewhere too; under a guard, a part may not have been counted."""
    return (guarded or count >= before) and (not exact or count <= before)


def _steps(code: _Code, counts: Mapping[int, int], window: range) -> Iterator[_Step]:
    before: int | None = None
    exact = False
    for index in window:
        count = counts.get(index, 0)
        exact = exact and index not in code.targets
        if code.partial and index not in counts:
            before, exact = None, False
            continue
        yield _Step(index, count, before, exact)
        if code.opcode(index) in _TRANSFERS:
            before, exact = None, False
        elif not code.guarded(index):
            before, exact = count, True
        elif not exact:
            before = max(count, before or 0)


def _targets(functions: Sequence[Function], stop: int) -> frozenset[int]:
    """Indices that a branch or a call can lead to."""
    found = {index for function in functions for index in (function.start, *function.labels.values())}
    columns, start = functions[0].columns, functions[0].start
    places = {columns.offsets[i].lstrip("0"): i for i in range(start, stop)}
    for index in range(start, stop):
        opcode = columns.mnemonics[index].partition(".")[0]
        address = _ADDRESS.search(columns.tails[index]) if opcode in _TRANSFERS else None
        if address and address[1] in places:
            found.add(places[address[1]])
    return frozenset(found)
