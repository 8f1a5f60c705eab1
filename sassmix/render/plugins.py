"""The entries of ``sassmix plugins``: in text, one line for each plugin and one for each error."""

from __future__ import annotations

from typing import Any

from sassmix.render import render_rows

#: What a plugin gives, and how one of it is called.
_GIVEN = {"architectures": "", "readers": "reader ", "label_rules": "label rule "}


def render_plugins(rows: list[dict[str, Any]], form: str, *, width: int | None = None) -> str:
    """The entries in any format."""
    if form == "json":
        return render_rows(rows, form)
    if form != "text":
        return render_rows([{**row, "errors": " / ".join(row["errors"])} for row in rows], form, title="Plugins")
    from sassmix.render.text import blocks_text

    errors: list[dict[str, Any] | str] = [f"{row['plugin']}: {error}" for row in rows for error in row["errors"]]
    table = render_rows([_line(row) for row in rows], "text", width=width)
    return f"{table}\n{blocks_text(errors, width)}" if errors else table


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "plugin": row["plugin"],
        "state": f"{row['state']}, with errors" if row["errors"] and row["state"] == "loaded" else row["state"],
        "distribution": f"{row['distribution']} {row['version']}".strip(),
        "module": row["module"],
        "gives": ", ".join(_given(row)),
    }


def _given(row: dict[str, Any]) -> list[str]:
    given = [f"{called}{name}" for field, called in _GIVEN.items() for name in row[field]]
    return given + (["answers for single mnemonics"] if "sassmix_classify" in row["hooks"] else [])
