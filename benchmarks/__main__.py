"""``python -m benchmarks [--json FILE] [CUBIN...]``: a table of ratios."""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.baseline import two_regex_loop
from benchmarks.corpus import FIXTURES, listings, long_kernels, own_cubins, repeated_share
from sassmix.listing import Listing
from sassmix.parsing import parse

ROUNDS = 5
Result = dict[str, float | int | str]


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def same(by_loop: dict[str, list[str]], listing: Listing) -> bool:
    """Whether both have seen the same opcodes equally often (a name that repeats has them in one list for the loop)."""
    ours = Counter(m.partition(".")[0] for f in listing for m in f.columns.mnemonics[f.start : f.stop])
    return ours == Counter(opcode for opcodes in by_loop.values() for opcode in opcodes)


def parse_speed(what: str, texts: list[str]) -> Result:
    """CPU time of the plain loop against ``sassmix.parse``, text by text, alternating; medians."""
    for text in texts:
        if not same(two_regex_loop(text), parse(text)):
            raise SystemExit("the loop and the parser do not agree; there is nothing to measure")
    loop: list[float] = []
    ours: list[float] = []
    for _ in range(ROUNDS):
        loop.append(cpu(lambda: [two_regex_loop(text) for text in texts]))
        ours.append(cpu(lambda: [parse(text) for text in texts]))
    whole = "".join(texts)
    return {
        "what": f"parse {what}, against a plain two-regex loop",
        "megabytes": round(len(whole) / 1e6, 2),
        "repeated": round(repeated_share(whole), 2),
        "baseline_ms": round(1000 * statistics.median(loop), 1),
        "sassmix_ms": round(1000 * statistics.median(ours), 1),
        "ratio": round(statistics.median(loop) / statistics.median(ours), 2),
    }


def parse_speeds(cubins: list[Path]) -> list[Result]:
    """Long kernels, one listing for each target, and the small kernels of the fixtures; or what the user names."""
    if cubins:
        return [parse_speed("the given cubins", listings(cubins))]
    with tempfile.TemporaryDirectory() as folder:
        long = listings(long_kernels(Path(folder)))
    if not long:
        print("no nvcc is installed (pip install nvidia-cuda-nvcc): the long kernels are left out", file=sys.stderr)
    small = listings(own_cubins())
    rows = [parse_speed("long kernels", long)] if long else []
    return [*rows, parse_speed(f"{len(small)} small listings", small)]


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


def child_cpu(command: list[str]) -> float:
    """CPU seconds of a process of its own."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("cubins", nargs="*", type=Path, help="other code to measure with")
    parser.add_argument("--json", type=Path, help="write the results here too")
    arguments = parser.parse_args()
    results = [*parse_speeds(arguments.cubins), start_speed()]
    table = Table("what", "MB", "baseline, CPU ms", "sassmix, CPU ms", "ratio", box=None)
    for row in results:
        table.add_row(*(str(row[key]) for key in ("what", "megabytes", "baseline_ms", "sassmix_ms", "ratio")))
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
