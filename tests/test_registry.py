"""Architectures against one another: inheritance, every check with its message, and order that changes nothing."""

from __future__ import annotations

import re
import string
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.arch import Architecture, load_opcodes, sm
from sassmix.classify import Classifier
from sassmix.errors import PluginError, UnknownArchitectureError
from sassmix.plugins import default_plugins
from sassmix.registry import Registry, Table, target_key
from tests.conftest import architecture, origin, registered, row, rule

BASE = architecture(
    "base",
    70,
    rows=[row("A"), row("B", "movement", pipe="alu"), row("MMA", "tensor")],
    rules=[rule("A", "X*", dtype="f16", intent="movement"), rule("B", "", pipe="fma")],
)


def accepted(*architectures: Architecture) -> Registry:
    registry, errors = registered(*architectures)
    assert errors == []
    return registry


def refused(*architectures: Architecture) -> tuple[Registry, str]:
    """The registry and the one error."""
    registry, errors = registered(*architectures)
    assert len(errors) == 1, [str(error) for error in errors]
    return registry, str(errors[0])


def table(registry: Registry, target: str = "sm_80") -> Table:
    return registry.require(target)


def test_a_child_has_its_parents_rows_and_its_own() -> None:
    child = architecture("child", 80, extends="base", rows=[row("B", "sync"), row("C")], remove=["A"])
    grandchild = architecture("grandchild", 90, extends="child", rows=[row("A", "warp")], remove=["MMA"])
    registry = accepted(BASE, child, grandchild)
    categories = {name: r.category for name, r in table(registry).opcodes.items()}
    assert categories == {"B": "sync", "C": "control", "MMA": "tensor"}
    assert set(table(registry, "sm_90").opcodes) == {"A", "B", "C"}
    assert set(table(registry, "sm_70").opcodes) == {"A", "B", "MMA"}, "a child changes nothing of its parent"


def test_matrix_opcodes_follow_the_rows() -> None:
    child = architecture("child", 80, extends="base", rows=[row("ZMMA", "tensor"), row("AMMA", "tensor")])
    registry = accepted(BASE, child, architecture("none", 90, extends="base", remove=["MMA"]))
    assert table(registry).matrix_opcodes == ("AMMA", "MMA", "ZMMA")
    assert table(registry, "sm_90").matrix_opcodes == ()


def test_a_measured_pipe_is_of_one_architecture_only() -> None:
    child = architecture("child", 80, extends="base", rows=[row("A", pipe="cbu")])
    registry = accepted(BASE, child)
    assert {name: pipe for name, pipe in table(registry).pipes.items() if pipe} == {"A": "cbu"}
    classifier = Classifier(accepted(architecture("base", 70, rows=BASE.opcodes), child))
    assert (classifier.info("B", "sm_70").pipe, classifier.info("B", "sm_80").pipe) == ("alu", None)


def test_a_row_may_repeat_the_parents_with_a_pipe_of_its_own() -> None:
    accepted(BASE, architecture("child", 80, extends="base", rows=[row("B", "movement", pipe="alu")]))


def test_the_first_rule_decides_each_facet_the_childs_before_the_parents() -> None:
    rules = [rule("A", "XY", dtype="f32"), rule("A", "X*", dtype="s8", space="shared")]
    registry = accepted(BASE, architecture("child", 80, extends="base", rules=rules))
    info = Classifier(registry).info("A.Q.XY", "sm_80")
    assert (info.dtype, info.space, info.intent) == ("f32", "shared", "movement")
    other = Classifier(registry).info("A.XZ", "sm_80")
    assert (other.dtype, other.space, other.intent) == ("s8", "shared", "movement")
    parents = Classifier(registry).info("A.XY", "sm_70")
    assert (parents.dtype, parents.space) == ("f16", None)


def test_a_rule_without_a_modifier_holds_for_every_form_and_no_other_opcode() -> None:
    classifier = Classifier(accepted(BASE))
    assert [classifier.info(m, "sm_70").pipe for m in ("B", "B.X", "A", "A.Y")] == ["fma", "fma", None, None]


@pytest.mark.parametrize("modifier", ["x1", "XX.Y", "1X", "Q"])
def test_a_rule_needs_one_whole_modifier(modifier: str) -> None:
    info = Classifier(accepted(architecture("one", 70, rows=[row("A")], rules=[rule("A", "X?", dtype="f16")]))).info(
        f"A.{modifier}", "sm_70"
    )
    assert info.dtype == ("f16" if modifier == "XX.Y" else None)


