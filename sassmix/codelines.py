"""Code lines taken apart, in the disassembler's columns and in any others. What comes out is proved by the grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sassmix.columns import Columns

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
    r"[ \t]*+(?:\[B[-0-9]++:R[-0-9]:W[-0-9]:[-Y]:S[0-9]++\][ \t]*+)?"
    r"(?:/\*(?P<offset>[0-9a-fA-F]{1,16}+)\*/|(?:[0-9]++[ \t]++)?(?P<address>0x[0-9a-f]{1,16}+)?)[ \t]*+(?:\{[ \t]*+)?"
    r"(?P<guard>@!?[A-Z0-9]++[ \t]*+)?(?P<mnemonic>[A-Z_][^ \t;,}]*+)(?P<rest>.*+)"
)
_ENCODING = re.compile(r"/\* 0x[0-9a-f]++ \*/$")


class Distinct(NamedTuple):
    """The texts of columns, each once."""

    guards: set[str]
    mnemonics: set[str]
    tails: set[str]


def take_apart(text: str) -> tuple[list[str], Columns, Distinct]:
    """The code lines as columns, and what stands in front of each of them and behind the last.

    Piece by piece, and each offset and mnemonic kept once: that takes a third less memory.

    :param text: with a line end behind each line.
    :returns: each gap with a line end in front of its lines, the first too; the columns; what is to be proved of them.
    """
    gaps: list[str] = []
    last = ["" if text.startswith(" ") else "\n"]  # the parts of the gap that is not closed by code yet
    code = Columns()
    offsets: dict[str, str] = {}
    mnemonics: dict[str, str] = {}
    for piece in _pieces(text):
        (first, *between), numbers, guards, names, tails = _columns(piece)[1]
        last.append(first)
        if not between:
            continue
        gaps.append("".join(last))
        last = [between.pop()]
        gaps += between
        code.offsets += map(offsets.setdefault, numbers, numbers)
        code.guards += guards
        code.mnemonics += map(mnemonics.setdefault, names, names)
        code.tails += tails
    gaps.append("".join(last))
    return gaps, code, Distinct(set(code.guards), set(mnemonics), set(code.tails))


def line_numbers(text: str) -> list[int]:
    """0, and the number of the line in which each code line ends: a second pass, which hardly any listing needs."""
    numbers, before = [0], 1
    for piece in _pieces(text):
        whole, line, done = _whole(piece), before - piece.startswith(" "), 0
        for match in _columns(piece)[0].finditer(whole):
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


def _columns(piece: str) -> tuple[re.Pattern[str], list[list[str]]]:
    """Gaps, offsets, guards, mnemonics and tails of a piece, and by which pattern."""
    columns: list[list[str]] = []
    for pattern in (_HASTY, _CODE):
        parts = pattern.split(_whole(piece))
        columns = [parts[group::5] for group in range(5)]
        words = "".join(set(columns[3])) + "".join(set(columns[2])).replace(" ", "")
        if not _ODD.search(words) and "\n" not in "".join(columns[4]):
            break
    return pattern, columns


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
    if not extra:
        into.offsets, into.guards, into.mnemonics, into.tails = code.offsets, code.guards, code.mnemonics, code.tails
        return
    done = 0
    for count, (index, row) in enumerate(extra.items()):
        stop = index - count
        if stop > done:
            piece = slice(done, stop)
            into.extend(code.offsets[piece], code.guards[piece], code.mnemonics[piece], code.tails[piece])
            done = stop
        for column, value in zip((into.offsets, into.guards, into.mnemonics, into.tails), row, strict=True):
            column.append(value)
    into.extend(code.offsets[done:], code.guards[done:], code.mnemonics[done:], code.tails[done:])
