"""Maxwell and Pascal, which share NVIDIA's table and the 64-bit encoding."""

import sassmix
from sassmix import Architecture, load_opcodes, sm


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """sm_52 brought half-precision arithmetic into the disassembler, sm_61 the integer dot product."""
    return [
        Architecture(name="maxwell", sm=sm(50), extends="nvidia", opcodes=load_opcodes(__file__)),
        Architecture(
            name="maxwell-52",
            sm=sm(52, 53),
            extends="maxwell",
            family="maxwell",
            opcodes=load_opcodes(__file__, "maxwell-52.csv"),
        ),
        Architecture(name="pascal", sm=sm(60), extends="maxwell-52"),
        Architecture(
            name="pascal-61",
            sm=sm(61, 62),
            extends="pascal",
            family="pascal",
            opcodes=load_opcodes(__file__, "pascal-61.csv"),
        ),
    ]