CHECKS = {
    "a target claimed twice": (
        [BASE, architecture("late", 70, rows=[row("A")])],
        ["late-plugin", "base-plugin", "sm_70", "'late'"],
    ),
    "a name taken": ([BASE, architecture("base", 80)], ["base-plugin", "'base'", "already"]),
    "an unknown parent": (
        [BASE, architecture("child", 80, extends="bsae")],
        ["child-plugin", "'bsae'", "did you mean base?"],
    ),
    "a circle of one": ([BASE, architecture("self", 80, extends="self")], ["self-plugin", "circle", "self -> self"]),
    "removing what the parent lacks": (
        [BASE, architecture("child", 80, extends="base", remove=["MAM"])],
        ["child-plugin", "MAM", "base lacks", "did you mean MMA?"],
    ),
    "removing without a parent": (
        [BASE, architecture("child", 80, rows=[row("A")], remove=["A"])],
        ["child-plugin", "removes A, but extends no other", "name its parent in extends"],
    ),
    "a row removed and given": (
        [BASE, architecture("child", 80, extends="base", rows=[row("A", "sync")], remove=["A"])],
        ["child-plugin", "removes A and has a row for it"],
    ),
    "a row repeated unchanged": (
        [BASE, architecture("child", 80, extends="base", rows=[row("A")])],
        ["child-plugin", "base's row A unchanged", "leave it out"],
    ),
    "a row repeated without its pipe": (
        [BASE, architecture("child", 80, extends="base", rows=[row("B", "movement")])],
        ["child-plugin", "row B unchanged"],
    ),
    "a row twice": (
        [BASE, architecture("child", 80, extends="base", rows=[row("C"), row("C", "sync")])],
        ["child-plugin", "two rows for C"],
    ),
}


@pytest.mark.parametrize(("architectures", "words"), CHECKS.values(), ids=CHECKS)
def test_a_faulty_architecture_is_named_and_left_out(architectures: list[Architecture], words: list[str]) -> None:
    registry, message = refused(*architectures)
    for word in (*words, "-dist 1.2"):
        assert word in message, message
    assert re.search(r"; \w+ \w+", message), f"no remedy: {message}"
    assert [t.architecture for t in registry.tables()] == [BASE]
    assert [target for target, _ in registry] == ["sm_70"]


@pytest.mark.parametrize(("architectures", "words"), CHECKS.values(), ids=CHECKS)
def test_a_faulty_architecture_leaves_the_others(architectures: list[Architecture], words: list[str]) -> None:
    other = architecture("other", 100, extends="base", rows=[row("D")])
    registry, _ = refused(*architectures, other)
    assert set(table(registry, "sm_100").opcodes) == {"A", "B", "MMA", "D"}


@pytest.mark.parametrize("length", [2, 3])
def test_a_circle_is_an_error_and_ends(length: int) -> None:
    names = [f"a{n}" for n in range(length)]
    ring = [architecture(name, 80 + n, extends=names[n - 1]) for n, name in enumerate(names)]
    registry, errors = registered(*ring, BASE, architecture("child", 90, extends="a0"))
    assert [error.plugin for error in errors] == ["a0-plugin", *(f"{n}-plugin" for n in names[1:]), "child-plugin"]
    assert all("which could not be registered" in str(error) for error in errors[1:])
    assert any("circle: " + " -> ".join(["a0", *names[::-1]]) in str(error) for error in errors)
    assert [target for target, _ in registry] == ["sm_70"]


def test_a_child_of_a_faulty_parent_is_an_error_of_its_own() -> None:
    bad = architecture("bad", 80, extends="base", remove=["NO"])
    registry, errors = registered(BASE, bad, architecture("child", 90, extends="bad"))
    assert [error.plugin for error in errors] == ["bad-plugin", "child-plugin"]
    assert "extends 'bad', which could not be registered" in str(errors[1])
    assert [target for target, _ in registry] == ["sm_70"]


def test_what_is_registered_later_is_checked_against_what_was_before() -> None:
    registry = accepted(BASE)
    later = [architecture("base", 80), architecture("late", 70), architecture("child", 90, extends="base")]
    errors = registry.register([(origin("later"), later)])
    assert len(errors) == 2 and all("base-plugin" in str(error) for error in errors)
    assert set(table(registry, "sm_90").opcodes) == {"A", "B", "MMA"}


