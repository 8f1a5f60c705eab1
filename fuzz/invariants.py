"""What holds for every input, whatever it is: the readers' promises, checked after each run."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sassmix
from sassmix.arch import FACETS
from sassmix.counts import Counts
from sassmix.errors import SassmixError
from sassmix.listing import Listing
from sassmix.readers import Reader
from sassmix.render import render

#: Formats that take long are made of every so manieth input, by its checksum, so that a run can be repeated.
_SLOW_FORMATS = ("text", "markdown", "html")
_EVERY = 32
Part = Listing | Counts


class Broken(Exception):
    """A promise that does not hold."""


def hold(promise: bool, what: str, *facts: object) -> None:
    """:raises Broken: naming the promise and the facts, if it does not hold."""
    if not promise:
        raise Broken(f"{what}: {', '.join(map(repr, facts))}"[:2000])


@contextmanager
def file_of(data: bytes, name: str) -> Iterator[Path]:
    """A file with these bytes, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        yield path


def parts_of(reader: Reader, path: Path) -> list[Part] | None:
    """What a reader gives, twice the same; None if it refuses the file in words."""
    first, again = _read(reader, path), _read(reader, path)
    hold(str(first) == str(again), "reading twice gives the same", first, again)
    if isinstance(first, str):
        hold(bool(first.strip()) and "\n" not in first.strip(), "a refusal is one line of words", first)
        return None
    for part in first:
        whole_listing(part) if isinstance(part, Listing) else whole_counts(part)
    return first


def _read(reader: Reader, path: Path) -> list[Part] | str:
    try:
        return list(reader.read(path))
    except SassmixError as error:
        return str(error)


def whole_listing(listing: Listing) -> None:
    """Every instruction stands in exactly one function, and every address is a number."""
    hold(all(number >= 0 for number in listing.lines.values()), "lines are counted", listing.lines)
    columns = {id(function.columns): function.columns for function in listing}
    for column in columns.values():
        held = sorted((f.start, f.stop) for f in listing if f.columns is column and len(f))
        places = [place for start, stop in held for place in range(start, stop)]
        hold(places == list(range(len(column))), "each instruction is in one function", held, len(column))
    for function in listing:
        for instruction in function:
            hold(instruction.offset is None or instruction.offset >= 0, "an offset is a number", instruction)
        total = function.counts(include_padding=True).total() + function.unread(include_padding=True).total()
        hold(total == len(function), "an instruction is counted once", function.name, total, len(function))
        hold(all(function.start <= i < function.stop for i in function.unreadable), "places are inside", function)


def whole_counts(counts: Counts) -> None:
    """Counts are whole numbers that a counter can hold; parts are no larger than the whole."""
    for row in counts.rows:
        hold(isinstance(row.issued, int) and row.issued >= 0, "a count is one", row)
        hold(bool(row.mnemonic or row.name or row.sass or row.index is not None), "a row has a name", row)
        hold(row.offset is None or 0 <= row.offset < 1 << 64, "an offset is one", row)
    hold(set(counts.lost) <= set(counts.gaps), "what is lost is a gap", counts.lost, counts.gaps)
    hold(counts.warps is None or counts.warps > 0, "warps are known or not", counts.warps)


def reported(path: Path, parts: Iterable[Part] | None) -> None:
    """The report can be made and written in every format, adds up, and loses nothing of what was read."""
    try:
        report = sassmix.mix([path], include_padding=True)
    except SassmixError as error:
        hold(parts is None or not list(parts), "what was read is reported", error)
        return
    for problem in report.problems:
        hold(", fails: " not in problem.message, "no reader fails in another way than in words", problem)
    data = report.to_dict()
    text = json.dumps(data, allow_nan=False)
    hold(json.loads(text) == data, "a report is JSON types only", data)
    hold(sassmix.mix([path], include_padding=True).to_dict() == data, "a report can be repeated", data)
    _adds_up(data, list(parts or ()))
    rows = list(csv.reader(io.StringIO(render(report, "csv"))))
    hold({len(row) for row in rows} <= {len(rows[0])}, "the rows of CSV have one width", rows)
    if zlib.crc32(path.read_bytes()) % _EVERY == 0:
        for form in _SLOW_FORMATS:
            hold(bool(render(report, form, width=80)), "every format says something", form)
        hold(len(report.to_frame()) == len(rows) - 1, "a data frame has a row for each of CSV", rows)
        for by in FACETS:
            sums = {sum(row["count"] for row in k.tally.mix(by)) == k.tally.total for k in report.kernels}
            hold(False not in sums, "every facet adds up", by)


def _adds_up(data: dict[str, Any], parts: list[Part]) -> None:
    total = 0
    for kernel in data["kernels"]:
        counted = sum(row["count"] for row in kernel["mix"])
        hold(counted == kernel["counts"]["total"], "the mix adds up to the total", kernel)
        hold(sum(row["count"] for row in kernel["opcodes"]) == counted, "the opcodes add up", kernel)
        total += counted
    counts = [part for part in parts if isinstance(part, Counts)]
    listed = sum(len(function) for part in parts if isinstance(part, Listing) for function in part)
    if len({any(row.threads is not None for row in part.rows) for part in counts if part.rows}) > 1:
        return  # warps in one launch and threads in another are two sources for one kernel, and not added up
    read = sum(part.total for part in counts) if counts else listed
    hold(total == read, "every count that was read is in the report", total, read)
