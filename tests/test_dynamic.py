"""Counts joined to listings: conserved in any order and split; a verdict never becomes surer by losing data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import mix
from sassmix.classify import Classifier
from sassmix.counts import NO_EXIT, CountRow, Counts, KernelNames
from sassmix.dynamic import kernel_report
from sassmix.launches import gather
from sassmix.listing import Function
from sassmix.parsing import parse
from sassmix.plugins import default_plugins
from sassmix.report import KernelReport
from tests.test_flow import KERNELS, LISTING, Rows, as_counts, by_mnemonic, function_of

FIXTURES = Path(__file__).parent.parent / "fixtures"
LAUNCHES = [json.loads(line) for line in (FIXTURES / "opcodes" / "h200_launches.jsonl").read_text().splitlines()]
CODE = """\t.target\tsm_90a
        .type           k,@function
        .size           k,(.L_x_1 - k)
        .other          k,@"STO_CUDA_ENTRY STV_DEFAULT"
k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R0, SR_TID.X ;
        /*0020*/                   HGMMA.64x8x16.F32 R24, gdesc[UR4], R24 ;
        /*0030*/                   FADD R2, R3, R4 ;
        /*0040*/                   STG.E desc[UR4][R2.64], R4 ;
        /*0050*/                   EXIT ;
.L_x_1:
"""
FUNCTIONS = parse(CODE).functions


def report(*counts: Counts, functions: list[Function] | None = None, arch: str | None = None) -> KernelReport:
    (sources,) = gather(counts, functions or [], arch)
    classifier: Classifier = default_plugins().classifier
    return kernel_report(sources, classifier=classifier, rules=[], arch=arch, what="issued", static=None)


def complete(rows: list[CountRow], *, arch: str | None = "sm_90", **more: Any) -> Counts:
    return Counts(path="k", kind="cutracer-trace", names=KernelNames(mangled="k"), arch=arch, rows=rows, launches=1, warps=1, **more)  # fmt: skip  # noqa: E501


@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: f"{launch['kernel'][:40]}")
def test_the_verdict_equals_the_hardware_counters(launch: dict[str, Any]) -> None:
    """The tensor pipe was used by more than HFMA2.MMA exactly where a matrix opcode is said to be active."""
    pipes = launch["pipes"]
    measured = pipes.get("tensor", 0) - pipes.get("tensor_hfma2", 0) > 0
    rows = [CountRow(mnemonic=name, issued=count) for name, count in launch["per_opcode_with_modifiers"].items()]
    assert report(complete(rows)).tensor.active is measured


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
def test_numbers_resolve_to_the_mix_that_names_give(name: str, rows: Rows) -> None:
    by_name = [CountRow(mnemonic=mnemonic, issued=count) for mnemonic, count in by_mnemonic(rows).items()]
    named = report(complete(by_name, arch="sm_90a"))
    function, _ = function_of(name)
    numbered = report(as_counts(name, rows), functions=LISTING.functions)
    assert numbered.tally.mix("opcode") == named.tally.mix("opcode")
    assert numbered.tally.unresolved == 0
    assert numbered.name == function.name


@pytest.mark.parametrize(("name", "rows"), KERNELS, ids=[n for n, _ in KERNELS])
@pytest.mark.parametrize("shift", [-1, 1])
def test_one_instruction_off_fails_and_claims_nothing(name: str, rows: Rows, shift: int) -> None:
    off = report(as_counts(name, rows, shift=shift), functions=LISTING.functions)
    evidence = {item.check: item.status for item in off.evidence}
    assert evidence["consistent"] == "fail"
    assert off.confidence == "low"
    assert off.tensor.active is None
    assert off.tally.unresolved == off.tally.total


mnemonics = st.sampled_from(["HGMMA.64x8x16.F32", "FADD", "EXIT", "HFMA2.MMA", "LDG.E", "QWIBBLE", "MOV"])
counts_of = st.integers(1, 10**12)
row = st.one_of(
    st.builds(lambda m, n: CountRow(mnemonic=m, issued=n), mnemonics, counts_of),
    st.builds(lambda i, n: CountRow(name=f"OPCODE_{i}", index=i, issued=n), st.integers(0, 9), counts_of),
    st.builds(lambda i, n: CountRow(index=i, offset=16 * i, issued=n), st.integers(0, 5), counts_of),
)
rows_of = st.lists(row, min_size=1, max_size=12)


@given(rows_of, st.booleans())
def test_counts_are_conserved_whatever_is_unresolved(rows: list[CountRow], listed: bool) -> None:
    found = report(complete(rows), functions=FUNCTIONS if listed else None)
    assert found.tally.total == sum(r.issued for r in rows)
    for by in ("category", "opcode", "pipe", "group"):
        assert sum(item["count"] for item in found.tally.mix(by)) == found.tally.total


@given(rows_of, st.data())
def test_the_order_of_rows_and_the_split_into_files_change_nothing(rows: list[CountRow], data: st.DataObject) -> None:
    whole = report(complete(rows), functions=FUNCTIONS)
    shuffled = data.draw(st.permutations(rows))
    other = report(complete(shuffled), functions=FUNCTIONS)
    assert (whole.tally.mix(), whole.tensor.active, whole.confidence) == (other.tally.mix(), other.tensor.active, other.confidence)  # fmt: skip  # noqa: E501
    cut = data.draw(st.integers(0, len(rows)))
    named = [r for r in rows if r.mnemonic]
    parts = [part for part in (named[:cut], named[cut:]) if part]
    if parts:
        split = report(*(complete(part) for part in parts))
        assert split.tally.mix("opcode") == report(complete(named)).tally.mix("opcode")


@given(rows_of, st.data())
def test_losing_what_resolves_never_turns_unknown_or_true_into_false(rows: list[CountRow], data: st.DataObject) -> None:
    before = report(complete(rows), functions=FUNCTIONS)
    less = data.draw(st.sampled_from(["listing", "name", "architecture", "completeness"]))
    worse = complete(
        [CountRow(name="OPCODE_77", issued=r.issued) if less == "name" and r is rows[0] else r for r in rows],
        arch=None if less == "architecture" else "sm_90",
        gaps=["cut"] if less == "completeness" else [],
    )
    after = report(worse, functions=None if less == "listing" else FUNCTIONS)
    assert after.tally.total == before.tally.total
    # A row that contradicts the code takes what the listing resolved along; once it is gone, that comes back.
    contradicted = any(item.check == "consistent" and item.status == "fail" for item in before.evidence)
    if less in {"listing", "name"} and not (less == "name" and contradicted):
        assert after.tally.unresolved >= before.tally.unresolved
    if before.tensor.active is True:
        assert after.tensor.active is not False
    if any(item.status != "pass" for item in after.evidence):  # sm_90 has matrix opcodes, so that a "no" needs proof
        assert after.tensor.active is not False
    if before.tensor.active is None and less != "listing":  # a listing that contradicts the counts makes it unknown
        assert after.tensor.active is not False


@pytest.mark.parametrize(
    ("masks", "active"), [((None, None), True), ((5, 5), True), ((5, 0), True), ((0, 0), False), ((0, None), True)]
)
def test_issued_with_no_lane_on_is_not_active(masks: tuple[int | None, int | None], active: bool) -> None:
    rows = [CountRow(mnemonic="HGMMA.64x8x16.F32", issued=5, active=mask) for mask in masks]
    rows.append(CountRow(mnemonic="EXIT", issued=1, active=1))
    found = report(complete(rows))
    assert found.tensor.active is active
    assert ("no lane active" in found.tensor.reason) is not active


def test_sources_that_disagree_are_told() -> None:
    trace = complete([CountRow(mnemonic="FADD", issued=4), CountRow(mnemonic="EXIT", issued=1)])
    profile = complete([CountRow(mnemonic="FADD", issued=5), CountRow(mnemonic="EXIT", issued=1)])
    profile.kind = "ncu-source"
    found = report(trace, profile)
    detail = next(item for item in found.evidence if item.check == "consistent")
    assert (detail.status, found.tally.total) == ("fail", 5)
    assert "FADD: 4 by cutracer-trace, 5 by ncu-source" in detail.detail


def test_a_real_export_with_its_cubin() -> None:
    """A double vector add, a template with a device function and a reduction: the profiler's export and what ran."""
    found = mix([FIXTURES / "counts" / "ncu" / "vecadd.source.csv", FIXTURES / "counts" / "ncu" / "vecadd.cubin"])
    assert {kernel.basis for kernel in found.kernels} == {"dynamic"}
    assert {kernel.listing["how"] for kernel in found.kernels} <= {"exact", "demangled"}
    assert all(kernel.tally.unresolved == 0 and kernel.tensor.active is False for kernel in found.kernels)


