"""Blackwell without tensor memory: sm_120 and sm_121, nearer to Hopper's opcodes than to those of sm_100."""

import sassmix
from sassmix import Architecture, load_opcodes, sm

REMOVED = (
    *("BGMMA", "HGMMA", "IGMMA", "QGMMA", "WARPGROUP", "WARPGROUPSET"),
    *("BMMA", "IMUL", "ULDC", "VABSDIFF", "VABSDIFF4", "VHMNMX", "VIADDMNMX", "VIMNMX3"),
)


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """The two print the same opcodes: matrix multiplies of warps, and floats on the uniform datapath."""
    return [
        Architecture(
            name="blackwell-rtx",
            sm=sm(120, "120a", "120f", 121, "121a", "121f"),
            extends="hopper",
            family="blackwell",
            opcodes=load_opcodes(__file__, "blackwell-rtx.csv"),
            remove=REMOVED,
        )
    ]
