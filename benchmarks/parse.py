"""Speed of parsing listings, against the loop of two regular expressions."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.baseline import two_regex_loop
from benchmarks.corpus import listings, long_kernels, own_cubins, repeated_share
from benchmarks.measure import ROUNDS, Result, cpu
from sassmix.listing import Listing
from sassmix.parsing import parse


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
