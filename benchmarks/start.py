"""How long small commands take."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile

from benchmarks.corpus import FIXTURES
from benchmarks.measure import ROUNDS, Result, child_cpu

_LISTING = str(FIXTURES / "listings" / "tma.sm_100a.sass")
_BARE = "bare python"
#: The command, and the milliseconds that it may take more than a bare Python.
_COMMANDS = {"--version": (["--version"], 60), "mix on a listing of 300 instructions": (["mix", _LISTING], 170)}


def start_speeds(rounds: int = ROUNDS) -> list[Result]:
    """CPU time of commands and of a bare Python that starts and ends, in turn; the ratio says how often it fits in.

    What Python compiles of the modules is kept in a folder of its own, and the runs that fill it do not count.
    """
    programs = {_BARE: ["-c", "pass"]}
    programs |= {what: ["-m", "sassmix.cli", *words] for what, (words, _) in _COMMANDS.items()}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        _, *runs = [
            {what: child_cpu([sys.executable, *program], environment) for what, program in programs.items()}
            for _ in range(rounds + 1)
        ]
    medians = {what: 1000 * statistics.median(run[what] for run in runs) for what in programs}
    return [
        {
            "what": f"sassmix {what}, against bare python",
            "baseline_ms": round(medians[_BARE], 1),
            "sassmix_ms": round(medians[what], 1),
            "ratio": round(medians[_BARE] / medians[what], 3),
            "wanted": f"{most} ms more",
        }
        for what, (_, most) in _COMMANDS.items()
    ]
