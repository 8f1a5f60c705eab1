"""Whether a trace is complete: what its completion records, its filters and the ends of its warps say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sassmix.counts import UNKNOWN_END
from sassmix.readers._trace_lines import is_number
from sassmix.readers._trace_query import Aggregate

#: A gap that the caller may close: none of the trace's own texts says whether its warps ended with an EXIT.
_EXIT = re.compile(r"\s*(@!?U?P[T0-9]+\s+)?EXIT\b")
_NOP = re.compile(r"\s*NOP\b")
_LAST_INSTRUCTION = 0xFFFFFFFF


def is_end(index: int, texts: Mapping[int, str]) -> bool | None:
    """Whether an instruction ends a warp, None if its text is not known. Some kernels have one NOP behind the EXIT."""
    text = texts.get(index)
    if text is None:
        return None
    if _NOP.match(text):
        before = _EXIT.match(texts.get(index - 1, ""))
        return bool(before and not before[1])
    return bool(_EXIT.match(text))


def launch_of(record: Mapping[str, Any]) -> int | None:
    """The launch that a record names, None if it is no number."""
    launch = record.get("grid_launch_id")
    return launch if isinstance(launch, int) and is_number(launch) else None


def completion_gaps(found: Aggregate, records: Mapping[object, int], completions: list[dict[str, Any]]) -> list[str]:
    """What the completion records say is missing, for launches that have one."""
    gaps: list[str] = []
    by_launch: dict[int | None, list[dict[str, Any]]] = {}
    for record in completions:
        by_launch.setdefault(launch_of(record), []).append(record)
    for launch, entries in by_launch.items():
        gaps += [gap for entry in entries for gap in _of_completion(launch, entry)]
        written = [entry.get("trace_records_written") for entry in entries]
        read = records.get(launch, 0)
        if not all(is_number(number) for number in written):
            gaps.append(f"launch {launch}: the completion record does not say how many records were written")
        elif sum(number for number in written if isinstance(number, int)) != read:
            told = " + ".join(map(str, written))
            gaps.append(f"launch {launch}: {told} records were written, {read} are here")
    return gaps


def _of_completion(launch: object, record: dict[str, Any]) -> Iterable[str]:
    dropped, errors = record.get("dropped_records"), record.get("errors")
    if dropped != 0:
        yield f"launch {launch}: dropped {str(dropped)[:40]} records"
    if errors != []:
        quoted = "; ".join(str(error)[:200] for error in (errors if isinstance(errors, list) else [errors])[:10])
        yield f"launch {launch}: the tracer reports: {quoted}"
    if record.get("kernel_completed") is not True:
        yield f"launch {launch}: the kernel did not end while it was traced"
    if record.get("channel_drained") is not True:
        yield f"launch {launch}: records were left in the channel between GPU and tracer"
    if record.get("version") != 1:
        yield f"launch {launch}: the completion record is of the unknown version {str(record.get('version'))[:40]!r}"
    if record.get("status") != "complete" and not errors and dropped == 0:
        yield f"launch {launch}: the completion record says {str(record.get('status'))[:40]!r}"


def open_ends(found: Aggregate, texts: Mapping[int, str]) -> list[str]:
    """Why a trace without a completion record is not known to be whole; empty if every warp began and ended."""
    gaps = []
    first = sum(group.records for group in found.groups if group.index == 0)
    if first < sum(found.warps.values()):
        gaps.append("no completion record, and not every warp begins with the first instruction")
    ends = [is_end(index, texts) for index in found.last or ()]
    if False in ends:
        gaps.append("no completion record, and not every warp reached EXIT")
    elif found.last is None or None in ends:
        gaps.append(UNKNOWN_END)
    return gaps


def filters(metadata: Mapping[str, Any], modes: set[str]) -> list[str]:
    """What the tracer was told to leave out."""
    lost = []
    if categories := metadata.get("instr_categories"):
        lost.append(f"only instructions of the categories {_list(categories)} were traced (instr_categories)")
    config = metadata.get("capture_config")
    config = config if isinstance(config, dict) else {}
    if window := _window(config):
        lost.append(window)
    if config.get("instrumentation_errors"):
        lost.append(f"{str(config['instrumentation_errors'])[:40]} instructions could not be instrumented")
    if modes and "opcode_only" not in modes:
        lost += _partial(modes, config)
    return lost


def _list(value: object) -> str:
    return ", ".join(map(str, value))[:200] if isinstance(value, list) else str(value)[:200]


def _partial(modes: set[str], config: Mapping[str, Any]) -> list[str]:
    count = config.get("reg_trace_instruction_count")
    if "reg_trace" in modes and is_number(count) and count == config.get("root_instruction_count"):
        return []
    return [f"{_list(sorted(modes))} does not trace every instruction (instrument_modes)"]


def _window(config: Mapping[str, Any]) -> str | None:
    begin, end, size = (config.get(key) for key in ("instr_begin", "instr_end", "root_instruction_count"))
    begin, end = begin if isinstance(begin, int) else 0, end if isinstance(end, int) else _LAST_INSTRUCTION
    if begin == 0 and (end >= _LAST_INSTRUCTION or (isinstance(size, int) and end >= size)):
        return None
    return f"only instructions {begin} to {end} were traced (instruction window)"
