"""Lines of a text that cannot be read: their numbers, and the problems that tell of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from sassmix.codelines import line_numbers
from sassmix.errors import Problem
from sassmix.grammar import syntax_error

_MOST_PROBLEMS = 1000
#: What stands in front of an instruction.
_FRONT = re.compile(
    r"[ \t]*+(?:\[B[^\]\n]*+\][ \t]*+)?"
    r"(?:/\*([0-9a-fA-F]++)\*/|(?:[0-9]++[ \t]++)?(?:0x([0-9a-f]++))?)[ \t]*+(?:\{[ \t]*+)?"
)
#: What stands behind one.
_BEHIND = re.compile(r"[ \t]*+(?:[;}]|/[/*]|$)")


@dataclass(slots=True)
class Faults:
    """The problems of one text, or of one part of it.

    :param lines: line ends of the parts before this one.
    :param told: problems that those had.
    :param suppressed: lines that cannot be read and were only counted, in those and in this one.
    :param behind: of each line around the code, how many code lines are before it.
    """

    path: str | None
    lines: int = 0
    told: int = 0
    suppressed: int = 0
    text: str = ""
    problems: list[Problem] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)  # line number at the end of each code line
    _sought: tuple[int, int] = (0, 0)  # where the line of the last rejected instruction ends; line ends before that

    def rest(self) -> Faults:
        """For the part behind this one."""
        lines = self.lines + self.text.count("\n")
        return Faults(self.path, lines, self.told + len(self.problems), self.suppressed)

    def tell(self, what: str, line: str, number: int) -> None:
        """Add a problem; the first thousand are told one by one."""
        self.suppressed += self.told + len(self.problems) >= _MOST_PROBLEMS
        if not self.suppressed:
            column = syntax_error(line, path=self.path, number=number).column
            self.problems.append(Problem("warning", self.path, f"{what}: {line.strip()[:100]!r}", number, column))

    def find(self, offset: str, row: tuple[str, str, str]) -> tuple[int, str]:
        """Line number and text of an instruction that was taken apart; asked for those rejected, in their order."""
        needle = row[0] + row[1] + row[2]
        sought, counted = self._sought
        position = self.text.find(needle, sought)
        while position >= 0:
            start = self.text.rfind("\n", 0, position) + 1
            stop = self.text.find("\n", position)
            line = self.text[start:stop]
            front = _FRONT.match(line)
            behind = line.removeprefix(front[0] + needle) if front else line
            if front and (front[1] or front[2] or "").lower() == offset and behind != line and _BEHIND.match(behind):
                self._sought = stop, counted + self.text.count("\n", sought, start)
                return self.lines + self._sought[1] + 1, line
            position = self.text.find(needle, stop)
        return 0, ""

    def number(self, place: int) -> int:
        """The number of a line between code lines."""
        self._starts = self._starts or line_numbers(self.text)
        index = self.behind[place]
        return self.lines + self._starts[index] + place - bisect_left(self.behind, index) + 1

    def in_order(self, *, last: bool) -> list[Problem]:
        """The problems by their lines; behind the last ones, how many were only counted."""
        self.problems.sort(key=lambda problem: problem.line or 0)
        if self.suppressed and last:
            what = f"{self.suppressed} more lines of this listing cannot be read; the first {_MOST_PROBLEMS} are listed"
            self.problems.append(Problem("warning", self.path, what))
        return self.problems
