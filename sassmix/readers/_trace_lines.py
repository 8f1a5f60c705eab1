"""Lines of a trace that DuckDB does not give: records that are no instructions, and lines that are no records.

Python reads them, and only as far as it must: DuckDB has said how many there are.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from sassmix.errors import TOLD
from sassmix.readers._zstd import pieces, walk

_WINDOW = 1 << 22
#: DuckDB refuses a file with a longer line; so long a line of instructions does not exist.
LONGEST = (1 << 24) - 4096
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
#: Lines that are looked at for them; behind these, bad lines are only counted.
_MOST_LINES = 10_000_000


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The record on a line, None if it is none."""
    try:
        record = _DECODER.decode(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def blocks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, divided at ends of lines only. The last block may be without one."""
    rest: list[bytes] = []
    for part in parts:
        head, newline, tail = part.rpartition(b"\n")
        if newline:
            yield b"".join([*rest, head, newline])
            rest = [tail]
        else:
            rest.append(part)
    if last := b"".join(rest):
        yield last


def other_records(path: Path, wanted: dict[str, int]) -> list[dict[str, Any]]:
    """The records of the wanted types, of which the file holds so many, in the order of the file.

    CUTracer writes them first and last; only where that does not find all, the whole file is read.
    """
    if (tail := _tail(path)) is not None:
        head = itertools.islice(blocks(pieces(path, _WINDOW)), 1)
        found = _search(itertools.chain(head, tail), dict(wanted))
        if len(found) == sum(wanted.values()):
            return found
    return _search(blocks(pieces(path, _WINDOW)), dict(wanted))


def _tail(path: Path) -> Iterable[bytes] | None:
    """The last lines of a file of which they are a small part; in a compressed file those of its last frames."""
    size = path.stat().st_size
    starts = walk(path)[0]
    if starts:
        return pieces(path, start=starts[-2]) if len(starts) > 4 and size - starts[-2] < size // 2 else None
    if size <= 2 * _WINDOW:
        return None
    with path.open("rb") as file:
        file.seek(size - _WINDOW)
        return [file.read().partition(b"\n")[2]]


def _search(parts: Iterable[bytes], missing: dict[str, int]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for part in parts:
        places: set[int] = set()
        for kind in [kind for kind, number in missing.items() if number > 0]:
            places.update(_line_starts(part, f'"{kind}"'.encode()))
        for start in sorted(places):
            end = part.find(b"\n", start)
            record = parse_line(part[start : end if end >= 0 else len(part)])
            if record and record.get("type") in missing:
                missing[record["type"]] -= 1
                found.append(record)
        if not any(number > 0 for number in missing.values()):
            break
    return found


def _line_starts(part: bytes, needle: bytes) -> Iterator[int]:
    at = part.find(needle)
    while at >= 0:
        yield part.rfind(b"\n", 0, at) + 1
        end = part.find(b"\n", at)
        at = part.find(needle, end) if end >= 0 else -1


def bad_lines(path: Path, number: int, types: frozenset[str]) -> list[tuple[int, str]]:
    """The first lines that are no records or whose numbers are none, with what is wrong; the file has so many.

    Most are cut, and are found without parsing every line.
    """
    found: list[tuple[int, str]] = []
    for quick in (True, False):
        found = list(itertools.islice(_faults(path, types, quick), min(number, TOLD)))
        if len(found) == min(number, TOLD):
            break
    return found


def _faults(path: Path, types: frozenset[str], quick: bool) -> Iterator[tuple[int, str]]:
    number = 0
    for block in blocks(pieces(path)):
        if number > _MOST_LINES:
            return
        for number, line in enumerate(io.BytesIO(block), number + 1):  # noqa: B020 - goes on counting
            if quick and line[:1] == b"{" and line[-2:] == b"}\n":
                continue
            if line.strip() and (fault := fault_of(line, types)):
                yield number, fault


def fault_of(line: bytes, types: frozenset[str]) -> str | None:
    """What is wrong with a line, None if nothing."""
    record = parse_line(line)
    if record is None:
        start = line[:60].decode("utf-8", "replace")
        return f"is cut off or no record: {start!r}"
    if record.get("type") not in types:
        return None if isinstance(record.get("type"), str) else "has no type"
    faults: list[tuple[str, Callable[[Any], bool]]] = [
        ("opcode_id", is_number),
        ("pc", is_hex),
        ("grid_launch_id", is_number),
    ]
    for name, fits in faults:
        if record.get(name) is not None and not fits(record[name]):
            return f"has the {name} {str(record[name])[:40]!r}"
    named = record.get("opcode_id") is not None or (record.get("sass") and record.get("pc"))
    return None if named else "names no instruction"


def is_number(value: object) -> bool:
    """Whether a value of JSON can be an opcode id."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def is_hex(value: object) -> bool:
    """Whether a value of JSON can be an address."""
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def salvage(path: Path, copy: Path) -> list[tuple[int, str]]:
    """Copy what can be read, decompressed, without the lines that are too long for DuckDB; which those were."""
    dropped: list[tuple[int, str]] = []
    line, length = 1, 0
    with copy.open("wb") as out:
        for part in pieces(path):
            for text in io.BytesIO(part):
                if length + len(text) <= LONGEST:
                    out.write(text)
                elif length <= LONGEST:
                    dropped.append((line, f"is longer than {LONGEST:,} bytes"))
                    out.seek(-length, 1)
                    out.truncate()
                length += len(text)
                if text.endswith(b"\n"):
                    line, length = line + 1, 0
    return dropped
