"""Each check of a kernel's data alone: which status follows from what, and what its sentence names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.classify import Classifier
from sassmix.errors import number_of
from sassmix.evidence import (
    ArchitectureClaim,
    Evidence,
    check_architecture,
    check_resolved,
    confidence,
    few,
    foreign_opcodes,
    verdict,
)
from sassmix.tally import Tally, tally
from tests.conftest import architecture, registered, row

REGISTRY, _ = registered(
    architecture("a", 70, rows=[row("KNOWN"), row("GUESS", knowledge="inferred"), row("OTHER")]),
    architecture("b", 80, rows=[row("KNOWN"), row("FOREIGN")]),
)
WORST_FIRST = ["fail", "warn", "pass"]
STATUSES = st.lists(st.sampled_from(WORST_FIRST), max_size=4)


def counted(arch: str | None = "sm_70", lost: int = 0, **counts: int) -> Tally:
    return tally(Classifier(REGISTRY), arch, counts, {"OPCODE_7": lost})


@given(STATUSES)
def test_the_worst_status_is_the_verdict(statuses: list[str]) -> None:
    worst = next((one for one in WORST_FIRST if one in statuses), "pass")
    assert verdict(statuses) == worst
    evidence = [Evidence("captured", status, "") for status in statuses]  # type: ignore[arg-type]
    assert confidence(evidence) == {"fail": "low", "warn": "medium", "pass": "high"}[worst]


def test_an_entry_of_the_report_is_the_check_itself() -> None:
    assert Evidence("captured", "warn", "why").to_dict() == {"check": "captured", "status": "warn", "detail": "why"}


@given(st.lists(st.sampled_from("abcdef"), max_size=9), st.integers(1, 4))
def test_a_few_reasons_are_the_first_ones_and_the_number_of_the_others(reasons: list[str], most: int) -> None:
    each = list(dict.fromkeys(reasons))
    shown, _, rest = few(reasons, most).partition(" and ")
    assert shown == "; ".join(each[:most])
    assert rest == (f"{len(each) - most} more" if len(each) > most else "")
    assert few(reasons) == few(reasons, 3)


@given(number=st.integers(0, 10**7), what=st.sampled_from(["warp", "launch", "address", "row"]))
def test_a_number_stands_in_front_of_its_noun(number: int, what: str) -> None:
    many = {"launch": "launches", "address": "addresses"}.get(what, f"{what}s")
    told = number_of(number, what, "is", "are")
    assert told == (f"1 {what} is" if number == 1 else f"{number:,} {many} are")
    assert number_of(number, what) == told.rpartition(" ")[0]


@given(known=st.integers(1, 5000), lost=st.integers(0, 9), unknown=st.integers(0, 9), guessed=st.integers(0, 9))
def test_what_is_not_resolved_is_named_with_its_number(known: int, lost: int, unknown: int, guessed: int) -> None:
    """The worst comes first: no instruction, then no class, then a class that is inferred."""
    found = check_resolved(counted(lost=lost, KNOWN=known, QQ=unknown, GUESS=guessed))
    total = known + lost + unknown + guessed
    assert found.check == "resolved"
    if lost:
        assert found.status == ("fail" if lost * 100 > total else "warn")
        assert found.detail == f"{lost} of {total:,} not resolved to an instruction: OPCODE_7"
    elif unknown:
        assert found.status == "warn"
        assert found.detail == f"{unknown} of {total:,} not classified by any plugin: QQ"
    elif guessed:
        assert found.status == "warn"
        assert found.detail == f"all {total:,} resolved, {guessed} only inferred: GUESS"
    else:
        assert (found.status, found.detail) == ("pass", f"all {total:,} resolved and classified")


def test_one_in_a_hundred_without_an_instruction_is_a_blemish() -> None:
    assert [check_resolved(counted(lost=1, KNOWN=known)).status for known in (98, 99)] == ["fail", "warn"]


def test_without_an_architecture_no_knowledge_of_one_is_doubted() -> None:
    assert check_resolved(counted(None, GUESS=1)).status == "pass"


@pytest.mark.parametrize(
    ("claim", "opcode", "status", "said"),
    [
        (ArchitectureClaim(None, None), "KNOWN", "warn", "give --arch"),
        (ArchitectureClaim("sm_99", "sm_99"), "KNOWN", "fail", "no plugin registers sm_99"),
        (ArchitectureClaim("sm_70", "sm_70"), "FOREIGN", "fail", "sm_70 does not have FOREIGN"),
        (ArchitectureClaim("sm_70", "sm_80"), "KNOWN", "warn", "--arch says sm_70, the input says sm_80"),
        (ArchitectureClaim("sm_70", None, "OTHER"), "OTHER", "warn", "sm_70, inferred from OTHER"),
        (ArchitectureClaim("sm_70", "sm_70"), "KNOWN", "pass", "sm_70, by plugin a-plugin"),
        (ArchitectureClaim("sm_70", None), "KNOWN", "pass", "sm_70, by plugin a-plugin"),
    ],
)
def test_what_is_said_of_the_architecture(claim: ArchitectureClaim, opcode: str, status: str, said: str) -> None:
    found = check_architecture(claim, counted(claim.arch, **{opcode: 1}), REGISTRY)
    assert (found.check, found.status) == ("architecture", status)
    assert said in found.detail


@pytest.mark.parametrize("arch", ["sm_70", "sm_80", None])
def test_foreign_is_what_only_others_have(arch: str | None) -> None:
    """Not what nobody has, and nothing where no architecture is meant."""
    foreign = {"sm_70": ["FOREIGN"], "sm_80": ["GUESS", "OTHER"], None: []}[arch]
    made = counted(arch, KNOWN=1, GUESS=1, FOREIGN=1, OTHER=1, QQ=1, lost=1)
    assert sorted(foreign_opcodes(made, REGISTRY)) == foreign