@st.composite
def families(draw: st.DrawFn) -> list[Architecture]:
    """A forest of architectures that fit together."""
    made: list[Architecture] = []
    has: dict[str | None, dict[str, str]] = {None: {}}
    for number in range(draw(st.integers(1, 7))):
        name = f"a{number}"
        parent = draw(st.sampled_from([None, *(a.name for a in made)]))
        had = has[parent]
        gone = draw(st.sets(st.sampled_from(sorted(had)))) if had else set()
        new = draw(st.dictionaries(st.sampled_from("ABCDEF"), st.sampled_from(["sync", "warp", "tensor"]), max_size=4))
        new = {o: c for o, c in new.items() if o not in gone and had.get(o) != c}
        rules = [rule("*", draw(st.sampled_from("XYZ")), dtype=name)] if draw(st.booleans()) else []
        has[name] = {o: c for o, c in had.items() if o not in gone} | new
        rows = [row(opcode, category) for opcode, category in new.items()]
        made.append(architecture(name, 10 * number + 50, extends=parent, rows=rows, remove=sorted(gone), rules=rules))
    return made


def resolved(registry: Registry) -> dict[str, Any]:
    """Everything that a registry answers from."""
    return {t: (a.architecture, a.origin, a.opcodes, a.pipes, a.rules) for t, a in registry}


@given(data=st.data(), family=families())
def test_the_order_of_registration_changes_nothing(data: st.DataObject, family: list[Architecture]) -> None:
    shuffled = data.draw(st.permutations(family))
    assert resolved(accepted(*shuffled)) == resolved(accepted(*family))


@given(family=families())
def test_a_child_is_its_parent_less_what_is_removed_with_its_own_rows(family: list[Architecture]) -> None:
    registry = accepted(*family)
    tables = {t.architecture.name: t for t in registry.tables()}
    for child in family:
        parent = tables[child.extends].opcodes if child.extends else {}
        expected = {name: r for name, r in parent.items() if name not in child.remove}
        assert tables[child.name].opcodes == expected | {r.opcode: r for r in child.opcodes}


def test_the_order_of_the_own_plugins_changes_nothing() -> None:
    tables = default_plugins().registry.tables()
    backwards = Registry()
    assert backwards.register([(t.origin, [t.architecture]) for t in reversed(tables)]) == []
    assert resolved(backwards) == resolved(default_plugins().registry)


def test_targets_come_in_the_order_of_their_numbers() -> None:
    registry = accepted(architecture("a", 100, "90a", 50, rows=[row("A")]), architecture("b", "100a", 90, 103))
    assert [t for t, _ in registry] == ["sm_50", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103"]
    assert registry.targets_with("A") == ["sm_50", "sm_90a", "sm_100"]


def test_a_name_without_a_number_comes_before_every_target() -> None:
    names = ["sm_100", "none", "sm_1", "sm_0", "compute"]
    assert sorted(names, key=target_key) == ["compute", "none", "sm_0", "sm_1", "sm_100"]


@pytest.mark.parametrize(
    ("others", "said"), [([], "none"), ([BASE], "base"), ([BASE, architecture("b2", 75)], "base, b2")]
)
def test_an_unknown_parent_says_which_there_are(others: list[Architecture], said: str) -> None:
    _, message = refused(*others, architecture("child", 80, extends="zzzz"))
    assert f"'zzzz', which no plugin has; there are {said}" in message


def test_an_unknown_target_has_near_names() -> None:
    registry = accepted(architecture("a", 100, "100a"))
    with pytest.raises(UnknownArchitectureError, match=r"sm_1000.*did you mean sm_100"):
        registry.require("sm_1000")
    with pytest.raises(UnknownArchitectureError, match="sassmix archs"):
        registry.require("sm_37")
    assert registry.get("sm_37") is None and registry.get(None) is None and "sm_37" not in registry


@given(number=st.integers(10, 9999), letter=st.sampled_from(["", "a", "f"]), data=st.data())
def test_every_spelling_of_a_target_is_one_name(number: int, letter: str, data: st.DataObject) -> None:
    prefix = data.draw(st.sampled_from(["", "sm_", "SM", "sm", "compute_", "  sm_"]))
    spelled = f"{prefix}{number}{data.draw(st.sampled_from([letter, letter.upper()]))}"
    assert sm(spelled) == (f"sm_{number}{letter}",) == sm(*sm(spelled))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("sm_9O", "did you mean sm_90 or"),
        ("Hopper", "hopper is sm_90, sm_90a"),
        ("sm_999", "did you mean sm_90"),
        ("sm_1000", "did you mean sm_100"),
        ("zzz", "write it as sm_90 or sm_100a"),
    ],
)
def test_what_a_person_means_has_a_hint(text: str, hint: str) -> None:
    with pytest.raises(UnknownArchitectureError, match=hint):
        default_plugins().registry.named(text)
    assert default_plugins().registry.named("90A") == "sm_90a"


