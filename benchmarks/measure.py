"""CPU time, wall time and peak memory, here or in a process of its own."""

from __future__ import annotations

import gc
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")
ROUNDS = 5
Result = dict[str, float | int | str]


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def with_children_cpu(work: Callable[[], Made]) -> tuple[Made, float]:
    """What a call gives, and the CPU seconds of the processes that it has started and waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return made, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def child_cpu(command: list[str], environment: Mapping[str, str] | None = None) -> float:
    """CPU seconds of a process of its own, its start included."""
    return with_children_cpu(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment))[1]


def job(kind: str, path: Path, python: str = sys.executable) -> dict[str, Any]:
    """What ``jobs.py`` prints of one job: counts, CPU and wall seconds, memory in MB before it and at most."""
    command = [python, "-m", "benchmarks.jobs", kind, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compared(what: str, base: tuple[str, Path, str], ours: tuple[str, Path], rounds: int) -> Result:
    """Two jobs in turn, in processes of their own; their counts are compared first. Medians."""
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for _ in range(rounds):
        runs.append((job(*base), job(*ours)))
        if runs[-1][0]["counts"] != runs[-1][1]["counts"]:
            raise SystemExit(f"{what}: the counts differ; there is nothing to measure")

    def median(side: int, key: str) -> float:
        return float(statistics.median(run[side][key] for run in runs))

    size = ours[1].stat().st_size / 1e6
    return {
        "what": what,
        "megabytes": round(size, 1),
        "baseline_ms": round(1000 * median(0, "cpu"), 1),
        "sassmix_ms": round(1000 * median(1, "cpu"), 1),
        "ratio": round(median(0, "cpu") / median(1, "cpu"), 2),
        "wall_ratio": round(median(0, "wall") / median(1, "wall"), 2),
        "mb_per_s": round(size / median(1, "cpu"), 1),
        "peak_mb": round(max(run[1]["peak"] for run in runs)),
    }
