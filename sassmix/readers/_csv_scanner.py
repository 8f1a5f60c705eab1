"""The tables of a source page, one for each launch, and what stands between their rows without being one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from sassmix.errors import Problem
from sassmix.own_texts import mnemonic_of
from sassmix.readers._csv_layout import ISSUED, SOURCE, Layout, header_of, names_of
from sassmix.readers._csv_lines import blocks_of, cells_of, fitted
from sassmix.readers._csv_section import Section

_TITLES = frozenset(
    "kernel name|function name|mangled name|cc|compute capability|id|launch id|context|stream|device|block size"
    "|grid size|process id|process name|host name".split("|")
)
_STARTS_KERNEL = ("kernel name", "function name")
_LIKE_A_ROW = re.compile(r'"?(\d+"?,"?)?0[xX][0-9a-fA-F]+("|,|$)')
_NUMBERED = re.compile(r'"?[0-9a-fA-F]+"?,')
_NUMBER = re.compile(r"-?[\d.,'\s\u00a0\u2009\u202f\ufffd]*\d")
_NO_LAYOUT = Layout((-1,) * 6, 0)


class Scanner:
    """Goes through the lines and hands out a section when the next one starts.

    ``doubts`` tell, at the end, why launches of any kernel may be lost, and ``untold`` are those that no problem tells;
    ``countless`` is the number of tables without counts, ``last`` the last line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.section: Section | None = None
        self.title: dict[str, str] = {}
        self.titled = 0
        self.layout = _NO_LAYOUT
        self.odd: list[int] = []  # lines that are no rows, since the last row
        self.stray: list[Problem] = []
        self.doubts: dict[str, None] = {}
        self.untold: list[Problem] = []
        self.countless = 0
        self.last = ""

    def sections(self) -> Iterator[Section]:
        """Every kernel with its rows, or with the reason why it has none."""
        number = 1
        for lines in blocks_of(self.path, self.stray):
            for run in _runs(lines):
                yield from self._run(run, number)
                number += len(run)
        if last := self._close() or self._untabled():
            yield last

    @property
    def cut(self) -> bool:
        """Whether the last line, where it has no end, is only the start of a row or of a name."""
        alone = "," not in self.last and _STARTS_KERNEL[0].startswith(self.last.strip('"').lower())
        return alone or bool(_LIKE_A_ROW.fullmatch(self.last)) or self.last.count('"') % 2 == 1

    def _run(self, lines: list[str], number: int) -> Iterator[Section]:
        """Lines that are rows of one kernel, all of them; else each is looked at alone."""
        self.last = lines[-1]
        if self.section and self.section.take(lines, number):
            self._told(self.section)
            return
        for at, line in enumerate(lines, number):
            cells = cells_of(line)
            if self.section and self.section.holds(cells):
                self.section.add(cells, at)
                self._told(self.section)
            elif line.strip() and (done := self._other(cells, line, at)):
                yield done

    def _other(self, cells: list[str], line: str, number: int) -> Section | None:
        """A line that is no plain row; gives the section that ends here."""
        if line.startswith("=="):
            return None
        key = cells[0].strip().lower()
        if layout := header_of(line):
            done = self._close()
            self._open(layout, number)
            return done
        if key in _TITLES and len(cells) > 1:
            return self._entitle(key, ",".join(cells[1:]).rstrip(","), number)
        if "\0" in line:
            self.doubt("the line holds NUL characters: here the file is damaged", number)
        if self.section:
            self._odd_row(self.section, cells, line, number)
        elif self._is_homeless(cells, line):
            self._open_damaged("rows stand below no header: the line that names their columns is missing", number)
        return None

    def _open(self, layout: Layout, number: int) -> None:
        self.layout = layout
        if layout.has[ISSUED]:
            title, self.title = self.title, {}
            self.section = Section(str(self.path), title, layout, number, [])
            return
        self.countless += 1
        self._open_without("the kernel has no column of executed instructions", number)

    def _open_without(self, why: str, number: int) -> None:
        """A launch of which nothing can be read."""
        self._tell(why, number)
        title, self.title = self.title, {}
        self.section = Section(str(self.path), title, self.layout, number, [], why=why)

    def _open_damaged(self, why: str, number: int) -> None:
        """The same where lines are lost, so that the name above may be another launch's, or be damaged itself."""
        self._open_without(why, number)
        self.doubt(why, number, told=True)

    def _entitle(self, key: str, value: str, number: int) -> Section | None:
        done = self._close()
        if key in _STARTS_KERNEL and key in self.title:
            done = done or self._untabled()
            self.title = {}
        self.titled = number if key in _STARTS_KERNEL else self.titled
        self.title = {**self.title, key: value}
        return done

    def _untabled(self) -> Section | None:
        """A kernel that is named, and nothing else."""
        if not any(key in self.title for key in _STARTS_KERNEL):
            return None
        self._open_damaged("no table of instructions stands below the name of the kernel", self.titled)
        return self._close()

    def _close(self) -> Section | None:
        done, self.section = self.section, None
        self.odd = []
        if not done:
            return None
        if done.foreign and done.foreign >= len(done.lines):
            done.empty("the section holds lines of a source file instead of instructions")
            self._tell(done.why, done.line)
        elif not done.why and not done.lines:
            done.empty("the section holds no row instead of instructions")
            self._tell(done.why, done.line)
        if not names_of(done.title).known:
            self.doubt(done.why or "no name of a kernel stands above the table", done.line, told=bool(done.why))
            if done.why:
                return None
        done.problems[:0] = self.stray
        self.stray.clear()
        return done

    def doubt(self, what: str, line: int, *, told: bool = False) -> None:
        """Take down why launches of any kernel may be lost; ``told`` if that is a problem of the report already."""
        self.doubts[f"line {line}: {what}, so launches of this kernel may be missing"] = None
        self.untold += [] if told else [Problem("warning", str(self.path), what, line)]

    def _tell(self, message: str, line: int) -> None:
        self.stray.append(Problem("warning", str(self.path), message, line))

    def _told(self, section: Section) -> None:
        """A row follows, so that the odd lines before it stand among the rows: no program has printed them there."""
        if self.odd:
            section.interrupt(self.odd)
            self.odd = []

    def _odd_row(self, section: Section, cells: list[str], line: str, number: int) -> None:
        """Rows with an odd address or cut short are kept; units and source lines are not. Other lines are told."""
        if section.why:
            return
        at, source, issued = section.layout.columns[:3]
        fit = fitted(cells, section.layout.width)
        text = cells[source].strip() if len(cells) > max(at, source) else ""
        counted = len(cells) > section.layout.last and _counted(cells[issued])
        named = mnemonic_of(text) is not None and (counted or (fit is None and bool(_NUMBERED.match(line))))
        placed = at < 0 or (len(cells) > at and bool(cells[at].strip()))
        if (_LIKE_A_ROW.match(line) and len(cells) > 1) or (named and placed):
            self._told(section)
            section.add(fit, number) if fit else section.tear(cells, number)
        elif fit and not placed:  # a line of the source file between the instructions, or the units
            return
        elif not (fit and not text and not counted):
            section.foreign += at < 0 and counted and bool(text)
            self.odd.append(number)

    def _is_homeless(self, cells: list[str], line: str) -> bool:
        """Whether a line below no header is a row all the same."""
        if _LIKE_A_ROW.match(line):
            return any(mnemonic_of(cell) for cell in cells[1:3]) and any(map(_counted, cells[2:]))
        if len(cells) != self.layout.width:
            return False
        return mnemonic_of(cells[self.layout.columns[SOURCE]]) is not None and self._counts(cells)

    def _counts(self, cells: list[str]) -> bool:
        return self.layout.has[ISSUED] and _counted(cells[self.layout.columns[ISSUED]])


def _runs(lines: list[str]) -> Iterator[list[str]]:
    """The lines that begin with a number, as rows do, apart from those that do not."""
    start = 0
    for _, run in groupby(['"0' <= line < '":' or "0" <= line < ":" for line in lines]):
        yield lines[start : (start := start + len(list(run)))]


def _counted(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text.strip())) or text.strip().lower() in ("nan", "-", "n/a", "inf")
