"""The library's questions that are no report: one listing, one mnemonic, the registered architectures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from sassmix.arch import Architecture, OpcodeInfo
from sassmix.errors import InputError, SassmixError
from sassmix.listing import Listing
from sassmix.plugins import default_plugins
from sassmix.readers import open_input

_MNEMONIC = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\..*)?")
_SHAPE = re.compile(r"x[0-9]|[0-9x]+dp[0-9]", re.IGNORECASE)
_FACTOR = re.compile(r"(?<=[0-9])X(?=[0-9])")


def read(path: str | PathLike[str]) -> Listing:
    """Read any one listing or binary; its kind is decided by its content.

    :returns: the listing; for a binary with several members, all their functions in one.
    :raises InputError: for a file that cannot be read, is of no known kind, or holds counts.
    :raises ToolError: where a binary needs a disassembler that is missing, too old, failing or hanging.
    """
    found = open_input(Path(path))
    if found.reader.counts:
        raise InputError(str(path), f"is no listing but executed counts ({found.reader.name}); sassmix.mix reads them")
    listings = [part for part in found.parts() if isinstance(part, Listing)]
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
        toolkit=next((listing.toolkit for listing in listings if listing.toolkit), None),
    )
    for listing in listings:
        merged.lines.update(listing.lines)
    return merged


def explain(mnemonic: str, arch: str | None = None) -> OpcodeInfo:
    """What an opcode or a full mnemonic is.

    :param mnemonic: ``UTCHMMA`` or ``UTCHMMA.2CTA``, in any case.
    :param arch: a target such as ``sm_100a``; without one, what all architectures that have the opcode agree on.
    :returns: with ``known`` false, and ``tensor`` None, where the architecture does not have the opcode.
    :raises UnknownArchitectureError: for an architecture that no plugin registers.
    :raises SassmixError: for a text that is no mnemonic.
    """
    plugins = default_plugins()
    target = None if arch is None else plugins.registry.named(arch)
    info = plugins.classifier.info(_spelled(mnemonic), target)
    return info if info.known else replace(info, tensor=None)


def _spelled(mnemonic: str) -> str:
    """As the disassembler spells it: in upper case but for shapes and factors (``LDTM.16dp128bit.x2``, ``F16x2``)."""
    if not _MNEMONIC.fullmatch(mnemonic.strip()):
        raise SassmixError(f"{mnemonic!r} is not the text of an opcode; write it as HMMA or HMMA.16816.F32")
    opcode, *modifiers = mnemonic.strip().split(".")
    return ".".join([opcode.upper(), *map(_modifier, modifiers)])


def _modifier(text: str) -> str:
    return text.lower() if _SHAPE.match(text) else _FACTOR.sub("x", text.upper())


def explain_on(mnemonics: Sequence[str], arch: str | None = None) -> list[OpcodeInfo]:
    """:func:`explain` for several mnemonics; without an architecture, on each registered one that has the opcode.

    A mnemonic that no architecture has gives one answer with ``known`` false.
    """
    found: list[OpcodeInfo] = []
    for mnemonic in mnemonics:
        registry = default_plugins().registry
        opcode = _spelled(mnemonic).partition(".")[0]
        targets: list[str | None] = [arch] if arch else [*registry.targets_with(opcode)] or [None]
        found += [explain(mnemonic, target) for target in targets]
    return found


def explained_rows(mnemonics: Sequence[str], arch: str | None = None) -> list[dict[str, Any]]:
    """The entries of ``sassmix explain``: what :func:`explain_on` finds, ``known_on`` and ``suggestions``.

    Only an opcode that no architecture has is taken for a misspelt one.
    """
    return [{**info.to_dict(), **_elsewhere(info)} for info in explain_on(mnemonics, arch)]


def _elsewhere(info: OpcodeInfo) -> dict[str, list[str]]:
    registry = default_plugins().registry
    targets = registry.targets_with(info.opcode)
    if info.known and info.arch and info.arch not in targets:  # a plugin's own answer, without a row
        targets.append(info.arch)
    names = {} if targets else dict.fromkeys(name for _, table in registry for name in table.opcodes)
    return {"suggestions": get_close_matches(info.opcode, names), "known_on": targets}


def architectures() -> list[Architecture]:
    """The registered architectures, bases without a target included, as their plugins gave them."""
    return [table.architecture for table in default_plugins().registry.tables()]


def architecture_rows() -> list[dict[str, Any]]:
    """One entry per registered target, with the fields ``arch, architecture, family, plugin, distribution, opcodes``
    and ``matrix_opcodes``.
    """
    return [
        {
            "arch": target,
            "architecture": table.architecture.name,
            "family": table.architecture.family,
            "plugin": table.origin.plugin,
            "distribution": f"{table.origin.distribution} {table.origin.version}",
            "opcodes": len(table.opcodes),
            "matrix_opcodes": [*table.matrix_opcodes],
        }
        for target, table in default_plugins().registry
    ]
