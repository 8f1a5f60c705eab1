"""Cubins of a vendor's library, from the package index: measured where they are asked for, and never kept."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from sassmix.tools import need_tools

PACKAGE, LIBRARY = "nvidia-cublas", "lib/libcublas.so."
#: Every so many-th member is taken out, and of these the largest, until they have so many bytes.
_STEP, _ENOUGH = 25, 9_000_000


def vendor_cubins(folder: Path, wheel: str) -> list[Path]:
    """Cubins whose listings have more than 20 MB together.

    :param wheel: a wheel that was downloaded before; if empty, pip downloads it into the folder (half a GB).
    """
    library = _library(folder, Path(wheel) if wheel else _downloaded(folder))
    names = [line.rpartition(" ")[2] for line in _cuobjdump(folder, "-lelf", library) if line.startswith("ELF file")]
    _cuobjdump(folder, "-xelf", ",".join(names[::_STEP]), library)
    taken: list[Path] = []
    for cubin in sorted(folder.glob("*.cubin"), key=lambda path: path.stat().st_size, reverse=True):
        if cubin.name in names and sum(path.stat().st_size for path in taken) < _ENOUGH:
            taken.append(cubin)
    return taken


def _downloaded(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE]
    subprocess.run(command, check=True)
    return next(folder.glob("*.whl"))


def _library(folder: Path, wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if LIBRARY in name)
        (folder / "vendor.so").write_bytes(archive.read(name))
    return "vendor.so"


def _cuobjdump(folder: Path, *arguments: str) -> list[str]:
    tool = str(need_tools("cuobjdump", "the benchmark")[0].path)
    done = subprocess.run([tool, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
