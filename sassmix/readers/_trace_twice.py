"""Whether records stand in a trace more than once. That costs more scans, so a cheap sign of it is looked for first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

#: trace_index and opcode_id packed into one number, since the least and the largest are cheaper than arg_max.
ID_BITS = 20
PLACE = f"trace_index * {1 << ID_BITS} + opcode_id"
#: Launches with more records than places from the first to the last, as trace_index counts the records of a launch.
#: Where other launches lie between, more warps begin than there are.
_CROWDED = f"""
    SELECT (
        SELECT count(*) FROM (
            SELECT 1 FROM seen WHERE by_instruction = 0 AND list_contains($types, type) GROUP BY type, grid_launch_id
            HAVING sum(placed) > floor(max(last) / {1 << ID_BITS}) - floor(min(first) / {1 << ID_BITS}) + 1
        )
    ) > 0 OR (
        SELECT coalesce(max(begun), 0) FROM (
            SELECT sum(records) AS begun FROM seen
            WHERE by_instruction = 1 AND opcode_id = 0 AND list_contains($types, type) GROUP BY type
        )
    ) > (SELECT count(*) FROM warps WHERE named)
"""  # noqa: S608
#: By a hash, and only a part of them at once, as a group for each record does not fit into the memory.
_TWICE = """
    SELECT coalesce(sum(records - 1), 0)::BIGINT FROM (
        SELECT hash(type, grid_launch_id, cta, warp, trace_index, opcode_id) AS mark, count(*) AS records FROM (%s)
        WHERE list_contains($types, type) AND trace_index IS NOT NULL AND mark %% $parts = $part GROUP BY mark
    )
"""
_AT_ONCE, _MOST_SCANS = 1 << 20, 8


def is_crowded(connection: duckdb.DuckDBPyConnection, types: Sequence[str]) -> bool:
    """Whether a launch may have a record twice, by the tables ``seen`` and ``warps``."""
    row = connection.execute(_CROWDED, {"types": list(types)}).fetchone()
    return bool(row and row[0])


def twice(
    connection: duckdb.DuckDBPyConnection, scans: str, names: Mapping[str, Any], types: Sequence[str], records: int
) -> int:
    """Records that are there already, by their place in the trace; at least so many in a trace of more than 8 M.

    :param scans: the files as one table, whose parameters are ``names``.
    :param records: of these types in all files.
    """
    parts = -(-records // _AT_ONCE)
    found = 0
    for part in range(min(parts, _MOST_SCANS)):
        values = {"types": list(types), "parts": parts, "part": part, **names}
        row = connection.execute(_TWICE % scans, values).fetchone()
        found += int(row[0]) if row else 0
    return found
