"""What changed between two reports, by instruction class. Labels, registers, offsets and padding are noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from sassmix.analysis import choose
from sassmix.conditions import Condition
from sassmix.judging import judge_change
from sassmix.matching import same_number
from sassmix.pairing import Pair, pairs
from sassmix.presence import Sides, presence
from sassmix.reaching import Callees, reached_from
from sassmix.report import KernelReport, Report
from sassmix.wording import totals, what_changed

SCHEMA = "sassmix.diff/1"
_NEVER = "@!PT"
_Rows = list[dict[str, Any]]


def diff(
    before: Report,
    after: Report,
    *,
    by: str = "category",
    tolerance: float = 0.0,
    kernels: Iterable[str] = (),
    conditions: Sequence[Condition] = (),
) -> dict[str, Any]:
    """Compare the mixes of two reports of all kernels of their inputs.

    Where a side could not be read, nothing is compared: its kernels are not gone.

    :param by: the facet of ``mix``.
    :param tolerance: a share of the larger of two counts (0 to 1); up to it they are taken to be the same.
    :param kernels: names as in :func:`sassmix.analysis.mix`, of either side.
    :param conditions: asked of the kernels chosen; the text of those that are not met is in ``failed``.
    :returns: the JSON of the schema ``sassmix.diff/1``.
    :raises NoSuchKernel: if no kernel of either side has one of the names.
    """
    readable = bool(before.inputs and after.inputs)
    callees = (_callees(before), _callees(after))
    found = _chosen(_paired(before, after, callees), list(kernels)) if readable else []
    entries = [_entry(pair, by, tolerance, callees) for pair in found]
    failed = judge_change(conditions, found, before, after) if readable else []
    return {
        "schema": SCHEMA,
        "same": readable and all(entry["status"] == "same" for entry in entries),
        "summary": totals(entries),
        "by": by,
        "tolerance": tolerance,
        "conditions": [str(condition) for condition in conditions],
        "kernels": entries,
        "failed": [failure.to_dict() for failure in failed],
        "problems": [problem.to_dict() for problem in dict.fromkeys(before.problems + after.problems)],
    }


def _callees(report: Report) -> Callees[KernelReport]:
    return Callees(kernel for kernel in report.kernels if kernel.basis == "static")


def _paired(before: Report, after: Report, callees: Sides) -> list[Pair]:
    """The pairs; without the functions that a kernel calls, where it is compared with counts, which hold them."""
    found = pairs(before.kernels, after.kernels)
    mixed = [pair for pair in found if pair.before and pair.after and pair.before.basis != pair.after.basis]
    called = {
        id(one)
        for pair in mixed
        for kernel, named in zip((pair.before, pair.after), callees, strict=True)
        for one in (reached_from(kernel, named)[0] if kernel else ())
    }
    return [pair for pair in found if (pair.before and pair.after) or id(pair.either) not in called]


def _chosen(found: list[Pair], wanted: list[str]) -> list[Pair]:
    if not wanted:
        return found
    names = choose(list(dict.fromkeys(name for pair in found for name in sorted(pair.names))), wanted)
    return [pair for pair in found if pair.names & names]


def _entry(pair: Pair, by: str, tolerance: float, callees: Sides) -> dict[str, Any]:
    old, new = pair.before, pair.after
    entry = {
        "name": pair.either.name,
        "demangled": pair.either.demangled,
        "names": _both(pair, "name"),
        "matched": pair.how,
        "candidates": [{"name": name, "reason": why} for name, why in pair.candidates.items()],
        "arch": _both(pair, "arch"),
        "basis": _both(pair, "basis"),
        "unit": _both(pair, "unit"),
        "launches": _both(pair, "launches"),
        "confidence": _both(pair, "confidence"),
        "unresolved": {"before": old.tally.unresolved if old else None, "after": new.tally.unresolved if new else None},
        "total": {"before": old.tally.total if old else None, "after": new.tally.total if new else None},
        "same_architecture": not (old and new) or same_number(old.arch, new.arch),
        "same_unit": not (old and new) or old.unit == new.unit,
    }
    entry |= presence(old, new, callees) if old and new and old.unit != new.unit else _changes(pair, by, tolerance)
    changed = any(entry[key] for key in ("mix", "opcodes", "forms"))
    entry["status"] = "gone" if new is None else "new" if old is None else "changed" if changed else "same"
    entry["summary"] = what_changed(entry, by)
    return entry


def _both(pair: Pair, name: str) -> dict[str, Any]:
    return {"before": getattr(pair.before, name, None), "after": getattr(pair.after, name, None)}


def _changes(pair: Pair, by: str, tolerance: float) -> dict[str, Any]:
    """The three levels: the facet, the opcode with its category, the full mnemonic."""
    tolerated: _Rows = []
    levels: dict[str, _Rows] = {}
    categories = _categories(pair)
    for key, facet in (("mix", by), ("opcodes", "opcode"), ("forms", "form")):
        rows = _differences(_counts(pair.before, facet), _counts(pair.after, facet), facet)
        levels[key] = [row for row in rows if not _within(row, tolerance)]
        tolerated += [row for row in rows if _within(row, tolerance)]
    for row in [*levels["opcodes"], *levels["forms"]]:
        row["category"] = categories[row.get("opcode") or row.get("form") or ""]
    return {**levels, "tolerated": tolerated}


def _categories(pair: Pair) -> dict[str, str]:
    """The category of each opcode and of each full mnemonic, after the change where both sides have it."""
    rows = [row for kernel in (pair.before, pair.after) if kernel for row in kernel.tally.rows]
    names = ((name, row) for row in rows for name in (row.facet("opcode"), row.name, f"{_NEVER} {row.name}"))
    return {name: row.facet("category") for name, row in names}


def _counts(kernel: KernelReport | None, facet: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in kernel.tally.rows if kernel else ():
        found[row.name if facet == "form" else row.facet(facet)] += row.count
    return _dead_apart(found, kernel) if kernel and facet == "form" else found


def _dead_apart(forms: Counter[str], kernel: KernelReport) -> Counter[str]:
    """An instruction under a guard that is never true has a form of its own: it stands in the code and never runs."""
    dead = {row.name: row.count for row in kernel.idle.rows if kernel.basis == "static"}
    return forms - Counter(dead) + Counter({f"{_NEVER} {name}": count for name, count in dead.items()})


def _differences(before: Counter[str], after: Counter[str], name: str) -> _Rows:
    """What differs, the largest change first."""
    rows = [{name: key, "before": before[key], "after": after[key]} for key in {*before, *after}]
    rows = [row for row in rows if row["before"] != row["after"]]
    return sorted(rows, key=lambda row: (-abs(row["after"] - row["before"]), row[name]))


def _within(row: dict[str, Any], tolerance: float) -> bool:
    before, after = int(row["before"]), int(row["after"])
    return abs(after - before) <= tolerance * max(before, after)