def test_a_letter_alone_is_no_target() -> None:
    with pytest.raises(UnknownArchitectureError, match=r'write the whole target, sm\(200, "200a"\)'):
        sm(200, "a")


@pytest.mark.parametrize("text", ["", "sm_", "hopper", "90b", "sm_90aa", "sm_0", "9", "sm_90 a", "12345", "-90", "٩٠"])
def test_what_is_no_target_is_said(text: str) -> None:
    with pytest.raises(UnknownArchitectureError, match="write it as sm_90"):
        sm(text)


@pytest.mark.parametrize(
    "text", ["90-100", "sm_90-sm_100", "90..100", "sm_90+", "9x", "sm_9x", ">=90", "<100", "90,100", "90 to 100", "10*"]
)
def test_what_means_several_targets_is_told_to_name_each(text: str) -> None:
    with pytest.raises(UnknownArchitectureError, match=r"targets are exact, never ranges.*sm\(90, 100\)"):
        sm(text)


@pytest.mark.parametrize("several", [range(90, 100), (90, 100), [90, 100], {"90": 1, "100": 2}])
def test_several_targets_in_one_argument_are_told_to_be_named_each(several: Any) -> None:
    with pytest.raises(UnknownArchitectureError, match=r"sm\(90, 100\)"):
        sm(several)


@pytest.mark.parametrize("number", [True, 90.0, None, -90, 9, 12345])
def test_a_number_that_is_no_target_is_said(number: Any) -> None:
    with pytest.raises(UnknownArchitectureError, match="write it as sm_90"):
        sm(number)


@pytest.mark.parametrize("targets", ["sm_130", "130", 130, range(130, 140)])
def test_targets_that_are_not_in_a_tuple_are_said(targets: Any) -> None:
    with pytest.raises(PluginError, match=r"architecture 'x': sm is .*; name each target: sm=sm\("):
        Architecture(name="x", sm=targets)


@pytest.mark.parametrize("spelled", [("130", 130), ("sm_130a", "130A"), ("compute_130", 140, "sm_130")])
def test_a_target_in_two_spellings_stands_twice(spelled: tuple[int | str, ...]) -> None:
    with pytest.raises(PluginError, match="stands twice in sm; leave one out"):
        architecture("x", *spelled)


@pytest.mark.parametrize("field", ["opcodes", "remove", "modifier_rules"])
@pytest.mark.parametrize("value", ["text", 3, None, [3], [None], row("A"), rule("A", "X", dtype="f16")])
def test_a_field_that_holds_something_else_is_named(field: str, value: Any) -> None:
    with pytest.raises(PluginError, match=rf"architecture 'x': {field} (is|holds) .*; give ") as caught:
        Architecture(name="x", **{field: value})
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "item"), [("opcodes", row("A")), ("remove", "A"), ("modifier_rules", rule("A", "X", dtype="f16"))]
)
def test_any_collection_becomes_a_tuple(field: str, item: Any) -> None:
    for items in ([item], iter([item]), {"k": item}.values()):
        made: dict[str, Any] = {"name": "x", field: items}
        assert getattr(Architecture(**made), field) == (item,)


@pytest.mark.parametrize("given", [{"name": None}, {"name": ""}, {"name": 3}, {"extends": BASE}, {"extends": 3}])
def test_a_name_is_a_text(given: dict[str, Any]) -> None:
    with pytest.raises(PluginError, match=f"{next(iter(given))} is .*; write a name in quotes"):
        Architecture(**{"name": "x", **given})


