"""Speed of parsing listings: against the loop of two regular expressions, and as a share of nvdisasm's own time."""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.baseline import two_regex_loop
from benchmarks.corpus import large_cubin, listings, long_kernels, own_cubins, repeated_share
from benchmarks.measure import ROUNDS, Result, cpu
from benchmarks.vendor import vendor_cubins
from sassmix.listing import Listing
from sassmix.parsing import parse


def same(by_loop: dict[str, list[str]], listing: Listing) -> bool:
    """Whether both have seen the same opcodes equally often (a name that repeats has them in one list for the loop)."""
    ours = Counter(m.partition(".")[0] for f in listing for m in f.columns.mnemonics[f.start : f.stop])
    return ours == Counter(opcode for opcodes in by_loop.values() for opcode in opcodes)


def parse_speed(what: str, cubins: list[Path]) -> list[Result]:
    """CPU time of ``sassmix.parse`` against the plain loop, in turn (medians), and against one run of nvdisasm."""
    texts, nvdisasm = listings(cubins)
    for text in texts:
        if not same(two_regex_loop(text), parse(text)):
            raise SystemExit("the loop and the parser do not agree; there is nothing to measure")
    loop: list[float] = []
    ours: list[float] = []
    for _ in range(ROUNDS):
        loop.append(cpu(lambda: [two_regex_loop(text) for text in texts]))
        ours.append(cpu(lambda: [parse(text) for text in texts]))
    whole = "".join(texts)
    seconds = statistics.median(ours)
    shared: Result = {
        "megabytes": round(len(whole) / 1e6, 2),
        "repeated": round(repeated_share(whole), 2),
        "sassmix_ms": round(1000 * seconds, 1),
        "mb_per_s": round(len(whole) / 1e6 / seconds, 1),
    }
    against = {"loop": statistics.median(loop), "nvdisasm": nvdisasm}
    return [
        {
            "what": f"parse {what}, against a plain two-regex loop",
            **shared,
            "baseline_ms": round(1000 * against["loop"], 1),
            "ratio": round(against["loop"] / seconds, 2),
        },
        {
            "what": f"parse {what}, as share of nvdisasm",
            **shared,
            "baseline_ms": round(1000 * against["nvdisasm"], 1),
            "ratio": round(seconds / against["nvdisasm"], 3),
            "wanted": "<= 0.1",
        },
    ]


def parse_speeds(cubins: list[Path], vendor: str | None) -> list[Result]:
    """What the user names, or our own code: long kernels for some targets, one large cubin, the fixtures' kernels."""
    with tempfile.TemporaryDirectory() as scratch:
        corpus = [("the given cubins", cubins)] if cubins else _corpus(Path(scratch), vendor)
        return [row for what, found in corpus if found for row in parse_speed(what, found)]


def _corpus(folder: Path, vendor: str | None) -> Iterator[tuple[str, list[Path]]]:
    yield "long kernels", long_kernels(folder)
    yield "one large cubin", large_cubin(folder)
    small = own_cubins()
    yield f"{len(small)} small listings", small
    if vendor is not None:
        yield "cubins of a vendor's library", vendor_cubins(folder, vendor)
