"""Volta, the root of the 128-bit encoding.

The current manual has no table of Volta: where its table of Turing lists an opcode, that heading is taken, and the
row's source says from which tables it is.
"""

import sassmix
from sassmix import Architecture, ModifierRule, load_opcodes, sm

HALF_ON_TENSOR = ModifierRule(
    opcode="HFMA2",
    modifier="MMA",
    facets={"pipe": "tensor"},
    source="its name says so; counted on the tensor pipe of H200",
)


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """sm_72 is sm_70 with integer matrix multiplies and what feeds them."""
    return [
        Architecture(
            name="volta",
            sm=sm(70),
            extends="nvidia",
            opcodes=load_opcodes(__file__),
            modifier_rules=(HALF_ON_TENSOR,),
        ),
        Architecture(
            name="volta-72",
            sm=sm(72),
            extends="volta",
            family="volta",
            opcodes=load_opcodes(__file__, "volta-72.csv"),
        ),
    ]
