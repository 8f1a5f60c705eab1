"""Instructions as columns of text, and the object for one of them, made when it is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sassmix.grammar import Operand, operands_of

#: Guards under which an instruction never runs.
NEVER = frozenset({"@!PT", "@!UPT"})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. ``offset`` is in bytes from the start of the section, None where the text has none."""

    offset: int | None
    guard: str
    mnemonic: str
    operand_text: str

    @property
    def opcode(self) -> str:
        """The first part of the mnemonic: ``HMMA`` of ``HMMA.16816.F32``."""
        return self.mnemonic.partition(".")[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The dotted parts behind the opcode."""
        return tuple(self.mnemonic.split(".")[1:])

    @property
    def annotation(self) -> str | None:
        """What the disassembler notes behind the operands: ``BRANCH_TARGETS .L_x_1,.L_x_2``."""
        match = re.search(r'\(\*"([^"]*)"\*\)', self.operand_text)
        return match[1] if match else None

    @property
    def dead(self) -> bool:
        """Whether the guard is never true."""
        return self.guard in NEVER

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands, parsed by the grammar at each call.

        :raises ListingSyntaxError: where the grammar does not know them (the listing has a problem then).
        """
        return operands_of(self.operand_text)


@dataclass(slots=True)
class Columns:
    """The instructions of a listing, one list for each part of the line, all of one length."""

    offsets: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    mnemonics: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)

    def extend(self, offsets: list[str], guards: list[str], mnemonics: list[str], tails: list[str]) -> None:
        """Add instructions."""
        self.offsets += offsets
        self.guards += guards
        self.mnemonics += mnemonics
        self.tails += tails

    def __len__(self) -> int:
        return len(self.mnemonics)

    def instruction(self, index: int) -> Instruction:
        """The object for one instruction."""
        offset = self.offsets[index]
        return Instruction(
            int(offset, 16) if offset else None,
            self.guards[index].strip(),
            self.mnemonics[index],
            self.tails[index].strip(),
        )
