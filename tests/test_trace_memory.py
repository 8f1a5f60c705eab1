"""The memory that a trace takes does not decide what is found: many warps, many threads, little to begin with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sassmix.counts import Counts
from sassmix.readers import _trace_scan
from sassmix.readers.cutracer_trace import read_together

WARPS = 50_000


def write(path: Path, types: tuple[str, ...]) -> Path:
    """Two instructions of each of many warps, one record of each type."""

    def lines() -> Iterator[str]:
        for warp in range(WARPS):
            for index in range(2):
                place = {"cta": [warp, 0, 0], "warp": 0, "trace_index": 2 * warp + index}
                fields = {"grid_launch_id": 0, "opcode_id": index, "pc": hex(16 * index), "active_mask": "0xffffffff"}
                yield from (json.dumps({"type": kind, **place, **fields}) + "\n" for kind in types)

    with path.open("w", encoding="utf-8") as file:
        file.writelines(lines())
    return path


def read(*paths: Path) -> Counts:
    (counts,) = read_together(paths)
    return counts


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("many") / "kernel_aa_iter0_k.ndjson", ("opcode_only",))


def test_warps_that_do_not_fit_into_the_usual_memory_are_read_with_more(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    connect = duckdb.connect

    def connected(*, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        tried.append(config.get("memory_limit", "all"))
        return connect(config=config)

    monkeypatch.setattr(duckdb, "connect", connected)
    monkeypatch.setattr(_trace_scan, "_LIMIT", "40MB")
    counts = read(many)
    assert tried == ["40MB", "all"]
    assert {row.index: row.issued for row in counts.rows} == {0: WARPS, 1: WARPS} and counts.warps == WARPS


@pytest.mark.parametrize("processors", [1, 4, 64])
@pytest.mark.parametrize("types", [("opcode_only",), ("opcode_only", "reg_trace")], ids=len)
def test_any_number_of_processors_finds_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int, types: tuple[str, ...]
) -> None:
    threads: list[int] = []
    connect = duckdb.connect

    def connected(*, config: dict[str, Any]) -> duckdb.DuckDBPyConnection:
        threads.append(config["threads"])
        return connect(config=config)

    monkeypatch.setattr(duckdb, "connect", connected)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    counts = read(write(tmp_path / "kernel_aa_iter0_k.ndjson", types))
    assert {row.index: row.issued for row in counts.rows} == {0: WARPS, 1: WARPS}
    assert counts.warps == WARPS and not counts.lost
    assert threads == [min(processors, 4)]  # each takes memory of its own, so that many would leave none for the warps
