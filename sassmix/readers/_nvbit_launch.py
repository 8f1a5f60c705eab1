"""One launch in a text of NVBit's tools, and which lines below it are counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from sassmix.readers._nvbit_lines import Opcode

#: The tool itself has room for fewer opcodes.
_MOST_OPCODES = 1 << 16


@dataclass(slots=True)
class Launch:
    """A launch's line, the opcodes below it, and the settings that stood above it.

    :param total: its instructions; None where its line does not tell; ``reason`` says why a number is none.
    :param dots: whether dots stand for the rest of its line.
    :param damaged: whether nothing of its line is there, or only a part.
    :param unclean: whether something else stands behind the numbers of its line, or the last one is not there.
    :param last: the last line that is the launch's.
    :param opcodes: what is counted, with its line.
    :param odd: what looks like the count of an opcode and is not counted, with its line and why.
    """

    line: int
    name: str
    total: int | None
    settings: dict[str, str]
    version: str | None
    run: int
    reason: str = ""
    dots: bool = False
    damaged: bool = False
    unclean: bool = False
    last: int = 0
    listed: int = 0
    opcodes: list[tuple[int, Opcode]] = field(default_factory=list)
    odd: list[tuple[int, Opcode, str]] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether its opcodes make up its total."""
        return self.listed == self.total

    def take(self, line: int, opcode: Opcode) -> None:
        """Count an opcode."""
        if len(self.opcodes) < _MOST_OPCODES:
            self.opcodes.append((line, opcode))
            self.listed += opcode.count or 0
            self.last = line

    def settle(self) -> None:
        """Leave out what is the tool's only if the total proves it: lines out of shape, and words that are no opcodes.

        One line alone without its indent may have lost more than that: ``IMAD.IADD`` becomes ``IADD``. Words that no
        architecture has stay beside those that one has: they may be a newer one's.
        """
        shapes = {opcode.shaped for _, opcode in self.opcodes}
        if self.total is None or (self.whole and len(shapes) < 2):
            return
        some = any(opcode.sure for _, opcode in self.opcodes)
        found, self.opcodes, self.listed = self.opcodes, [], 0
        for line, opcode in found:
            if opcode.shaped and (opcode.known or some):
                self.take(line, opcode)
            else:
                self.odd.append((line, opcode, "nothing proves that it is the count of an opcode"))
