"""Ada: Ampere and matrix multiplies on 8-bit floats, which NVIDIA's table leaves out."""

import sassmix
from sassmix import Architecture, load_opcodes, sm


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """Without the barrier and trap moves, which no disassembler prints from here on."""
    return [
        Architecture(
            name="ada",
            sm=sm(89),
            extends="ampere-86",
            opcodes=load_opcodes(__file__),
            remove=("R2B", "RTT", "__HIR0X1E0", "__HIR0X1F0"),
        )
    ]
