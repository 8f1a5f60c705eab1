"""A comparison in any format: a short table first, then what differs in each kernel, then the conditions not met."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from sassmix.render import conditions, printable, render_rows, to_json
from sassmix.render.markdown import escaped, table

_Entry = dict[str, Any]
#: What becomes a mention, a link or the number of an issue, inside of HTML too; an empty comment parts it.
_LIVE = re.compile(r"@|:(?=//)|www(?=\.)|#(?=[0-9])", re.IGNORECASE)


def render_diff(found: dict[str, Any], form: str, *, width: int | None = None) -> str:
    """The dictionary of :func:`sassmix.diff.diff` in any format.

    CSV has one row for each difference at each level, and one for each condition that is not met.
    """
    if form == "json":
        return to_json(found)
    if form == "csv":
        return render_rows(list(_flat(found)), form)
    return {"html": _page, "markdown": _markdown}[form](found) if form != "text" else _text(found, width)


def _label(entry: _Entry) -> str:
    return str(entry["demangled"] or entry["name"])


def _flat(found: dict[str, Any]) -> Iterator[_Entry]:
    empty = {"level": "", "name": "", "before": "", "after": ""}
    for entry in found["kernels"]:
        head = {"kernel": _label(entry), "status": entry["status"]}
        rows = list(_differences(entry, found["by"]))
        yield from ({**head, **row} for row in rows or [empty])
    for row in conditions.rows(found):
        head = {"kernel": row["kernel"], "status": "failed", "level": "condition"}
        yield {**head, "name": row["condition"], "before": "", "after": row["found"]}


def _differences(entry: _Entry, by: str) -> Iterator[_Entry]:
    for rows, level in (("mix", by), ("opcodes", "opcode"), ("forms", "form")):
        for row in entry[rows]:
            yield {"level": level, "name": row[level], "before": row["before"], "after": row["after"]}


def _text(found: dict[str, Any], width: int | None) -> str:
    from sassmix.render.text import rows_text

    parts = [f"{found['summary']}\n"]
    shown = _shown(found)
    if shown:
        parts.append(rows_text([_row(entry) for entry in shown], width))
    for entry in shown:
        if rows := _detail(entry, found["by"]):
            parts.append(f"\n{printable(_label(entry))}\n{rows_text(rows, width, ('before', 'after'))}")
    said = conditions.text(found)
    parts += [f"\n{said}"] if said else []
    return "".join(parts)


def _shown(found: dict[str, Any]) -> list[_Entry]:
    """The kernels of which something is to be said."""
    return [entry for entry in found["kernels"] if entry["status"] != "same" or entry["summary"] != "same"]


def _row(entry: _Entry) -> dict[str, str]:
    return {"kernel": _label(entry), "status": entry["status"], "what changed": entry["summary"]}


def _detail(entry: _Entry, by: str) -> list[_Entry]:
    """What differs, the facet first, then every full mnemonic; of a kernel on one side its line says enough."""
    if entry["status"] in ("new", "gone"):
        return []
    rows = [(by, row[by], "", row) for row in entry["mix"]]
    rows += [("form", row["form"], row["category"], row) for row in entry["forms"]]
    rows += [] if entry["forms"] else [("opcode", row["opcode"], row["category"], row) for row in entry["opcodes"]]
    return [
        {
            "level": level,
            "name": name,
            "category": category,
            "before": f"{row['before']:,}",
            "after": f"{row['after']:,}",
            **({"change": f"{row['after'] - row['before']:+,}"} if entry["same_unit"] else {}),
        }
        for level, name, category, row in rows
    ]


def _markdown(found: dict[str, Any]) -> str:
    """For pull requests: the conditions that are not met, a short table, and the details folded away."""
    parts = [f"**{escaped(found['summary'])}**\n"]
    parts += [said] if (said := conditions.markdown(found)) else []
    shown = _shown(found)
    if shown:
        parts.append(table(list(_row(shown[0])), [list(_row(entry).values()) for entry in shown]))
    for entry in shown:
        if rows := _detail(entry, found["by"]):
            cells = table(list(rows[0]), [list(row.values()) for row in rows])
            parts.append(f"<details><summary>{_html(_label(entry))}</summary>\n\n{cells}\n</details>\n")
    return "\n".join(parts)


def _page(found: dict[str, Any]) -> str:
    from sassmix.render.html import tables_html

    shown = _shown(found)
    tables = [(conditions.HEADING, conditions.rows(found))] if found["conditions"] else []
    tables += [("Kernels", [_row(entry) for entry in shown])]
    tables += [(_label(entry), rows) for entry in shown if (rows := _detail(entry, found["by"]))]
    return tables_html(f"Comparison: {found['summary']}", [*tables, ("Problems", found["problems"])])


def _html(text: str) -> str:
    """Text inside of HTML, where markdown's backslashes would be shown."""
    return _LIVE.sub(r"\g<0><!-- -->", html.escape(printable(text), quote=False))
