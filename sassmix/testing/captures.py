"""The text of CUTracer's files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from sassmix.testing.models import HistogramModel, ListingModel, TraceModel


def histogram_text(model: HistogramModel) -> str:
    """The CSV of a histogram."""
    rows = [f"{row.warp},{row.region},{row.name},{row.count}\n" for row in model.rows]
    return "".join(["warp_id,region_id,instruction,count\n", *rows])


def trace_text(model: TraceModel) -> str:
    """The NDJSON of a trace: metadata, a record for each executed instruction, and what became of each launch."""
    records = [_metadata(model), *_executed(model), *_completions(model)]
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def _metadata(model: TraceModel) -> dict[str, Any]:
    code = {str(number): {"sass": line.text} for number, line in enumerate(model.function.instructions)}
    family = ListingModel(model.arch, ()).generation
    return {"type": "kernel_metadata", "mangled_name": model.function.name, "sm_family": family, "instructions": code}


def _executed(model: TraceModel) -> Iterator[dict[str, Any]]:
    listing = ListingModel(model.arch, (model.function,))
    offsets = [offset for offset, _ in zip(listing.offsets(), model.function.instructions, strict=False)]
    for index, (launch, warp, number) in enumerate(model.records):
        yield {
            "type": "opcode_only",
            "ctx": "0x7f",
            "trace_index": index,
            "timestamp": index,
            "grid_launch_id": launch,
            "cta": [0, 0, 0],
            "warp": warp,
            "opcode_id": number,
            "pc": hex(offsets[number]),
        }


def _completions(model: TraceModel) -> Iterator[dict[str, Any]]:
    for launch, written in sorted(Counter(launch for launch, _, _ in model.records).items()):
        yield {
            "type": "capture_completion",
            "version": 1,
            "grid_launch_id": launch,
            "status": "complete" if model.complete else "incomplete",
            "kernel_completed": model.complete,
            "channel_drained": model.complete,
            "trace_records_written": written,
            "dropped_records": 0 if model.complete else 1,
            "errors": [],
        }
