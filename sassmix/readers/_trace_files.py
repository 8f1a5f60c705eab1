"""The files of one trace, read: what DuckDB adds up, the other records, and all that is wrong with the lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from sassmix.arch import LANES
from sassmix.errors import TOLD, InputError, Problem, number_of
from sassmix.readers import _trace_lines as lines
from sassmix.readers._trace_query import Aggregate, Group, aggregate, is_whole
from sassmix.readers._zstd import walk

#: Records that stand for one executed instruction. The first is preferred where several have it equally often.
INSTRUCTIONS = ("opcode_only", "reg_trace", "mem_value_trace", "mem_addr_trace", "mem_trace", "tma_trace")
METADATA, COMPLETION, LAUNCH, STACK = "kernel_metadata", "capture_completion", "kernel_launch", "callstack_def"
_OTHERS = (METADATA, COMPLETION, LAUNCH)
_HEX = re.compile(r"0[xX]([0-9a-fA-F]{1,16})")


@dataclass(slots=True)
class Trace:
    """All that is known of the files before it is put together."""

    paths: Sequence[Path]
    found: Aggregate
    metadata: list[dict[str, Any]] = field(default_factory=list)
    completions: list[dict[str, Any]] = field(default_factory=list)
    launches: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    @property
    def path(self) -> str:
        return str(self.paths[0])

    def agreed(self, key: str) -> Any:
        """The value of a field of the metadata, else of the launches; None where records contradict one another."""
        values = [record[key] for record in self.metadata or self.launches if record.get(key) is not None]
        if any(value != values[0] for value in values[1:]):
            self.problems.append(Problem("warning", self.path, f"records of metadata contradict one another in {key}"))
            self.open.append(f"the file holds traces with different {key}")
            return None
        return values[0] if values else None


def gather(paths: Sequence[Path], folder: Path) -> Trace:
    problems: list[Problem] = []
    lost: list[str] = []
    for path in paths:
        frames = walk(path)
        if frames.bomb(size := path.stat().st_size):
            what = f"is packed too well for a trace: its {size:,} bytes unpack to as many as {frames.most:,}"
            raise InputError(str(path), f"{what}; if it is one, unpack it with zstd -d and give the result")
        if (fault := frames.fault) is not None:
            problems.append(Problem("error", str(path), f"the compressed file is incomplete: {fault}"))
            lost.append(f"{fault}, and what follows is missing")
    try:
        found = aggregate(paths, folder, INSTRUCTIONS, COMPLETION)
    except (duckdb.InvalidInputException, duckdb.IOException):
        paths, found = _salvage(paths, folder, problems, lost)
    trace = Trace(paths, found, problems=problems, lost=lost)
    for path in paths:
        _add_others(trace, path)
    _complain(trace)
    return trace


def _salvage(
    paths: Sequence[Path], folder: Path, problems: list[Problem], lost: list[str]
) -> tuple[Sequence[Path], Aggregate]:
    copies = []
    for number, path in enumerate(paths):
        copies.append(folder / f"copy{number}")
        dropped = lines.salvage(path, copies[-1])
        problems += [Problem("error", str(path), f"the line {what}", line) for line, what in dropped[:TOLD]]
        lost += [f"{number_of(len(dropped), 'line', 'is', 'are')} too long"] if dropped else []
    if not lost:
        problems.append(
            Problem("error", str(paths[0]), "the compressed file is damaged: its data end before its frames")
        )
        lost.append("the compressed file is damaged, and what follows is missing")
    return paths, aggregate(copies, folder, INSTRUCTIONS, COMPLETION)


def _add_others(trace: Trace, path: Path) -> None:
    wanted = {kind: number for kind in _OTHERS if (number := trace.found.of_type(kind))}
    for record in lines.other_records(path, wanted) if wanted else ():
        kinds = {METADATA: trace.metadata, COMPLETION: trace.completions, LAUNCH: trace.launches}
        kinds[record["type"]].append(record)


def _complain(trace: Trace) -> None:
    """Lines that are no records, and records that stand for nothing known."""
    bad = trace.found.of_type(None) + sum(group.records for group in trace.found.groups if is_faulty(group))
    bad += sum(n for (_, launch), n in trace.found.records.items() if launch is not None and not is_whole(launch))
    told = 0
    for path in trace.paths if bad else ():
        for number, fault in lines.bad_lines(path, bad, frozenset(INSTRUCTIONS)):
            trace.problems.append(Problem("warning", str(path), f"line {number} {fault}", number))
            told += 1
    if bad:
        trace.lost.append(f"{number_of(bad, 'line')} cannot be read")
    if bad > told:
        trace.problems.append(Problem("warning", trace.path, f"{number_of(bad - told, 'more line')} cannot be read"))
    known = {*INSTRUCTIONS, *_OTHERS, STACK, None}
    for kind in sorted({kind for kind, _ in trace.found.records} - known, key=str):
        records = number_of(trace.found.of_type(kind), "record")
        what = f"not counted: {records} of the unknown type {str(kind)[:60]!r}"
        trace.problems.append(Problem("warning", trace.path, what))
        trace.open.append(what)


def is_faulty(group: Group) -> bool:
    """Whether the numbers of records are none. A debugger's samples have no id, but the text of the instruction."""
    if group.type not in INSTRUCTIONS:
        return False
    if group.number is None:
        return group.sass is None or offset_of(group.pc) is None
    return group.index is None or (group.pc is not None and offset_of(group.pc) is None)


def offset_of(pc: str | None) -> int | None:
    """The number that a record writes as text in hexadecimal."""
    match = _HEX.fullmatch(pc or "")
    return int(match[1], 16) if match else None


def mask_of(text: str | None) -> int | None:
    """The lanes of a warp as a record writes them; None if it is no mask of 32 lanes."""
    mask = offset_of(text)
    return mask if mask is not None and mask < 1 << LANES else None
