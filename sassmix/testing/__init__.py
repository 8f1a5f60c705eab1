"""The regression suite of sassmix, for those who write tables, readers or classifiers; needs the extra ``testing``.

The names are loaded at their first use: the contract without Hypothesis, and nothing of it by ``import sassmix``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sassmix.testing.comparison import Finding, described, differential
    from sassmix.testing.contract import CHECKS, ArchitectureContract, check_architecture
    from sassmix.testing.models import (
        FunctionModel,
        HistogramModel,
        HistogramRow,
        InstructionModel,
        ListingModel,
        TraceModel,
    )
    from sassmix.testing.oracles import disassembly_faults
    from sassmix.testing.rendering import MODES, render
    from sassmix.testing.strategies import functions, histograms, instructions, listings, traces
    from sassmix.testing.table_strategies import architectures, opcode_tables, table_text

__all__ = [
    "CHECKS",
    "MODES",
    "ArchitectureContract",
    "Finding",
    "FunctionModel",
    "HistogramModel",
    "HistogramRow",
    "InstructionModel",
    "ListingModel",
    "TraceModel",
    "architectures",
    "check_architecture",
    "described",
    "differential",
    "disassembly_faults",
    "functions",
    "histograms",
    "instructions",
    "listings",
    "opcode_tables",
    "render",
    "table_text",
    "traces",
]

_HOMES = {
    "contract": ("ArchitectureContract", "CHECKS", "check_architecture"),
    "comparison": ("Finding", "described", "differential"),
    "models": ("FunctionModel", "HistogramModel", "HistogramRow", "InstructionModel", "ListingModel", "TraceModel"),
    "oracles": ("disassembly_faults",),
    "rendering": ("MODES", "render"),
    "strategies": ("functions", "histograms", "instructions", "listings", "traces"),
    "table_strategies": ("architectures", "opcode_tables", "table_text"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'sassmix.testing' has no attribute {name!r}")
    value = getattr(import_module(f"sassmix.testing.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
