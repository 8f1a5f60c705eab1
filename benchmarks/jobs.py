"""``python -m benchmarks.jobs KIND FILE``: counts of one file, with what they cost, as JSON.

Run by the interpreter of the peers too, so that nothing of sassmix is imported before it is asked for.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from benchmarks.baseline import csv_loop, trace_loop

Counted = dict[str, int]


def peer_trace(path: Path) -> Counted:
    """The peer's own parser of traces, and its count by instruction."""
    from nsys_ai.cutracer.parser import parse_ndjson_trace  # type: ignore[import-not-found]

    counts: Counted = {}
    for record in parse_ndjson_trace(path):
        if record.opcode_id is not None:
            counts[str(record.opcode_id)] = counts.get(str(record.opcode_id), 0) + 1
    return counts


def sassmix_trace(path: Path) -> Counted:
    """The reader of traces; what it says is missing would make the comparison unfair."""
    from sassmix.counts import Counts
    from sassmix.readers import cutracer_trace

    counts: Counted = {}
    for found in cutracer_trace.READER.read(path):
        assert isinstance(found, Counts)
        assert not found.gaps, found.gaps
        for row in found.rows:
            counts[str(row.index)] = counts.get(str(row.index), 0) + row.issued
    return counts


def sassmix_csv(path: Path) -> Counted:
    """The reader of Nsight Compute's source page."""
    from sassmix.counts import Counts
    from sassmix.readers import ncu_source

    counts: Counted = {}
    for found in ncu_source.READER.read(path):
        assert isinstance(found, Counts)
        for row in found.rows:
            counts[str(row.mnemonic)] = counts.get(str(row.mnemonic), 0) + row.issued
    return counts


JOBS: dict[str, Callable[[Path], Counted]] = {
    "peer-trace": peer_trace,
    "loop-trace": trace_loop,
    "sassmix-trace": sassmix_trace,
    "loop-csv": csv_loop,
    "sassmix-csv": sassmix_csv,
}
#: What a job imports first.
_USES = {
    "peer-trace": "nsys_ai.cutracer.parser",
    "sassmix-trace": "sassmix.readers.cutracer_trace",
    "sassmix-csv": "sassmix.readers.ncu_source",
}


def main() -> None:
    """Count once, after the imports."""
    kind, path = sys.argv[1:]
    if kind in _USES:
        import_module(_USES[kind])
    cpu, wall = time.process_time(), time.perf_counter()
    counts = JOBS[kind](Path(path))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"counts": counts, "cpu": cpu, "wall": wall, "peak": peak}, sort_keys=True))


if __name__ == "__main__":
    main()
