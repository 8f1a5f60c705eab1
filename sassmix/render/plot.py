"""Mixes as bars of matplotlib, drawn by pandas."""

from __future__ import annotations

from typing import Any

from sassmix.errors import SassmixError
from sassmix.render import printable
from sassmix.report import Report


def plotted(report: Report, by: str, **options: Any) -> Any:
    """A stacked bar per kernel, the first at the top; shares by a facet, or by ``opcode``.

    :param options: of :meth:`pandas.DataFrame.plot.barh`.
    :raises SassmixError: if matplotlib is not installed.
    """
    import pandas

    # A name in dollars would be taken for a formula.
    names = [printable(kernel.demangled or kernel.name).replace("$", r"\$") for kernel in report.kernels]
    mixes = [{row[by]: row["share"] for row in kernel.tally.mix(by)} for kernel in report.kernels]
    frame = pandas.DataFrame(mixes, index=pandas.Index(names, name="kernel")).fillna(0.0)
    if frame.empty:
        raise SassmixError("there is nothing to plot: the report holds no instructions")
    try:
        axes = frame.plot.barh(**{"stacked": True, "xlabel": "share", "ylabel": "", **options})
    except ImportError as error:
        raise SassmixError("plotting needs matplotlib: pip install 'sassmix[plot]'") from error
    axes.invert_yaxis()
    axes.legend(title=by, loc="upper left", bbox_to_anchor=(1, 1))
    return axes