TRACE = FIXTURES / "counts" / "cutracer"


@pytest.mark.parametrize("cut", [0.01, 0.5, 0.99])
def test_a_trace_split_in_two_files_is_the_same_trace(cut: float, tmp_path: Path) -> None:
    whole = next(TRACE.glob("*fadd*.ndjson"))
    lines = whole.read_text().splitlines(keepends=True)
    at = max(1, int(len(lines) * cut))
    (tmp_path / "whole").mkdir()
    (tmp_path / "split").mkdir()
    (tmp_path / "whole" / whole.name).write_text("".join(lines))
    (tmp_path / "split" / whole.name).write_text("".join(lines[:at]))
    (tmp_path / "split" / whole.name.replace(".ndjson", ".part2.ndjson")).write_text("".join(lines[at:]))
    one, two = (mix(tmp_path / folder).kernels for folder in ("whole", "split"))
    assert [(k.name, k.tally.mix("opcode"), k.launches, k.warps, k.tensor, k.confidence) for k in one] == [
        (k.name, k.tally.mix("opcode"), k.launches, k.warps, k.tensor, k.confidence) for k in two
    ]


def test_a_named_opcode_that_does_not_stand_in_the_code_contradicts_it() -> None:
    rows = [CountRow(mnemonic="HMMA.16816.F32", issued=32), CountRow(mnemonic="EXIT", issued=32)]
    found = report(complete(rows), functions=FUNCTIONS)
    assert "HMMA was counted, but does not stand in the function" in found.evidence[-1].detail
    assert (found.tensor.active, found.confidence) == (None, "low")


