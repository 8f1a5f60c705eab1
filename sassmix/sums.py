"""Can counts by opcode have come from this code? They have no places, but what stands in a row runs together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from sassmix.listing import Function
from sassmix.own_texts import may_multiply
from sassmix.transfers import ENDS, Code, code_of

#: Opcodes behind which a warp does not come in more parts than before.
_WHOLE = ENDS | {"BRA", "BSSY", "BSYNC"}


def beside_lost(functions: Sequence[Function], counted: Set[str]) -> list[str]:
    """The opcodes that were counted although all their places stand in a row with a matrix multiply that was not.

    Then its counts are missing. How often they were counted does not matter, as counts are rounded and scaled.

    :param functions: a function and its helpers, which are all that may run.
    :param counted: the opcodes that were counted.
    """
    code = code_of(functions)
    possible: set[str] = set()
    beside: dict[str, str] = {}
    lost = ""
    for block in _blocks(code):
        ran = lost if block.start > code.start and _comes_on(code, block.start) else ""
        lost = ran or _lost(code, block, counted)
        for index in block:
            if lost:
                beside[code.opcode(index)] = lost
            else:
                possible.add(code.opcode(index))
    return [
        f"{opcode} was counted, but {matrix}, which stands beside it in the code, was not"
        for opcode, matrix in sorted(beside.items())
        if opcode in counted and opcode not in possible
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


def _lost(code: Code, block: range, counted: Set[str]) -> str:
    """A matrix multiply of the block that was not counted, though all of a block runs; a guard may turn it off."""
    standing = (code.opcode(index) for index in block if not code.guarded(index))
    return next((opcode for opcode in standing if may_multiply(opcode) and opcode not in counted), "")
