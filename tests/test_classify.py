"""One mnemonic, and many counted: what is not known is said, and nothing is ever lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix.arch import CATEGORIES, FACETS, OpcodeInfo
from sassmix.classify import Classifier, agreement, check_answer
from sassmix.errors import PluginError, UnknownArchitectureError
from sassmix.plugins import default_plugins
from sassmix.registry import Registry, Table
from sassmix.tally import UNCLASSIFIED, UNRESOLVED, Tally, merged, tally
from tests.conftest import architecture, registered, row, rule

BY = (*FACETS, "opcode")
ARCHS: list[str | None] = [None, "sm_61", "sm_90a", "sm_100a", "sm_120", "sm_999"]


def classifier() -> Classifier:
    return default_plugins().classifier


@cache
def all_opcodes() -> list[str]:
    return sorted({opcode for table in default_plugins().registry.tables() for opcode in table.opcodes})


@st.composite
def mnemonics(draw: st.DrawFn) -> str:
    """Known opcodes and unknown ones, with modifiers that are known and ones that are not."""
    opcode = draw(st.sampled_from(all_opcodes()) | st.from_regex(r"[A-Z]{2,8}", fullmatch=True))
    known = st.sampled_from(["MMA", "MOV", "U32", "F32", "64", "WIDE", "E", "SYS", "16816"])
    return ".".join([opcode, *draw(st.lists(known | st.from_regex(r"[A-Z0-9]{1,4}", fullmatch=True), max_size=3))])


counts = st.dictionaries(mnemonics(), st.integers(0, 10**12), max_size=12)
unresolved = st.dictionaries(st.from_regex(r"OPCODE_[0-9]{1,3}|\?", fullmatch=True), st.integers(0, 10**9), max_size=3)


def one(mnemonic: str, arch: str | None = "sm_90a") -> OpcodeInfo:
    return classifier().info(mnemonic, arch)


@pytest.mark.parametrize(
    ("mnemonic", "arch", "category", "facets"),
    [
        ("HFMA2.MMA", "sm_90a", "float.fp16", {"pipe": "tensor", "tensor": False}),
        ("HFMA2.MMA.BF16_V2", "sm_100a", "float.fp16", {"pipe": "tensor", "dtype": "bf16", "tensor": False}),
        ("HFMA2", "sm_90a", "float.fp16", {"pipe": "fma", "tensor": False}),
        ("IMAD.MOV.U32", "sm_90a", "integer.arithmetic", {"intent": "movement"}),
        ("IMAD.MOV", "sm_75", "integer.arithmetic", {"intent": "movement"}),
        ("IMAD.WIDE", "sm_90a", "integer.arithmetic", {"intent": "integer.arithmetic"}),
        ("IMMA.16816.S8.S8", "sm_90a", "tensor", {"tensor": True, "dtype": "s8"}),
        ("UTCHMMA.2CTA", "sm_100a", "tensor", {"tensor": True, "datapath": "uniform"}),
        ("UTMALDG.2D", "sm_100a", "memory.bulk", {"tensor": False}),
        ("UIADD3", "sm_90", "integer.arithmetic", {"datapath": "uniform"}),
    ],
)
def test_what_the_contract_names(mnemonic: str, arch: str, category: str, facets: dict[str, object]) -> None:
    info = one(mnemonic, arch)
    assert (info.known, info.category) == (True, category)
    assert {name: getattr(info, name) for name in facets} == facets


@given(mnemonic=mnemonics(), arch=st.sampled_from(ARCHS))
def test_an_answer_keeps_its_question_and_is_whole_or_empty(mnemonic: str, arch: str | None) -> None:
    info = one(mnemonic, arch)
    assert (info.mnemonic, info.opcode, info.arch) == (mnemonic, mnemonic.split(".", maxsplit=1)[0], arch)
    assert ".".join([info.opcode, *info.modifiers]) == mnemonic
    if info.known:
        assert info.category in CATEGORIES and info.knowledge and info.plugin
        assert info.tensor == (info.category == "tensor")
    else:
        assert (info.category, info.tensor, info.pipe, info.plugin) == (None, False, None, None)


@given(mnemonic=mnemonics(), arch=st.sampled_from(ARCHS))
def test_a_modifier_changes_no_category(mnemonic: str, arch: str | None) -> None:
    bare = one(mnemonic.split(".", maxsplit=1)[0], arch)
    assert (one(mnemonic, arch).known, one(mnemonic, arch).category) == (bare.known, bare.category)


@given(opcode=st.from_regex(r"[A-Z]{3,9}", fullmatch=True), arch=st.sampled_from(ARCHS))
def test_an_opcode_that_no_table_has_is_unknown(opcode: str, arch: str | None) -> None:
    assert one(f"{opcode}QQ.X", arch).known == (f"{opcode}QQ" in all_opcodes())


@given(mnemonic=mnemonics())
def test_an_unknown_architecture_knows_nothing_and_refuses_to_explain(mnemonic: str) -> None:
    assert not one(mnemonic, "sm_999").known
    with pytest.raises(UnknownArchitectureError, match="sm_999"):
        sassmix.explain(mnemonic, arch="sm_999")


def test_without_an_architecture_a_facet_is_what_all_agree_on() -> None:
    registry, _ = registered(
        architecture("a", 70, rows=[row("X", "warp", space="shared", pipe="alu"), row("Y", "warp"), row("A")]),
        architecture("b", 80, rows=[row("X", "warp", space="global", pipe="alu"), row("Y", "sync")]),
    )
    asked = Classifier(registry)
    x, y, a = (asked.info(mnemonic, None) for mnemonic in ("X.Q", "Y", "A"))
    assert (x.known, x.category, x.space, x.pipe, x.arch) == (True, "warp", None, "alu", None)
    assert (y.known, y.category) == (False, None), "no category, no classification"
    assert (a.known, a.plugin) == (True, "a-plugin")
    assert x.plugin == "a-plugin, b-plugin"
    assert not asked.info("Z", None).known


@given(mnemonic=mnemonics())
def test_what_all_agree_on_holds_on_each(mnemonic: str) -> None:
    agreed = one(mnemonic, None)
    targets = default_plugins().registry.targets_with(agreed.opcode)
    for facet in FACETS:
        value = getattr(agreed, facet)
        assert value is None or {getattr(one(mnemonic, target), facet) for target in targets} == {value}
    assert agreed.known == (len({one(mnemonic, target).category for target in targets}) == 1)


def test_answers_that_name_no_plugin_add_none() -> None:
    """A plugin's own answer need not."""
    told, untold = one("EXIT"), replace(one("EXIT"), plugin=None)
    assert agreement("EXIT", [untold, told]).plugin == told.plugin
    assert agreement("EXIT", [untold]).plugin is None


