"""Time and memory of parsing listings of growing size, each in a process of its own."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.corpus import listings, long_kernels, own_cubins
from benchmarks.measure import Result, job
from benchmarks.varied import varied

_SIZES = (25, 50, 100, 200)
_ROUNDS = 3


def growth_rows(*, long: bool) -> list[Result]:
    """Listings of some sizes against the plain loop; then how time per byte grows, and what memory they take."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        texts, _ = listings(long_kernels(folder) or own_cubins())
        sized = [_sized(folder, texts, size) for size in (_SIZES if long else _SIZES[:1])]
    if not long:
        print("growth of time with size: only with --long", file=sys.stderr)
    memory = [row for _, rows in sized for row in rows]
    return [*(row for row, _ in sized), *([_growth([row for row, _ in sized])] if long else []), *memory]


def _sized(folder: Path, texts: list[str], megabytes: int) -> tuple[Result, list[Result]]:
    """The row of speed, and those of memory."""
    path = varied(folder / "listing.sass", texts, megabytes)
    loop, *ours = [job("loop-parse", path), *(job("sassmix-parse", path) for _ in range(_ROUNDS))]
    if any(run["counts"] != loop["counts"] for run in ours):
        raise SystemExit("the loop and the parser do not agree; there is nothing to measure")
    best = {key: statistics.median(run[key] for run in ours) for key in ("cpu", "base", "peak")}
    size = path.stat().st_size / 1e6
    row: Result = {
        "what": f"parse a listing of {megabytes} MB, against a plain two-regex loop",
        "megabytes": round(size, 1),
        "baseline_ms": round(1000 * loop["cpu"], 1),
        "sassmix_ms": round(1000 * best["cpu"], 1),
        "ratio": round(loop["cpu"] / best["cpu"], 2),
        "mb_per_s": round(size / best["cpu"], 1),
        "peak_mb": round(best["peak"]),
    }
    return row, [_memory("parse", size, best), _memory("mix", size, job("sassmix-mix", path))]


def _growth(rows: list[Result]) -> Result:
    each = [float(row["sassmix_ms"]) / float(row["megabytes"]) for row in rows]
    return {
        "what": f"parse: time per MB, the slowest of {', '.join(map(str, _SIZES))} MB over the fastest",
        "ratio": round(max(each) / min(each), 2),
        "wanted": "<= 1.2",
    }


def _memory(what: str, size: float, run: dict[str, Any]) -> Result:
    """The text itself is counted, since whoever calls ``parse`` holds it; Python and its imports are not."""
    return {
        "what": f"{what} a listing of {size:.0f} MB: peak memory over its size, the text counted",
        "megabytes": round(size, 1),
        "ratio": round((run["peak"] - run["base"]) / size, 2),
        "peak_mb": round(run["peak"]),
        "wanted": "<= 6",
    }
