"""The report: what was read, the kernels with their mixes and evidence, and the problems. No output format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sassmix.agreement import Agreement
from sassmix.arch import FACETS
from sassmix.errors import Problem, SassmixError, did_you_mean
from sassmix.evidence import Evidence, confidence
from sassmix.hints import Facts, Hint, hints
from sassmix.tally import Tally
from sassmix.tensor import TensorVerdict

if TYPE_CHECKING:
    import pandas

    from sassmix.code import Code

SCHEMA = "sassmix.report/1"
#: What is counted, by the name of the option ``--counts``.
UNITS = {
    "issued": "warp instructions issued",
    "active": "warp instructions with an active lane",
    "threads": "thread instructions executed",
}
STATIC_UNIT = "instructions in the listing"

#: What a mix can be made by.
BY = (*FACETS, "opcode")


def facet_of(name: str) -> str:
    """The name of a facet, or ``opcode``.

    :raises SassmixError: for any other, with the near ones.
    """
    if name not in BY:
        raise SassmixError(f"no facet is called {name!r}{did_you_mean(name, BY) or '; there are ' + ', '.join(BY)}")
    return name


@dataclass(slots=True, kw_only=True)
class InputReport:
    """What one input file was: its kind, tool, digest, the architectures that stand in it, and its functions."""

    path: str
    kind: str
    arch: str | None
    tool: str | None
    toolkit: str | None
    sha256: str
    functions: list[dict[str, Any]] = field(default_factory=list, repr=False)
    lines: Counter[str] = field(default_factory=Counter)
    archs: set[str | None] = field(default_factory=set)

    def to_dict(self) -> dict[str, Any]:
        """The entry of a report's ``inputs``; its ``arch`` is None where several stand in it."""
        one = next(iter(self.archs)) if len(self.archs) == 1 else None
        return {
            "path": self.path,
            "kind": self.kind,
            "arch": one if self.archs else self.arch,
            "tool": self.tool,
            "toolkit": self.toolkit,
            "sha256": self.sha256,
            "lines": dict(self.lines),
            "functions": self.functions,
        }


@dataclass(slots=True, kw_only=True, repr=False)
class KernelReport:
    """One kernel (or, in a static report, one function): its mix, its verdict and the evidence for them.

    ``executed``: the totals by ``issued``, ``active`` and ``threads``, as far as the data tells. ``idle``: the part of
    ``tally`` that surely does nothing: under a guard that is never true, or issued with no lane on. ``home``: one and
    the same object for all functions of one listing. ``inputs``: the files that its numbers come from.
    """

    name: str
    demangled: str | None
    arch: str | None
    role: str | None
    calls: list[str]
    listing: dict[str, Any]
    basis: str
    unit: str
    launches: int | None
    warps: int | None
    tally: Tally
    tensor: TensorVerdict
    evidence: list[Evidence]
    agreement: Agreement = field(default_factory=Agreement)
    executed: dict[str, int] = field(default_factory=dict)
    code: Code | None = None
    unknown_calls: int = 0
    idle: Tally = field(default_factory=Tally)
    home: object = None
    inputs: list[str] = field(default_factory=list)

    @property
    def confidence(self) -> str:
        """low, medium or high: the worst of the evidence."""
        return confidence(self.evidence)

    @property
    def hints(self) -> list[Hint]:
        """Questions that the mix raises, each with the counter to look at; none where the evidence carries none."""
        return hints(
            Facts(
                tally=self.tally,
                basis=self.basis,
                arch=self.arch,
                tensor=self.tensor,
                evidence=self.evidence,
                executed=self.executed,
            )
        )

    def to_dict(self, by: str = "category") -> dict[str, Any]:
        """The entry of a report's ``kernels``, its mix by one facet."""
        return {
            "name": self.name,
            "demangled": self.demangled,
            "arch": self.arch,
            "role": self.role,
            "inputs": self.inputs,
            "calls": self.calls,
            "listing": self.listing,
            "basis": self.basis,
            "unit": self.unit,
            "launches": self.launches,
            "warps": self.warps,
            "counts": self.tally.counts(),
            "mix": self.tally.mix(by),
            "opcodes": self.tally.opcodes(),
            "tensor_core_present": self.tensor.present,
            "tensor_core_active": self.tensor.active,
            "tensor_core_reason": self.tensor.reason,
            "confidence": self.confidence,
            "evidence": [item.to_dict() for item in self.evidence],
            "hints": [hint.to_dict() for hint in self.hints],
        }

    def __repr__(self) -> str:
        mix = f"{self.arch}, {self.basis}, total {self.tally.total:,}"
        tensor = f"tensor cores present {self.tensor.present}, active {self.tensor.active}"
        return f"<sassmix.KernelReport: {self.name!r}, {mix}, {tensor}, confidence {self.confidence}>"