def test_knowledge_that_one_only_infers_is_inferred_for_all() -> None:
    answers = [one("EXIT"), OpcodeInfo(**{**one("EXIT").to_dict(), "knowledge": "inferred"})]  # type: ignore[arg-type]
    assert agreement("EXIT", answers).knowledge == "inferred"
    assert agreement("EXIT", answers[:1]).knowledge == "observed"


def test_a_rule_that_changes_the_category_changes_the_intent_unless_it_says_one() -> None:
    rules = [rule("A", "X", category="warp"), rule("A", "Y", category="sync", intent="movement")]
    asked = Classifier(registered(architecture("a", 70, rows=[row("A")], rules=rules))[0])
    infos = [asked.info(mnemonic, "sm_70") for mnemonic in ("A", "A.X", "A.Y")]
    assert [(i.category, i.intent) for i in infos] == [
        ("control", "control"),
        ("warp", "warp"),
        ("sync", "movement"),
    ]


def check(made: Tally, resolved: int, lost: int) -> None:
    """What holds for every tally."""
    found = made.counts()
    assert found["total"] == resolved + lost == found["resolved"] + found["unresolved"]
    assert found["unresolved"] == lost and 0 <= found["unclassified"] <= found["resolved"]
    for by in BY:
        rows = made.mix(by)
        assert sum(r["count"] for r in rows) == found["total"], by
        assert all(0 <= r["share"] <= 1 and r["count"] > 0 for r in rows)
        assert [r["count"] for r in rows] == sorted((r["count"] for r in rows), reverse=True)
        assert len({r[by] for r in rows}) == len(rows) and all(isinstance(r[by], str) and r[by] for r in rows)
        assert abs(sum(r["share"] for r in rows) - bool(rows)) <= 5e-5 * len(rows)
    opcodes = made.opcodes()
    assert sum(o["count"] for o in opcodes) == found["total"]
    assert all(sum(o["forms"].values()) == o["count"] and 0 <= o["share"] <= 1 for o in opcodes)


@given(counts=counts, unresolved=unresolved, arch=st.sampled_from(ARCHS))
def test_a_tally_loses_nothing(counts: dict[str, int], unresolved: dict[str, int], arch: str | None) -> None:
    made = tally(classifier(), arch, counts, unresolved)
    check(made, sum(counts.values()), sum(unresolved.values()))
    for by in FACETS:
        sums = {r[by]: r["count"] for r in made.mix(by)}
        assert sums.get(UNRESOLVED, 0) == made.unresolved and sums.get(UNCLASSIFIED, 0) == made.unclassified
    for name, count in (*counts.items(), *unresolved.items()):
        assert sum(r.count for r in made.rows if r.name == name) == count


