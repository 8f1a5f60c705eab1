"""What an opcode that the parent lacks may be: by another architecture's row, by its name, by its operands.

A guess is never more than that: its row says ``inferred``, and why. Where nothing tells, there is no guess, and the
opcode stays without a row: then a report says that it is not classified, and no verdict is built on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassmix.arch import Opcode
from sassmix.scaffold.rules import KINSHIPS, MATRIX, MATRIX_OPERANDS, NAMES, OPERANDS, Rule

_UNIFORM = re.compile(r"\bUR[0-9Z]")
_VECTOR = re.compile(r"(?<![A-Z0-9_])R[0-9Z]")
#: How many steps from name to name are taken: USTGR is STG in two.
_STEPS = 2


@dataclass(frozen=True, slots=True)
class Guess:
    """The row that an opcode may have, and why."""

    row: Opcode
    reason: str


def guess(
    opcode: str, operands: Sequence[str], tables: Mapping[str, Mapping[str, Opcode]], seen: str = ""
) -> Guess | None:
    """The row that an opcode may have; None where nothing tells.

    :param operands: the operands of its forms, as printed.
    :param tables: what other architectures have, the nearest first, each by a name for people.
    :param seen: where it was seen, in words; the row's source starts with it.
    """
    for where, known in tables.items():
        if opcode in known:
            return _like(known[opcode], opcode, seen, f"as on {where}", known[opcode].datapath)
    rows = {name: row for table in reversed(list(tables.values())) for name, row in table.items()}
    found = _by_name(opcode, MATRIX) or _by_operands(operands, MATRIX_OPERANDS)
    found = found or _by_kin(opcode, rows) or _by_name(opcode, NAMES) or _by_operands(operands, OPERANDS)
    if found is None:
        return None
    model, reason, datapath = found
    datapath = datapath or _datapath(operands) or ("uniform" if opcode.startswith("U") else model.datapath)
    return _like(model, opcode, seen, reason, datapath or "vector")


Found = tuple[Opcode | Rule, str, str]


def _by_name(opcode: str, rules: Sequence[Rule]) -> Found | None:
    for name in dict.fromkeys((opcode, opcode.removeprefix("U"))):
        for rule in rules:
            if re.fullmatch(rule.pattern, name):
                return rule, f"guessed by its name: {rule.says}", rule.datapath
    return None


def _by_kin(opcode: str, rows: Mapping[str, Opcode]) -> Found | None:
    """The nearest relative that has a row; one by number may itself carry one: IADD and IADD3."""
    names = {opcode: ("", "")}
    for _ in range(_STEPS):
        for name, (how, datapath) in list(names.items()):
            for stem, more, changed in _stems(name):
                names.setdefault(stem, (f"{how}, {more}" if how else more, datapath or changed))
    for name, (how, datapath) in names.items():
        for relative in (name, *(f"{name}{digit}" for digit in "234")):
            if relative != opcode and relative in rows:
                row = rows[relative]
                says = how or "in another width or number"
                return row, f"guessed by its name: {relative} {says}", datapath
    return None


def _stems(name: str) -> Iterator[tuple[str, str, str]]:
    for kin in KINSHIPS:
        match = re.fullmatch(kin.pattern, name)
        if match and len(match["stem"]) > 2:
            yield match["stem"], kin.says, kin.datapath


def _by_operands(operands: Sequence[str], rules: Sequence[Rule]) -> Found | None:
    for rule in rules:
        if any(re.search(rule.pattern, text) for text in operands):
            return rule, f"guessed by its operands: {rule.says}", rule.datapath
    return None


def _datapath(operands: Sequence[str]) -> str:
    """Uniform where no register of the lanes is touched; empty where there is no register at all."""
    if any(_VECTOR.search(text) for text in operands):
        return "vector"
    return "uniform" if any(_UNIFORM.search(text) for text in operands) else ""


def _like(model: Opcode | Rule, opcode: str, seen: str, reason: str, datapath: str) -> Guess:
    """A row with the facts of a model, without group and pipe: these hold for one family's manual and one chip."""
    row = Opcode(
        opcode=opcode,
        category=model.category,
        datapath=datapath,
        space=model.space,
        dtype=model.dtype,
        knowledge="inferred",
        source="; ".join(filter(None, (seen, reason))),
        description=(reason.startswith("as on") and isinstance(model, Opcode) and model.description)
        or f"to judge by its {reason.removeprefix('guessed by its ')}",
    )
    return Guess(row, reason)
