"""Two sides whose counts are of different units: a listing against what ran. Numbers do not compare, opcodes do."""

from __future__ import annotations

from typing import Any

from sassmix.reaching import Callees, reached_from
from sassmix.report import KernelReport
from sassmix.tally import UNRESOLVED, merged

#: What the calls of either side lead to.
Sides = tuple[Callees[KernelReport], Callees[KernelReport]]


def presence(old: KernelReport, new: KernelReport, callees: Sides) -> dict[str, Any]:
    """The part of an entry of a comparison that is left where no count can be taken from another.

    ``opcodes`` holds those that one side only has; ``never_ran`` those of the listing that were not executed, and
    ``not_in_code`` those that were executed and do not stand in it, both empty where no listing is compared with
    counts. ``doubts`` say why either cannot be told for certain.
    """
    sides = {"before": _opcodes(old, callees[0]), "after": _opcodes(new, callees[1])}
    categories = {name: row[1] for side in sides.values() for name, row in side.items()}
    only = sorted(set(sides["before"]) ^ set(sides["after"]))
    opcodes = [
        {"opcode": name, **{side: found.get(name, (0, ""))[0] for side, found in sides.items()}, "category": category}
        for name in only
        if (category := categories[name])
    ]
    code, ran = ("before", "after") if old.basis == "static" else ("after", "before")
    named = [row for row in opcodes if old.basis != new.basis and row["opcode"] != UNRESOLVED]
    return {
        "mix": [],
        "opcodes": opcodes,
        "forms": [],
        "tolerated": [],
        "never_ran": [row["opcode"] for row in named if not row[ran]],
        "not_in_code": [row["opcode"] for row in named if not row[code]],
        "doubts": [*_doubts(old, callees[0]), *_doubts(new, callees[1])],
    }


def _opcodes(kernel: KernelReport, callees: Callees[KernelReport]) -> dict[str, tuple[int, str]]:
    """Opcodes with their counts and categories; executed counts hold what a kernel calls, so its code does too.

    What is not resolved is no opcode of its own: it may be any.
    """
    reached, _ = reached_from(kernel, callees)
    found: dict[str, tuple[int, str]] = {}
    for row in merged(one.tally for one in (kernel, *reached)).opcodes():
        name = UNRESOLVED if row["category"] == UNRESOLVED else row["opcode"]
        found[name] = (found.get(name, (0, ""))[0] + row["count"], row["category"])
    return found


def _doubts(kernel: KernelReport, callees: Callees[KernelReport]) -> list[str]:
    return [*(e.detail for e in kernel.evidence if e.status != "pass"), *reached_from(kernel, callees)[1]]
