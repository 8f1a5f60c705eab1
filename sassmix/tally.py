"""Counts by mnemonic, each with what it is: the table behind every mix.

``total = resolved + unresolved``. Nothing is dropped and nothing becomes "other": what is not known keeps its own
name in the row ``unresolved``, what no plugin classifies in the row ``unclassified``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sassmix.arch import OpcodeInfo
from sassmix.classify import Classifier

UNRESOLVED = "unresolved"
UNCLASSIFIED = "unclassified"
#: What a row of a facet is called where the facet has no value: not measured or documented, or not applicable.
ABSENT = {"pipe": "unknown", "group": "none", "space": "none", "dtype": "none", "datapath": "none", "intent": "none"}


@dataclass(frozen=True, slots=True)
class Row:
    """One mnemonic (or unresolved name) of a mix, and how often it was counted."""

    name: str
    count: int
    info: OpcodeInfo | None

    def facet(self, by: str) -> str:
        """The value of a facet, or why there is none."""
        if by == "opcode":
            return self.info.opcode if self.info else self.name
        if self.info is None:
            return UNRESOLVED
        if not self.info.known:
            return UNCLASSIFIED
        return getattr(self.info, by) or ABSENT[by]

    @property
    def confidence(self) -> str:
        """high: documented or observed on this architecture; medium: inferred, or no architecture; low: unresolved."""
        if self.info is None or not self.info.known:
            return "low"
        return "medium" if self.info.knowledge == "inferred" or self.info.arch is None else "high"


@dataclass(frozen=True)
class Tally:
    """All rows of one kernel, the most frequent first."""

    rows: list[Row] = field(default_factory=list)

    @cached_property
    def total(self) -> int:
        """Everything that was counted."""
        return sum(row.count for row in self.rows)

    @cached_property
    def unresolved(self) -> int:
        """Counts of instructions that are not known."""
        return sum(row.count for row in self.rows if row.info is None)

    @cached_property
    def unclassified(self) -> int:
        """Counts of known mnemonics that no plugin classifies on this architecture; a part of the resolved ones."""
        return sum(row.count for row in self.rows if row.info and not row.info.known)

    @property
    def guesses(self) -> list[Row]:
        """The rows of which it is only inferred what they do on this architecture."""
        return [row for row in self.rows if row.info and row.info.arch and row.info.knowledge == "inferred"]

    def counts(self) -> dict[str, int]:
        """The report's ``counts``."""
        return {
            "total": self.total,
            "resolved": self.total - self.unresolved,
            "unresolved": self.unresolved,
            "unclassified": self.unclassified,
        }

    def mix(self, by: str = "category") -> list[dict[str, Any]]:
        """The report's ``mix``: counts and shares (0 to 1, of the total) by a facet, the largest first."""
        sums: dict[str, int] = defaultdict(int)
        for row in self.rows:
            sums[row.facet(by)] += row.count
        total = self.total
        return [
            {by: name, "count": count, "share": round(count / total, 4)}
            for name, count in sorted(sums.items(), key=lambda item: (-item[1], item[0]))
        ]

    def opcodes(self) -> list[dict[str, Any]]:
        """The report's ``opcodes``: base mnemonics with their category, confidence and full forms."""
        groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
        for row in self.rows:
            groups[(row.facet("opcode"), row.info is None)].append(row)
        total = self.total
        result = [self._opcode(name, rows, total) for (name, _), rows in groups.items()]
        return sorted(result, key=lambda item: (-item["count"], item["opcode"]))

    def _opcode(self, name: str, rows: list[Row], total: int) -> dict[str, Any]:
        count = sum(row.count for row in rows)
        order = ("low", "medium", "high")
        return {
            "opcode": name,
            "count": count,
            "share": round(count / total, 4),
            "category": rows[0].facet("category"),
            "confidence": min((row.confidence for row in rows), key=order.index),
            "forms": {row.name: row.count for row in rows},
        }

    def matrix(self) -> dict[str, int]:
        """The matrix opcodes among the rows, with their counts."""
        found: dict[str, int] = defaultdict(int)
        for row in self.rows:
            if row.info and row.info.tensor:
                found[row.info.opcode] += row.count
        return dict(found)


def tally(
    classifier: Classifier, arch: str | None, counts: Mapping[str, int], unresolved: Mapping[str, int] | None = None
) -> Tally:
    """Classify counts by mnemonic on a target, and put the unresolved ones beside them under their own names."""
    rows = [Row(name, count, classifier.info(name, arch)) for name, count in counts.items() if count]
    rows += [Row(name, count, None) for name, count in (unresolved or {}).items() if count]
    return Tally(sorted(rows, key=lambda row: (-row.count, row.name)))


def merged(tallies: Iterable[Tally]) -> Tally:
    """The rows of several tallies added up."""
    sums: dict[tuple[str, OpcodeInfo | None], int] = defaultdict(int)
    for one in tallies:
        for row in one.rows:
            sums[(row.name, row.info)] += row.count
    return Tally(
        sorted((Row(name, n, info) for (name, info), n in sums.items()), key=lambda row: (-row.count, row.name))
    )
