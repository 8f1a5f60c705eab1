"""``python -m benchmarks.jobs KIND FILE``: counts of one file, with what they cost, as JSON.

Run by the interpreter of the peers too, so that nothing of sassmix is imported before it is asked for.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from benchmarks.baseline import csv_loop, raw_loop, trace_loop, two_regex_loop

Counted = dict[str, int]
#: Makes the counts afterwards, where counting is no part of the work that is measured.
Later = Callable[[], Counted]


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
    from sassmix.readers import ncu_source

    return _by_mnemonic(ncu_source.READER.read(path))


def sassmix_raw(path: Path) -> Counted:
    """The reader of Nsight Compute's raw page."""
    from sassmix.readers import ncu_raw

    return _by_mnemonic(ncu_raw.READER.read(path))


def _by_mnemonic(read: Iterable[object]) -> Counted:
    from sassmix.counts import Counts

    counts: Counted = {}
    for found in read:
        assert isinstance(found, Counts)
        assert not found.gaps, found.gaps
        for row in found.rows:
            counts[str(row.mnemonic)] = counts.get(str(row.mnemonic), 0) + row.issued
    return counts


def loop_parse(path: Path) -> Later:
    """The plain loop over a listing."""
    functions = two_regex_loop(path.read_text(encoding="utf-8"))
    return lambda: Counter(opcode for opcodes in functions.values() for opcode in opcodes)


def sassmix_parse(path: Path) -> Later:
    """``sassmix.parse``, with the reading of the file."""
    from sassmix.parsing import parse

    listing = parse(path.read_text(encoding="utf-8"))
    return lambda: Counter(m.partition(".")[0] for f in listing for m in f.columns.mnemonics[f.start : f.stop])


def sassmix_mix(path: Path) -> Counted:
    """``sassmix.mix``, whose report stays in memory as it does for the command."""
    from sassmix.analysis import mix

    report = mix(path)
    totals = [kernel.tally.counts()["total"] for kernel in report.kernels]
    return {"kernels": len(totals), "instructions": sum(totals)}


JOBS: dict[str, Callable[[Path], Counted | Later]] = {
    "loop-parse": loop_parse,
    "sassmix-parse": sassmix_parse,
    "sassmix-mix": sassmix_mix,
    "peer-trace": peer_trace,
    "loop-trace": trace_loop,
    "sassmix-trace": sassmix_trace,
    "loop-csv": csv_loop,
    "sassmix-csv": sassmix_csv,
    "loop-raw": raw_loop,
    "sassmix-raw": sassmix_raw,
}
#: What a job imports first.
_USES = {
    "sassmix-parse": "sassmix.parsing",
    "sassmix-mix": "sassmix.analysis",
    "peer-trace": "nsys_ai.cutracer.parser",
    "sassmix-trace": "sassmix.readers.cutracer_trace",
    "sassmix-csv": "sassmix.readers.ncu_source",
    "sassmix-raw": "sassmix.readers.ncu_raw",
}


def peak() -> float:
    """The most memory so far, in MB. What Linux says in other places counts the process that started this one too."""
    status = Path("/proc/self/status")
    text = status.read_text(encoding="ascii") if status.is_file() else ""
    found = re.search(r"VmHWM:\s+([0-9]+) kB", text)
    return (int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024 / 1e6


def main() -> None:
    """Count once, after the imports; ``base`` is the memory that these have taken."""
    kind, path = sys.argv[1:]
    if kind in _USES:
        import_module(_USES[kind])
    base, cpu, wall = peak(), time.process_time(), time.perf_counter()
    done = JOBS[kind](Path(path))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    found = {"cpu": cpu, "wall": wall, "base": base, "peak": peak()}
    print(json.dumps({"counts": done() if callable(done) else done, **found}, sort_keys=True))


if __name__ == "__main__":
    main()
