"""Speed of reading executed counts, each file in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from benchmarks.made import CUT, WHOLE, raw_page, source_page, trace
from benchmarks.measure import Result, compared

PEERS = ("nsys-ai==0.3.0", "cutracer==0.4.0")
_ROUNDS = 3


def install_peers(folder: Path) -> str:
    """The interpreter of a scratch environment that holds the peers."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def counts_speeds(*, peers: bool, long: bool) -> list[Result]:
    """Traces against the peer's parser (or the same loop written anew), source pages against a plain loop."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        base, who = ("loop-trace", sys.executable), "nsys-ai's loop, written anew"
        if peers:
            base, who = ("peer-trace", install_peers(folder / "peers")), PEERS[0]
        rows = [row for n in (1, 10)[: 1 + long] for row in _traces(folder, n, base, who)]
        return [*rows, *_pages(folder, 200 if long else 40)]


def _traces(folder: Path, millions: int, base: tuple[str, str], who: str) -> list[Result]:
    """The peer cannot read a compressed file by lines, so its time is that of the plain one."""
    rounds = _ROUNDS if millions == 1 else 1
    plain = trace(folder / "trace.ndjson", millions * 1_000_000)
    packed = trace(folder / "trace.ndjson.zst", millions * 1_000_000)
    what = f"trace of {millions} M records"
    return [
        compared(f"{what}, {how}, against {who}", (base[0], plain, base[1]), ("sassmix-trace", path), rounds)
        for how, path in (("plain", plain), ("zstd", packed))
    ]


def _pages(folder: Path, megabytes: int) -> list[Result]:
    files = [
        ("source page, 67 columns", "csv", source_page(folder / "whole.csv", megabytes, WHOLE)),
        ("source page, 6 columns", "csv", source_page(folder / "cut.csv", megabytes, CUT)),
        ("raw page", "raw", raw_page(folder / "raw.csv", min(megabytes, 50))),
    ]
    return [
        compared(
            f"Nsight Compute {what}, against a plain csv loop",
            (f"loop-{kind}", path, sys.executable),
            (f"sassmix-{kind}", path),
            _ROUNDS if megabytes < 100 else 1,
        )
        for what, kind, path in files
    ]
