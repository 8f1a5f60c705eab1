"""Whether a trace is complete: what its completion records, its filters and the ends of its warps say."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from math import prod
from typing import Any

from sassmix.arch import LANES
from sassmix.counts import GUARDED_END, UNKNOWN_END
from sassmix.errors import number_of
from sassmix.readers._trace_lines import is_number
from sassmix.readers._trace_query import Aggregate

_EXIT = re.compile(r"\s*(?:@U?PT\s+)?(@!?U?P[T0-9]+\s+)?EXIT\b")
_NOP = re.compile(r"\s*NOP\b")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,12}|[0-9]{1,15}")
_LAST_INSTRUCTION = 0xFFFFFFFF


def is_end(index: int, texts: Mapping[int, str]) -> bool | None:
    """Whether an instruction ends a warp, None if its text is not known. Some kernels have one NOP behind the EXIT.

    An EXIT under a guard is an end here; whether all lanes have left with it, only masks can tell.
    """
    text = texts.get(index)
    if text is None:
        return None
    if _NOP.match(text):
        before = _EXIT.match(texts.get(index - 1, ""))
        return bool(before and not before[1])
    return bool(_EXIT.match(text))


def _guarded(index: int, texts: Mapping[int, str]) -> bool:
    found = _EXIT.match(texts.get(index, ""))
    return bool(found and found[1])


def launch_of(record: Mapping[str, Any]) -> int | None:
    """The launch that a record names, None if it is no number."""
    launch = record.get("grid_launch_id")
    return launch if isinstance(launch, int) and is_number(launch) else None


def completion_gaps(records: Mapping[object, int], completions: list[dict[str, Any]]) -> list[str]:
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
        elif (told := sum(number for number in written if isinstance(number, int))) != read:
            gaps.append(f"launch {launch}: {number_of(told, 'record', 'was', 'were')} written, {read:,} read")
    return gaps


def _of_completion(launch: object, record: dict[str, Any]) -> Iterable[str]:
    dropped, errors = record.get("dropped_records"), record.get("errors")
    if dropped != 0:
        yield f"launch {launch}: records dropped: {_told(dropped)}"
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


def _told(value: object) -> str:
    """A value of the tracer's, which need not be the number that it should."""
    return f"{value:,}" if isinstance(value, int) and is_number(value) else str(value)[:40]


def open_ends(found: Aggregate, began: int, texts: Mapping[int, str], stayed: Callable[[list[int]], int]) -> list[str]:
    """Why a trace without a completion record is not known to be whole; empty if every warp began and ended.

    :param began: how often the first instruction was executed.
    :param stayed: warps of which a lane is not known to have left with one of the instructions of these numbers.
    """
    gaps = []
    if found.nameless:
        gaps.append(f"no completion record, and of {number_of(found.nameless, 'record')} the warp is not known")
    if (found.first or frozenset()) - {0} or began < sum(found.warps.values()):
        gaps.append("no completion record, and not every warp begins with the first instruction")
    ends = {index: is_end(index, texts) for index in found.last or ()}
    if False in ends.values():
        gaps.append("no completion record, and not every warp reached EXIT")
    elif found.last is None or None in ends.values():
        gaps.append(UNKNOWN_END)
    elif any(_guarded(index, texts) for index in ends) and stayed([i for i in texts if _EXIT.match(texts[i])]):
        gaps.append(GUARDED_END)
    return gaps


def entered(found: Aggregate) -> int | None:
    """How often the kernel was entered: by how many warps, all launches together. None where the trace cannot tell."""
    return sum(found.warps.values()) if found.first == frozenset({0}) and not found.nameless else None


def missing_warps(found: Aggregate, metadata: list[dict[str, Any]]) -> list[str]:
    """Launches with fewer warps than their grid has."""
    sizes = [size for record in metadata if (size := _warps(record)) is not None]
    least = min(sizes, default=0)
    return [
        f"launch {launch if launch is None else int(launch)} has "
        f"{warps:,} of the {number_of(least, 'warp')} that grid and block mean"
        for launch, warps in sorted(found.warps.items(), key=str)
        if warps < least
    ]


def _warps(metadata: Mapping[str, Any]) -> int | None:
    """The warps of a launch, by its grid and block; None where these do not stand there."""
    sizes = [metadata.get("grid"), metadata.get("block")]
    blocks, threads = (prod(s) if isinstance(s, list) and s and all(map(is_number, s)) else None for s in sizes)
    return None if blocks is None or threads is None else blocks * -(-threads // LANES)


def filters(metadata: Mapping[str, Any], modes: Iterable[Collection[str]]) -> list[str]:
    """What the tracer was told to leave out.

    :param modes: the types of records that a warp has, each combination that occurs.
    """
    lost = []
    if categories := metadata.get("instr_categories"):
        lost.append(f"only instructions of the categories {_list(categories)} were traced (instr_categories)")
    config = metadata.get("capture_config")
    config = config if isinstance(config, dict) else {}
    if window := _window(config):
        lost.append(window)
    if errors := config.get("instrumentation_errors"):
        lost.append(f"instructions that could not be instrumented: {_told(errors)}")
    told = metadata.get("instrument_modes")
    told = [told] if isinstance(told, str) else told if isinstance(told, list) else []
    for kinds in (*modes, [str(kind) for kind in told]):
        if kinds and "opcode_only" not in kinds:
            lost += _partial(set(kinds), config)
    return lost


def _list(value: object) -> str:
    return ", ".join(map(str, value))[:200] if isinstance(value, list) else str(value)[:200]


def _partial(modes: set[str], config: Mapping[str, Any]) -> list[str]:
    count = config.get("reg_trace_instruction_count")
    if "reg_trace" in modes and is_number(count) and count == config.get("root_instruction_count"):
        return []
    return [f"{_list(sorted(modes))} does not trace every instruction (instrument_modes)"]


def _window(config: Mapping[str, Any]) -> str | None:
    size = config.get("root_instruction_count")
    begin, end = _bound(config.get("instr_begin"), 0), _bound(config.get("instr_end"), _LAST_INSTRUCTION)
    if begin is None or end is None:
        told = " to ".join(str(config.get(key))[:40] for key in ("instr_begin", "instr_end"))
        return f"the instruction window {told!r} is none that is known, so instructions may be missing"
    if begin == 0 and (end >= _LAST_INSTRUCTION or (isinstance(size, int) and is_number(size) and end >= size)):
        return None
    return f"only instructions {begin} to {end} were traced (instruction window)"


def _bound(value: object, default: int) -> int | None:
    """The number of an instruction, also one written as text; None if it is none."""
    if value is None:
        return default
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return int(value.strip(), 16 if "x" in value.lower() else 10)
    return value if isinstance(value, int) and is_number(value) else None
