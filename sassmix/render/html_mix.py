"""The rows of a mix on a page, each value of a facet with the same colour in every kernel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sassmix.report import KernelReport
from sassmix.tally import ABSENT, UNCLASSIFIED, UNRESOLVED

#: Rows that every mix shows, whatever their count.
ALWAYS = (UNRESOLVED, UNCLASSIFIED)
#: Colours of the style sheet for what is no category, ``p0`` and on.
PALETTE = 12


@dataclass(frozen=True, slots=True)
class MixRow:
    """One row: the value of the facet, its count and share (0 to 1), the class of its colour."""

    name: str
    count: int
    share: float
    colour: str

    @property
    def amiss(self) -> bool:
        """Whether it counts what is not known."""
        return self.name in ALWAYS and self.count > 0


def category_class(name: str) -> str:
    """The class of a category in the style sheet."""
    return f"c-{re.sub('[^a-z0-9]', '-', name)}"


class Colours:
    """Classes of the style sheet: a category has its own, other values share the palette, the most frequent first."""

    def __init__(self, kernels: Iterable[KernelReport], facets: Iterable[str]) -> None:
        kernels = list(kernels)
        self._ranks = {by: self._ranked(kernels, by) for by in facets}

    @staticmethod
    def _ranked(kernels: list[KernelReport], by: str) -> dict[str, int]:
        total: Counter[str] = Counter()
        for kernel in kernels:
            for row in kernel.tally.mix(by):
                total[row[by]] += row["count"]
        return {name: rank for rank, (name, _) in enumerate(total.most_common())}

    def of(self, by: str, name: str) -> str:
        """The class of a value of a facet."""
        if name in ALWAYS or by in ("category", "intent"):
            return category_class(name)
        if name == ABSENT.get(by):
            return "c-none"
        return f"p{self._ranks[by][name] % PALETTE}"


def mix_rows(kernel: KernelReport, by: str, colours: Colours) -> list[MixRow]:
    """The mix of a kernel by a facet, the largest first; what is not known always, at the end if it is nothing."""
    rows: list[dict[str, Any]] = kernel.tally.mix(by)
    named = {row[by] for row in rows}
    rows += [{by: name, "count": 0, "share": 0.0} for name in ALWAYS if name not in named]
    return [MixRow(row[by], row["count"], row["share"], colours.of(by, row[by])) for row in rows]
