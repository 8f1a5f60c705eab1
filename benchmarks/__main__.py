"""``python -m benchmarks [--only KIND] [--long] [--peers] [--record] [--json FILE] [CUBIN...]``: a table of ratios."""

from __future__ import annotations

import argparse
import datetime
import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.counts import PEERS, counts_speeds
from benchmarks.growth import growth_rows
from benchmarks.library import library_rows
from benchmarks.measure import Result
from benchmarks.parse import parse_speeds
from benchmarks.start import start_speeds
from benchmarks.vendor import PACKAGE

HISTORY = Path(__file__).parent / "history.jsonl"
COLUMNS = {
    "what": "what", "megabytes": "MB", "baseline_ms": "baseline, CPU ms", "sassmix_ms": "sassmix, CPU ms",
    "ratio": "ratio", "wall_ratio": "wall ratio", "wanted": "wanted", "mb_per_s": "MB/s", "peak_mb": "peak MB",
    "repeated": "repeated",
}  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("cubins", nargs="*", type=Path, help="other code to measure with")
    parser.add_argument("--only", choices=["parse", "growth", "library", "counts", "start"], help="a part of it")
    parser.add_argument(
        "--long", action="store_true", help="also listings and exports of 200 MB, a trace of 10 M records"
    )
    parser.add_argument("--vendor", nargs="?", const="", metavar="WHEEL", help=f"also code of {PACKAGE}, downloaded")
    parser.add_argument("--peers", action="store_true", help=f"install {', '.join(PEERS)} and measure against them")
    parser.add_argument("--record", action="store_true", help=f"append the ratios to {HISTORY.name}")
    parser.add_argument("--json", type=Path, help="write the results here too")
    arguments = parser.parse_args()
    kinds: dict[str, Callable[[], list[Result]]] = {
        "parse": lambda: parse_speeds(arguments.cubins, arguments.vendor),
        "growth": lambda: growth_rows(long=arguments.long),
        "library": lambda: library_rows(long=arguments.long),
        "counts": lambda: counts_speeds(peers=arguments.peers, long=arguments.long),
        "start": start_speeds,
    }
    results: list[Result] = []
    for work in kinds.values() if arguments.only is None else [kinds[arguments.only]]:
        rows = work()
        show(rows)  # at once: a whole run takes half an hour, and the next part may fail
        results += rows
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if arguments.record:
        record(results, HISTORY)


def show(results: list[Result]) -> None:
    """The table; a column is empty where it does not apply."""
    table = Table(*COLUMNS.values(), box=None)
    for row in results:
        table.add_row(*(str(row.get(key, "")) for key in COLUMNS))
    Console(width=160).print(table)


def record(results: list[Result], path: Path) -> None:
    """One line for this run."""
    versions = {name: version(name) for name in ("sassmix", "duckdb", "lark")}
    run = {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": versions,
        "ratios": {str(row["what"]): row["ratio"] for row in results},
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


if __name__ == "__main__":
    main()
