"""sassmix: what a GPU kernel really executes, classified for each architecture, with the evidence for it.

The public names are loaded at their first use, so that a command starts without what it does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sassmix.version import __version__

if TYPE_CHECKING:
    from sassmix import testing
    from sassmix.analysis import mix
    from sassmix.api import architectures, explain, read
    from sassmix.arch import Architecture, ModifierRule, Opcode, OpcodeInfo, load_opcodes, sm
    from sassmix.errors import (
        CountsError,
        InputError,
        ListingSyntaxError,
        PluginError,
        Problem,
        SassmixError,
        ToolError,
        UnknownArchitectureError,
    )
    from sassmix.hookspecs import hookimpl
    from sassmix.labels import LabelRule
    from sassmix.listing import Function, Instruction, Listing
    from sassmix.parsing import parse
    from sassmix.readers import Reader
    from sassmix.report import Report

__all__ = [
    "Architecture",
    "CountsError",
    "Function",
    "InputError",
    "Instruction",
    "LabelRule",
    "Listing",
    "ListingSyntaxError",
    "ModifierRule",
    "Opcode",
    "OpcodeInfo",
    "PluginError",
    "Problem",
    "Reader",
    "Report",
    "SassmixError",
    "ToolError",
    "UnknownArchitectureError",
    "__version__",
    "architectures",
    "explain",
    "hookimpl",
    "load_opcodes",
    "mix",
    "parse",
    "read",
    "sm",
    "testing",
]

_HOMES = {
    "analysis": ("mix",),
    "api": ("architectures", "explain", "read"),
    "arch": ("Architecture", "ModifierRule", "Opcode", "OpcodeInfo", "load_opcodes", "sm"),
    "errors": (
        "CountsError",
        "InputError",
        "ListingSyntaxError",
        "PluginError",
        "Problem",
        "SassmixError",
        "ToolError",
        "UnknownArchitectureError",
    ),
    "hookspecs": ("hookimpl",),
    "labels": ("LabelRule",),
    "listing": ("Function", "Instruction", "Listing"),
    "parsing": ("parse",),
    "readers": ("Reader",),
    "report": ("Report",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "testing":
        return import_module("sassmix.testing")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'sassmix' has no attribute {name!r}")
    value = getattr(import_module(f"sassmix.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
