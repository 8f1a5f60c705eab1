"""Hypothesis strategies for opcode tables and architectures that the registry accepts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields

from hypothesis import strategies as st

from sassmix.arch import CATEGORIES, DATAPATHS, KNOWLEDGE, PIPES, SPACES, Architecture, Opcode, sm
from sassmix.plugins import default_plugins

_names = st.from_regex(r"[A-Z][A-Z0-9_]{0,9}", fullmatch=True)
_texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)


def _rows(names: st.SearchStrategy[str]) -> st.SearchStrategy[Opcode]:
    return st.builds(
        Opcode,
        opcode=names,
        category=st.sampled_from(sorted(CATEGORIES)),
        group=_texts,
        datapath=st.sampled_from(sorted(DATAPATHS, reverse=True)),
        space=st.sampled_from(["", *sorted(SPACES)]),
        dtype=st.sampled_from(["", "f32", "f16", "s8", "b1"]),
        pipe=st.sampled_from(["", *sorted(PIPES)]),
        knowledge=st.sampled_from(sorted(KNOWLEDGE)),
        source=_texts.filter(lambda text: bool(text.strip())),
        description=_texts,
    )


def opcode_tables(
    *, opcodes: Sequence[str] | None = None, min_rows: int = 0, max_rows: int = 6
) -> st.SearchStrategy[tuple[Opcode, ...]]:
    """The rows of a table, sorted, each opcode once.

    :param opcodes: only these; any names, if left out.
    """
    names = st.sampled_from(list(opcodes)) if opcodes is not None else _names
    rows = st.lists(_rows(names), min_size=min_rows, max_size=max_rows, unique_by=lambda row: row.opcode)
    return rows.map(lambda drawn: tuple(sorted(drawn, key=lambda row: row.opcode)))


def architectures(
    *, name: str = "drawn", targets: Iterable[int | str] = (999,), extends: str | None = None, max_rows: int = 6
) -> st.SearchStrategy[Architecture]:
    """An architecture that the registry accepts: new rows, changed rows, and opcodes of the parent that are gone.

    :param targets: as :func:`sassmix.sm` takes them.
    :param extends: the name of a registered architecture; a table of its own, if left out.
    """
    parents = {table.architecture.name: table for table in default_plugins().registry.tables()}
    inherited = sorted(parents[extends].opcodes) if extends else []
    spelled = sm(*targets)

    @st.composite
    def draw_one(draw: st.DrawFn) -> Architecture:
        gone = draw(st.sets(st.sampled_from(inherited), max_size=max_rows)) if inherited else set()
        own = draw(opcode_tables(max_rows=max_rows))
        if kept := [opcode for opcode in inherited if opcode not in gone]:
            own += draw(opcode_tables(opcodes=kept, max_rows=2))
        rows = {row.opcode: row for row in own if row.opcode not in gone}
        opcodes = tuple(rows[opcode] for opcode in sorted(rows))
        return Architecture(name=name, sm=spelled, extends=extends, opcodes=opcodes, remove=tuple(sorted(gone)))

    return draw_one()


def table_text(rows: Iterable[Opcode]) -> str:
    """The CSV of a table, as :func:`sassmix.load_opcodes` reads it."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, [field.name for field in fields(Opcode)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return buffer.getvalue()
