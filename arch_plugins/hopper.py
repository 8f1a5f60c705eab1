"""Hopper: warpgroup matrix multiplies, TMA, clusters. The one generation whose pipes have been measured."""

import sassmix
from sassmix import Architecture, load_opcodes, sm


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """sm_90 and sm_90a print the same opcodes; ptxas emits *GMMA for sm_90a only."""
    return [
        Architecture(
            name="hopper",
            sm=sm(90, "90a"),
            extends="ada",
            opcodes=load_opcodes(__file__),
            remove=("QMMA", "RED"),
        )
    ]
