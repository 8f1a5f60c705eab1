"""Code lines taken apart, in the disassembler's columns and in any others. What comes out is proved by the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress, count, islice
from typing import NamedTuple

from sassmix.columns import Columns, Packed
from sassmix.forms import half_folded

# The columns of nvdisasm and cuobjdump. What the groups hold is proved by the grammar afterwards.
_COLUMNS = (
    r"\n        /\*([0-9a-f]{1,16}+)\*/ ++(@%s ++|)(%s)(%s);"
    r"(?:(?=\n)| *+(?:/\* 0x[0-9a-f]{16} \*/(?:\n ++/\* 0x[0-9a-f]{16} \*/)?|//[^\n]*)?(?=\n))"
)
_CODE = re.compile(_COLUMNS % (r"\S++", r"[A-Z_][^\s;]*+", r"[^\n;]*+"))
# Faster by a quarter, as `re` runs over all but one character at once; but from an odd line into the next, which has to
# end somewhere, or a text without semicolons would take for ever. What the tools print without a blank behind it is
# named, as the next line would be taken for a part of it.
_HASTY = re.compile(_COLUMNS % (r"[^ ]++", r"(?:NOP|ERRBAR|MEMBAR[.A-Z]*)(?=;)|[A-Z_][^ ]*+", r"[^;]{0,2000}+"))
_ODD = re.compile(r"[\s;]")
# Characters of a piece, about: one that is still in the processor's cache when its columns are made.
_PIECE = 1 << 17
_UNINDENTED = re.compile(r"\n(?! )")
# The same in other columns: control fields in front, tabs, dual-issue braces, no semicolon; taken apart from both ends.
_HEAD = re.compile(
    r"[ \t]*+(?:\[B[-0-9]++:R[-0-9]++:W[-0-9]++:[-Y]:S[0-9]++\][ \t]*+)?"
    r"(?:/\*(?P<offset>[0-9a-fA-F]{1,16}+)\*/|(?:[0-9]++[ \t]++)?(?P<address>0x[0-9a-f]{1,16}+)?)[ \t]*+(?:\{[ \t]*+)?"
    r"(?P<guard>@!?[A-Z0-9]++[ \t]*+)?(?P<mnemonic>[A-Z_][^ \t;,}]*+)(?P<rest>.*+)"
)
_ENCODING = re.compile(r"/\* 0x[0-9a-f]++ \*/$")


class Distinct(NamedTuple):
    """What is to be proved of the columns, each text once; of the tails what is left when most digits are folded."""

    guards: set[str]
    mnemonics: set[str]
    tails: set[str]


class Taken(NamedTuple):
    """A text taken apart.

    :param gaps: what stands between code lines, each with the number of code lines in front of it, and with a line end
        in front of each of its lines.
    """

    gaps: list[tuple[int, str]]
    columns: Columns
    distinct: Distinct


class _Piece(NamedTuple):
    pattern: re.Pattern[str]
    gaps: list[str]
    offsets: list[str]
    guards: list[str]
    mnemonics: list[str]
    tails: list[str]


def take_apart(text: str) -> Taken:
    """The code lines as columns, and what stands around them: piece by piece, which takes less memory.

    :param text: with a line end behind each line.
    """
    offsets, guards, mnemonics, tails = Packed(), list[str](), list[str](), Packed()
    gaps = [] if text.startswith(" ") else [(0, "\n")]
    names: dict[str, str] = {}
    folded = set[str]()
    for lines in _pieces(text):
        piece = _taken(lines, names)
        gaps += [(len(guards) + at, piece.gaps[at]) for at in compress(count(), piece.gaps)]
        if piece.offsets:
            offsets.pack(piece.offsets)
            guards += piece.guards
            mnemonics += piece.mnemonics
            folded.update(half_folded(tails.pack(piece.tails)))
    return Taken(gaps, Columns(offsets, guards, mnemonics, tails), Distinct(set(guards), set(names), folded))


def line_numbers(text: str) -> list[int]:
    """0, and the number of the line in which each code line ends: a second pass, which hardly any listing needs."""
    numbers, before = [0], 1
    for piece in _pieces(text):
        whole, line, done = _whole(piece), before - piece.startswith(" "), 0
        for match in _taken(piece, {}).pattern.finditer(whole):
            line += whole.count("\n", done, match.end())
            done = match.end()
            numbers.append(line)
        before += piece.count("\n")
    return numbers


def _pieces(text: str) -> Iterator[str]:
    """Cut in front of lines that begin without a blank, as none does that belongs to the one before it."""
    start = 0
    while start < len(text):
        cut = _UNINDENTED.search(text, start + _PIECE)
        stop = cut.end() if cut else len(text)
        yield text[start:stop]
        start = stop


def _taken(piece: str, names: dict[str, str]) -> _Piece:
    """The columns of a piece, by the pattern that takes it apart rightly.

    :param names: every mnemonic found so far, each once; those of the piece are added.
    """
    known = len(names)
    taken = _split(_HASTY, piece, names)
    new = list(islice(names, known, None))
    if not _ODD.search("".join([*new, *set(taken.guards)]).replace(" ", "")) and "\n" not in "".join(taken.tails):
        return taken
    for name in new:
        del names[name]
    return _split(_CODE, piece, names)


def _split(pattern: re.Pattern[str], piece: str, names: dict[str, str]) -> _Piece:
    parts = pattern.split(_whole(piece))
    gaps, offsets, guards, mnemonics, tails = (parts[group::5] for group in range(5))
    return _Piece(pattern, gaps, offsets, guards, list(map(names.setdefault, mnemonics, mnemonics)), tails)


def _whole(piece: str) -> str:
    """With a line end in front, where that may belong to code: in the first piece only, and hardly in any text."""
    return "\n" + piece if piece.startswith(" ") else piece


def split_code(line: str, *, bare: bool = False) -> tuple[str, str, str, str, bool] | None:
    """Offset, guard, mnemonic, operands of a code line in any columns, and whether it has an end; None for no such."""
    body = line.partition("//")[0].rstrip(" \t")
    body = _ENCODING.sub("", body).rstrip(" \t")
    match = _HEAD.fullmatch(body)
    if not match or "\x01" in line or not (match["offset"] or bare):
        return None
    rest = match["rest"]
    closed = rest.endswith("}") and rest.count("}") > rest.count("{")
    rest = rest[:-1].rstrip(" \t") if closed else rest
    ended = rest.endswith(";")
    tail = rest[:-1] if ended else rest
    if ";" in tail:
        return None
    return match["offset"] or match["address"] or "", match["guard"] or "", match["mnemonic"], tail, ended or closed


def merge(into: Columns, code: Columns, extra: dict[int, tuple[str, str, str, str]]) -> None:
    """Put the code lines that were read one by one between the others, each at its index."""
    columns: list[Sequence[str]] = [code.offsets, code.guards, code.mnemonics, code.tails]
    if extra:
        columns = [
            _between(column, list(extra), group)
            for column, group in zip(columns, zip(*extra.values(), strict=True), strict=True)
        ]
    into.offsets, into.guards, into.mnemonics, into.tails = columns


def _between(column: Sequence[str], places: list[int], texts: tuple[str, ...]) -> list[str]:
    merged, others = list[str](), iter(column)
    for place, text in zip(places, texts, strict=True):
        merged += islice(others, place - len(merged))
        merged.append(text)
    return [*merged, *others]
