"""The command on libraries: memory as they grow, and two cores against one."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path

from benchmarks.corpus import long_kernels, own_cubins
from benchmarks.fatbin import fat_binary
from benchmarks.measure import Result, job

_ROUNDS = 3


def library_rows(*, long: bool) -> list[Result]:
    """Libraries of long kernels, or of the fixtures' largest ones where no compiler is installed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        members = long_kernels(folder) or sorted(own_cubins(), key=lambda path: path.stat().st_size)[-8:]
        rows = [_memory(folder, members, (48, 192) if long else (8, 32))]
        return [*rows, *_two_cores(folder, [*members, *own_cubins()[::8]])]


def _memory(folder: Path, members: Iterable[Path], sizes: tuple[int, int]) -> Result:
    """``mix`` holds one listing at a time; what grows is the report."""
    few, many = (
        job("sassmix-mix", fat_binary(folder / f"{size}.fatbin", islice(cycle(members), size))) for size in sizes
    )
    if few["counts"]["instructions"] * sizes[1] != many["counts"]["instructions"] * sizes[0]:
        raise SystemExit("the members do not add up; there is nothing to measure")
    return {
        "what": f"mix a library: peak memory with {sizes[1]} members over that with {sizes[0]}",
        "megabytes": round((folder / f"{sizes[1]}.fatbin").stat().st_size / 1e6, 1),
        "ratio": round((many["peak"] - many["base"]) / (few["peak"] - few["base"]), 2),
        "peak_mb": round(many["peak"]),
        "wanted": "<= 1.5",
    }


def _two_cores(folder: Path, members: list[Path]) -> list[Result]:
    """The same command with one processor and with two; the reports are equal to the byte."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(usable) < 2:
        print("two cores against one: this process may use only one, or cannot tell", file=sys.stderr)
        return []
    library = fat_binary(folder / "library.fatbin", members)
    runs = [[mixed(library, set(usable[:number])) for number in (1, 2)] for _ in range(_ROUNDS)]
    if len({report for pair in runs for report, _ in pair}) != 1:
        raise SystemExit("the reports with one processor and with two differ; there is nothing to measure")
    one, two = (statistics.median(pair[side][1] for pair in runs) for side in (0, 1))
    return [
        {
            "what": f"mix a library of {len(members)} members, wall time on one core over that on two",
            "megabytes": round(library.stat().st_size / 1e6, 1),
            "ratio": round(one / two, 2),
            "wanted": ">= 1.3",
        }
    ]


def mixed(library: Path, processors: set[int]) -> tuple[bytes, float]:
    """The report as JSON, and the seconds that it takes."""
    command = [sys.executable, "-m", "sassmix.cli", "mix", str(library), "--format", "json"]
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)  # the command inherits it
    try:
        start = time.perf_counter()
        report = subprocess.run(command, check=True, capture_output=True).stdout
        return report, time.perf_counter() - start
    finally:
        os.sched_setaffinity(0, allowed)
