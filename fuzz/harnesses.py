"""One harness for each reader: it takes any bytes, and raises only where a promise is broken."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import zstandard

from fuzz.invariants import file_of, hold, parts_of, reported
from fuzz.printed import tool_output
from sassmix.counts import Counts
from sassmix.errors import InputError
from sassmix.readers import (
    Reader,
    _trace_files,
    _trace_scan,
    _zstd,
    bare,
    cutracer_hist,
    cutracer_trace,
    ncu_raw,
    ncu_source,
    nvbit,
    nvdisasm_json,
    open_input,
    text,
)
from sassmix.readers._csv_layout import ADDRESS, ISSUED, layout_of
from sassmix.readers.elf import open_elf
from sassmix.readers.text import decode

#: Bytes that a compressed input may unpack to; more takes longer than one run may.
_MOST = 1 << 22
Harness = Callable[[bytes], None]


def _whole(reader: Reader, data: bytes, path: Path) -> list[Any] | None:
    """The parts of a file of this kind, after a report was made of it; None if it is none, or was refused."""
    try:
        opened = open_input(path)
    except InputError as error:
        hold("\n" not in str(error), "a refusal is one line of words", error)
        return None
    hold(not opened.problems, "every reader can tell whether it knows a file", opened.problems)
    if opened.reader is not reader:
        return None
    parts = parts_of(reader, path)
    reported(path, parts)
    return parts


def listing(data: bytes) -> None:
    """Text of disassemblers, and instructions alone."""
    with file_of(data, "k.sass") as path:
        for reader in (text.READER, bare.READER):
            _whole(reader, data, path)


def listing_json(data: bytes) -> None:
    """The output of ``nvdisasm -json``: every entry of a list of instructions is one, but for control fields."""
    with file_of(data, "k.json") as path:
        parts = _whole(nvdisasm_json.READER, data, path)
        whole = _json(data) if parts else None
        if isinstance(whole, list) and len(whole) > 1 and isinstance(whole[1], list):
            lists = (f["sass-instructions"] for f in whole[1] if isinstance(f, dict) and "sass-instructions" in f)
            entries = [entry for one in lists if isinstance(one, list) for entry in one]
            named = sum(not isinstance(entry, dict) or entry.get("opcode") != "" for entry in entries)
            read = sum(map(len, parts[0])) if parts else 0
            hold(named <= read <= len(entries), "an entry is an instruction", named, read, len(entries))


def hist(data: bytes) -> None:
    """CUTracer's histogram: a file behind itself has every count twice."""
    with file_of(data, "kernel_1a2b3c4d5e6f7081_iter0__Z1kv_hist.csv") as path:
        parts = _whole(cutracer_hist.READER, data, path)
        if not parts or data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return
        path.write_bytes(data + b"\n" + data.removeprefix(b"\xef\xbb\xbf"))
        hold(_rows(next(iter(cutracer_hist.READER.read(path)))) == _rows(parts[0], 2), "counts add up", parts)


def _rows(counts: Counts, times: int = 1) -> dict[str | None, int]:
    rows: dict[str | None, int] = {}
    for row in counts.rows:
        key = f"{row.mnemonic} {row.name} {row.sass}"
        rows[key] = rows.get(key, 0) + times * row.issued
    return rows


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for the whole run: to open one takes longer than to read a small trace."""
    return duckdb.connect(config={**_trace_scan._OPTIONS, "threads": 1})


def trace(data: bytes) -> None:
    """CUTracer's trace: what DuckDB counts is what Python's JSON reads, or a problem says that lines are lost."""
    with (
        file_of(data, "kernel_1a2b3c4d5e6f7081_iter0__Z1kv.ndjson") as path,
        mock.patch("sassmix.readers._trace_scan._connected", lambda *_: _database().cursor()),
    ):
        if len(_zstd.first_bytes(data, _MOST)) >= _MOST or not (parts := _whole(cutracer_trace.READER, data, path)):
            return
        if not _zstd.is_zstd(data) and parts[0].kind == "cutracer-trace":
            _recounted(data, parts[0])


def _recounted(data: bytes, counts: Counts) -> None:
    records = [record for line in data.split(b"\n") if isinstance(record := _json(line), dict)]
    executed = [r for r in records if r.get("type") in _trace_files.INSTRUCTIONS]
    hold(counts.total <= len(data.splitlines()), "a record is counted once", counts.total)
    if len({record["type"] for record in executed}) == 1 and not counts.lost:
        hold(counts.total == len(executed), "every record is counted, or is told", counts.total, len(executed))


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def source_page(data: bytes) -> None:
    """Nsight Compute's source page: each plain row of a table is counted, or something is told."""
    with file_of(data, "k.csv") as path:
        parts = _whole(ncu_source.READER, data, path)
        told = [p for part in parts for p in part.problems if "cut off within this table" not in p.message]
        if parts and not told and not any(part.lost for part in parts):
            total, least = sum(part.total for part in parts), _plain_rows(decode(data)[0])
            hold(total >= least, "every row is counted, or is told", total, least)


