"""How long a small command takes."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from benchmarks.corpus import FIXTURES
from benchmarks.measure import ROUNDS, Result, child_cpu


def start_speed() -> Result:
    """CPU time of ``sassmix mix`` on a small listing, against a bare Python that starts and ends."""
    listing = str(FIXTURES / "listings" / "saxpy.sm_90a.sass")
    bare = statistics.median(child_cpu([sys.executable, "-c", "pass"]) for _ in range(ROUNDS))
    whole = statistics.median(child_cpu([sys.executable, "-m", "sassmix.cli", "mix", listing]) for _ in range(ROUNDS))
    return {
        "what": "sassmix mix on a small listing, against bare python",
        "megabytes": round(Path(listing).stat().st_size / 1e6, 3),
        "baseline_ms": round(1000 * bare, 1),
        "sassmix_ms": round(1000 * whole, 1),
        "ratio": round(bare / whole, 2),
    }
