"""The listings of a page, as many as fit, each instruction with its category and its executed count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import escape

from sassmix.code import Code, CodeLine

#: Characters of markup around the text of one row.
_MARKUP = 90
#: Shades of the column of counts.
_SHADES = 9


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a listing that is on the page: ``lines`` of its ``total`` instructions, from the first on."""

    code: Code
    lines: list[CodeLine]
    total: int

    @property
    def left_out(self) -> int:
        """How many instructions are not on the page."""
        return self.total - len(self.lines)

    @property
    def placed(self) -> int:
        """The counts that stand beside an instruction of the whole listing."""
        return sum((self.code.executed or {}).values())

    @property
    def counted(self) -> bool:
        """Whether executed counts stand beside the instructions."""
        return self.code.executed is not None

    def shade(self, line: CodeLine) -> str:
        """The class of a count: ninths of the kernel's largest, 0 for what was never executed."""
        return f"h{-(-_SHADES * (line.count or 0) // max(self.code.most, 1))}"

    def functions(self) -> Iterator[tuple[str, list[CodeLine]]]:
        """The lines of each function."""
        lines: dict[str, list[CodeLine]] = {}
        for line in self.lines:
            lines.setdefault(line.function, []).append(line)
        return iter(lines.items())


def shown(codes: Mapping[int, Code], room: int) -> dict[int, Shown]:
    """The listings that fit, by the numbers of their kernels: short ones first, the first that does not fit is cut.

    :param room: characters that there are for all of them.
    """
    found = {}
    for number, code in sorted(codes.items(), key=lambda item: len(item[1])):
        lines = []
        for line in code.lines():
            room -= cost(line)
            if room < 0:
                break
            lines.append(line)
        found[number] = Shown(code, lines, len(code))
    return found


def cost(line: CodeLine) -> int:
    """About how many characters a line takes on the page."""
    return _MARKUP + len(escape(line.text)) + sum(len(escape(label)) + _MARKUP for label in line.labels)
