"""The table of nsys-ai 0.3.0 against the tables of sassmix, one line for each difference, matrix work first.

Usage: make peers
"""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version

from nsys_ai.cutracer.sass_ops import classify_opcode

from sassmix.testing import described, differential

#: What its categories mean, in ours.
NAMES = {
    "tensor": "tensor",
    "compute": ("float.*", "integer.*", "conversion", "movement", "predicate"),
    "memory": ("memory.*", "tensor_memory"),
    "sync": "sync",
    "control": "control",
    "special": ("special", "warp"),
    "other": None,
}


def main() -> None:
    """Print the differences, then how many there are of each kind."""
    lines = described(differential(lambda mnemonic, arch: classify_opcode(mnemonic), names=NAMES))
    print(f"nsys-ai {version('nsys-ai')} against sassmix {version('sassmix')}")
    print("\n".join(lines))
    for kind, count in Counter(line.partition(":")[0] for line in lines).items():
        print(f"{count:4} {kind}")


if __name__ == "__main__":
    main()
