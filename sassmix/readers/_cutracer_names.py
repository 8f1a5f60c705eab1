"""What the name of a file that CUTracer wrote says on the kernel."""

from __future__ import annotations

import re
from pathlib import Path

from sassmix.counts import KernelNames

#: Names of kernels are cut at this length in names of files.
CUT = 150

_SUFFIXES = re.compile(r"(\.(csv|ndjson|jsonl|json|zst|zstd))+\Z", re.IGNORECASE)
_LAYOUT = re.compile(r"kernel_([0-9a-f]+)_iter([0-9]+)_(.+)", re.IGNORECASE | re.DOTALL)
#: Post-processors put the checksum last, 0 if they lost it; 7 digits at least, so that no end of a name is one.
_SUMMED = re.compile(r"kernel_(.+)_([0-9a-f]{7,}|0)", re.IGNORECASE | re.DOTALL)
#: The layout of dumped cubins.
_PLAIN = re.compile(r"kernel_([0-9a-f]{8,})_(.+)", re.IGNORECASE | re.DOTALL)


def names_of(path: Path) -> tuple[KernelNames, bool]:
    """The kernel as the file's name has it, and whether the name counts iterations, of which each is one launch."""
    stem = _SUFFIXES.sub("", path.name)
    if path.name.lower().endswith(".csv") and stem.lower().endswith("_hist"):
        stem = stem[: -len("_hist")]
    if match := _LAYOUT.fullmatch(stem):
        return _named(match[3], match[1]), True
    if match := _SUMMED.fullmatch(stem):
        return _named(match[1], match[2]), False
    if match := _PLAIN.fullmatch(stem):
        return _named(match[2], match[1]), False
    return KernelNames(), False


def _named(name: str, checksum: str) -> KernelNames:
    return KernelNames(file=name, cut=len(name) >= CUT, checksum=checksum.lower())
