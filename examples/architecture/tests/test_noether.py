"""The contract that every architecture keeps, on the table and the listing of this package."""

from pathlib import Path

import sassmix
from sassmix.pytest_plugin import HoldsToContract

LISTING = Path(__file__).parent / "mma.sm_130.sass"


def test_noether(architecture_contract: HoldsToContract) -> None:
    architecture_contract("sm_130", [LISTING])


def test_the_new_opcodes_stand_in_the_report() -> None:
    (kernel,) = sassmix.mix([LISTING]).to_dict()["kernels"]
    rows = {row["opcode"]: row for row in kernel["opcodes"]}
    assert kernel["tensor_core_present"] is True and kernel["counts"]["unclassified"] == 0
    assert {rows[opcode]["confidence"] for opcode in ("CGMMA", "CLDS", "UCLUSTER")} == {"medium"}, "inferred"
    assert rows["IMAD"]["confidence"] == "high", "Blackwell's row"


def test_a_modifier_says_the_type() -> None:
    assert sassmix.explain("CGMMA.64x64x32.E4M3", arch="sm_130").dtype == "e4m3"
    assert sassmix.explain("CGMMA.64x64x16", arch="sm_130").dtype == "f16"


def test_what_is_removed_is_not_known() -> None:
    assert not sassmix.explain("DMMA", arch="sm_130a").known and sassmix.explain("DMMA", arch="sm_100").known
