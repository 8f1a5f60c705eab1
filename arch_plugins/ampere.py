"""Ampere: asynchronous copies and double-precision matrix multiplies; sm_86 to sm_88 add conversions."""

import sassmix
from sassmix import Architecture, load_opcodes, sm


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """The data-centre chip and the others, which print the same opcodes as one another."""
    return [
        Architecture(name="ampere", sm=sm(80), extends="turing", opcodes=load_opcodes(__file__)),
        Architecture(
            name="ampere-86",
            sm=sm(86, 87, 88),
            extends="ampere",
            family="ampere",
            opcodes=load_opcodes(__file__, "ampere-86.csv"),
        ),
    ]
