"""Can counts by opcode have come from this code? They have no places, but what stands in a row runs equally often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sassmix.listing import Function
from sassmix.transfers import ENDS, Code, code_of

#: Opcodes behind which a warp does not come in more parts than before.
_WHOLE = ENDS | {"BRA", "BSSY", "BSYNC"}


def too_many(functions: Sequence[Function], counted: Mapping[str, int]) -> list[str]:
    """The opcodes that were counted more often than those that stand beside them allow, each in one phrase.

    Where one of a row of instructions was not counted, none of them ran: its counts are missing, or theirs are of
    another place.

    :param functions: a function and its helpers, which are all that may run.
    """
    code = code_of(functions)
    allowed: Counter[str] = Counter()
    before = 0
    for block in _blocks(code):
        most = _most(code, block, counted)
        if block.start > code.start and _comes_on(code, block.start):
            most = min(most, before)
        before = most
        for index in block:
            allowed[code.opcode(index)] += most
    return [
        f"{opcode} was counted {counted[opcode]} times, but what stands beside it in the code allows {most}"
        for opcode, most in sorted(allowed.items())
        if counted.get(opcode, 0) > most
    ]


def _blocks(code: Code) -> Iterator[range]:
    """Instructions in a row, of which all run where one does."""
    first = code.start
    for index in range(code.start, code.stop):
        if index in code.targets and index > first:
            yield range(first, index)
            first = index
        if code.leaves(index):
            yield range(first, index + 1)
            first = index + 1
    if first < code.stop:
        yield range(first, code.stop)


def _comes_on(code: Code, index: int) -> bool:
    """Whether control can only come from the instruction in front, and never in more parts than it came there."""
    return index not in code.targets and code.opcode(index - 1) in _WHOLE


def _most(code: Code, block: range, counted: Mapping[str, int]) -> int:
    """How often a block was executed, at most; a guard may have turned an instruction off, and nobody counted it."""
    standing = Counter(code.opcode(index) for index in block if not code.guarded(index))
    return min((counted.get(opcode, 0) // number for opcode, number in standing.items()), default=sum(counted.values()))
