"""Text to :class:`~sassmix.listing.Listing`: every line proved by the grammar, one pass over the lines around code.

Code lines in the disassembler's own columns are taken apart by one ``re.split``; all others go line by line.
What the grammar rejects becomes a problem with its line and column, and never moves what stands behind it.
"""

from __future__ import annotations

import gc
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sassmix import forms
from sassmix.codelines import Distinct, line_numbers, merge, split_code, take_apart
from sassmix.columns import Columns
from sassmix.errors import Problem
from sassmix.grammar import kind_of, syntax_error
from sassmix.listing import Listing
from sassmix.symbols import Place, Scope
from sassmix.wholeness import finished

_OFFSET = re.compile(r"\s*+(?:\[B[^\]]*+\]\s*+)?/\*([0-9a-fA-F]{1,16}+)\*/\s*+(?:\{\s*+)?(?:@!?\w++\s++)?(\S*+)")
_SILENT = frozenset({"directive", "comment", "encoding", "rule", "word", "empty"})
_WITH_OFFSETS = frozenset({"data", "encoding"})
_HIDDEN = re.compile(r"/\*[0-9a-fA-F]{4,16}\*/\s*+@?[A-Z]")  # an instruction within a line of another kind
_AROUND_PTX = frozenset({"header", "rule", "pair", "word", "empty"})
_MOST_PROBLEMS = 1000
_LONGEST = 1_000_000  # characters; no tool prints a line like that


