"""The evidence alone: for each kernel the questions with their answers, and the sources side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sassmix.check import QUESTIONS
from sassmix.errors import number_of
from sassmix.render import conditions, render_rows, to_json
from sassmix.render.markdown import escaped, table

#: Opcodes that are shown side by side; those on which the sources differ are always shown.
_SHOWN = 12


def render_check(found: dict[str, Any], form: str, *, width: int | None = None) -> str:
    """The dictionary of :func:`sassmix.check.check` as ``text``, ``json``, ``csv``, ``markdown`` or ``html``.

    CSV has one row for each kernel and check, and one for each condition that is not met.
    """
    if form == "json":
        return to_json(found)
    if form == "csv":
        rows = [{"kernel": kernel["name"], **row} for kernel in found["kernels"] for row in _answers(kernel)]
        return render_rows(rows + [_failed(row) for row in conditions.rows(found)], form)
    if form == "html":
        from sassmix.render.html import tables_html

        return tables_html("Evidence", _tables(found), found["verdict"])
    if form == "markdown":
        said = filter(None, [conditions.markdown(found)])
        return "\n".join([*map(_markdown, found["kernels"]), *said, f"verdict: **{found['verdict']}**\n"])
    from sassmix.render.text import check_text

    blocks = [(kernel, _answers(kernel), side_by_side(kernel)) for kernel in found["kernels"]]
    return f"{check_text(blocks, width)}{conditions.text(found)}verdict: {found['verdict']}\n"


def _failed(row: dict[str, str]) -> dict[str, str]:
    return {"kernel": row["kernel"], "status": "fail", "question": row["condition"], "answer": row["found"]}


def _tables(found: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The tables of a page: for each kernel its answers, its sources and what differs, and the problems."""
    if found["conditions"]:
        yield conditions.HEADING, conditions.rows(found)
    for kernel in found["kernels"]:
        yield f"{kernel['name']}: confidence {kernel['confidence']}", _answers(kernel)
        if sides := side_by_side(kernel):
            yield f"{kernel['name']}: sources", sides
        if kernel["differences"]:
            yield f"{kernel['name']}: differences", [{"difference": text} for text in kernel["differences"]]
    yield "Problems", found["problems"]


def _answers(kernel: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"status": item["status"], "question": QUESTIONS[item["check"]], "answer": item["detail"]}
        for item in kernel["evidence"]
    ]


def side_by_side(kernel: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per opcode and a column per source, where several counted or something is wrong; else nothing."""
    sources = kernel["sources"]
    counted = [source for source in sources if source["source"] != "listing"]
    wrong = any(item["check"] == "consistent" and item["status"] != "pass" for item in kernel["evidence"])
    if len(sources) < 2 or (len(counted) < 2 and not wrong):
        return []
    columns = _columns(sources)
    names = dict.fromkeys(name for source in sources for name in source["opcodes"])
    named = [source for source in counted if source["opcodes"]]
    different = [name for name in names if len({source["opcodes"].get(name, 0) for source in named}) > 1]
    shown = list(dict.fromkeys([*list(names)[:_SHOWN], *different]))
    rows = [_row(name, columns, lambda source, name=name: _count(source, name)) for name in shown]
    if len(names) > len(shown):
        rest = [name for name in names if name not in shown]
        what = number_of(len(rest), "more opcode")
        rows.append(_row(what, columns, lambda source: _sum(source, rest)))
    rows += [_row(key, columns, lambda source, key=key: source[key]) for key in ("unresolved", "total")]
    if any(source["hardware_total"] is not None for source in sources):
        rows.append(_row("hardware total", columns, lambda source: source["hardware_total"]))
    return rows


def _count(source: dict[str, Any], opcode: str) -> int | None:
    """None where it may be among what is not resolved."""
    counts: dict[str, int] = source["opcodes"]
    return counts.get(opcode, None if source["unresolved"] else 0)


def _sum(source: dict[str, Any], opcodes: list[str]) -> int | None:
    numbers = [number for opcode in opcodes if (number := _count(source, opcode)) is not None]
    return sum(numbers) if numbers else None


def _columns(sources: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The sources by the head of their column; the reported one is first."""
    return {source["source"]: source for source in sources}


def _row(name: str, columns: dict[str, dict[str, Any]], value: Any) -> dict[str, Any]:
    numbers = {head: value(source) for head, source in columns.items()}
    return {"opcode": name, **{head: "" if n is None else f"{n:,}" for head, n in numbers.items()}}


def _markdown(kernel: dict[str, Any]) -> str:
    answers, sides = _answers(kernel), side_by_side(kernel)
    parts = [f"### {escaped(kernel['name'])}\n", _table(answers)]
    parts += [_table(sides)] if sides else []
    parts += ["".join(f"- {escaped(text)}\n" for text in kernel["differences"])] if kernel["differences"] else []
    return "\n".join(parts)


def _table(rows: list[dict[str, Any]]) -> str:
    return table(list(rows[0]), [list(row.values()) for row in rows])
