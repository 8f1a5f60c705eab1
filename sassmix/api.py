"""The library's questions that are no report: one listing, one mnemonic, the registered architectures."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sassmix.arch import Architecture, OpcodeInfo, sm
from sassmix.listing import Listing
from sassmix.plugins import default_plugins
from sassmix.readers import open_input


def read(path: str | PathLike[str]) -> Listing:
    """Read any one listing or binary; its kind is decided by its content.

    :returns: the listing; for a binary with several members, all their functions in one.
    :raises InputError: for a file that cannot be read or is of no known kind.
    :raises ToolError: where a binary needs a disassembler that is missing, too old, failing or hanging.
    """
    listings = [part for part in open_input(Path(path)).parts() if isinstance(part, Listing)]
    if len(listings) == 1:
        return listings[0]
    functions = [function for listing in listings for function in listing.functions]
    archs = {function.arch for function in functions}
    merged = Listing(
        kind=listings[0].kind if listings else "elf",
        functions=functions,
        problems=[problem for listing in listings for problem in listing.problems],
        path=str(path),
        arch=archs.pop() if len(archs) == 1 else None,
        tool=listings[0].tool if listings else None,
    )
    for listing in listings:
        merged.lines.update(listing.lines)
    return merged


def explain(mnemonic: str, arch: str | None = None) -> OpcodeInfo:
    """What an opcode or a full mnemonic is.

    :param mnemonic: ``UTCHMMA`` or ``UTCHMMA.2CTA``, in any case.
    :param arch: a target such as ``sm_100a``; without one, what all architectures that have the opcode agree on.
    :returns: with ``known`` false where the architecture does not have the opcode.
    :raises UnknownArchitectureError: for an architecture that no plugin registers.
    """
    plugins = default_plugins()
    if arch is None:
        return plugins.classifier.info(_spelled(mnemonic, None), None)
    target = sm(arch)[0]
    plugins.registry.require(target)
    return plugins.classifier.info(_spelled(mnemonic, target), target)


def _spelled(mnemonic: str, target: str | None) -> str:
    """The opcode in upper case; the modifiers as given, since some have lower-case letters (``LDTM.16dp128bit``)."""
    opcode, dot, modifiers = mnemonic.strip().partition(".")
    return opcode.upper() + dot + modifiers


def explain_on(mnemonics: Sequence[str], arch: str | None = None) -> list[OpcodeInfo]:
    """:func:`explain` for several mnemonics; without an architecture, on each registered one that has the opcode.

    A mnemonic that no architecture has gives one answer with ``known`` false.
    """
    found: list[OpcodeInfo] = []
    for mnemonic in mnemonics:
        registry = default_plugins().registry
        opcode = _spelled(mnemonic, None).partition(".")[0]
        targets: list[str | None] = [arch] if arch else [*registry.targets_with(opcode)] or [None]
        found += [explain(mnemonic, target) for target in targets]
    return found


def architectures() -> list[Architecture]:
    """The registered architectures, bases without a target included, as their plugins gave them."""
    return [table.architecture for table in default_plugins().registry.tables()]


def architecture_rows() -> list[dict[str, Any]]:
    """One entry per registered target: ``arch, family, plugin, distribution, opcodes, matrix_opcodes``."""
    return [
        {
            "arch": target,
            "family": table.architecture.family,
            "plugin": table.origin.plugin,
            "distribution": f"{table.origin.distribution} {table.origin.version}",
            "opcodes": len(table.opcodes),
            "matrix_opcodes": table.matrix_opcodes,
        }
        for target, table in default_plugins().registry
    ]
