"""Kepler: from NVIDIA's table of that time, read from memory; no current tool disassembles it."""

import sassmix
from sassmix import Architecture, load_opcodes, sm


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """Compute capability 3.x; NVIDIA's table did not tell its members apart."""
    return [Architecture(name="kepler", sm=sm(30, 32, 35, 37), extends="nvidia", opcodes=load_opcodes(__file__))]
