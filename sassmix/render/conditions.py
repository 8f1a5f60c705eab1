"""Conditions in every format: the same in what ``check`` prints and in what ``diff`` prints."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sassmix.render import printable
from sassmix.render.markdown import escaped, table

HEADING = "Conditions that are not met"


def rows(found: dict[str, Any]) -> list[dict[str, str]]:
    """One row for each condition and kernel that does not meet it."""
    names = Counter(kernel["name"] for kernel in found["kernels"])
    return [
        {"condition": failed["condition"], "kernel": _label(failed, names), "found": failed["found"]}
        for failed in found["failed"]
    ]


def _label(failed: dict[str, Any], names: Counter[str]) -> str:
    """The name; with the architecture where several have it."""
    name = failed["kernel"] or ""
    return f"{name} ({failed['arch']})" if names[name] > 1 and failed["arch"] else name


def text(found: dict[str, Any]) -> str:
    """A line for each, or one for all where they are met; nothing without conditions."""
    lines = [f"not met: {': '.join(filter(None, row.values()))}" for row in rows(found)]
    if found["conditions"] and not lines:
        lines = [f"all conditions are met: {', '.join(found['conditions'])}"]
    return "".join(f"{printable(line)}\n" for line in lines)


def markdown(found: dict[str, Any]) -> str:
    """The same as a table."""
    if found["failed"]:
        return table(["not met", "kernel", "found"], [list(row.values()) for row in rows(found)])
    return escaped(text(found).strip()) + "\n" if found["conditions"] else ""