def parse(text: str, *, path: str | None = None) -> Listing:
    """Read a listing as nvdisasm or cuobjdump prints it, or as people paste it.

    :param text: the listing; a byte order mark and line ends of any system are accepted.
    :param path: name for messages.
    :returns: every function of the text. What could not be read is in ``problems``, never an exception.
    """
    with _garbage_kept():
        return _Parser(text, path).run()


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """No garbage collection meanwhile: each would walk the long columns again, a fifth of the whole time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(slots=True)
class _Parser:
    text: str
    path: str | None
    columns: Columns = field(default_factory=Columns)
    problems: list[Problem] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)
    bare: bool = False
    cut: str = ""
    suppressed: int = 0
    split: dict[str, tuple[str, str, str, str, bool]] = field(default_factory=dict)
    extra: dict[int, tuple[str, str, str, str]] = field(default_factory=dict)  # code lines in other columns, by index
    behind: list[int] = field(default_factory=list)  # of each line around the code, how many code lines are before it
    starts: list[int] = field(default_factory=list)  # line number at the end of each code line
    sought: tuple[int, int] = (0, 0)  # where the line of the last rejected instruction starts; line ends before it
    scope: Scope = field(init=False)

    def run(self) -> Listing:
        text = self.text.removeprefix("\ufeff")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = text.replace("\xa0", " ")  # what browsers put in the place of blanks
        self.cut = "" if text.endswith("\n") else text.rpartition("\n")[2]
        self.text = text + "\n" if self.cut else text
        gaps, code, distinct = take_apart(self.text)
        self.bare = not len(code) and "/*" not in text
        self.scope = Scope(self.columns, self.problems, self.path, self._number)
        self._walk(gaps, code)
        self._prove(distinct)
        self.scope.encodings = self.scope.kind == "cuobjdump-sass" and " /* 0x" in text
        functions = finished(self.scope, cut=bool(self.cut))
        return Listing(
            kind=self.scope.kind,
            functions=functions,
            problems=self._bounded(),
            path=self.path,
            arch=self.scope.common_arch(functions),
            toolkit=self.scope.toolkit,
            lines=self.lines,
        )

    def _walk(self, gaps: list[tuple[int, str]], code: Columns) -> None:
        """Go through the lines around the code. Most say nothing, and are counted without being looked at."""
        behind, extra, scope = self.behind, self.extra, self.scope
        for index, gap in gaps:
            behind += [index] * gap.count("\n")
        lines = "".join(gap for _, gap in gaps).split("\n")[1:]
        kinds = self._kinds(lines)
        jumps = 0
        for at in range(len(lines)) if "header" in kinds else self._telling(lines, kinds):
            line, kind = lines[at], kinds[at]
            here = scope.here = behind[at] + len(extra)
            if kind == "label" and line[:2] == ".L" and not scope.in_ptx:
                scope.labels[line.partition(":")[0]] = here
                jumps += 1
            else:
                self._line(line, kind, at)
        scope.here = len(code) + len(extra)
        self.lines["code"] += len(code)
        self.lines.update(["label"] * jumps)
        merge(self.columns, code, extra)

    def _telling(self, lines: list[str], kinds: list[str | None]) -> list[int]:
        """The lines that say something, or that hide an instruction; the others are counted."""
        hidden = {at for at, line in enumerate(lines) if "*/" in line and kinds[at] in _SILENT}
        self.lines.update(kind for at, kind in enumerate(kinds) if kind and kind in _SILENT and at not in hidden)
        return [at for at, kind in enumerate(kinds) if kind not in _SILENT or at in hidden]

    def _kinds(self, lines: list[str]) -> list[str | None]:
        """The kind of every line between the code: taken apart if it has an offset, else by the grammar."""
        self.split = {line: row for line in set(lines) if "/*" in line and (row := split_code(line))}
        skipped = self.split.keys() | {line for line in lines if len(line) > _LONGEST}
        if not skipped:
            return forms.line_kinds(lines)
        kinds = forms.line_kinds(["" if line in skipped else line for line in lines])
        return [
            "code" if line in self.split else None if line in skipped else kind
            for line, kind in zip(lines, kinds, strict=True)
        ]

    def _line(self, line: str, kind: str | None, place: Place) -> None:
        if self.scope.in_ptx and kind not in _AROUND_PTX:
            self.lines["ptx"] += 1
        elif kind == "code" or (kind == "bare" and self.bare):
            self._code(line, place)
        elif kind is None or kind == "bare" or ("*/" in line and kind not in _WITH_OFFSETS and _HIDDEN.search(line)):
            self._unknown(line, place)
        else:
            self.lines[kind] += 1
            if kind not in _SILENT:
                self.scope.line(kind, line, place)

    def _code(self, line: str, place: Place) -> None:
        row = self.split.get(line) or split_code(line, bare=True)
        if row is None:
            self._unknown(line, place)
            return
        self.lines["code"] += 1
        if line.lstrip().startswith("["):
            self.scope.kind = "annotated-listing"
        index = self._add(*row[:4])
        if self.cut and line == self.cut and not row[4] and ";" in self.text:
            self._complain(index, line, place, "cut off at the end of the text")

    def _add(self, offset: str, guard: str, mnemonic: str, tail: str) -> int:
        self.extra[self.scope.here] = (offset.lower().removeprefix("0x"), guard, mnemonic, tail.rstrip())
        self.scope.here += 1
        return self.scope.here - 1

    def _unknown(self, line: str, place: Place) -> None:
        self.lines["unknown"] += 1
        match = _OFFSET.match(line)
        if match:
            index = self._add(match[1], "", match[2][:80] or "?", "")
            self._complain(
                index, line, place, "cut off at the end of the text" if line == self.cut else "not a line of a listing"
            )
            return
        number = self._number(place)
        self._problem("not a line of a listing", line, number)
        self.scope.damage(f"line {number} cannot be read")

    def _complain(self, index: int, line: str, place: Place, what: str) -> None:
        """An instruction that cannot be read: it keeps its offset and stays in the counts as unresolved."""
        number = self._number(place)
        self._problem(what, line, number)
        self.scope.unreadable[index] = f"line {number} is {what}"

    def _problem(self, what: str, line: str, number: int) -> None:
        self.suppressed += len(self.problems) >= _MOST_PROBLEMS
        if not self.suppressed:
            column = syntax_error(line, path=self.path, number=number).column
            self.problems.append(Problem("warning", self.path, f"{what}: {line.strip()[:100]!r}", number, column))

    def _prove(self, distinct: Distinct) -> None:
        """Ask the grammar for every distinct guard, mnemonic and operand text of the code lines."""
        for _, guard, mnemonic, tail in self.extra.values():
            distinct.guards.add(guard)
            distinct.mnemonics.add(mnemonic)
            distinct.tails.update(forms.half_folded(tail))
        guards = forms.rejected_guards(distinct.guards)
        mnemonics = forms.rejected_mnemonics(distinct.mnemonics)
        tails = forms.rejected_tails(self.columns.tails, distinct.tails)
        if not (guards or mnemonics or tails):
            return
        columns = self.columns
        for index, row in enumerate(zip(columns.guards, columns.mnemonics, columns.tails, strict=True)):
            if index in self.scope.unreadable or not (row[0] in guards or row[1] in mnemonics or row[2] in tails):
                continue
            self._rejected(index, row, fatal=row[0] in guards or row[1] in mnemonics)

    def _rejected(self, index: int, row: tuple[str, str, str], *, fatal: bool) -> None:
        number, line = self._find(self.columns.offsets[index], row)
        if not self.suppressed and kind_of(line) == "code":
            return  # the pieces are odd, the whole is not
        what = "not an instruction" if fatal else "operands that the grammar does not know"
        self._problem(what, line or "".join(row), number)
        if fatal:
            self.scope.unreadable[index] = f"line {number} is {what}"
        else:
            self.scope.damage_at(index, f"line {number} has {what}")

    def _find(self, offset: str, row: tuple[str, str, str]) -> tuple[int, str]:
        """Line number and text of an instruction that was taken apart; asked for those rejected, in their order."""
        needle = row[0] + row[1] + row[2]
        sought, counted = self.sought
        position = self.text.find(needle, sought)
        while position >= 0:
            start = self.text.rfind("\n", 0, position) + 1
            stop = self.text.find("\n", position)
            line = self.text[start:stop]
            if offset in line.lower():
                self.sought = start, counted + self.text.count("\n", sought, start)
                return self.sought[1] + 1, line
            position = self.text.find(needle, position + 1)
        return 0, ""

    def _number(self, place: Place) -> int:
        """The number of a line between code lines."""
        self.starts = self.starts or line_numbers(self.text)
        index = self.behind[place]
        return self.starts[index] + place - bisect_left(self.behind, index) + 1

    def _bounded(self) -> list[Problem]:
        self.problems.sort(key=lambda problem: problem.line or 0)
        if self.suppressed:
            what = f"{self.suppressed} more lines of this listing cannot be read; the first {_MOST_PROBLEMS} are listed"
            self.problems.append(Problem("warning", self.path, what))
        return self.problems
