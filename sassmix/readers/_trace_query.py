"""One pass of DuckDB over traces: what was executed, and by which warps of which launches.

Two groupings are made of one scan, as rows per record would be as large as the trace. Numbers are read as DOUBLE:
DuckDB rounds 1.5 to 2 if it is told to read whole numbers, and what is no such number must be seen to be told.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import duckdb

from sassmix.readers._zstd import is_zstd

#: Numbers up to here are exact as DOUBLE.
EXACT = 1 << 53
#: ``last`` packs trace_index and opcode_id into one number, since the largest number is cheaper than arg_max.
_ID_BITS = 20
_COLUMNS = {
    "type": "VARCHAR",
    "opcode_id": "DOUBLE",
    "pc": "VARCHAR",
    "sass": "VARCHAR",
    "active_mask": "VARCHAR",
    "grid_launch_id": "DOUBLE",
    "cta": "VARCHAR",
    "warp": "DOUBLE",
    "trace_index": "DOUBLE",
}
_THREADS = 4
_OPTIONS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",
    "memory_limit": "192MB",
}
#: No text of the input is ever a part of a query; names of files are parameters.
_SEEN = f"""
    CREATE TEMP TABLE seen AS
    SELECT type, opcode_id, pc, sass, active_mask, grid_launch_id, cta, warp, count(*) AS records,
           max(trace_index * {1 << _ID_BITS} + opcode_id) AS last, grouping(warp) AS by_instruction
    FROM (%s)
    GROUP BY GROUPING SETS ((type, opcode_id, pc, sass, active_mask), (type, grid_launch_id, cta, warp))
"""  # noqa: S608


def is_whole(number: float | None) -> TypeGuard[float]:
    """Whether a number can be an id."""
    return number is not None and 0 <= number < EXACT and number == int(number)


@dataclass(frozen=True, slots=True)
class Group:
    """Records that agree in all of this; ``number`` is the opcode id if the record has a whole one."""

    type: str | None
    number: float | None
    pc: str | None
    sass: str | None
    mask: str | None
    records: int

    @property
    def index(self) -> int | None:
        """The opcode id; None where it is missing, or no whole number that can be one."""
        return int(self.number) if self.number is not None and is_whole(self.number) else None


@dataclass(slots=True, kw_only=True)
class Aggregate:
    """What the query found.

    :param groups: records by instruction, of every type.
    :param records: records by type and launch.
    :param warps: distinct warps of each launch.
    :param last: ids of the instructions that were the last of some warp, by ``trace_index``; None if not known.
    """

    groups: list[Group]
    records: dict[tuple[str | None, float | None], int]
    warps: dict[float | None, int]
    last: frozenset[int] | None

    def of_type(self, *types: str | None) -> int:
        """Records of these types."""
        return sum(records for (kind, _), records in self.records.items() if kind in types)


def aggregate(paths: Sequence[Path], workspace: Path, types: Sequence[str]) -> Aggregate:
    """Read traces as one; files may be compressed.

    :param types: of the records that stand for an instruction.
    :raises duckdb.Error: if a line is too long, or a compressed file is damaged within.
    """
    threads = min(_THREADS, os.cpu_count() or 1)
    options = {**_OPTIONS, "threads": threads, "temp_directory": str(workspace / "spill")}
    with duckdb.connect(config=options) as connection:
        scans = " UNION ALL ".join(_scan(number, path) for number, path in enumerate(paths, 1))
        names = [str(_without_globs(path, workspace, number)) for number, path in enumerate(paths, 1)]
        connection.execute(_SEEN % scans, names)
        return _fetch(connection, list(types))


def _scan(number: int, path: Path) -> str:
    with path.open("rb") as file:
        packed = is_zstd(file.read(4))
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in _COLUMNS.items())
    how = f"ignore_errors = true, compression = '{'zstd' if packed else 'uncompressed'}'"
    return f"SELECT * FROM read_json(${number}, format = 'newline_delimited', columns = {{{columns}}}, {how})"  # noqa: S608


def _without_globs(path: Path, workspace: Path, number: int) -> Path:
    """DuckDB takes ``*`` in a name for a pattern and would read other files too."""
    path = path.absolute()
    if not set("*?[") & set(str(path)):
        return path
    link = workspace / f"input{number}"
    try:
        link.symlink_to(path)
    except OSError:
        shutil.copyfile(path, link)
    return link


def _fetch(connection: duckdb.DuckDBPyConnection, types: list[str]) -> Aggregate:
    def rows(query: str, *values: Any) -> list[Any]:
        return connection.execute(query, list(values)).fetchall()

    by_warp = "FROM seen WHERE by_instruction = 0"
    of_warps = f"{by_warp} AND warp IS NOT NULL AND list_contains($1, type)"
    groups = "SELECT type, opcode_id, pc, sass, active_mask, records FROM seen WHERE by_instruction = 1 ORDER BY ALL"
    last = rows(f"SELECT DISTINCT CASE WHEN last < {EXACT} THEN last % {1 << _ID_BITS} END {of_warps}", types)
    known = frozenset(int(value) for (value,) in last if value is not None and value >= 0)
    return Aggregate(
        groups=[Group(*row) for row in rows(groups)],
        records={
            (r[0], r[1]): r[2]
            for r in rows(f"SELECT type, grid_launch_id, sum(records)::BIGINT {by_warp} GROUP BY ALL")
        },
        warps=dict(rows(f"SELECT grid_launch_id, count(DISTINCT (cta, warp)) {of_warps} GROUP BY ALL", types)),
        last=known if last and len(known) == len(last) else None,
    )