@pytest.mark.parametrize(("pipe", "hfma2", "opcode", "status"), [
    (64.0, 0.0, "HGMMA.64x8x16.F32", "pass"), (64.0, 64.0, "FADD", "pass"), (0.0, 0.0, "FADD", "pass"),
    (64.0, 0.0, "FADD", "fail"), (0.0, 0.0, "HGMMA.64x8x16.F32", "fail"),
])  # fmt: skip
def test_the_hardware_counters_have_a_say(pipe: float, hfma2: float, opcode: str, status: str) -> None:
    rows = [CountRow(mnemonic=opcode, issued=64), CountRow(mnemonic="EXIT", issued=1)]
    found = report(complete(rows, hardware={"tensor": pipe, "tensor_hfma2": hfma2}))
    assert found.evidence[-1].status == status


def test_counts_of_threads_are_called_so() -> None:
    rows = [CountRow(mnemonic="FADD", issued=64), CountRow(mnemonic="EXIT", issued=32)]
    assert report(complete(rows, missing=("warp instructions",))).unit == "thread instructions executed"


def test_two_whole_runs_are_two_launches(tmp_path: Path) -> None:
    whole = next(TRACE.glob("*dmma*.ndjson"))
    text = whole.read_text()
    for folder, place in (("first", "0x7f00a0"), ("second", "0x7f00b0")):  # where the run had its context
        (tmp_path / folder).mkdir()
        (tmp_path / folder / whole.name).write_text(re.sub(r'"ctx": ?"0x[0-9a-f]+"', f'"ctx": "{place}"', text))
    (once,) = mix(whole).kernels
    (twice,) = mix(tmp_path).kernels
    assert once.launches is not None
    assert (twice.tally.total, twice.launches) == (2 * once.tally.total, 2 * once.launches)


@pytest.mark.parametrize(("opcode", "active"), [("FADD", False), ("QFMA4", None), ("UTCMXQMMA", True)])
def test_what_is_only_inferred_proves_nothing(opcode: str, active: bool | None) -> None:
    """A row whose class is a guess may be a matrix opcode after all; one that is guessed to be one counts as one."""
    rows = [CountRow(mnemonic=name, issued=1) for name in (opcode, "EXIT")]
    found = report(complete(rows, arch="sm_100a"))
    assert found.tensor.active is active
    assert active is not None or "inferred" in found.tensor.reason


NUMBERED = [CountRow(name=f"OPCODE_{i}", index=i, issued=1) for i in range(6)]
NAMED = [CountRow(mnemonic=name, issued=1) for name in ("LDC", "EXIT")]
OTHER = parse(CODE.replace("k:", "other:").replace("k,", "other,").replace(" k)", " other)")).functions
TWICE = [*FUNCTIONS, *parse(CODE.replace("sm_90a", "sm_100a")).functions]


@pytest.mark.parametrize(
    ("rows", "functions", "arch", "status", "words"),
    [
        (NUMBERED, [], None, "fail", "no listing is given"),
        (NAMED, [], None, "pass", "there is no listing"),
        (NUMBERED, OTHER, None, "fail", "they are other; give the cubin"),
        (NAMED, OTHER, None, "pass", "they are other"),
        (NUMBERED, TWICE, None, "fail", "sm_100a and sm_90a; --arch says"),
        (NUMBERED, FUNCTIONS, "sm_80", "fail", "it is there for sm_90a"),
        (NAMED, FUNCTIONS, "sm_80", "warn", "it is there for sm_90a"),
    ],
)
def test_mapping_says_what_there_is_instead(
    rows: list[CountRow], functions: list[Function], arch: str | None, status: str, words: str
) -> None:
    found = report(complete(rows, arch=None), functions=functions, arch=arch)
    (mapping,) = [item for item in found.evidence if item.check == "mapping"]
    assert mapping.status == status and words in mapping.detail


def test_a_user_who_contradicts_the_only_listing_of_the_name_is_told() -> None:
    found = report(complete(NAMED, arch=None), functions=FUNCTIONS, arch="sm_80")
    (architecture,) = [item for item in found.evidence if item.check == "architecture"]
    assert architecture.status == "warn" and "sm_90a" in architecture.detail


def test_the_remedy_stands_behind_a_contradiction() -> None:
    found = report(
        complete([CountRow(name=f"OPCODE_{i}", index=i + 1, issued=1) for i in range(6)]), functions=FUNCTIONS
    )
    (consistent,) = [item for item in found.evidence if item.check == "consistent"]
    assert consistent.status == "fail" and "give the listing of the code that ran" in consistent.detail


def test_an_exit_that_may_be_among_unresolved_rows_is_not_said_to_be_missing() -> None:
    found = report(complete(NUMBERED, gaps=[NO_EXIT]))
    (check,) = [item for item in found.evidence if item.check == "complete"]
    assert check.status == "warn" and "not known" in check.detail