def _plain_rows(text: str) -> int:
    layout, total = None, 0
    for line in text.split("\n"):
        cells = next(csv.reader([line]), []) if "\r" not in line.rstrip("\r") and "\0" not in line else []
        layout = layout_of(cells) or layout
        if layout and layout.has[ADDRESS] and layout.has[ISSUED] and len(cells) == layout.width:
            address, issued = cells[layout.columns[ADDRESS]], cells[layout.columns[ISSUED]]
            plain = re.fullmatch(r"0x[0-9a-f]{1,12}", address) and re.fullmatch(r"[0-9]{1,9}", issued)
            total += int(issued) if plain else 0
    return total


def raw_page(data: bytes) -> None:
    """Nsight Compute's raw page."""
    with file_of(data, "k.csv") as path:
        _whole(ncu_raw.READER, data, path)


def nvbit_text(data: bytes) -> None:
    """NVBit's text: a launch has the total of its line."""
    with file_of(data, "k.txt") as path:
        for counts in _whole(nvbit.READER, data, path) or ():
            said = counts.hardware.get("kernel instructions")
            hold(said is None or float(counts.total) == said, "a launch has its total", counts)


def elf(data: bytes) -> None:
    """ELF tables, and what is told from them without a tool."""
    if not data:
        return
    with file_of(data, "k.cubin") as path:
        try:
            head, found, fat = open_elf(path, "k")
        except InputError as error:
            hold("\n" not in str(error), "a refusal is one line of words", error)
            return
    hold(head == data[:8] and isinstance(fat, bool), "the head is the file's", head)
    if found:
        hold(bool(re.fullmatch(r"sm_[0-9]{1,3}[af]?", found.arch)), "an architecture has a name", found.arch)
        hold(found.note in data, "a note is the file's", found)
        hold(found.toolkit is None or len(found.toolkit) < 10_000, "a version is short", found.toolkit)


def zstd(data: bytes) -> None:
    """The walk over frames agrees with the library: what it unpacks as a whole has no fault."""
    with file_of(data, "k.zst") as path:
        starts, fault, most = _zstd.walk(path)
        hold(starts == sorted(set(starts)) and all(0 <= s < len(data) for s in starts), "starts are places", starts)
        hold(bool(starts) == _zstd.is_zstd(data[:4]) or not data, "a compressed file has frames", starts)
        hold(fault is None or "\n" not in fault, "a fault is one line of words", fault)
        if len(_zstd.first_bytes(data, _MOST)) >= _MOST:
            return
        unpacked = b"".join(_zstd.pieces(path))
        hold(not starts or len(unpacked) <= most, "no more is unpacked than was said", len(unpacked), most)
        whole = _unpacked(data) if starts else data
        if whole is not None:
            hold(unpacked == whole, "what can be unpacked is", len(unpacked), len(whole))
            hold(fault is None, "a whole file has no fault", fault)


def _unpacked(data: bytes) -> bytes | None:
    """All frames of a file that is whole, None for another."""
    found, rest = bytearray(), data
    while rest:
        if rest[:4] != _zstd.MAGIC:
            size = int.from_bytes(rest[4:8], "little")
            if not _zstd.is_zstd(rest[:4]) or len(rest) < 8 + size:
                return None
            rest = rest[8 + size :]
            continue
        unpack = zstandard.ZstdDecompressor().decompressobj()
        try:
            found += unpack.decompress(rest)
        except zstandard.ZstdError:
            return None
        if not unpack.eof:
            return None
        rest = unpack.unused_data
    return bytes(found)


HARNESSES: dict[str, Harness] = {
    "listing": listing,
    "listing-json": listing_json,
    "elf": elf,
    "tool-output": tool_output,
    "hist": hist,
    "trace": trace,
    "source-page": source_page,
    "raw-page": raw_page,
    "nvbit": nvbit_text,
    "zstd": zstd,
}
