"""The answers of ``sassmix explain``: in text, one block for all architectures that give the same one."""

from __future__ import annotations

from typing import Any

from sassmix.errors import number_of
from sassmix.render import render_rows

_NOT_IN_TEXT = ("suggestions", "known_on")


def render_explained(rows: list[dict[str, Any]], form: str, *, width: int | None = None) -> str:
    """The entries in any format."""
    if form != "text":
        return render_rows(rows, form, title="Opcodes")
    from sassmix.render.text import blocks_text

    return blocks_text([_sentence(row[0]) if not row[0]["known"] else _block(row) for row in _grouped(rows)], width)


def _grouped(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Entries that differ in nothing but their architecture, together."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(repr(value) for name, value in row.items() if name != "arch" or not row["known"])
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _block(rows: list[dict[str, Any]]) -> dict[str, Any]:
    block = {name: value for name, value in rows[0].items() if name not in _NOT_IN_TEXT}
    targets = [row["arch"] for row in rows]
    block["arch"] = targets[0] if len(rows) == 1 else f"{' '.join(targets)} ({number_of(len(rows), 'target')})"
    return block


def _sentence(row: dict[str, Any]) -> str:
    if not row["known_on"]:
        near = f"; did you mean {' or '.join(row['suggestions'])}?" if row["suggestions"] else ""
        return f"no architecture has {row['opcode']}{near}"
    have = "has" if len(row["known_on"]) == 1 else "have"
    return f"{row['arch']} does not have {row['opcode']}; {', '.join(row['known_on'])} {have} it"
