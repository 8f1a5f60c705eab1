"""Questions that a mix raises, each with the counter that can answer it; the tables are in :mod:`sassmix.hint_rules`.

A hint is no verdict. Counts tell that something is there; whether it matters, only a measurement tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from sassmix.arch import LANES
from sassmix.evidence import Evidence
from sassmix.hint_rules import FIRST_TARGET, RULES, SETS, Rule
from sassmix.registry import target_key
from sassmix.tally import UNCLASSIFIED, UNRESOLVED, Row, Tally
from sassmix.tensor import TensorVerdict

#: Opcodes that are named behind a share.
_NAMED = 3


class Facts(NamedTuple):
    """What is known of a kernel, as far as questions follow from it.

    :param executed: totals by ``issued``, ``active`` and ``threads``, as far as the data tells.
    """

    tally: Tally
    basis: str
    arch: str | None
    tensor: TensorVerdict
    evidence: Sequence[Evidence]
    executed: Mapping[str, int] = MappingProxyType({})


class Hint(NamedTuple):
    """A question, the share (0 to 1) that raises it, that in words, and the counter to look at."""

    question: str
    because: str
    look_at: str
    share: float

    @property
    def where(self) -> str:
        """Whether the counter is a metric of Nsight Compute, or one of a section."""
        return "metric" if "__" in self.look_at else "section"

    def to_dict(self) -> dict[str, str | float]:
        """The entry of a kernel's ``hints``."""
        return {
            "question": self.question,
            "because": self.because,
            "look_at": self.look_at,
            "share": round(self.share, 4),
        }


def hints(facts: Facts) -> list[Hint]:
    """The questions that the evidence carries, by the share that raises them, the largest first."""
    if not _carried(facts):
        return []
    rows = _by_set(facts.tally)
    found = [hint for rule in RULES if (hint := _hint(rule, facts, rows))]
    return sorted(found, key=lambda hint: -hint.share)


def _carried(facts: Facts) -> bool:
    """Whether shares mean anything: no check fails (what is unresolved is weighed against each share)."""
    failed = {item.check for item in facts.evidence if item.status == "fail"}
    known_chip = facts.arch is None or target_key(facts.arch)[0] >= FIRST_TARGET
    return bool(facts.tally.total) and known_chip and failed <= {"resolved"}


def _by_set(tally: Tally) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in tally.rows:
        for name in _sets_of(row.name, row.facet("opcode"), *map(row.facet, _FACETS)):
            rows[name].append(row)
    return rows


#: The facets that sets ask for, besides the mnemonic and the opcode.
_FACETS = tuple(sorted({key for patterns in SETS.values() for key in patterns} - {"mnemonic", "opcode"}))


@lru_cache(maxsize=4096)
def _sets_of(mnemonic: str, opcode: str, *facets: str) -> tuple[str, ...]:
    """The sets that hold a mnemonic; what is not resolved or not classified is in none."""
    values = {"mnemonic": mnemonic, "opcode": opcode, **dict(zip(_FACETS, facets, strict=True))}
    if values["category"] in (UNRESOLVED, UNCLASSIFIED):
        return ()
    return tuple(name for name, wanted in SETS.items() if all(_fits(values[key], wanted[key]) for key in wanted))


def _fits(value: str, patterns: str) -> bool:
    several = patterns.split()
    return value in several or any("*" in pattern and fnmatchcase(value, pattern) for pattern in several)


def _hint(rule: Rule, facts: Facts, rows: Mapping[str, list[Row]]) -> Hint | None:
    least = rule.at_least if facts.basis == "dynamic" else rule.in_code
    if least is None or not _fits(facts.arch or "unknown", rule.archs):
        return None
    own = rows.get(rule.of, [])
    share = MEASURES[rule.of](facts) if rule.of in MEASURES else _count(own) / facts.tally.total
    if not share or share < least or not _outweighs(rule, share, facts, rows):
        return None
    return Hint(rule.question, _because(rule, share, own, facts), rule.look_at, share)


def _outweighs(rule: Rule, share: float, facts: Facts, rows: Mapping[str, list[Row]]) -> bool:
    """Whether the share stands whatever the unknown rows are, and nothing that must not be there can be."""
    total = facts.tally.total
    unknown = (facts.tally.unresolved + facts.tally.unclassified) / total
    if rule.without:
        whole = all(item.status == "pass" for item in facts.evidence if item.check == "complete")
        return whole and not unknown and not rows.get(rule.without)
    return share > unknown + _count(rows.get(rule.more_than, [])) / total


def _count(rows: Sequence[Row]) -> int:
    return sum(row.count for row in rows)


def _because(rule: Rule, share: float, rows: Sequence[Row], facts: Facts) -> str:
    where = "" if facts.basis == "dynamic" else " in the code"
    opcodes: Counter[str] = Counter()
    for row in rows:
        opcodes[row.facet("opcode")] += row.count
    named = [f"{opcode} {_percent(count / facts.tally.total)}" for opcode, count in opcodes.most_common(_NAMED)]
    if len(opcodes) > _NAMED:
        named.append(f"{len(opcodes) - _NAMED} more")
    if len(opcodes) == 1:
        named = [opcode for opcode in opcodes if opcode not in rule.of]
    behind = f" ({', '.join(named)})" if named else ""
    return f"{rule.of} {_percent(share)}{where}{behind}"


def _percent(share: float) -> str:
    """Never a zero for what is there."""
    return f"{share:.1%}" if share >= 0.0005 else "below 0.1%"


def _lanes_off(facts: Facts) -> float | None:
    issued, threads = facts.executed.get("issued"), facts.executed.get("threads")
    return 1 - threads / issued / LANES if issued and threads is not None else None


def _none_on(facts: Facts) -> float | None:
    issued, active = facts.executed.get("issued"), facts.executed.get("active")
    return 1 - active / issued if issued and active is not None else None


def _idle_matrix(facts: Facts) -> float | None:
    return 1.0 if facts.tensor.present is True and facts.tensor.active is False else None


#: What a rule can ask for that is no set: a share, or None where the data does not tell.
MEASURES: dict[str, Callable[[Facts], float | None]] = {
    "lanes that took no part": _lanes_off,
    "instructions with no lane on": _none_on,
    "no matrix opcode, although the code has one": _idle_matrix,
}