@pytest.mark.parametrize(
    ("remove", "category", "words"),
    [((), "control", "repeats base's row A unchanged"), (("A",), "sync", "removes A and has a row for it")],
)
def test_an_error_of_a_row_names_file_and_row(
    tmp_path: Path, remove: tuple[str, ...], category: str, words: str
) -> None:
    path = tmp_path / "chip.csv"
    path.write_text(f"opcode,category,knowledge,source\nC,sync,observed,a test\nA,{category},observed,a test\n")
    child = architecture("child", 80, extends="base", rows=load_opcodes(path), remove=remove)
    _, message = refused(BASE, child)
    assert "chip.csv, row 3: " in message and words in message


@given(
    pattern=st.text("AZaz09_*?[]!.- ", max_size=6),
    names=st.lists(st.from_regex("[A-Z_][A-Z0-9_]{0,4}", fullmatch=True)),
)
def test_a_pattern_is_refused_only_if_it_matches_no_opcode(pattern: str, names: list[str]) -> None:
    try:
        rule(pattern, dtype="f16")
    except PluginError as error:
        assert "can match no opcode" in str(error)
        assert not any(fnmatchcase(name, pattern) for name in names)


@given(
    pattern=st.text("AZaz09_*?[]!.- ", max_size=6), names=st.lists(st.from_regex("[A-Za-z0-9_]{1,5}", fullmatch=True))
)
def test_a_pattern_is_refused_only_if_it_matches_no_modifier(pattern: str, names: list[str]) -> None:
    try:
        rule("A", pattern, dtype="f16")
    except PluginError as error:
        assert "can match no modifier" in str(error)
        assert not any(fnmatchcase(name, pattern) for name in names)


@given(
    name=st.from_regex("[A-Z_][A-Z0-9_]{0,9}", fullmatch=True),
    modifier=st.from_regex("[A-Za-z0-9_]{1,9}", fullmatch=True),
)
def test_every_opcode_and_modifier_is_a_pattern(name: str, modifier: str) -> None:
    assert rule(name, modifier, dtype="f16") and rule(f"{name}*", f"*{modifier}", dtype="f16")


@pytest.mark.parametrize(
    ("facets", "words"),
    [
        ({"categry": "sync"}, "no facet 'categry'; did you mean category"),
        ({"category": "snyc"}, "'snyc' is not one of its values; did you mean sync"),
        ({"pipe": "tensro"}, "did you mean tensor"),
        ({"intent": "movment"}, "intent 'movment' is not one of its values; did you mean movement"),
        ({"dtype": 16}, "dtype 16 is not a text"),
        ({"category": ""}, "category '' is not one"),
        ({"datapath": ""}, "datapath '' is not one"),
        ({"category": "tensor"}, "makes no matrix opcode"),
        ({}, "change nothing; write them as"),
        ({"zzz": "x"}, "no facet 'zzz'; there are category, group"),
        ({"pipe": "zzz"}, "is not one of its values; there are adu"),
    ],
)
def test_a_rule_is_checked_when_it_is_made(facets: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words) as caught:
        rule("A", "X", **facets)
    assert "rule A.X" in str(caught.value)


@pytest.mark.parametrize("first", string.ascii_uppercase + "_")
def test_an_opcode_with_any_first_letter_is_a_pattern(first: str) -> None:
    assert [rule(pattern, dtype="f16").opcode for pattern in (first, f"{first}9_*", f"[{first}]?", f"*{first}")]


def test_a_registry_before_anything_is_registered_has_nothing() -> None:
    empty = Registry()
    assert (list(empty), empty.tables(), empty.targets_with("A"), empty.get("sm_70")) == ([], [], [], None)
    assert "sm_70" not in empty
    with pytest.raises(UnknownArchitectureError, match="no plugin registers the architecture sm_70"):
        empty.require("sm_70")


@pytest.mark.parametrize("text", ["chip", "Chip", "CHIP", "chips of acme", "Chips of Acme", " CHIPS OF ACME "])
def test_the_name_of_an_architecture_or_its_family_names_its_targets(text: str) -> None:
    """In any case of letters; the targets of all that share the family."""
    chip = replace(architecture("Chip", 90, 80, rows=[row("A")]), family="Chips of Acme")
    other = replace(architecture("other", 100, extends="Chip"), family="Chips of Acme")
    wanted = "sm_80, sm_90" if text.lower() == "chip" else "sm_80, sm_90, sm_100"
    with pytest.raises(UnknownArchitectureError) as told:
        accepted(chip, other, BASE).named(text)
    assert str(told.value).endswith(f"; {text.strip().lower()} is {wanted}")