@dataclass(slots=True, kw_only=True, repr=False)
class Report:
    """Everything that one call found out; ``others`` are the kernels of the inputs that ``--kernel`` does not name."""

    inputs: list[InputReport]
    kernels: list[KernelReport]
    problems: list[Problem]
    by: str = "category"
    plugins: dict[str, str] = field(default_factory=dict)
    version: str = ""
    others: list[KernelReport] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether no instruction at all was found."""
        return not any(kernel.tally.rows for kernel in self.kernels)

    def to_dict(self) -> dict[str, Any]:
        """The report in the schema ``sassmix.report/1``: JSON types only."""
        import platform  # text for a terminal does not need it

        return {
            "schema": SCHEMA,
            "generator": {"sassmix": self.version, "python": platform.python_version(), "plugins": self.plugins},
            "inputs": [item.to_dict() for item in self.inputs],
            "kernels": [kernel.to_dict(self.by) for kernel in self.kernels],
            "problems": [problem.to_dict() for problem in self.problems],
        }

    def __repr__(self) -> str:
        inputs, problems = len(self.inputs), len(self.problems)
        return f"<sassmix.Report: kernels {len(self.kernels)}, inputs {inputs}, problems {problems}>"

    def to_html(self) -> str:
        """The report as one page that loads nothing; with listings if it was made with ``code=True``."""
        from sassmix.render.html import report_html

        return report_html(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of the kernels, without scripts."""
        from sassmix.render.html import fragment_html

        return fragment_html(self)

    def plot(self, by: str | None = None, **options: Any) -> Any:
        """A stacked bar per kernel, drawn by pandas.

        :param by: a facet, or ``opcode``; the report's own if left out.
        :param options: of :meth:`pandas.DataFrame.plot.barh`, ``figsize`` for one.
        :returns: the axes of matplotlib.
        :raises SassmixError: if matplotlib is not installed.
        """
        from sassmix.render.plot import plotted

        return plotted(self, by or self.by, **options)

    def to_frame(self, by: str | None = None) -> pandas.DataFrame:
        """One row per kernel and value of a facet.

        :param by: a facet, or ``opcode``; the report's own if left out.
        :returns: columns ``kernel``, ``arch``, ``basis``, the facet, ``count``, ``share`` (0 to 1, of the kernel) and
            ``inputs``, the files that the numbers come from.
        :raises SassmixError: for what is no facet.
        """
        import pandas  # takes most of a second; nothing but data frames needs it

        by = facet_of(by or self.by)
        columns = ["kernel", "arch", "basis", by, "count", "share", "inputs"]
        rows = [
            (kernel.name, kernel.arch, kernel.basis, row[by], row["count"], row["share"], "; ".join(kernel.inputs))
            for kernel in self.kernels
            for row in kernel.tally.mix(by)
        ]
        exact = "int64" if all(row[4] < 1 << 63 for row in rows) else "object"  # sums can be larger than a counter
        return pandas.DataFrame(rows, columns=columns).astype({"count": exact, "share": "float64"})
