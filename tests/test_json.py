"""JSON as the library of Python writes it, to the byte, in little more memory than the text itself."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix.render import render, to_json
from sassmix.report import KernelReport
from tests.conftest import FIXTURES

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner), max_leaves=40
)


@given(VALUES, st.integers(1, 20))
def test_any_value_is_written_as_python_writes_it(value: Any, tokens: int) -> None:
    with patch("sassmix.render._TOKENS", tokens):
        assert to_json(value) == json.dumps(value, indent=2) + "\n"


@pytest.mark.parametrize("by", ["category", "opcode"])
def test_a_report_is_written_as_its_dictionary(by: str) -> None:
    report = sassmix.mix([FIXTURES / "listings" / "wgmma.sm_90a.sass"], by=by)
    assert render(report, "json") == json.dumps(report.to_dict(), indent=2) + "\n"
    assert len(report.kernels) > 10


@pytest.mark.parametrize(
    "rows", [{"one": [{"opcode": "FFMA", "count": n} for n in range(20_000)]}, list(range(99_999))]
)
def test_writing_takes_little_more_memory_than_the_text(rows: Any) -> None:
    tracemalloc.start()
    try:
        size = len(to_json(rows))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 3 * size + 1_000_000


def test_one_dictionary_of_a_kernel_is_in_memory_at_a_time() -> None:
    report = sassmix.mix([FIXTURES / "listings" / "wgmma.sm_90a.sass"])
    report.kernels *= 30
    made = KernelReport.to_dict
    alive = 0

    class Told(dict[str, Any]):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    most = 0

    def counted(kernel: KernelReport, by: str) -> dict[str, Any]:
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        return Told(made(kernel, by))

    with patch.object(KernelReport, "to_dict", counted):
        render(report, "json")
    assert 0 < most <= 2
