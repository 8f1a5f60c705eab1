"""One pass of DuckDB over traces: what was executed, and by which warps of which launches.

Two groupings are made of one scan, as rows per record would be as large as the trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import duckdb

from sassmix.readers._trace_scan import scans_of, with_memory
from sassmix.readers._trace_twice import ID_BITS, PLACE, is_crowded, twice

#: Numbers up to here are exact as DOUBLE.
EXACT = 1 << 53
#: No text of the input is ever a part of a query; names of files are parameters.
_SEEN = f"""
    CREATE TEMP TABLE seen AS
    SELECT type, opcode_id, pc, sass, active_mask, grid_launch_id, cta, warp, count(*) AS records,
           min({PLACE}) AS first, max({PLACE}) AS last, count({PLACE}) AS placed, grouping(warp) AS by_instruction
    FROM (%s)
    GROUP BY GROUPING SETS ((type, opcode_id, pc, sass, active_mask), (type, grid_launch_id, cta, warp))
"""  # noqa: S608
#: One row per warp, whatever types recorded it; a warp in which a record has no place began and ended anywhere.
_WARPS = f"""
    CREATE TEMP TABLE warps AS
    SELECT grid_launch_id AS launch, cta, warp, cta IS NOT NULL AND warp IS NOT NULL AS named,
           any_value(type) AS type, count(*) AS kinds, sum(records)::BIGINT AS records,
           sum(placed) = sum(seen.records) AND max(last) < {EXACT} AS known,
           CASE WHEN known THEN min(first) % {1 << ID_BITS} END AS first,
           CASE WHEN known THEN max(last) % {1 << ID_BITS} END AS last
    FROM seen WHERE by_instruction = 0 AND list_contains($types, type) GROUP BY grid_launch_id, cta, warp
"""  # noqa: S608
#: The types of those warps that several recorded: for all of them it would take longer than all the rest.
_SEVERAL = """
    CREATE TEMP TABLE several AS
    SELECT grid_launch_id AS launch, cta, warp, list(type ORDER BY records DESC, list_position($types, type)) AS types
    FROM seen WHERE by_instruction = 0 AND list_contains($types, type) AND $most > 1 GROUP BY ALL HAVING count(*) > 1
"""
_BY_LAUNCH = """
    SELECT launch, named, count(*), sum(records)::BIGINT, list(DISTINCT type) FILTER (kinds = 1), max(kinds),
           list(DISTINCT first), list(DISTINCT last)
    FROM warps GROUP BY launch, named
"""
#: The records of warps that several types recorded, apart for each order of their types: there are only few.
_OVERLAP = """
    SELECT coalesce(types, [type]) AS types, type, opcode_id, pc, sass, active_mask, count(*) AS records
    FROM (%s) AS record LEFT JOIN several ON launch IS NOT DISTINCT FROM grid_launch_id
         AND several.cta IS NOT DISTINCT FROM record.cta AND several.warp IS NOT DISTINCT FROM record.warp
    WHERE list_contains($types, type) GROUP BY ALL ORDER BY ALL
"""
#: Warps of which a lane was on and is not known to have left in an EXIT.
_STAYED = """
    SELECT count(*) FROM (
        SELECT bool_or(lanes IS NULL) OR bit_or(lanes) IS DISTINCT FROM
               bit_or(lanes) FILTER (list_contains($exits, opcode_id)) AS stayed
        FROM (
            SELECT *, CASE WHEN active_mask ILIKE '0x%%' THEN try_cast(active_mask AS UINTEGER) END AS lanes
            FROM (%s) WHERE list_contains($types, type)
        ) GROUP BY grid_launch_id, cta, warp
    ) WHERE stayed
"""


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
    :param overlapping: the instructions with the types of the warps that they are of, if a warp has several.
    :param records: records by type and launch.
    :param warps: distinct warps of each launch.
    :param first: ids of the instructions that some warp began with, by ``trace_index``; None if not known.
    :param last: ids of the instructions that were the last of some warp; None if not known.
    :param types: the record types of a warp, the one with the most records first; each order that occurs.
    :param nameless: records of instructions that do not say which warp they are of.
    :param twice: records that are there more than once, as their place in the trace tells.
    """

    groups: list[Group]
    records: dict[tuple[str | None, float | None], int]
    warps: dict[float | None, int]
    first: frozenset[int] | None
    last: frozenset[int] | None
    types: list[tuple[str, ...]]
    overlapping: list[tuple[tuple[str, ...], Group]] = field(default_factory=list)
    nameless: int = 0
    twice: int = 0

    def of_type(self, *types: str | None) -> int:
        """Records of these types."""
        return sum(records for (kind, _), records in self.records.items() if kind in types)


