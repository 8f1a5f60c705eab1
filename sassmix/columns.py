"""Instructions as columns of text, and the object for one of them, made when it is asked for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from sassmix.grammar import Operand, operands_of

#: Guards under which an instruction never runs.
NEVER = frozenset({"@!PT", "@!UPT"})
#: And those under which it always does; none is one of them.
ALWAYS = frozenset({"", "@PT", "@UPT"})
#: Texts that are taken apart together where one of them is asked for.
_PIECE = 256


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


class Packed(Sequence[str]):
    """Texts without line ends, kept joined in pieces, and taken apart when they are asked for.

    Most of what stands in a listing is proved and never asked for: this takes a fifth of a list's memory, and no time
    for what nobody looks at. The piece asked for last is kept, as who asks mostly goes on with the next text.
    """

    __slots__ = ("_last", "_pieces", "_starts")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._starts = [0]  # and the end of the last one
        self._last: tuple[int, int, list[str]] = (0, 0, [])

    def pack(self, texts: Sequence[str]) -> str:
        """Add texts, at least one.

        :returns: the texts, one on each line.
        """
        end, count = self._starts[-1], len(texts)
        pieces = ["\n".join(texts[at : at + _PIECE]) for at in range(0, count, _PIECE)]
        self._pieces += pieces
        self._starts += [end + min(at + _PIECE, count) for at in range(0, count, _PIECE)]
        return "\n".join(pieces)

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[str]:
        for piece in self._pieces:
            yield from piece.split("\n")

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self._part(*index.indices(len(self)))
        start, stop, texts = self._last
        if not start <= index < stop:
            at = range(len(self))[index]  # raises IndexError as any sequence does
            piece = bisect_right(self._starts, at) - 1
            start, stop = self._starts[piece : piece + 2]
            texts = self._pieces[piece].split("\n")
            self._last = start, stop, texts
            index = at
        return texts[index - start]

    def _part(self, start: int, stop: int, step: int) -> list[str]:
        if step != 1:
            return list(self)[start : stop if stop >= 0 else None : step]
        if start >= stop:
            return []
        first, last = bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop)
        base = self._starts[first]
        return "\n".join(self._pieces[first:last]).split("\n")[start - base : stop - base]


@dataclass(slots=True)
class Columns:
    """The instructions of a listing, one sequence for each part of the line, all of one length."""

    offsets: Sequence[str] = field(default_factory=list)
    guards: Sequence[str] = field(default_factory=list)
    mnemonics: Sequence[str] = field(default_factory=list)
    tails: Sequence[str] = field(default_factory=list)

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