@given(counts=counts, unresolved=unresolved, arch=st.sampled_from(ARCHS))
def test_confidence_is_low_only_for_what_is_not_known(
    counts: dict[str, int], unresolved: dict[str, int], arch: str | None
) -> None:
    made = tally(classifier(), arch, counts, unresolved)
    low = sum(r.count for r in made.rows if r.confidence == "low")
    assert low == made.unresolved + made.unclassified
    assert arch or all(r.confidence != "high" for r in made.rows)


@given(parts=st.lists(st.tuples(counts, unresolved), max_size=3), arch=st.sampled_from(ARCHS))
def test_mixes_add_up(parts: list[tuple[dict[str, int], dict[str, int]]], arch: str | None) -> None:
    whole: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for resolved, unread in parts:
        whole.update(resolved)
        lost.update(unread)
    made = merged(tally(classifier(), arch, resolved, unread) for resolved, unread in parts)
    check(made, sum(whole.values()), sum(lost.values()))
    assert made == tally(classifier(), arch, whole, lost)


@cache
def without(plugin: str) -> Classifier:
    """The classifier that is left when a plugin is not installed, and its descendants with it."""
    registry = Registry()
    registry.register(
        (table.origin, [table.architecture])
        for table in default_plugins().registry.tables()
        if table.origin.plugin != plugin
    )
    return Classifier(registry)


@given(
    plugin=st.sampled_from(sorted(default_plugins().versions())),
    counts=counts,
    unresolved=unresolved,
    arch=st.sampled_from([arch for arch in ARCHS if arch]),
)
def test_removing_a_plugin_turns_its_opcodes_unclassified_and_loses_no_row(
    plugin: str, counts: dict[str, int], unresolved: dict[str, int], arch: str
) -> None:
    left = without(plugin)
    before, after = (tally(c, arch, counts, unresolved) for c in (classifier(), left))
    check(after, sum(counts.values()), sum(unresolved.values()))
    assert [(r.name, r.count) for r in after.rows] == [(r.name, r.count) for r in before.rows]
    if left.registry.get(arch):
        assert after == before
    else:
        assert after.unclassified == after.total - after.unresolved and after.matrix() == {}


def test_matrix_counts_are_by_opcode() -> None:
    made = tally(classifier(), "sm_90a", {"HMMA.1": 2, "HMMA.2": 3, "IMMA": 1, "HFMA2.MMA": 9, "MOV": 1}, {"HGMMA": 4})
    assert made.matrix() == {"HMMA": 5, "IMMA": 1}


def test_an_empty_tally_has_no_rows() -> None:
    made = tally(classifier(), "sm_90a", {"MOV": 0}, {"?": 0})
    assert (made.rows, made.mix(), made.opcodes(), made.total) == ([], [], [], 0)


def test_targets_are_sorted_once_and_not_for_each_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from sassmix import registry

    asked = Classifier(registered(architecture("a", 90, 75, 80, rows=[row("A")]))[0])
    assert asked.registry.targets_with("A") == ["sm_75", "sm_80", "sm_90"]
    monkeypatch.setattr(registry, "target_key", lambda target: pytest.fail("sorted again"))
    assert not any(asked.info(f"Q{number}", None).known for number in range(10))


@pytest.mark.parametrize(
    "table",
    [t for t in default_plugins().registry.tables() if t.architecture.sm],
    ids=lambda table: table.architecture.name,
)
def test_an_opcode_alone_is_what_its_row_says(table: Table) -> None:
    """Every row of every table, but for the facets that a rule changes for all forms of the opcode."""
    asked = Classifier(default_plugins().registry)
    for opcode, found in table.opcodes.items():
        info = asked.info(opcode, table.architecture.sm[0])
        changed = {f for r in table.rules if not r.modifier and fnmatchcase(opcode, r.opcode) for f in r.facets}
        changed |= {"intent"} if "category" in changed else set()
        wanted = {
            **{name: getattr(found, name, None) or None for name in (*FACETS, "source", "knowledge", "description")},
            "known": True,
            "arch": table.architecture.sm[0],
            "intent": found.category,
            "pipe": table.pipes.get(opcode) or None,
            "tensor": found.category == "tensor",
            "plugin": table.origin.plugin,
        }
        assert {n: getattr(info, n) for n in wanted if n not in changed} == {
            n: value for n, value in wanted.items() if n not in changed
        }


