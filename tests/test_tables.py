"""The opcode tables against what disassemblers print, what NVIDIA lists, and what the counters of an H200 counted.

What holds for every table, whoever wrote it, is the contract of `sassmix.testing`: see test_testing.py.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sassmix.arch import OpcodeInfo
from sassmix.plugins import default_plugins

ROOT = Path(__file__).parent.parent
FACTS = ROOT / "fixtures" / "opcodes"
TABLES = sorted((ROOT / "arch_plugins").glob("*.csv"))
HEADER = ["opcode", "category", "group", "datapath", "space", "dtype", "pipe", "knowledge", "source", "description"]
HEADINGS_OF = {
    "maxwell": "maxwell_pascal",
    "pascal": "maxwell_pascal",
    "turing": "turing",
    "ampere": "ampere_ada",
    "ada": "ampere_ada",
    "hopper": "hopper",
    "blackwell": "blackwell",
}
#: On nvdisasm's lists of some targets only; elsewhere a listing that holds one is of another machine.
TARGETS_OF = {
    "HMMA": "70 72 75 80 86 87 88 89 90 90a 100 100a 103a 107a 110a 120a 121a",
    "IMMA": "72 75 80 86 87 88 89 90 90a 100 100a 103a 107a 110a 120a 121a",
    "BMMA": "75 80 86 87 88 89 90 90a",
    "DMMA": "80 86 87 88 89 90 90a 100 100a 103a 107a 110a 120a 121a",
    "QMMA": "89 120a 121a",
    "OMMA": "120a 121a",
    "MXQMMA": "120a 121a",
    "HGMMA": "90 90a",
    "IGMMA": "90 90a",
    "QGMMA": "90 90a",
    "BGMMA": "90 90a",
    "UTCHMMA": "100 100a 103a 107a 110a",
    "UTCQMMA": "100 100a 103a 107a 110a",
    "UTCOMMA": "100 100a 103a 107a 110a",
    "UTCIMMA": "100 100a 110a",
    "UTCMXQMMA": "100 100a",
}


def info(mnemonic: str, arch: str) -> OpcodeInfo:
    """What the installed tables say."""
    return default_plugins().classifier.info(mnemonic, arch)


def rows(name: str) -> list[dict[str, str]]:
    """A table of facts."""
    with (FACTS / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


@cache
def printed() -> dict[str, set[str]]:
    """Target to the opcodes that nvdisasm prints for it."""
    found: dict[str, set[str]] = {}
    for row in rows("printed.tsv"):
        found.setdefault(row["sm"], set()).add(row["opcode"])
    return found


@cache
def launches() -> list[dict[str, Any]]:
    """The measured launches."""
    text = (FACTS / "h200_launches.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def counted(launch: dict[str, Any], facet: Callable[[OpcodeInfo], str | None]) -> Counter[str]:
    """The launch's instructions summed by a facet of the tables."""
    sums: Counter[str] = Counter()
    for mnemonic, count in launch["per_opcode_with_modifiers"].items():
        sums[facet(info(mnemonic, "sm_90a")) or ""] += count
    return sums


@pytest.mark.parametrize("target", sorted(printed()))
def test_printed_opcodes_are_known(target: str) -> None:
    for opcode in sorted(printed()[target]):
        found = info(opcode, target)
        assert found.known, f"{opcode} is missing on {target}"
        assert found.category and found.datapath and found.source and found.description, f"{opcode} on {target}"


@pytest.mark.parametrize("target", sorted(printed()))
def test_what_is_not_printed_has_another_source(target: str) -> None:
    table = default_plugins().registry.require(target)
    for opcode in sorted(set(table.opcodes) - printed()[target]):
        row = table.opcodes[opcode]
        witness = any(words in row.source for words in ("12.x", "encoding", "other tools"))
        assert row.knowledge == "documented" or witness, f"{opcode} on {target}: who says so?"


def test_opcodes_stay_on_the_targets_that_print_them() -> None:
    """An opcode that one target of a family prints is on no target of it that does not."""
    registry = default_plugins().registry
    for row in rows("headings.tsv"):
        of_family = [t for t in printed() if HEADINGS_OF.get(registry.require(t).architecture.family) == row["family"]]
        if any(row["opcode"] in printed()[t] for t in of_family):
            for target in of_family:
                proved = row["opcode"] in printed()[target]
                assert info(row["opcode"], target).known == proved, f"{row['opcode']} on {target}"


@pytest.mark.parametrize("target", sorted(printed()))
def test_group_is_the_heading(target: str) -> None:
    table = default_plugins().registry.require(target)
    family = HEADINGS_OF.get(table.architecture.family, "turing")
    headings = {row["opcode"]: row["heading"] for row in rows("headings.tsv") if row["family"] == family}
    for opcode, row in table.opcodes.items():
        measured = "Conversion" if opcode == "F2FP" else ""
        assert row.group == headings.get(opcode, measured), f"{opcode} on {target}"
        assert (row.knowledge == "documented") == (opcode in headings), f"{opcode} on {target}"


@pytest.mark.parametrize("opcode", sorted(TARGETS_OF))
def test_matrix_opcodes_exist_only_where_printed(opcode: str) -> None:
    expected = {f"sm_{target}" for target in TARGETS_OF[opcode].split()}
    for target in printed():
        known = info(opcode, target).known
        if target in {"sm_100f", "sm_101a"}:
            assert known == info(opcode, {"sm_100f": "sm_100a", "sm_101a": "sm_110a"}[target]).known
        else:
            assert known == (target in expected), f"{opcode} on {target}"


def test_the_category_tensor_holds_the_matrix_opcodes_only() -> None:
    found = {
        row.opcode for table in default_plugins().registry.tables() for row in table.opcodes.values() if row.tensor
    }
    assert found == set(TARGETS_OF)


