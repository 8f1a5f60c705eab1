"""Turing: Volta and the uniform datapath."""

import sassmix
from sassmix import Architecture, load_opcodes, sm


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """The first generation with uniform registers."""
    return [Architecture(name="turing", sm=sm(75), extends="volta-72", opcodes=load_opcodes(__file__))]
