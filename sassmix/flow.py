"""Can these counts have come from this code? Instructions that run one after the other are executed equally often.

Counts by number or offset that were put to the wrong function, the wrong build, or one line off, break that rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassmix.arch import LANES
from sassmix.errors import number_of
from sassmix.listing import Function
from sassmix.transfers import ENDS, TRANSFERS, Code, code_of, passes

_SHIFTS = (1, -1, 2, -2, 3, -3, 4, -4)


@dataclass(frozen=True, slots=True)
class FlowCheck:
    """What speaks against the counts being a function's, each in one phrase.

    ``contradictions`` are proof; ``doubts`` are neighbours with unequal counts, which a sampled or patched source has.
    """

    contradictions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """An instruction with its count, and how often control came to it.

    :param before: from the one before it; None where that does not tell.
    :param jumped: from jumps and calls, at least.
    :param exact: whether control comes from nowhere else than from the one before it.
    """

    index: int
    count: int
    before: int | None
    jumped: int
    exact: bool

    @property
    def least(self) -> int:
        """How often it was executed, at least."""
        return (self.before or 0) + self.jumped


def check_flow(
    function: Function,
    counts: Mapping[int, int],
    helpers: Sequence[Function] = (),
    *,
    partial: bool = False,
    anywhere: bool = False,
    exact: bool = False,
    own: bool = False,
) -> FlowCheck:
    """Compare counts with the code that they are said to be of.

    :param counts: executions by the index of an instruction in the listing's columns.
    :param helpers: the functions behind it in its section, which the counts may reach into.
    :param partial: whether an index that is not among the counts may have been executed all the same.
    :param anywhere: whether a jump may lead to any instruction.
    :param exact: whether what a guard turned off is counted as well.
    :param own: whether the code is the counts' own, so that they cannot be of another place.
    """
    if not counts:
        return FlowCheck()
    code = code_of((function, *helpers), partial=partial, anywhere=anywhere, exact=exact)
    steps = list(_steps(code, counts, range(code.start, code.stop)))
    doubts = _unequal(code, steps)
    found = _beyond(code, counts) + ([] if partial else _at_the_ends(code, counts, steps))
    better = _better_shift(code, counts, len(doubts)) if doubts and not own else 0
    if better:
        found.append(
            f"the counts fit the code {number_of(abs(better), 'instruction')} further {'on' if better > 0 else 'up'}"
        )
    return FlowCheck(tuple(found), tuple(doubts))


def _at_the_ends(code: Code, counts: Mapping[int, int], steps: Iterable[_Step]) -> list[str]:
    found: list[str] = []
    entered = counts.get(code.start, 0)
    if not entered:
        found.append("the first instruction was not counted")
    left = sum(_left(code, step, counts) for step in steps if code.opcode(step.index) in ENDS)
    again = any(jump.target == code.start for jump in code.jumps.values())
    if left < entered and not again:
        found.append(f"it was entered {number_of(entered, 'time')} and left {number_of(left, 'time')}")
    return found


def _left(code: Code, step: _Step, counts: Mapping[int, int]) -> int:
    """How often control ended here, at most: what came to a guarded end and is counted behind it went on."""
    following = step.index + 1
    if not code.guarded(step.index) or following in code.targets or step.before is None or not step.exact:
        return step.count
    return max(0, min(step.count, step.before - counts.get(following, 0)))


def entry_opcodes(function: Function, *, straight: bool = False) -> list[str]:
    """The opcodes that whatever enters a function executes: unguarded, up to the first jump or end; each once.

    :param straight: only those in front of anything at which the parts of a warp may come together.
    """
    found: list[str] = []
    columns = function.columns
    for index in range(function.start, function.code_stop):
        opcode = columns.mnemonics[index].partition(".")[0]
        if index in function.unreadable or (straight and opcode in TRANSFERS):
            break
        if not columns.guards[index].strip():
            found.append(opcode)
        if not passes(function, index):
            break
    return list(dict.fromkeys(found))


def _beyond(code: Code, counts: Mapping[int, int]) -> list[str]:
    beyond = [index for index in counts if counts[index] and not code.start <= index < code.stop]
    counted = number_of(len(beyond), "counted instruction", "stands", "stand")
    what = f"{counted} in the padding or behind the end of the code"
    return [what] if beyond else []


def _better_shift(code: Code, counts: Mapping[int, int], unequal: int) -> int:
    """By how many instructions the counts have to be moved to fit far better; 0 if they need not.

    What lies outside once they are moved is left out; so the code must be long enough for the rest to say something.
    """
    for shift in _SHIFTS:
        moved = {index + shift: count for index, count in counts.items()}
        window = range(code.start + max(shift, 0), code.stop + min(shift, 0))
        if len(window) >= 8 * abs(shift) and 2 * len(_unequal(code, _steps(code, moved, window))) < unequal:
            return shift
    return 0


def _unequal(code: Code, steps: Iterable[_Step]) -> list[str]:
    return [
        f"instruction {step.index - code.start} was executed {number_of(step.count, 'time')}, {_came(step)}"
        for step in steps
        if not _fits(step, code.lacks(step.index))
    ]


def _came(step: _Step) -> str:
    before = [] if step.before is None else [f"the one before it {step.before:,}"]
    return ", ".join(
        [*before, *([f"jumps and calls led to it {number_of(step.jumped, 'time')}"] if step.jumped else [])]
    )


def _fits(step: _Step, lacks: bool) -> bool:
    """At a label, control may come from elsewhere too; under a guard, a part may not have been counted."""
    return (lacks or step.count >= step.least) and not (step.exact and step.count > step.least)


def _steps(code: Code, counts: Mapping[int, int], window: range) -> Iterator[_Step]:
    jumped = _jumped(code, counts)
    before: int | None = None
    exact = False
    for index in window:
        count = counts.get(index, 0)
        exact = exact and index not in code.targets
        if index not in counts and code.untold(index):
            before, exact = None, False
            continue
        step = _Step(index, count, before, jumped[index], exact)
        yield step
        if code.leaves(index):  # a warp comes on in as many parts as it has lanes, at most
            before, exact = -(-count // LANES) if code.passes(index) else None, False
        elif not code.lacks(index):
            before, exact = count, True
        elif not exact:
            before = max(count, step.least)


def _jumped(code: Code, counts: Mapping[int, int]) -> Counter[int]:
    """How often jumps and calls led to an instruction, at least."""
    least: Counter[int] = Counter()
    for index, jump in code.jumps.items():
        if count := counts.get(index, 0):
            least[jump.target] += count if jump.always else _taken(code, counts, index)
    return least


def _taken(code: Code, counts: Mapping[int, int], index: int) -> int:
    """How often a conditional jump was taken, at least: all of it that is not counted behind it."""
    behind = index + 1
    untold = behind not in counts and code.untold(behind)
    return 0 if untold else max(0, counts.get(index, 0) - counts.get(behind, 0))
