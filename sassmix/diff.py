"""What changed between two reports, by instruction class. Labels, registers, offsets and padding are noise."""

from __future__ import annotations

from typing import Any

from sassmix.report import KernelReport, Report

SCHEMA = "sassmix.diff/1"


def diff(before: Report, after: Report) -> dict[str, Any]:
    """Compare the mixes of two reports, kernel by kernel (matched by name, on one architecture first).

    Where a side could not be read, nothing is compared: its kernels are not gone.

    :returns: the JSON of the schema ``sassmix.diff/1``.
    """
    readable = bool(before.inputs and after.inputs)
    kernels = [_compare(old, new) for old, new in _pairs(before.kernels, after.kernels)] if readable else []
    return {
        "schema": SCHEMA,
        "same": readable and all(kernel["status"] == "same" for kernel in kernels),
        "kernels": kernels,
        "failed": [],
        "problems": [problem.to_dict() for problem in dict.fromkeys(before.problems + after.problems)],
    }


def _pairs(
    before: list[KernelReport], after: list[KernelReport]
) -> list[tuple[KernelReport | None, KernelReport | None]]:
    left = list(after)
    pairs: list[tuple[KernelReport | None, KernelReport | None]] = []
    for old in before:
        named = [new for new in left if new.name == old.name]
        new = next((new for new in named if new.arch == old.arch), named[0] if len(named) == 1 else None)
        if new is not None:
            left.remove(new)
        pairs.append((old, new))
    return pairs + [(None, new) for new in left]


def _compare(old: KernelReport | None, new: KernelReport | None) -> dict[str, Any]:
    mix = _changes(_by(old, "category"), _by(new, "category"), "category")
    opcodes = _changes(_by(old, "opcode"), _by(new, "opcode"), "opcode")
    forms = _changes(_forms(old), _forms(new), "form")
    status = "gone" if new is None else "new" if old is None else "changed" if mix or opcodes or forms else "same"
    either = old or new
    return {
        "name": either.name if either else "",
        "demangled": either.demangled if either else None,
        "arch": {"before": old.arch if old else None, "after": new.arch if new else None},
        "status": status,
        "mix": mix,
        "opcodes": opcodes,
        "forms": forms,
    }


def _by(kernel: KernelReport | None, facet: str) -> dict[str, int]:
    return {row[facet]: row["count"] for row in kernel.tally.mix(facet)} if kernel else {}


def _forms(kernel: KernelReport | None) -> dict[str, int]:
    return {row.name: row.count for row in kernel.tally.rows} if kernel else {}


def _changes(before: dict[str, int], after: dict[str, int], name: str) -> list[dict[str, Any]]:
    return [
        {name: key, "before": before.get(key, 0), "after": after.get(key, 0)}
        for key in sorted({*before, *after})
        if before.get(key, 0) != after.get(key, 0)
    ]
