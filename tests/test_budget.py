"""Ratios of CPU time in one run, with room for noise: a reader that became twice as slow fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.__main__ import record
from benchmarks.baseline import csv_loop, trace_loop
from benchmarks.jobs import sassmix_csv, sassmix_trace
from benchmarks.made import CUT, WHOLE, source_page, trace
from benchmarks.measure import cpu
from benchmarks.start import start_speeds

Reader = Callable[[Path], dict[str, int]]


def faster(path: Path, loop: Reader, reader: Reader, least: float) -> bool:
    """Whether one of three tries reaches the ratio; the counts are the same in any case."""
    assert loop(path) == reader(path)
    return any(cpu(lambda: loop(path)) > least * cpu(lambda: reader(path)) for _ in range(3))


@pytest.mark.parametrize(("name", "least"), [("t.ndjson", 1.5), ("t.ndjson.zst", 1.3)])
def test_traces_are_read_faster_than_by_a_loop(tmp_path: Path, name: str, least: float) -> None:
    path = trace(tmp_path / name, 100_000)
    plain = trace(tmp_path / "plain.ndjson", 100_000)
    assert faster(path, lambda _: trace_loop(plain), sassmix_trace, least)


@pytest.mark.parametrize(("columns", "least"), [(WHOLE, 0.9), (CUT, 0.4)])
def test_source_pages_are_read_about_as_fast_as_by_a_loop(tmp_path: Path, columns: Sequence[str], least: float) -> None:
    assert faster(source_page(tmp_path / "page.csv", 2, columns), csv_loop, sassmix_csv, least)


def test_small_commands_start_quickly() -> None:
    """In starts of a bare Python, which a busy machine slows down as well: some 5, and 12 for a report as text."""
    most = [8, 18]
    tries = (start_speeds(3) for _ in range(3))
    assert any(all(row["ratio"] > 1 / n for row, n in zip(rows, most, strict=True)) for rows in tries)  # type: ignore[operator]


def test_a_run_is_recorded_as_one_line(tmp_path: Path) -> None:
    for number in (1.5, 2.5):
        record([{"what": "a", "ratio": number}], tmp_path / "history.jsonl")
    lines = (tmp_path / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["ratios"] for line in lines] == [{"a": 1.5}, {"a": 2.5}]
