"""Models of inputs: what a text says, and so what must come back when it is read. The text is made by ``render``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class InstructionModel:
    """One instruction; ``guard`` is ``@P0``, ``@!UP1`` or empty."""

    guard: str
    mnemonic: str
    operands: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The instruction as a tracer writes it, with the semicolon."""
        guard = f"{self.guard} " if self.guard else ""
        operands = f" {self.operand_text}" if self.operands else ""
        return f"{guard}{self.mnemonic}{operands} ;"

    @property
    def operand_text(self) -> str:
        """The operands as they stand in a listing."""
        return ", ".join(self.operands)


@dataclass(frozen=True, slots=True)
class FunctionModel:
    """A kernel."""

    name: str
    instructions: tuple[InstructionModel, ...]


@dataclass(frozen=True, slots=True)
class ListingModel:
    """Functions compiled for one target, ``sm_90a``."""

    arch: str
    functions: tuple[FunctionModel, ...]

    @property
    def generation(self) -> int:
        """The number of the target: 90 of ``sm_90a``."""
        return int(re.sub(r"\D", "", self.arch))

    @property
    def control_period(self) -> int:
        """Bytes from one control word to the next; 0 where instructions hold their own control fields."""
        return 0 if self.generation >= 70 else 32 if self.generation >= 50 else 64

    def offsets(self) -> Iterator[int]:
        """The offsets of a function's instructions, in bytes, without end."""
        if not self.control_period:
            return count(0, 16)
        return (offset for offset in count(0, 8) if offset % self.control_period)

    def read_back(self) -> list[tuple[str, list[tuple[int, str, str, str]]]]:
        """What reading must give: names of functions, with offset, guard, mnemonic and operands of each instruction."""
        return [
            (
                function.name,
                [
                    (offset, line.guard, line.mnemonic, line.operand_text.strip())
                    for offset, line in zip(self.offsets(), function.instructions, strict=False)
                ],
            )
            for function in self.functions
        ]


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """How often one warp executed what ``name`` stands for: a mnemonic, or ``OPCODE_n``."""

    warp: int
    region: int
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class HistogramModel:
    """A histogram of CUTracer. The name of the kernel is in the file's name, not in the text."""

    kernel: str
    rows: tuple[HistogramRow, ...]

    @property
    def file_name(self) -> str:
        """What CUTracer calls the file."""
        return f"kernel_{7:016x}_iter0_{self.kernel}_hist.csv"

    @property
    def counts(self) -> Counter[str]:
        """Counts by name, all warps and regions together."""
        found: Counter[str] = Counter()
        for row in self.rows:
            found[row.name] += row.count
        return found


@dataclass(frozen=True, slots=True)
class TraceModel:
    """A trace of CUTracer: instructions by their number in the function, each executed once a record.

    :param records: launch, warp and number of each executed instruction, in the order of execution.
    :param complete: whether the capture's own record says that nothing is missing.
    """

    arch: str
    function: FunctionModel
    records: tuple[tuple[int, int, int], ...]
    complete: bool = True

    @property
    def file_name(self) -> str:
        """What CUTracer calls the file."""
        return f"kernel_{7:016x}_iter0_{self.function.name}.ndjson"

    @property
    def counts(self) -> Counter[int]:
        """Executions by the number of the instruction."""
        return Counter(number for _, _, number in self.records)
