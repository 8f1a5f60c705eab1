"""Counts that cannot have come from the code are found out: real ones from an H200 fit, one line off they do not."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.flow import FlowCheck, check_flow
from sassmix.listing import Function, Listing
from sassmix.matching import match
from sassmix.parsing import parse
from sassmix.resolution import resolve
from tests.conftest import Body, written

FOLDER = Path(__file__).parent.parent / "fixtures" / "counts" / "h200"
Rows = list[tuple[int, str, int]]


def measured() -> Iterator[tuple[str, Rows]]:
    """Kernels with offset, text and executions of each instruction, as the profiler exported them."""
    name: str = ""
    rows: Rows = []
    with (FOLDER / "micro.source.csv").open(newline="") as handle:
        for row in csv.reader(handle):
            if row and row[0] == "Kernel Name":
                if rows:
                    yield name, rows
                name, rows = row[1], []
            elif row and row[0].startswith("0x"):
                rows.append((int(row[0], 16), row[1].strip(), int(row[2])))
    yield name, rows


LISTING: Listing = parse((FOLDER / "micro.sass").read_text())
KERNELS = list(measured())


def function_of(name: str) -> tuple[Function, list[Function]]:
    found = match(KernelNames(demangled=name), None, LISTING.functions)
    assert found.how == "demangled" and found.function
    function = found.function
    behind = [f for f in LISTING if f.section == function.section and f is not function]
    return function, behind


def as_counts(name: str, rows: Rows, *, shift: int = 0, by: str = "index") -> Counts:
    first = rows[0][0]
    found = [((address - first) // 16 + shift, executed) for address, _, executed in rows if executed]
    if by == "index":
        made = [CountRow(name=f"OPCODE_{i}", index=i, issued=n) for i, n in found if i >= 0]
    else:
        made = [CountRow(name=f"OPCODE_{i}", offset=16 * i, issued=n) for i, n in found if i >= 0]
    return Counts(path="k", kind="cutracer-hist", names=KernelNames(demangled=name), rows=made)


def by_mnemonic(rows: Rows) -> dict[str, int]:
    sums: dict[str, int] = {}
    for _, text, executed in rows:
        words = text.split()
        mnemonic = words[1] if words[0].startswith("@") else words[0]
        sums[mnemonic] = sums.get(mnemonic, 0) + executed
    return {mnemonic: count for mnemonic, count in sums.items() if count}


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
@pytest.mark.parametrize("by", ["index", "offset"])
def test_real_counts_resolve_to_what_the_profiler_named(name: str, rows: Rows, by: str) -> None:
    function, helpers = function_of(name)
    result = resolve(as_counts(name, rows, by=by), function, helpers)
    assert result.conflicts == result.doubts == []
    assert result.unresolved == []
    assert dict(result.counted("issued")[0]) == by_mnemonic(rows)


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_counts_that_are_off_are_found_out_and_nothing_is_claimed(name: str, rows: Rows, shift: int) -> None:
    function, helpers = function_of(name)
    counts = as_counts(name, rows, shift=shift)
    result = resolve(counts, function, helpers)
    assert result.conflicts
    assert result.resolved == []
    assert sum(result.counted("issued")[1].values()) == counts.total


def test_counts_of_another_kernel_are_found_out() -> None:
    wrong = 0
    for (name, rows), (other, _) in zip(KERNELS, KERNELS[1:] + KERNELS[:1], strict=True):
        function, helpers = function_of(other)
        result = resolve(as_counts(name, rows), function, helpers)
        wrong += bool(result.conflicts or result.doubts)
    assert wrong >= 0.9 * len(KERNELS)


def test_empty_counts_contradict_nothing() -> None:
    function, helpers = function_of(KERNELS[0][0])
    assert check_flow(function, {}, helpers) == FlowCheck()


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
def test_rows_without_a_place_are_not_missing(name: str, rows: Rows) -> None:
    """Where some rows name their instruction and no place, what is not at its place may be among them."""
    function, helpers = function_of(name)
    counts = {function.start + index: count for index, (_, _, count) in enumerate(rows) if index % 3}
    assert not check_flow(function, counts, helpers, partial=True).contradictions
    assert check_flow(function, counts, helpers).contradictions


GUARDED_END = ["S2R R0, SR_TID.X", "ISETP.GE.AND P0, PT, R0, R1, PT", "@P0 EXIT", *["FADD R2, R2, R3"] * 5, "STG R2"]


def flow(code: list[str], counts: list[int]) -> FlowCheck:
    """The check of counts, one for each instruction."""
    function = parse(written(Body("k", code))).functions[0]
    return check_flow(function, dict(enumerate(counts, function.start)))


@pytest.mark.parametrize(
    ("counts", "contradicted"),
    [
        ([8] * 9 + [8], False),
        ([8] * 3 + [5] * 7, False),
        ([8, 8, 3, *[5] * 7], False),
        ([8] * 9 + [0], True),
        ([8] * 3 + [5] * 6 + [2], True),
    ],
)
@pytest.mark.parametrize("label", [True, False])
def test_a_guarded_end_lets_out_no_more_than_does_not_go_on(counts: list[int], contradicted: bool, label: bool) -> None:
    """The third case: a tracer that leaves out what the guard turned off."""
    code = [*GUARDED_END, *([".L_last:"] if label else []), "EXIT"]
    found = flow(code, counts)
    assert bool([text for text in found.contradictions if "entered" in text]) == contradicted
    assert bool(found.doubts) == contradicted


@pytest.mark.parametrize("before", [0, 5])
@pytest.mark.parametrize("at_label", [0, 4, 5, 9])
def test_what_falls_through_into_a_label_is_counted_there_too(before: int, at_label: int) -> None:
    code = ["MOV R1, R2", "@P0 BRA `(.L_1)", "FADD R2, R2, R3", ".L_1:", "FMUL R2, R2, R3", "EXIT"]
    found = flow(code, [9, 9, before, at_label, at_label])
    assert bool(found.doubts) == (at_label < before)