@pytest.mark.parametrize(
    "wrong",
    [
        {"category": "nothing"},
        {"category": None},
        {"pipe": "water"},
        {"tensor": True},
        {"category": "tensor"},
        {"knowledge": "sure"},
    ],
)
def test_a_wrong_answer_is_told_with_the_mnemonic_that_it_is_for(wrong: dict[str, Any]) -> None:
    right = one("EXIT.QQ")
    assert check_answer(right) is right
    with pytest.raises(PluginError, match=r"sassmix_classify's answer for EXIT\.QQ: "):
        check_answer(replace(right, **wrong))


@pytest.mark.parametrize("answer", [True, "tensor", {"category": "tensor"}])
def test_an_answer_of_another_kind_is_told_with_its_kind(answer: object) -> None:
    kind = type(answer).__name__
    with pytest.raises(PluginError, match=f"sassmix_classify gives {kind}, not sassmix.OpcodeInfo; give None"):
        check_answer(answer)


def test_a_plugin_may_say_that_an_opcode_is_not_known() -> None:
    unknown = OpcodeInfo(opcode="Q", mnemonic="Q.X", arch="sm_70", known=False)
    assert check_answer(unknown) is unknown


TWO = registered(
    architecture("a", 70, rows=[row("A"), row("B")], rules=[rule("A", "X*", category="warp"), rule("A", pipe="alu")]),
    architecture("b", 80, 86, rows=[row("A")], rules=[rule("A", "Y", pipe="fma")]),
)[0]


@given(st.lists(st.tuples(st.sampled_from(["A", "A.X", "B.X", "Q"]), st.sampled_from([None, "sm_70", "sm_80"]))))
def test_the_hook_answers_first_and_each_question_is_asked_once(asked: list[tuple[str, str | None]]) -> None:
    """Without an architecture, once for each table that has the opcode."""
    calls: list[tuple[str, str]] = []

    def hook(mnemonic: str, arch: str) -> OpcodeInfo | None:
        calls.append((mnemonic, arch))
        return replace(plain.info("A.X", arch), mnemonic=mnemonic) if mnemonic == "B.X" else None

    plain, hooked = Classifier(TWO), Classifier(TWO, hook)
    for mnemonic, arch in asked:
        found, wanted = hooked.info(mnemonic, arch), plain.info("A.X" if mnemonic == "B.X" else mnemonic, arch)
        if arch:
            assert found == replace(wanted, mnemonic=mnemonic)
        elif mnemonic != "B.X":
            assert found == wanted
    assert len(calls) == len(set(calls)) and all(arch for _, arch in calls)
    assert {(mnemonic, arch) for mnemonic, arch in asked if arch} <= set(calls)


@pytest.mark.parametrize("order", [["sm_70", "sm_80"], ["sm_80", "sm_70"]])
def test_each_architecture_has_its_rules(order: list[str]) -> None:
    """A rule with a pattern is for the opcodes and modifiers that it matches as a whole, wherever they stand."""
    asked = Classifier(TWO)
    wanted: dict[str, dict[str, tuple[str | None, str | None]]] = {
        "sm_70": {
            "A": ("control", "alu"),
            "A.Q.XY": ("warp", "alu"),
            "A.YX": ("control", "alu"),
            "B.X": ("control", None),
        },
        "sm_80": {"A": ("control", None), "A.Q.Y": ("control", "fma"), "A.YX": ("control", None), "B.X": (None, None)},
    }
    for arch in order:
        infos = {mnemonic: asked.info(mnemonic, arch) for mnemonic in wanted[arch]}
        assert {mnemonic: (info.category, info.pipe) for mnemonic, info in infos.items()} == wanted[arch]


@pytest.mark.parametrize("facet", [*FACETS, "tensor", "plugin", "source", "description", "knowledge"])
def test_an_answer_for_all_says_what_the_answers_agree_on(facet: str) -> None:
    first = one("HMMA.16816.F32")
    value = {"tensor": False, "knowledge": "inferred"}.get(facet, "zzz")
    second = replace(first, **{facet: value})  # type: ignore[arg-type]
    found = agreement("HMMA.16816.F32", [first, second])
    others = {name for name in (*FACETS, "tensor", "source", "description") if name != facet}
    assert all(getattr(found, name) == getattr(first, name) for name in others)
    if facet == "plugin":
        assert found.plugin == f"{first.plugin}, zzz"
    elif facet == "knowledge":
        assert found.knowledge == "inferred"
    else:
        assert not getattr(found, facet)
    assert found.known == (facet != "category")
    assert (found.mnemonic, found.opcode, found.arch) == ("HMMA.16816.F32", "HMMA", None)
