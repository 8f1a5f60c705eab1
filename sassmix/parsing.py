"""Text to :class:`~sassmix.listing.Listing`: every line proved by the grammar, one pass over the lines around code.

Code lines in the disassembler's own columns are taken apart by one ``re.split``; all others go line by line.
What the grammar rejects becomes a problem with its line and column, and never moves what stands behind it.
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sassmix import forms
from sassmix.codelines import Distinct, merge, split_code, take_apart
from sassmix.columns import Columns
from sassmix.faults import Faults
from sassmix.grammar import kind_of
from sassmix.listing import Listing
from sassmix.symbols import Place, Scope
from sassmix.wholeness import finished

_OFFSET = re.compile(r"\s*+(?:\[B[^\]]*+\]\s*+)?/\*([0-9a-fA-F]{1,16}+)\*/\s*+(?:\{\s*+)?(?:@!?\w++\s++)?(\S*+)")
_SILENT = frozenset({"directive", "comment", "encoding", "rule", "word", "empty"})
_WITH_OFFSETS = frozenset({"data", "encoding"})
_HIDDEN = re.compile(r"/\*[0-9a-fA-F]{4,16}\*/\s*+@?[A-Z]")  # an instruction within a line of another kind
_AROUND_PTX = frozenset({"header", "rule", "pair", "word", "empty"})
_LONGEST = 1_000_000  # characters; no tool prints a line like that


def parse(text: str, *, path: str | None = None) -> Listing:
    """Read a listing as nvdisasm or cuobjdump prints it, or as people paste it.

    :param text: the listing; a byte order mark and line ends of any system are accepted.
    :param path: name for messages.
    :returns: every function of the text. What could not be read is in ``problems``, never an exception.
    """
    (listing,) = parse_parts([text], path=path)
    return listing


def parse_parts(texts: Iterable[str], *, path: str | None = None) -> Iterator[Listing]:
    """The same for a listing that comes in parts, so that it never stands in memory as a whole.

    :param texts: each ends in front of the first line of a section or a function, and its lines are whole.
    :returns: one listing for each, with one ``home``; their problems name lines of the whole text.
    """
    home = object()
    faults, scope = Faults(path), None
    for text, last in _with_last(texts):
        with _garbage_kept():
            parser = _Parser(text, faults, scope)
            listing = parser.run(last=last)
            faults, scope = faults.rest(), parser.scope
        listing.home = home
        yield listing


def _with_last(texts: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each with whether it is the last."""
    held: str | None = None
    for text in texts:
        if held is not None:
            yield held, False
        held = text
    if held is not None:
        yield held, True


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
    faults: Faults
    before: Scope | None  # of the part before
    columns: Columns = field(default_factory=Columns)
    lines: Counter[str] = field(default_factory=Counter)
    bare: bool = False
    cut: str = ""
    split: dict[str, tuple[str, str, str, str, bool]] = field(default_factory=dict)
    extra: dict[int, tuple[str, str, str, str]] = field(default_factory=dict)  # code lines in other columns, by index
    scope: Scope = field(init=False)

    def run(self, *, last: bool) -> Listing:
        text = self.text.removeprefix("\ufeff")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        text = text.replace("\xa0", " ")  # what browsers put in the place of blanks
        self.cut = "" if text.endswith("\n") else text.rpartition("\n")[2]
        self.text = self.faults.text = text + "\n" if self.cut else text
        gaps, code, distinct = take_apart(self.text)
        self.bare = not (len(code) or self.before or "/*" in text)
        self.scope = self._scope()
        self._walk(gaps, code)
        self._prove(distinct)
        self.scope.encodings = self.scope.kind == "cuobjdump-sass" and " /* 0x" in text
        functions = finished(self.scope, cut=bool(self.cut))
        return Listing(
            kind=self.scope.kind,
            functions=functions,
            problems=self.faults.in_order(last=last),
            path=self.faults.path,
            arch=self.scope.common_arch(functions),
            toolkit=self.scope.toolkit,
            lines=self.lines,
        )

    def _scope(self) -> Scope:
        """That of the part before says what this one is of, and what could not be read just before it."""
        scope = Scope(self.columns, self.faults.problems, self.faults.path, self.faults.number)
        if before := self.before:
            scope.arch, scope.in_ptx = before.arch, before.in_ptx
            scope.damaged += [(0, reason) for index, reason in before.damaged if index >= len(before.columns)]
        return scope

    def _walk(self, gaps: list[tuple[int, str]], code: Columns) -> None:
        """Go through the lines around the code. Most say nothing, and are counted without being looked at."""
        behind, extra, scope = self.faults.behind, self.extra, self.scope
        for index, gap in gaps:
            behind += [index] * gap.count("\n")
        lines = "".join(gap for _, gap in gaps).split("\n")[1:-1]  # behind the last line end there is none
        kinds = self._kinds(lines)
        jumps = 0
        for at in range(len(lines)) if scope.in_ptx or "header" in kinds else self._telling(lines, kinds):
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
        if self.scope.in_ptx and kind not in _AROUND_PTX and self.scope.still_in_ptx(kind, line, place):
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
        self.extra[self.scope.here] = (offset.lower().removeprefix("0x"), guard, mnemonic, tail.rstrip(" \t"))
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
        number = self.faults.number(place)
        self.faults.tell("not a line of a listing", line, number)
        self.scope.damage(f"line {number} cannot be read")

    def _complain(self, index: int, line: str, place: Place, what: str) -> None:
        """An instruction that cannot be read: it keeps its offset and stays in the counts as unresolved."""
        number = self.faults.number(place)
        self.faults.tell(what, line, number)
        self.scope.unreadable[index] = f"line {number} is {what}"

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
        number, line = self.faults.find(self.columns.offsets[index], row)
        if not self.faults.suppressed and kind_of(line) == "code":
            return  # the pieces are odd, the whole is not
        what = "not an instruction" if fatal else "operands that the grammar does not know"
        self.faults.tell(what, line or "".join(row), number)
        if fatal:
            self.scope.unreadable[index] = f"line {number} is {what}"
        else:
            self.scope.damage_at(index, f"line {number} has {what}")
