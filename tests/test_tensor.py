"""The verdict on tensor cores by itself: what makes it yes, no or unknown, and what its reason says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.evidence import CHECKS, Evidence, Status
from sassmix.plugins import default_plugins
from sassmix.tally import Tally, tally
from sassmix.tensor import TensorVerdict, dynamic_verdict, named, static_verdict

PLUGINS = default_plugins()
REGISTRY = PLUGINS.registry
#: A mnemonic of each kind on sm_90a: matrix work, none, none though on the tensor pipe, and one that no table has.
MATRIX, PLAIN = ("HGMMA.64x8x16.F32", "HMMA.16816.F32"), ("FADD", "EXIT", "HFMA2.MMA")
UNKNOWN = "QWIBBLE"


def counted(counts: dict[str, int], unresolved: dict[str, int] | None = None, arch: str = "sm_90a") -> Tally:
    return tally(PLUGINS.classifier, arch, counts, unresolved)


counts = st.dictionaries(st.sampled_from([*MATRIX, *PLAIN]), st.integers(1, 99), min_size=1)
plain = st.dictionaries(st.sampled_from(PLAIN), st.integers(1, 99), min_size=1)
known = st.sampled_from([None, *(TensorVerdict(present, None, "") for present in (True, False, None))])


def evidence(**failing: Status) -> list[Evidence]:
    """The checks, of which all others pass."""
    return [Evidence(check, failing.get(check, "pass"), f"why {check}") for check in CHECKS]


@pytest.mark.parametrize(
    "checks",
    [
        evidence(),
        evidence(consistent="fail"),
        evidence(consistent="warn"),
        evidence(captured="fail"),
        evidence(resolved="warn", mapping="fail", consistent="fail"),
    ],
    ids=lambda checks: " ".join(f"{item.check}:{item.status}" for item in checks if item.status != "pass"),
)
@given(issued=counts, off=st.sets(st.sampled_from(MATRIX)), static=known)
def test_counts_are_believed_as_far_as_their_evidence(
    checks: list[Evidence], issued: dict[str, int], off: set[str], static: TensorVerdict | None
) -> None:
    """``off`` are the opcodes that no lane executed."""
    active = {name: count for name, count in issued.items() if name not in off}
    found = dynamic_verdict(counted(issued), counted(active), checks, arch="sm_90a", registry=REGISTRY, static=static)
    failed = [item for item in checks if item.status != "pass"]
    contradicted = [item for item in failed if item.check == "consistent" and item.status == "fail"]
    ran, seen = set(active) & set(MATRIX), set(issued) & set(MATRIX)
    assert (found.active is True) == bool(ran and not contradicted)
    assert (found.active is False) == (not ran and not failed)
    listed = static.present if static else None
    assert found.present is (listed if contradicted and ran else True if seen else listed)
    told = contradicted if ran else failed
    assert all(item.detail in found.reason for item in told[:3])
    shown = set() if contradicted and ran else ran or seen
    assert all(f"{name.partition('.')[0]} ({issued[name]})" in found.reason for name in shown)
    if not told:
        sure = "issued with no lane active, so not executed" if seen else "no matrix opcode executed"
        assert found.reason.endswith(" executed" if ran else sure)


@pytest.mark.parametrize(("lost", "foreign"), [(0, 0), (3, 0), (0, 3)])
@pytest.mark.parametrize("basis", ["static", "dynamic"])
def test_an_architecture_without_matrix_unit_has_none_unless_it_is_another_one(
    basis: str, lost: int, foreign: int
) -> None:
    made = counted({"FADD": 1, "HMMA": foreign}, {"OPCODE_1": lost}, arch="sm_61")
    doubt = Evidence("resolved", "warn", "a doubt")
    if basis == "static":
        found = static_verdict(made, {}, [doubt.detail], arch="sm_61", registry=REGISTRY)
    else:
        found = dynamic_verdict(made, made, [doubt], arch="sm_61", registry=REGISTRY, static=None)
    sure = not lost and not foreign
    assert (found.present, found.active) == ((False, False) if sure else (None, None))
    assert found.reason == "sm_61 has no matrix opcode" if sure else "a doubt" in found.reason


@given(
    own=plain | counts,
    reached=st.lists(plain | counts, max_size=2),
    doubts=st.lists(st.sampled_from(["d1", "d2"]), unique=True),
)
def test_a_listing_says_yes_for_what_it_reaches_and_no_without_a_doubt(
    own: dict[str, int], reached: list[dict[str, int]], doubts: list[str]
) -> None:
    others = {f"callee{n}": counted(one) for n, one in enumerate(reached)}
    found = static_verdict(counted(own), others, doubts, arch="sm_90a", registry=REGISTRY)
    holders = [one for one in (own, *reached) if set(one) & set(MATRIX)]
    assert found.active is None
    assert found.present is (True if holders else None if doubts else False)
    if holders:
        name, count = next((name, count) for name, count in holders[0].items() if name in MATRIX)
        assert f"{name.partition('.')[0]} ({count})" in found.reason
        where = [own, *reached].index(holders[0])
        assert (f"callee{where - 1}" in found.reason) == (where > 0)
    else:
        assert all(doubt in found.reason for doubt in doubts or ["no matrix opcode stands in the listing"])


@pytest.mark.parametrize(("guess", "present"), [("QFMA4", None), ("UTCMXQMMA", True)])
@pytest.mark.parametrize("called", [True, False])
def test_a_class_that_is_only_inferred_may_be_another_one(guess: str, present: bool | None, called: bool) -> None:
    """An opcode that is guessed to be none may be a matrix opcode; one that is guessed to be one is no doubt."""
    plain, guessed = (counted({name: 1}, arch="sm_100a") for name in ("EXIT", guess))
    own, reached = (plain, {"f": guessed}) if called else (guessed, {})
    listed = static_verdict(own, reached, [], arch="sm_100a", registry=REGISTRY)
    assert listed.present is present
    off = dynamic_verdict(guessed, plain, evidence(), arch="sm_100a", registry=REGISTRY, static=None)
    assert off.active is (False if present else None)
    assert present or all(f"what {guess} does is only inferred" in found.reason for found in (listed, off))


@pytest.mark.parametrize("callee", [counted({UNKNOWN: 1}), counted({"EXIT": 1}, {"OPCODE_3": 1})])
def test_an_opcode_that_is_not_known_in_a_called_function_is_a_doubt(callee: Tally) -> None:
    found = static_verdict(counted({"EXIT": 1}), {"helper": callee}, [], arch="sm_90a", registry=REGISTRY)
    assert found.present is None and "helper has opcodes that are not classified" in found.reason


@given(st.dictionaries(st.sampled_from(["A", "B", "C", "D", "E"]), st.integers(1, 9), min_size=1))
def test_the_most_frequent_are_named_first(matrix: dict[str, int]) -> None:
    shown, _, more = named(matrix).partition(" and ")
    numbers = [int(part.partition("(")[2].rstrip(")")) for part in shown.split("; ")]
    assert numbers == sorted(matrix.values(), reverse=True)[:3]
    assert more == (f"{len(matrix) - 3} more" if len(matrix) > 3 else "")


@pytest.mark.parametrize("ran", [{"HMMA": 3}, {}])
def test_what_another_source_saw_executed_was_executed(ran: dict[str, int]) -> None:
    made = counted({"EXIT": 1})
    found = dynamic_verdict(
        made, made, [], arch="sm_90a", registry=REGISTRY, static=None, elsewhere={"a": {}, "b": ran}
    )
    assert found.active is bool(ran) and (found.reason == "HMMA (3) executed, by b") == bool(ran)