class _Launch(NamedTuple):
    """Warps of a launch by the query; those without a name, of which it is not known how many they are, apart."""

    launch: float | None
    named: bool
    warps: int
    records: int
    types: list[str] | None
    kinds: int
    first: list[float | None]
    last: list[float | None]


def aggregate(paths: Sequence[Path], workspace: Path, types: Sequence[str], closing: str) -> Aggregate:
    """Read traces as one; files may be compressed.

    :param types: of the records that stand for an instruction.
    :param closing: the type of the record that a launch has one of.
    :raises duckdb.Error: if a line is too long, or a compressed file is damaged within.
    """
    return with_memory(workspace, lambda connection: _aggregate(connection, paths, workspace, list(types), closing))


def _aggregate(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], workspace: Path, types: list[str], closing: str
) -> Aggregate:
    scans, names = scans_of(paths, workspace)
    connection.execute(_SEEN % scans, names)
    found = _fetch(connection, types)
    if any(len(kinds) > 1 for kinds in found.types):
        overlap = connection.execute(_OVERLAP % scans, {"types": types, **names}).fetchall()
        found.overlapping = [(tuple(row[0]), Group(*row[1:])) for row in overlap]
    ended = (n for (kind, launch), n in found.records.items() if kind == closing and launch is not None)
    if len(paths) > 1 or max(ended, default=0) > 1 or is_crowded(connection, types):
        found.twice = twice(connection, scans, names, types, found.of_type(*types))
    return found


def stayed(paths: Sequence[Path], workspace: Path, types: Sequence[str], exits: Sequence[int]) -> int:
    """Warps of which the masks do not show that every lane left: in one of the instructions ``exits``.

    :raises duckdb.Error: if a file cannot be read.
    """
    scans, names = scans_of(paths, workspace)
    values = {"types": list(types), "exits": list(exits), **names}
    return with_memory(workspace, lambda connection: _number(connection, _STAYED % scans, values))


def _fetch(connection: duckdb.DuckDBPyConnection, types: list[str]) -> Aggregate:
    def rows(query: str) -> list[Any]:
        return connection.execute(query).fetchall()

    connection.execute(_WARPS, {"types": types})
    launches = [_Launch(*row) for row in rows(_BY_LAUNCH)]
    most = max((launch.kinds for launch in launches), default=0)
    connection.execute(_SEVERAL, {"types": types, "most": most})
    orders = {(kind,) for launch in launches for kind in launch.types or ()}
    if most > 1:
        orders |= {tuple(kinds) for (kinds,) in rows("SELECT DISTINCT types FROM several")}
    groups = rows(
        "SELECT type, opcode_id, pc, sass, active_mask, records FROM seen WHERE by_instruction = 1 ORDER BY ALL"
    )
    by_launch = "SELECT type, grid_launch_id, sum(records)::BIGINT FROM seen WHERE by_instruction = 0 GROUP BY ALL"
    named = [launch for launch in launches if launch.named]
    return Aggregate(
        groups=[Group(*row) for row in groups],
        records={(kind, launch): number for kind, launch, number in rows(by_launch)},
        warps={launch.launch: launch.warps for launch in named},
        first=_ids(launch.first for launch in named),
        last=_ids(launch.last for launch in named),
        types=sorted(orders),
        nameless=sum(launch.records for launch in launches if not launch.named),
    )


def _ids(found: Iterable[Sequence[float | None]]) -> frozenset[int] | None:
    """The ids; None where one of them is not known, or there is none."""
    values = {value for several in found for value in several}
    known = frozenset(int(value) for value in values if value is not None and value >= 0)
    return known if values and len(known) == len(values) else None


def _number(connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, Any] | None = None) -> int:
    row = connection.execute(query, values or {}).fetchone()
    return int(row[0]) if row else 0
