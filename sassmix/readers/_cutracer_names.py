"""What the name of a file that CUTracer wrote says on the kernel."""

from __future__ import annotations

import re
from pathlib import Path

from sassmix.counts import KernelNames

#: Names of kernels are cut at this length in names of files.
CUT = 150

_SUFFIXES = re.compile(r"(\.(csv|ndjson|jsonl|json|zst|zstd))+\Z", re.IGNORECASE)
_LAYOUT = re.compile(r"kernel_(?P<checksum>[0-9a-f]+)_iter[0-9]+_(?P<name>.+)", re.IGNORECASE | re.DOTALL)
#: A checksum of 64 bits hardly ever has fewer digits.
_SHORTEST = 7
#: Post-processors put the checksum last, 0 if they lost it; 7 digits at least, so that no end of a name is one.
_SUMMED = re.compile(r"kernel_(?P<name>.+)_(?P<checksum>[0-9a-f]{7,}|0)", re.IGNORECASE | re.DOTALL)
#: The layout of dumped cubins.
_PLAIN = re.compile(r"kernel_(?P<checksum>[0-9a-f]{8,})_(?P<name>.+)", re.IGNORECASE | re.DOTALL)


def names_of(path: Path) -> tuple[KernelNames, bool]:
    """The kernel as the file's name has it, and whether the name counts iterations, of which each is one launch."""
    stem = _SUFFIXES.sub("", path.name)
    if path.name.lower().endswith(".csv") and stem.lower().endswith("_hist"):
        stem = stem[: -len("_hist")]
    layout = _LAYOUT.fullmatch(stem)
    if layout and _is_checksum(layout["checksum"]):
        return _named(layout["name"], layout["checksum"]), True
    found = [match for pattern in (_SUMMED, _PLAIN) if (match := pattern.fullmatch(stem))]
    if found:
        best = max(found, key=lambda match: (not match["name"][0].isdigit(), len(match["checksum"])))
        return _named(best["name"], best["checksum"]), False
    return _named(stem.partition("_")[2], None) if layout else KernelNames(), False


def _is_checksum(text: str) -> bool:
    """``add`` and ``f32`` are hexadecimal too, but the start of a kernel's own name, of which a digit is none."""
    return len(text) >= _SHORTEST or text[0].isdigit()


def _named(name: str, checksum: str | None) -> KernelNames:
    return KernelNames(file=name, cut=len(name) >= CUT, checksum=checksum and checksum.lower())
