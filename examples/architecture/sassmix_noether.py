"""Noether, a made-up GPU generation: Blackwell with a matrix multiply on a cluster's shared memory, without DMMA."""

import sassmix
from sassmix import Architecture, ModifierRule, load_opcodes, sm

RULES = (
    ModifierRule(opcode="CGMMA", modifier="BF16", facets={"dtype": "bf16"}, source="made up: its name says so"),
    ModifierRule(opcode="CGMMA", modifier="E4M3", facets={"dtype": "e4m3"}, source="made up: its name says so"),
)


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """The difference from Blackwell; everything else is inherited."""
    return [
        Architecture(
            name="noether",
            sm=sm(130, "130a"),
            extends="blackwell",
            opcodes=load_opcodes(__file__),
            remove=("DMMA",),
            modifier_rules=RULES,
        )
    ]
