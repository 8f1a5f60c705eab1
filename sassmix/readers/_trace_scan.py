"""Traces as a table of DuckDB: its connection and memory, and how it is told to read the files.

Numbers are read as DOUBLE: DuckDB rounds 1.5 to 2 if it is told to read whole numbers, and what is no such number must
be seen to be told.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from sassmix.readers._zstd import is_zstd

_Made = TypeVar("_Made")
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
}
#: Enough for millions of warps; where it is not, DuckDB's own limit is tried. Each thread takes 32 MB of it at once.
_LIMIT = "1GB"


def with_memory(workspace: Path, work: Callable[[duckdb.DuckDBPyConnection], _Made]) -> _Made:
    """What ``work`` makes of a new connection; done again with more memory where the usual amount does not do.

    :raises duckdb.OutOfMemoryException: if all memory does not do.
    """
    try:
        with _connected(workspace, {"memory_limit": _LIMIT}) as connection:
            return work(connection)
    except duckdb.OutOfMemoryException:
        with _connected(workspace, {}) as connection:
            return work(connection)


def _connected(workspace: Path, limits: dict[str, str]) -> duckdb.DuckDBPyConnection:
    threads = min(_THREADS, os.cpu_count() or 1)
    place = str(workspace / "spill")
    return duckdb.connect(config={**_OPTIONS, **limits, "threads": threads, "temp_directory": place})


def scans_of(paths: Sequence[Path], workspace: Path) -> tuple[str, dict[str, Any]]:
    """The files as one table, and their names, which are its parameters."""
    names = {f"file{number}": str(_without_globs(path, workspace, number)) for number, path in enumerate(paths, 1)}
    return " UNION ALL ".join(_scan(number, path) for number, path in enumerate(paths, 1)), names


def _scan(number: int, path: Path) -> str:
    with path.open("rb") as file:
        packed = is_zstd(file.read(4))
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in _COLUMNS.items())
    how = f"ignore_errors = true, compression = '{'zstd' if packed else 'uncompressed'}'"
    return f"SELECT * FROM read_json($file{number}, format = 'newline_delimited', columns = {{{columns}}}, {how})"  # noqa: S608


def _without_globs(path: Path, workspace: Path, number: int) -> Path:
    """DuckDB takes ``*`` in a name for a pattern and would read other files too."""
    path = path.absolute()
    if not set("*?[") & set(str(path)):
        return path
    link = workspace / f"input{number}"
    if link.exists():
        return link
    try:
        link.symlink_to(path)
    except OSError:
        shutil.copyfile(path, link)
    return link
