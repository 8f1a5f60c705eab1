"""What stands in one line of NVBit's tools, also where it is torn, or glued to another line.

The tools print ``kernel 0 - NAME - #thread-blocks 4,  kernel instructions 40, total instructions 40`` for a launch, and
``  FADD = 32`` for an opcode of it. The program may print in front of a line of theirs. Where its own buffer is written
in the middle of such a line, the line is torn, and its other half comes later or never.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sassmix.readers._csv_numbers import read_count

_START = re.compile(r"kernel (?P<number>\d{1,18}) ?- ")
_NUMBERS = re.compile(
    r" ?- #thread-blocks \S{1,40},[ ]*kernel instructions (?P<count>\S{1,40}),"
    r"(?:[ ]*total instructions (?P<total>\d{1,20}))?"
)
#: Words of a launch's line that no program prints.
_TRACE = re.compile(r"#thread-b|kernel instructions \S+,|, total instructions \d", re.IGNORECASE)
_BLANK = re.compile(r"[ \t]*")
_COUNT = re.compile(r"([ \t]*)([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)([ \t]*=[ \t]*)(.*)")
#: A mangled name has no blanks, and none stands behind other text or in small letters.
_NAME = re.compile(r"_(?!z)[\w.$@]*(?:[(<](?:(?!_Z).)*)?|(?!_)(?:(?!_Z).)+")
_LIKE_NAME = re.compile(r"_|void\b|[\w:~]{1,200}[<(]")
_LONGEST_NAME = 20_000
#: Launchers of many processes, and tools that note the time, put theirs in front of each line.
_BEHIND = re.compile(r".*\S  ([A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*) = (\d{1,20})[ \t]*")
_LONGEST_PREFIXED = 1000


@dataclass(frozen=True, slots=True)
class Head:
    """A launch's line with its numbers.

    :param count: its instructions, as they stand there.
    :param total: those of all launches so far; None where they are cut off.
    :param clean: whether the line ends as the tool ends it.
    """

    number: int
    name: str
    count: str
    total: int | None
    clean: bool


@dataclass(frozen=True, slots=True)
class Torn:
    """What may be the line of a launch, without its numbers.

    :param number: None where it is torn off.
    :param name: the kernel's; empty unless all of it is there.
    :param dots: whether dots stand for the rest of the line, as people shorten it.
    :param sure: whether it has words that no program prints.
    :param first: whether it stands at the line's start and a kernel's name may follow; a program may say as much.
    :param likely: whether what follows is hardly anything but a kernel's name.
    """

    number: int | None
    name: str = ""
    dots: bool = False
    sure: bool = False
    first: bool = False
    likely: bool = False


@dataclass(frozen=True, slots=True)
class Opcode:
    """What may be the count of an opcode.

    :param count: None where it cannot be read; ``reason`` says why.
    :param known: whether an architecture has the opcode.
    :param shaped: whether it is written as the tool writes it, with an indent and in capitals.
    """

    name: str
    count: int | None
    reason: str
    known: bool
    shaped: bool

    @property
    def sure(self) -> bool:
        """Whether the tool has most likely written it."""
        return self.known and self.shaped


Part = Head | Torn | Opcode


def parts(line: str) -> Iterator[Part]:
    """What a line holds of the tools', in order: more than one where an end of a line is missing."""
    begin = 0
    for numbers in _NUMBERS.finditer(line):
        start = _last_start(line, begin, numbers.start())
        head = _head(line, start, numbers) if start else None
        if start and head:
            yield from _piece(line[begin : start.start()])
            yield head
        else:
            yield Torn(int(start["number"]) if start else None, sure=True)
        begin = numbers.end()
    yield from _piece(line[begin:] if begin else line)


def _last_start(line: str, begin: int, end: int) -> re.Match[str] | None:
    """The program may speak of kernels in front of a launch's line."""
    start = None
    for start in _START.finditer(line, begin, end):  # noqa: B007
        pass
    return start


def _head(line: str, start: re.Match[str], numbers: re.Match[str]) -> Head | None:
    name = line[start.end() : numbers.start()].strip()
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        return None
    total = int(numbers["total"]) if numbers["total"] else None
    clean = total is not None and bool(_BLANK.fullmatch(line, numbers.end()))
    return Head(int(start["number"]), name, numbers["count"], total, clean)


def _piece(text: str) -> Iterator[Part]:
    """What holds no whole line of a launch: the count of an opcode, and behind it perhaps a part of such a line."""
    start = _last_start(text, 0, len(text)) if "kernel " in text else None
    if found := _opcode(text[: start.start()] if start else text):
        yield found
    sure = bool(_TRACE.search(text))
    if start:
        yield _torn(text, start, sure)
    elif sure:
        yield Torn(None, sure=True)


def _torn(text: str, start: re.Match[str], sure: bool) -> Torn:
    rest = text[start.end() :].rstrip()
    name, numbers, _ = rest.partition(" - #")
    dots = start.start() == 0 and rest.endswith("...") and len(rest) > 3
    whole = rest[:-3].strip() if dots else name.strip() if numbers else ""
    first = start.start() == 0 and (not rest or rest[0].isalpha() or rest[0] in "_(")
    return Torn(int(start["number"]), whole[:_LONGEST_NAME], dots, sure, first, bool(_LIKE_NAME.match(rest)))


def _opcode(text: str) -> Opcode | None:
    found = _COUNT.fullmatch(text)
    if not found:
        behind = _BEHIND.fullmatch(text) if len(text) < _LONGEST_PREFIXED else None
        return Opcode(behind[1], *read_count(behind[2]), True, False) if behind and _is_known(behind[1]) else None
    indent, name, equals, value = found.groups()
    capitals, value = name.partition(".")[0].isupper(), value.rstrip()
    shaped, known = bool(indent) and capitals, _is_known(name)
    if not shaped and not known:
        return None
    count, reason = read_count(value) if equals == " = " and " " not in value else (None, f"{value[:40]!r} is no count")
    return Opcode(name if capitals else _in_capitals(name), count, reason, known, shaped)


def _in_capitals(name: str) -> str:
    """Shapes keep their x: ``HGMMA.64x8x16``."""
    return re.sub(r"(?<=\d)X(?=\d)", "x", name.upper())


def _is_known(name: str) -> bool:
    return _is_opcode(name.partition(".")[0].upper())


@lru_cache(1 << 12)
def _is_opcode(word: str) -> bool:
    """Whether any architecture has such an opcode."""
    from sassmix.plugins import default_plugins

    return bool(default_plugins().registry.targets_with(word))


def begins_launch(text: str, number: int) -> bool:
    """Whether a last line without an end may be cut off within what comes first in the line of this launch."""
    start = f"kernel {number} - "
    if text and start.startswith(text):
        return True
    # Behind output of the program, whose last word may be "ok", "take" or "worker".
    return any(text.endswith(start[:length]) for length in range(4, len(start) + 1))