@pytest.mark.parametrize(
    ("opcode", "target", "known"),
    [
        ("HGMMA", "sm_100", False),
        ("UTCHMMA", "sm_120", False),
        ("QMMA", "sm_90", False),
        ("QMMA", "sm_89", True),
        ("UTMALDG", "sm_120", True),
        ("LDTM", "sm_120a", False),
        ("VIADD", "sm_110a", False),
        ("LDT", "sm_100f", True),
        ("LDT", "sm_121", False),
        ("R2B", "sm_86", True),
        ("RTT", "sm_89", False),
        ("IDP", "sm_60", False),
        ("ISUB", "sm_35", True),
    ],
)
def test_opcode_on_target(opcode: str, target: str, known: bool) -> None:
    assert info(opcode, target).known == known


def test_variants_of_a_target_agree() -> None:
    registry = default_plugins().registry
    for target, table in registry:
        assert registry.require(target.rstrip("af")) is table


def test_groups_give_the_profilers_categories_exactly() -> None:
    for launch in launches():
        sums = counted(launch, lambda found: found.group or "Other")
        assert dict(sums) == launch["per_category"], launch["kernel"]


@pytest.mark.parametrize(
    ("pipe", "tolerance", "at_least"),
    [
        ("fp64", 0.0, 1.0),
        ("tensor", 0.0, 1.0),
        ("tma", 0.0, 1.0),
        ("xu", 0.0, 0.95),
        ("xu", 0.01, 0.95),
        ("fma", 0.01, 0.99),
        ("alu", 0.01, 0.97),
        ("uniform", 0.0, 0.98),
        ("cbu", 0.01, 0.95),
    ],
)
def test_pipes_fit_the_counters(pipe: str, tolerance: float, at_least: float) -> None:
    fits = list(_fits(pipe, tolerance))
    assert fits and sum(fits) / len(fits) >= at_least, f"{sum(fits)} of {len(fits)}"


def _fits(pipe: str, tolerance: float) -> Iterator[bool]:
    for launch in launches():
        expected, measured = counted(launch, lambda found: found.pipe)[pipe], launch["pipes"].get(pipe, 0)
        if expected or measured:
            yield abs(expected - measured) <= tolerance * max(expected, measured)


def test_load_store_pipe_fits_in_micro_kernels() -> None:
    """Only there: an access of real code may be counted more than once."""
    micro = [launch for launch in launches() if launch["source"] == "micro"]
    exact = [counted(launch, lambda found: found.pipe)["lsu"] == launch["pipes"].get("lsu", 0) for launch in micro]
    assert sum(exact) >= 0.95 * len(micro), f"{sum(exact)} of {len(micro)}"


def test_texture_pipe_fits_with_one_count_per_error_barrier() -> None:
    """ERRBAR and CGAERRBAR come in pairs and the pipe counts one of the two, so neither row names the pipe.

    A kernel of bulk copies counts four that no opcode explains.
    """
    odd = []
    for launch in launches():
        barriers = counted(launch, lambda found: found.opcode)["ERRBAR"]
        if counted(launch, lambda found: found.pipe)["tex"] + barriers != launch["pipes"].get("tex", 0):
            odd.append(launch["kernel"].partition("(")[0])
    assert odd == ["k_bulk"]


def test_pipes_are_told_on_hopper_only() -> None:
    for target, table in default_plugins().registry:
        assert bool([pipe for pipe in table.pipes.values() if pipe]) == (target in {"sm_90", "sm_90a"})


@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_100a"])
def test_hfma2_mma_is_no_matrix_work(target: str) -> None:
    found = info("HFMA2.MMA", target)
    assert (found.category, found.pipe, found.tensor) == ("float.fp16", "tensor", False)
    assert info("HFMA2", target).pipe == ("fma" if target == "sm_90a" else None)


@pytest.mark.parametrize(
    ("mnemonic", "facet", "value"),
    [
        ("IMAD.MOV.U32", "intent", "movement"),
        ("IMAD.SHL.U32", "intent", "integer.logic"),
        ("IMAD.IADD", "intent", "integer.arithmetic"),
        ("HADD2.F32", "intent", "conversion"),
        ("HADD2.F32", "dtype", "f32"),
        ("HMMA.16816.F32", "dtype", "f16"),
        ("HMMA.16816.F32.BF16", "dtype", "bf16"),
        ("HGMMA.64x8x8.F32.TF32", "dtype", "tf32"),
        ("IMMA.16832.U8.U8.SAT", "dtype", "u8"),
        ("QGMMA.64x200x32.F16.E5M2.E5M2", "dtype", "e5m2"),
        ("I2F.F64.S64", "dtype", "f64"),
        ("F2I.S64.F64.TRUNC", "dtype", "s64"),
        ("F2FP.BF16.F32.PACK_AB", "dtype", "bf16"),
        ("F2FP.F16.E4M3.UNPACK_B", "dtype", "f16"),
        ("F2F.F64.F32", "dtype", None),
        ("ISETP.GE.U32.AND", "dtype", "u32"),
        ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", "dtype", "f32"),
        ("LDG.E.64", "dtype", None),
    ],
)
def test_modifiers_change_facets(mnemonic: str, facet: str, value: str | None) -> None:
    assert getattr(info(mnemonic, "sm_90a"), facet) == value


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_table_has_every_column_and_a_description_in_every_row(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as handle:
        reader = csv.DictReader(handle, strict=True)
        table = list(reader)
    assert reader.fieldnames == HEADER
    for row in table:
        assert row["description"].strip(), row["opcode"]
        assert all(value == value.strip() for value in row.values()), row["opcode"]
