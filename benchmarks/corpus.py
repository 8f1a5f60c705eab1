"""Unrepeated code to measure with: the listings of our own cubins, or of cubins that the user names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.generated import write_kernels
from benchmarks.measure import with_children_cpu
from sassmix.tools import find_tools, need_tools

FIXTURES = Path(__file__).parent.parent / "fixtures"
SOURCE = Path(__file__).parent / "kernels.cu"
COMPILED = ("80", "90a", "100a", "120a")
#: Generated kernels and their statements; the listing has 22 MB.
_GENERATED = (100, 800)
#: Targets whose code differs; sm_86 and sm_88 for instance have the code of sm_89.
TARGETS = ("75", "80", "89", "90a", "100a", "103a", "110a", "120a")


def own_cubins() -> list[Path]:
    """The cubins of the fixtures, one target of each kind."""
    found = (path for target in TARGETS for path in (FIXTURES / "cubins").glob(f"*.sm_{target}.cubin"))
    return sorted(path for path in found if "debug" not in path.name)


def long_kernels(folder: Path) -> list[Path]:
    """``kernels.cu`` compiled into a folder for some targets; nothing where no nvcc is installed."""
    targets = COMPILED if has_compiler() else ()
    return [_compiled(SOURCE, folder / f"kernels.sm_{target}.cubin", target) for target in targets]


def large_cubin(folder: Path) -> list[Path]:
    """One cubin of generated kernels, whose listing has more than 20 MB; nothing where no nvcc is installed."""
    if not has_compiler():
        return []
    source = write_kernels(folder / "generated.cu", *_GENERATED)
    return [_compiled(source, folder / "generated.sm_90a.cubin", "90a", "-split-compile=2")]


def has_compiler() -> bool:
    """Whether nvcc is there; it is said where it is not."""
    found = bool(find_tools("nvcc"))
    if not found:
        print("no nvcc is installed (pip install nvidia-cuda-nvcc): its code is left out", file=sys.stderr)
    return found


def _compiled(source: Path, cubin: Path, target: str, *options: str) -> Path:
    nvcc = str(find_tools("nvcc")[0].path)
    command = [nvcc, f"-arch=sm_{target}", *options, "-cubin", "-o", str(cubin), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return cubin


def listings(cubins: Iterable[Path]) -> tuple[list[str], float]:
    """What ``nvdisasm -c`` prints of each cubin, and the CPU seconds that it takes for all."""
    tool = str(need_tools("nvdisasm", "the benchmark")[0].path)

    def printed(path: Path) -> str:
        return subprocess.run([tool, "-c", str(path)], capture_output=True, text=True, check=True).stdout

    def all_printed() -> list[str]:
        with ThreadPoolExecutor() as pool:
            return list(pool.map(printed, cubins))

    return with_children_cpu(all_printed)


def repeated_share(text: str) -> float:
    """Share of the code lines whose instruction stands in the text before: code of a real kernel has about half."""
    code = [line.partition("*/")[2] for line in text.split("\n") if line.startswith("        /*")]
    return 1 - len(set(code)) / max(1, len(code))
