"""Conditions on the mix of kernels, for CI: what must be there, what must not, and what must not become more.

A condition is met by proof only. Where something stayed unseen that could break it, it is not met, and the reason is
that it cannot be told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sassmix.arch import CATEGORIES, DATAPATHS, FACETS, PIPES, SPACES
from sassmix.errors import SassmixError, did_you_mean
from sassmix.plugins import default_plugins
from sassmix.tally import ABSENT, UNCLASSIFIED, UNRESOLVED, Row

Kind = Literal["require", "forbid", "max-increase"]
#: The kinds, in the order in which they are reported; the last compares, so only ``diff`` has it.
KINDS: tuple[Kind, ...] = ("require", "forbid", "max-increase")
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")
#: Facets whose values have parts: ``memory`` means every category ``memory.*``.
_NESTED = ("category", "intent")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a condition is about: one value of a facet, or an opcode."""

    facet: str
    value: str

    def holds(self, row: Row) -> bool | None:
        """Whether a row of a mix belongs to it; None where that cannot be told."""
        found = row.facet(self.facet)
        if self.facet == "opcode":  # a name that no architecture has may be what damage left of another
            named = row.info is not None and (row.info.known or default_plugins().registry.targets_with(found))
            return found == self.value if named else None
        if found in (UNRESOLVED, UNCLASSIFIED):
            return None
        if found == ABSENT.get(self.facet):  # not measured; or all architectures were asked, and they differ
            measured = self.facet != "pipe" and row.info is not None and row.info.arch is not None
            return False if measured else None
        belongs = found == self.value or (self.facet in _NESTED and found.startswith(f"{self.value}."))
        guessed = row.info is not None and row.info.knowledge == "inferred"
        return None if guessed and not belongs else belongs  # a guess proves no absence


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, as a person wrote it.

    :param limit: of ``max-increase``: a number of instructions, or a share of those before if ``relative``.
    """

    kind: Kind
    text: str
    subject: Subject
    limit: float = 0.0
    relative: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A condition that is not met: by which kernel (None: by the input as a whole), and what was found."""

    condition: Condition
    kernel: str | None
    arch: str | None
    found: str
    unknown: bool = False

    def to_dict(self) -> dict[str, object]:
        """The entry of ``failed``."""
        return {
            "condition": str(self.condition),
            "kernel": self.kernel,
            "arch": self.arch,
            "found": f"cannot be told: {self.found}" if self.unknown else self.found,
            "cannot_be_told": self.unknown,
        }


def condition(kind: Kind, text: str) -> Condition:
    """Read a condition: ``tensor``, ``memory``, ``LDL``, ``pipe=fp64``; for ``max-increase`` with ``=0`` or ``=5%``.

    :raises SassmixError: for a name that no category, opcode or value of a facet has, with near ones.
    """
    if kind != "max-increase":
        return Condition(kind, text, _subject(text))
    name, equals, limit = text.rpartition("=")
    share = _SHARE.fullmatch(limit)
    if not equals or not (share or re.fullmatch(r"[0-9]+", limit)):
        raise SassmixError(f"max-increase {text!r} has no limit; write it as memory.local=0 or integer=5%")
    return Condition(kind, text, _subject(name), float(share[1]) / 100 if share else float(limit), bool(share))


def share(text: str) -> float:
    """``1%`` as 0.01.

    :raises SassmixError: for anything else.
    """
    found = _SHARE.fullmatch(text)
    if not found or float(found[1]) > 100:
        raise SassmixError(f"tolerance {text!r} is not a share from 0% to 100%; write it as 1%")
    return float(found[1]) / 100


def _subject(text: str) -> Subject:
    facet, equals, value = text.partition("=")
    if equals:
        if facet not in (*FACETS, "opcode"):
            near = did_you_mean(facet, (*FACETS, "opcode")) or f"; there are {', '.join((*FACETS, 'opcode'))}"
            raise SassmixError(f"no facet is called {facet!r}{near}")
        if found := _value(facet, value):
            return found
        known = _values(facet)
        near = did_you_mean(value, known) or (f"; there are {', '.join(sorted(known))}" if len(known) < 40 else "")
        raise SassmixError(f"no {facet} is called {value!r}{near}")
    if found := _value("category", text) or _value("opcode", text):
        return found
    meant = sorted(name for name in CATEGORIES if name.endswith(f".{text}"))
    meant += [f"{facet}={text}" for facet in FACETS if _value(facet, text)]
    near = f"; did you mean {' or '.join(meant)}?" if meant else ""
    near = near or did_you_mean(text, _values("category")) or did_you_mean(text.upper(), _values("opcode"))
    raise SassmixError(
        f"no category or opcode is called {text!r}{near or '; write it as memory.local, LDL or pipe=fp64'}"
    )


def _value(facet: str, text: str) -> Subject | None:
    value = text.upper() if facet == "opcode" else text
    return Subject(facet, value) if value in _values(facet) else None


def _values(facet: str) -> set[str]:
    """Everything that a facet can be on any architecture; parts of names too where a name has parts."""
    tables = default_plugins().registry.tables()
    if facet == "opcode":
        return {name for table in tables for name in table.opcodes}
    if facet in _NESTED:
        return {*CATEGORIES, *(name.partition(".")[0] for name in CATEGORIES)}
    closed = {"pipe": PIPES, "datapath": DATAPATHS, "space": SPACES}
    if facet in closed:
        return set(closed[facet])
    found = {getattr(row, facet) for table in tables for row in table.opcodes.values()}
    found |= {rule.facets[facet] for table in tables for rule in table.rules if facet in rule.facets}
    return found - {""}
