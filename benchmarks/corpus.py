"""Unrepeated code to measure with: the listings of our own cubins, or of cubins that the user names."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sassmix.tools import find_tools, need_tools

FIXTURES = Path(__file__).parent.parent / "fixtures"
SOURCE = Path(__file__).parent / "kernels.cu"
COMPILED = ("80", "90a", "100a", "120a")
#: Targets whose code differs; sm_86 and sm_88 for instance have the code of sm_89.
TARGETS = ("75", "80", "89", "90a", "100a", "103a", "110a", "120a")


def own_cubins() -> list[Path]:
    """The cubins of the fixtures, one target of each kind."""
    found = (path for target in TARGETS for path in (FIXTURES / "cubins").glob(f"*.sm_{target}.cubin"))
    return sorted(path for path in found if "debug" not in path.name)


def long_kernels(folder: Path) -> list[Path]:
    """``kernels.cu`` compiled into a folder for some targets; nothing where no nvcc is installed."""
    compilers = find_tools("nvcc")
    if not compilers:
        return []
    cubins = [folder / f"kernels.sm_{target}.cubin" for target in COMPILED]
    for target, cubin in zip(COMPILED, cubins, strict=True):
        command = [str(compilers[0].path), f"-arch=sm_{target}", "-cubin", "-o", str(cubin), str(SOURCE)]
        subprocess.run(command, check=True, capture_output=True)
    return cubins


def listings(cubins: Iterable[Path]) -> list[str]:
    """What ``nvdisasm -c`` prints of each cubin."""
    tool = str(need_tools("nvdisasm", "the benchmark")[0].path)

    def printed(path: Path) -> str:
        return subprocess.run([tool, "-c", str(path)], capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor() as pool:
        return list(pool.map(printed, cubins))


def repeated_share(text: str) -> float:
    """Share of the code lines whose instruction stands in the text before: code of a real kernel has about half."""
    code = [line.partition("*/")[2] for line in text.split("\n") if line.startswith("        /*")]
    return 1 - len(set(code)) / max(1, len(code))
