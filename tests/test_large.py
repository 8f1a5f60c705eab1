"""Large inputs and small starts: what the benchmarks measure with, and what keeps libraries from filling the memory."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sassmix
from benchmarks.corpus import repeated_share
from benchmarks.fatbin import fat_binary
from benchmarks.generated import write_kernels
from benchmarks.jobs import loop_parse, sassmix_parse
from benchmarks.library import mixed
from benchmarks.measure import cpu
from benchmarks.varied import varied
from sassmix import intake
from sassmix.listing import Function, Listing
from sassmix.static import FunctionSummary, summarise
from tests.conftest import FIXTURES

CUBINS = [FIXTURES / "cubins" / f"saxpy.sm_{target}.cubin" for target in ("75", "90a")]
LISTINGS = [
    (FIXTURES / "listings" / name).read_text(encoding="utf-8") for name in ("math.sm_120a.sass", "mem.sm_80.sass")
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return varied(tmp_path_factory.mktemp("large") / "large.sass", LISTINGS, 2)


def test_copies_of_a_listing_are_other_code_under_other_names(large: Path) -> None:
    text = large.read_text(encoding="utf-8")
    listing = sassmix.parse(text)
    names = [function.name for function in listing]
    assert len(text) > 2e6 and not listing.problems and len(set(names)) == len(names)
    assert repeated_share(text) < 0.7 < repeated_share("".join(LISTINGS) * 20)
    assert loop_parse(large)() == sassmix_parse(large)()


def test_a_large_listing_is_parsed_faster_than_by_a_loop_that_proves_nothing(large: Path) -> None:
    assert any(cpu(lambda: loop_parse(large)) > 0.8 * cpu(lambda: sassmix_parse(large)) for _ in range(3))


def test_generated_kernels_are_the_same_each_time_and_differ_from_one_another(tmp_path: Path) -> None:
    first, again = (write_kernels(tmp_path / name, 3, 50).read_text(encoding="utf-8") for name in "ab")
    bodies = [kernel.partition("{")[2] for kernel in first.split('extern "C"')[1:]]
    assert first == again and len(set(bodies)) == 3


def test_a_fat_binary_holds_the_cubins_that_were_put_into_it(tmp_path: Path) -> None:
    library = sassmix.read(fat_binary(tmp_path / "two.fatbin", CUBINS))
    alone = [function for cubin in CUBINS for function in sassmix.read(cubin)]
    assert [(f.name, f.arch, f.counts()) for f in library] == [(f.name, f.arch, f.counts()) for f in alone]


def test_mix_holds_one_listing_of_a_library_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[Function]] = []
    most = 0

    def watched(listing: Listing, *arguments: Any, **options: Any) -> Iterator[FunctionSummary]:
        nonlocal most
        seen.append(weakref.ref(listing.functions[0]))
        gc.collect()
        most = max(most, sum(function() is not None for function in seen))
        return summarise(listing, *arguments, **options)

    monkeypatch.setattr(intake, "summarise", watched)
    report = sassmix.mix([fat_binary(tmp_path / "many.fatbin", [*CUBINS, *CUBINS, *CUBINS])])
    assert len(seen) == 6 and len(report.kernels) >= 6 and most <= 2  # the one at hand, and the one just left


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind a process to a processor")
def test_one_processor_and_all_give_the_same_report_to_the_byte(tmp_path: Path) -> None:
    library = fat_binary(tmp_path / "many.fatbin", [*CUBINS, *CUBINS])
    usable = os.sched_getaffinity(0)
    (one, _), (all_of_them, _) = (mixed(library, processors) for processors in ({min(usable)}, usable))
    assert one == all_of_them and one.count(b'"role": "kernel"') >= 4
    assert os.sched_getaffinity(0) == usable
