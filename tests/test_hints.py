"""Hints: questions that the counts carry, each with a counter that exists, and never an answer."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import mix
from sassmix.arch import CATEGORIES
from sassmix.evidence import CHECKS, Evidence
from sassmix.hint_rules import FIRST_TARGET, RULES, SETS, Rule
from sassmix.hints import MEASURES, Facts, Hint, hints
from sassmix.plugins import default_plugins
from sassmix.registry import target_key
from sassmix.tally import Tally, tally
from sassmix.tensor import TensorVerdict
from tests.conftest import FIXTURES

TARGETS = [target for target, _ in default_plugins().registry]
JUDGEMENT = re.compile(r"bottleneck|\bbound\b|\b(slow|fast|time|wait|stall)\w*\b", re.IGNORECASE)
PASSED = tuple(Evidence(check, "pass", "") for check in CHECKS)
MNEMONICS = ("LDL", "FFMA", "IMAD", "I2F.F64", "BAR.SYNC", "HMMA.16816.F32", "SHFL.IDX", "LD.E")
COUNT = st.integers(0, 10**12)
IDS = [f"{number} {rule.of}" for number, rule in enumerate(RULES)]
#: What each measure is read from, at the share of the rule.
FACTS_OF: dict[str, Callable[[float], dict[str, Any]]] = {
    "lanes that took no part": lambda share: {"executed": {"issued": 1000, "threads": round(32000 * (1 - share))}},
    "instructions with no lane on": lambda share: {"executed": {"issued": 1000, "active": round(1000 * (1 - share))}},
    "no matrix opcode, although the code has one": lambda share: {"tensor": TensorVerdict(True, False, "")},
}
#: Metrics that Nsight Compute 2025.3 knows (--query-metrics on every chip, or an export of an H200), its sections.
KNOWN = {
    "sass__inst_executed_register_spilling",
    "sm__inst_executed_pipe_lsu_ops_generic_cmd_read",
    "smsp__average_thread_inst_executed_per_inst_executed",
    "smsp__average_thread_inst_executed_pred_on_per_inst_executed",
    "smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on",
    "smsp__sass_thread_inst_executed_op_conversion_pred_on",
    "smsp__sass_thread_inst_executed_op_fp64_pred_on",
    "smsp__sass_thread_inst_executed_op_integer_pred_on",
    "sm__inst_executed_pipe_fp64",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
    "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2",
    "sm__inst_executed_pipe_tensor_op_gmma",
    "sm__inst_executed_pipe_tensor",
    "sm__inst_executed_pipe_tc",
    "sm__inst_executed_pipe_tma",
    "MemoryWorkloadAnalysis_Tables",
    "WarpStateStats",
    "LaunchStats",
    "SourceCounters",
}


def counted(arch: str | None, counts: dict[str, int], unresolved: int = 0) -> Tally:
    return tally(default_plugins().classifier, arch, counts, {"OPCODE_7": unresolved})


def facts(table: Tally, arch: str | None, basis: str = "dynamic", **more: Any) -> Facts:
    tensor = TensorVerdict(False, False if basis == "dynamic" else None, "")
    made = Facts(tally=table, basis=basis, arch=arch, tensor=tensor, evidence=PASSED)
    return made._replace(**more)


def members(name: str, arch: str) -> Iterator[str]:
    """Mnemonics of a set on a target."""
    wanted = SETS[name]
    table = default_plugins().registry.require(arch)
    suffixes = [p.replace("*", "") for p in wanted.get("mnemonic", "").split()] or [""]
    for opcode, row in sorted(table.opcodes.items()):
        opcode_fits = any(fnmatchcase(opcode, pattern) for pattern in wanted.get("opcode", "*").split())
        if opcode_fits and any(fnmatchcase(row.category, p) for p in wanted.get("category", "*").split()):
            yield f"{opcode}{suffixes[0]}"


def targets(rule: Rule) -> list[str]:
    """The targets that a rule is meant for and that can have what it asks for."""
    meant = [
        t for t in TARGETS if target_key(t)[0] >= FIRST_TARGET and any(fnmatchcase(t, p) for p in rule.archs.split())
    ]
    return [t for t in meant if rule.of in MEASURES or any(members(rule.of, t))]


def raised(rule: Rule, arch: str, share: float, basis: str = "dynamic", unresolved: int = 0) -> list[Hint]:
    """The hints of a rule where what it asks for has a share (of 100,000) and the rest is NOP."""
    part = round(100_000 * share)
    rest = 100_000 - part - unresolved
    made = FACTS_OF.get(rule.of)
    more = made(share) if made else {}
    counts = {"EXIT": 100_000 - unresolved} if more else {next(members(rule.of, arch)): part, "EXIT": rest}
    found = hints(facts(counted(arch, counts, unresolved), arch, basis, **more))
    return [hint for hint in found if hint.question == rule.question]


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_names_what_exists(rule: Rule) -> None:
    assert rule.of in SETS or rule.of in MEASURES
    assert all(name in SETS for name in (rule.more_than, rule.without) if name)
    assert re.sub(r"\.(sum|ratio)$", "", rule.look_at) in KNOWN
    assert rule.source.strip() and targets(rule), "no target has what it asks for"
    assert not rule.without or any(any(members(rule.without, target)) for target in targets(rule))


def test_every_export_that_is_named_as_a_source_has_the_metric() -> None:
    with (FIXTURES / "counts" / "ncu" / "vecadd_op.raw.csv").open(newline="") as file:
        columns = set(next(csv.reader(file)))
    pipes = [
        rule.look_at for rule in RULES if rule.look_at.startswith("sm__inst_executed_pipe_") and "H200" in rule.source
    ]
    assert pipes and not set(pipes) - columns


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_members_and_names_nothing_that_no_target_has(name: str) -> None:
    assert any(any(members(name, target)) for target in TARGETS)
    opcodes = {opcode for table in default_plugins().registry.tables() for opcode in table.opcodes}
    for pattern in SETS[name].get("opcode", "").split():
        assert any(fnmatchcase(opcode, pattern) for opcode in opcodes), pattern
    for pattern in SETS[name].get("category", "").split():
        assert any(fnmatchcase(category, pattern) for category in CATEGORIES), pattern


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_hint_is_a_question_and_no_judgement(rule: Rule) -> None:
    assert rule.question.endswith("?") and not JUDGEMENT.search(f"{rule.of} {rule.question}")


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_rule_asks_from_its_share_on_and_not_below(rule: Rule) -> None:
    for arch in (targets(rule)[0], targets(rule)[-1]):
        above = max(rule.at_least, 0.0001) + 0.01
        assert [hint.look_at for hint in raised(rule, arch, above)] == [rule.look_at], arch
        if rule.at_least:
            assert not raised(rule, arch, rule.at_least - 0.002), arch
        elif rule.of in SETS:
            assert not raised(rule, arch, 0), arch


@pytest.mark.parametrize("rule", RULES, ids=IDS)
def test_a_listing_raises_only_what_it_can_and_says_so(rule: Rule) -> None:
    found = raised(rule, targets(rule)[0], 0.9, "static")
    assert len(found) == (rule.in_code is not None)
    assert all(" in the code" in hint.because for hint in found)
    assert all(" in the code" not in hint.because for hint in raised(rule, targets(rule)[0], 0.9))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.of in SETS], ids=lambda rule: rule.of)
def test_what_is_unknown_silences_what_it_could_outweigh(rule: Rule) -> None:
    arch = targets(rule)[0]
    share = max(rule.at_least, 0.01) + 0.05
    assert raised(rule, arch, share)
    assert not raised(rule, arch, share, unresolved=round(100_000 * (share + 0.01)))
    assert bool(raised(rule, arch, share, unresolved=1)) == (not rule.without)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.without], ids=lambda rule: rule.of)
@pytest.mark.parametrize("basis", ["static", "dynamic"])
def test_the_other_path_silences_the_question(rule: Rule, basis: str) -> None:
    arch = next(t for t in targets(rule) if any(members(rule.without, t)))
    own, other = next(members(rule.of, arch)), next(members(rule.without, arch))
    for counts, asked in (({own: 9, "EXIT": 9}, True), ({own: 9, other: 1, "EXIT": 9}, False)):
        made = facts(counted(arch, counts), arch, basis)
        assert any(hint.question == rule.question for hint in hints(made)) == asked
        gap = [item._replace(status="warn" if item.check == "complete" else "pass") for item in PASSED]
        assert not any(hint.question == rule.question for hint in hints(made._replace(evidence=gap)))


@pytest.mark.parametrize("check", CHECKS)
def test_evidence_that_fails_carries_no_question(check: str) -> None:
    made = facts(counted("sm_90a", {"LDL": 50, "EXIT": 50}), "sm_90a")
    assert hints(made)
    broken = [item._replace(status="fail" if item.check == check else "pass") for item in PASSED]
    # What is not resolved is weighed against each share instead.
    assert bool(hints(made._replace(evidence=broken))) == (check == "resolved")


@pytest.mark.parametrize("arch", [target for target in TARGETS if target_key(target)[0] < FIRST_TARGET])
def test_no_counter_is_named_for_a_chip_that_the_profiler_does_not_know(arch: str) -> None:
    assert hints(facts(counted("sm_75", {"LDL": 50, "EXIT": 50}), "sm_75", "static"))
    assert not hints(facts(counted(arch, {"LDL": 50, "EXIT": 50}), arch, "static"))


@given(counts=st.dictionaries(st.sampled_from(MNEMONICS), st.integers(1, 10**12), min_size=1), unresolved=COUNT)
def test_hints_are_sorted_and_their_shares_are_those_of_the_mix(counts: dict[str, int], unresolved: int) -> None:
    table = counted("sm_90a", counts, unresolved)
    found = hints(facts(table, "sm_90a"))
    assert [hint.share for hint in found] == sorted((hint.share for hint in found), reverse=True)
    for hint in found:
        assert 0 < hint.share <= 1 and hint.share > unresolved / table.total
        local = next((row["share"] for row in table.mix() if row["category"] == "memory.local"), None)
        assert hint.because.split(" ")[0] != "local" or round(hint.share, 4) == local
        assert not JUDGEMENT.search(hint.because) and " 0.0%" not in hint.because


@pytest.mark.parametrize(
    ("executed", "words"),
    [
        ({}, ""),
        ({"issued": 100}, ""),
        ({"issued": 100, "threads": 3200}, ""),
        ({"issued": 100, "threads": 1600}, "lanes that took no part 50.0%"),
        ({"issued": 100, "threads": 0}, "lanes that took no part 100.0%"),
        ({"issued": 100, "active": 100}, ""),
        ({"issued": 100, "active": 60}, "instructions with no lane on 40.0%"),
        ({"issued": 0, "active": 0, "threads": 0}, ""),
    ],
)
def test_lanes_are_asked_after_where_the_data_tells_of_them(executed: dict[str, int], words: str) -> None:
    found = hints(facts(counted("sm_90a", {"FFMA": 100}), "sm_90a", executed=executed))
    assert [hint.because for hint in found] == ([words] if words else [])


def test_real_counts_raise_what_their_kernels_were_written_for() -> None:
    """Kernels of the H200, one per family of instructions."""
    folder = FIXTURES / "counts" / "h200"
    report = mix([folder / "micro.source.csv", folder / "micro.sass"])
    found = {kernel.name: [hint.because for hint in kernel.hints] for kernel in report.kernels}
    for name, words in {
        "_Z5k_barPii": "barriers and fences",
        "_Z5k_casPii": "atomics",
        "_Z5k_recPii": "local memory",
        "_Z6k_ldsmPji": "shared memory",
        "_Z5k_divPii": "lanes that took no part",
        "_Z6k_wmmaPK6__halfPfi": "warp-wide matrix opcodes",
        "_Z9k_cpasyncPK6float4Pfi": "copies by threads",
        "_Z9k_clusterPii": "generic memory",
    }.items():
        assert any(because.startswith(words) for because in found[name]), (name, found[name])
    assert not [because for because in found["_Z6k_faddPfffi"] if because.startswith("warp-wide")]
    assert all(kernel.executed["issued"] == kernel.tally.total for kernel in report.kernels)


def test_a_tracer_of_threads_tells_no_share_of_lanes() -> None:
    files = sorted((FIXTURES / "counts" / "nvbit").glob("*.txt"))
    report = mix(files)
    by_thread = [kernel for kernel in report.kernels if kernel.unit == "thread instructions executed"]
    assert by_thread and all(kernel.executed == {} for kernel in by_thread)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_tables_of_the_docs_are_those_of_the_code() -> None:
    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.1%}" if value else "any"

    text = (FIXTURES.parent / "docs" / "report.md").read_text(encoding="utf-8")
    section = text.partition("\n## Hints\n")[2].partition("\n## ")[0]
    rows = [cells(line) for line in section.splitlines() if line.startswith("| ") and "---" not in line]
    rules = [row for row in rows if len(row) == 7][1:]
    for row, rule in zip(rules, RULES, strict=True):
        assert row[:3] == [rule.of, share(rule.at_least), share(rule.in_code)]
        assert row[4:] == [rule.question, f"`{rule.look_at}`", rule.source]
        assert all(name in row[3] for name in (rule.more_than, rule.without)), row
        assert set(re.findall("`(.*?)`", row[3])) == set(rule.archs.split()) - {"*"}
    sets = {row[0]: set(re.findall("`(.*?)`", row[1])) for row in rows if len(row) == 2 and row[0] != "set"}
    assert sets == {
        name: {p for patterns in wanted.values() for p in patterns.split()} for name, wanted in SETS.items()
    }
