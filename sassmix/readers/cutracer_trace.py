"""CUTracer's traces: one record per executed warp instruction, as NDJSON, plain or compressed with zstd.

DuckDB adds the records up (:mod:`sassmix.readers._trace_query`); Python reads the few that are no instructions.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from sassmix.arch import LANES
from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.errors import InputError, Problem, number_of
from sassmix.readers import Reader
from sassmix.readers import _trace_gaps as gaps
from sassmix.readers import _trace_lines as lines
from sassmix.readers import _trace_types as types
from sassmix.readers._cutracer_names import names_of
from sassmix.readers._trace_files import (
    COMPLETION,
    INSTRUCTIONS,
    LAUNCH,
    METADATA,
    STACK,
    Trace,
    gather,
    mask_of,
    offset_of,
)
from sassmix.readers._trace_query import Group, is_whole, stayed
from sassmix.readers._zstd import first_bytes

_TYPES = "|".join((*INSTRUCTIONS, METADATA, COMPLETION, LAUNCH, STACK))
_KNOWN = re.compile(rb'^[ \t]*\{.*"type"[ \t]*:[ \t]*"(%s)"' % _TYPES.encode(), re.MULTILINE)


def _sniff(head: bytes) -> bool:
    return bool(_KNOWN.search(first_bytes(head).removeprefix(b"\xef\xbb\xbf")))


def _read(path: Path) -> Iterator[Counts]:
    yield from read_together([path])


def read_together(paths: Sequence[Path]) -> Iterator[Counts]:
    """Read files as one trace: the parts of a capture that was split, whose launches are the same.

    :raises InputError: for a file that cannot be read.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="sassmix-", ignore_cleanup_errors=True) as folder:
            trace = gather(paths, Path(folder))
            counted = [] if _is_list(trace) else [_counts(trace, Path(folder))]
    except (OSError, duckdb.Error, MemoryError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(str(paths[0]), f"cannot be read: {reason[0]}") from error
    yield from counted or _launched(trace)


def _is_list(trace: Trace) -> bool:
    """Whether it tells of launches only. What was to hold instructions names its kernel, or has a completion record."""
    named = {_text(record.get("mangled_name")) or _text(record.get("unmangled_name")) for record in trace.metadata}
    of_one = names_of(trace.paths[0])[0].file or (len(named) == 1 and None not in named)
    return bool(trace.launches) and not (of_one or trace.completions or trace.found.of_type(*INSTRUCTIONS))


def _counts(trace: Trace, folder: Path) -> Counts:
    found = trace.found
    rows = list(_rows(trace))
    counts = Counts(path=trace.path, kind="cutracer-trace", names=_names(trace), rows=rows)
    counts.arch = _arch(trace)
    launches = {launch for kind, launch in found.records if kind in INSTRUCTIONS}
    launches |= {gaps.launch_of(record) for record in trace.completions}
    counts.launch_ids = frozenset(int(launch) for launch in launches if is_whole(launch))
    counts.launches = len(counts.launch_ids) or None
    counts.warps = max(found.warps.values(), default=None)
    counts.last = found.last
    counts.entered = gaps.entered(found)
    counts.table = _table(trace)
    size = _configured(trace, "root_instruction_count")
    counts.size = size if lines.is_number(size) else None
    counts.root_only = "without_executed_calls" in str(_configured(trace, "pc_namespace"))
    _judge(trace, counts, folder)
    counts.lost = [*dict.fromkeys(trace.lost)]
    counts.gaps = [*dict.fromkeys([*trace.lost, *trace.open])]
    counts.problems = trace.problems
    return counts


def _judge(trace: Trace, counts: Counts, folder: Path) -> None:
    """Whether the capture is whole."""
    found = trace.found
    records: dict[object, int] = {}
    for (kind, launch), number in found.records.items():
        if kind in INSTRUCTIONS:
            records[launch] = records.get(launch, 0) + number
    for metadata in trace.metadata or [{}]:
        trace.lost += gaps.filters(metadata, found.types)
    trace.lost += gaps.completion_gaps(records, trace.completions)
    if found.twice:
        again = number_of(found.twice, "record", "stands", "stand")
        trace.lost.append(f"{again} in the files more than once; give each part of a trace once")
    trace.open += gaps.missing_warps(found, trace.metadata)
    closed = {gaps.launch_of(record) for record in trace.completions}
    if not records:
        trace.open.append("no record of an instruction is in it")
    elif not closed >= set(records):
        texts = {row.index: row.sass for row in counts.rows if row.index is not None and row.sass}
        texts = {**texts, **counts.table}
        began = sum(row.issued for row in counts.rows if row.index == 0)
        trace.open += gaps.open_ends(found, began, texts, lambda exits: _stayed(trace, folder, exits))
    if any(group.number is None and group.type in INSTRUCTIONS for group in found.groups):
        trace.open.append("records without opcode_id are samples of a debugger, which are no counts")


def _stayed(trace: Trace, folder: Path, exits: list[int]) -> int:
    """Warps of which a lane may have stayed; of a damaged trace no second look is taken."""
    return sum(trace.found.warps.values()) if trace.lost else stayed(trace.paths, folder, INSTRUCTIONS, exits)


def _rows(trace: Trace) -> Iterator[CountRow]:
    """One row per instruction, each execution counted once."""
    found = trace.found
    by_place: dict[tuple[object, ...], list[Group]] = {}
    executed, several, short = types.executed(found, INSTRUCTIONS)
    for group in executed:
        by_place.setdefault((group.number, group.pc, group.sass), []).append(group)
    yield from map(_row, by_place.values())
    if several:
        what = f"the same instructions were traced as {', '.join(sorted(several))}: each execution is counted once"
        trace.problems.append(Problem("info", trace.path, what))
    if short:
        trace.open.append(f"{types.WHOLE} has fewer records of some instructions than another type")
    unclear = sum(group.records for group in executed if group.mask is not None and mask_of(group.mask) is None)
    if unclear:
        what = (
            f"the active_mask of {number_of(unclear, 'record')} is no mask of {LANES} lanes, so lanes are not counted"
        )
        trace.problems.append(Problem("warning", trace.path, what))


def _row(groups: list[Group]) -> CountRow:
    """What agrees in all but the active mask, added up. A number that is no id is kept in the row's name."""
    first = groups[0]
    masks = [(mask_of(group.mask), group.records) for group in groups]
    masked = all(mask is not None for mask, _ in masks)
    number = first.index if first.index is not None else first.number
    name = None if number is None and first.sass else f"OPCODE_{'?' if number is None else number}"
    return CountRow(
        name=name,
        index=first.index,
        offset=offset_of(first.pc) if number is None or first.index is not None else None,
        sass=first.sass,
        issued=sum(group.records for group in groups),
        active=sum(records for mask, records in masks if mask) if masked else None,
        threads=sum((mask or 0).bit_count() * records for mask, records in masks) if masked else None,
    )


def _configured(trace: Trace, key: str) -> Any:
    """A setting of the capture; None where it is missing, or is not the same for all launches."""
    configs = [record.get("capture_config") for record in trace.metadata]
    values = [config.get(key) for config in configs if isinstance(config, dict)]
    return values[0] if values and len(values) == len(configs) and all(v == values[0] for v in values) else None


def _names(trace: Trace) -> KernelNames:
    named = names_of(trace.paths[0])[0]
    mangled, demangled, checksum = (
        _text(trace.agreed(key)) for key in ("mangled_name", "unmangled_name", "kernel_checksum")
    )
    return KernelNames(
        mangled=mangled,
        demangled=demangled if demangled != mangled else None,
        root=_text(_configured(trace, "root_function")),
        file=named.file,
        cut=named.cut,
        checksum=checksum or named.checksum,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _arch(trace: Trace) -> str | None:
    family = trace.agreed("sm_family")
    if isinstance(family, int) and not isinstance(family, bool) and 10 <= family < 1000:
        return f"sm_{family}"
    if family is not None:
        trace.problems.append(Problem("warning", trace.path, f"sm_family {str(family)[:40]!r} is no architecture"))
    return None


def _table(trace: Trace) -> dict[int, str]:
    instructions = trace.agreed("instructions")
    table: dict[int, str] = {}
    for key, entry in instructions.items() if isinstance(instructions, dict) else ():
        text = entry.get("sass") if isinstance(entry, dict) else entry
        if re.fullmatch(r"[0-9]{1,9}", key) and isinstance(text, str) and text.strip():
            table[int(key)] = text.strip()
    return table


def _launched(trace: Trace) -> Iterable[Counts]:
    """Launches without instructions: which kernels ran, and how often."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for record in trace.launches:
        by_name.setdefault(str(record.get("mangled_name") or record.get("kernel_name") or ""), []).append(record)
    for name, records in by_name.items():
        first = records[0]
        names = KernelNames(
            mangled=_text(first.get("mangled_name")) or (name if name.startswith("_Z") else None),
            demangled=_text(first.get("unmangled_name")) or (None if name.startswith("_Z") else name or None),
            checksum=_text(first.get("kernel_checksum")),
        )
        why = ["a list of launches counts no instructions"]
        yield Counts(
            path=trace.path,
            kind="cutracer-launches",
            names=names,
            launches=len(records),
            gaps=why,
            problems=trace.problems,
        )
        trace.problems = []


READER = Reader(name="cutracer trace", sniff=_sniff, read=_read, counts=True)
