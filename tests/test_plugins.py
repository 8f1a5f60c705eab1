"""Discovery: a plugin that fails in any way is named with its distribution, and the rest keep working."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

import sassmix
from sassmix import discovery
from sassmix.arch import Architecture, OpcodeInfo
from sassmix.errors import PluginError
from sassmix.plugins import Candidate, Plugins, default_plugins, hook_names
from sassmix.registry import Origin
from tests.conftest import (
    FIXTURES,
    Command,
    Distribution,
    architecture,
    candidate,
    loaded,
    origin,
    plugin,
    row,
    with_architectures,
)

GOOD = with_architectures("good", architecture("good", 70, rows=[row("A"), row("B")]))
LAST = with_architectures("last", architecture("last", 80, rows=[row("Z")]))
HOPPER = FIXTURES / "listings" / "saxpy.sm_90a.sass"


def fails(error: BaseException) -> Any:
    raise error


def misspelt(name: str) -> Any:
    function: Callable[[], list[Architecture]] = lambda: []  # noqa: E731
    return plugin(**{name: function})


def other_arguments() -> Any:
    def sassmix_classify(mnemonic: str, chip: str) -> None: ...

    return plugin(sassmix_classify=sassmix_classify)


def own_error() -> Any:
    raise PluginError("t.csv, row 3: wrong")


def architectures_are(value: Any) -> Any:
    return plugin(sassmix_architectures=lambda: value)


#: What a candidate loads to, and what its error says.
BROKEN: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "no such module": (partial(importlib.import_module, "sassmix_no_such"), ["ModuleNotFoundError", "sassmix_no_such"]),
    "an exception at import": (lambda: fails(ValueError("at import")), ["cannot be loaded: ValueError: at import"]),
    "an exit at import": (lambda: fails(SystemExit(3)), ["cannot be loaded: SystemExit: 3"]),
    "an exception of no kind": (lambda: fails(BaseException("x")), ["cannot be loaded: BaseException: x"]),
    "a table that is wrong": (own_error, ["t.csv, row 3: wrong"]),
    "a misspelt hook": (
        lambda: misspelt("sassmix_architecture"),
        ["no hook is called 'sassmix_architecture'", "did you mean sassmix_architectures"],
    ),
    "another misspelt hook": (lambda: misspelt("sassmix_clasify"), ["did you mean sassmix_classify"]),
    "a hook of no kind": (lambda: misspelt("sassmix_qqq"), ["no hook is called 'sassmix_qqq'"]),
    "another argument": (other_arguments, ["is given no argument 'chip'", "it takes mnemonic, arch"]),
    "no hook": (lambda: SimpleNamespace(x=1), ["implements no hook", "@sassmix.hookimpl"]),
    "an unmarked hook": (
        lambda: SimpleNamespace(sassmix_architectures=lambda: []),
        ["sassmix_architectures is not marked", "put @sassmix.hookimpl above it"],
    ),
    "names for architectures": (lambda: architectures_are(["sm_90"]), ["gives str, not sassmix.Architecture"]),
    "one architecture, not a list": (
        lambda: architectures_are(architecture("one", 90)),
        ["sassmix_architectures gives one Architecture; give a list of them"],
    ),
    "a text to remove": (
        lambda: plugin(sassmix_architectures=lambda: [Architecture(name="x", remove=cast("Any", "UTCHMMA"))]),
        ["remove is a text; give texts in a tuple: (A, B) or (A,)"],
    ),
    "a target as parent": (
        lambda: architectures_are([architecture("child", 90, extends="sm_70")]),
        ["sm_70", "is a target of 'good'; name the architecture"],
    ),
    "nothing for architectures": (lambda: architectures_are(None), ["gives None, not a list"]),
    "an exception in the hook": (
        lambda: plugin(sassmix_architectures=lambda: fails(ZeroDivisionError("in the hook"))),
        ["sassmix_architectures fails: ZeroDivisionError: in the hook"],
    ),
    "an exit in the hook": (
        lambda: plugin(sassmix_architectures=lambda: fails(SystemExit(3))),
        ["sassmix_architectures fails: SystemExit: 3"],
    ),
    "a wrong table in the hook": (lambda: plugin(sassmix_architectures=own_error), ["t.csv, row 3: wrong"]),
    "a target that is no name": (
        lambda: plugin(sassmix_architectures=lambda: [architecture("x", "hopper")]),
        ["sassmix_architectures fails: UnknownArchitectureError: 'hopper'"],
    ),
    "a taken target": (lambda: architectures_are([architecture("bad", 70)]), ["sm_70", "plugin good already"]),
}


@pytest.mark.parametrize(("load", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_named_and_the_rest_load(load: Callable[[], Any], words: list[str]) -> None:
    plugins = loaded(GOOD, (origin("bad"), load), LAST)
    assert len(plugins.errors) == 1
    for word in ("bad (bad-dist 1.2): ", *words):
        assert word in str(plugins.errors[0])
    assert ("did you mean" in str(plugins.errors[0])) == any("did you mean" in word for word in words)
    assert [target for target, _ in plugins.registry] == ["sm_70", "sm_80"]
    assert plugins.classifier.info("Z.X", "sm_80").known


@pytest.mark.parametrize("load", [load for load, _ in BROKEN.values()], ids=BROKEN)
def test_broken_plugins_do_not_add_up(load: Callable[[], Any]) -> None:
    """Two of one kind are two errors, and what stands between and behind them loads."""
    plugins = loaded((origin("one"), load), LAST, (origin("two"), load), GOOD)
    assert len(plugins.errors) == 2
    assert plugins.registry.get("sm_70") and plugins.registry.get("sm_80")


@pytest.mark.parametrize("load", [fails, lambda error: plugin(sassmix_architectures=lambda: fails(error))])
def test_ctrl_c_in_a_plugin_ends_the_work(load: Callable[[BaseException], Any]) -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded((origin("slow"), lambda: load(KeyboardInterrupt())))


def test_a_plugin_that_did_not_load_is_not_among_the_versions() -> None:
    plugins = loaded(GOOD, (origin("bad"), lambda: fails(ImportError("x"))), LAST)
    assert plugins.versions() == {"good": "1.2", "last": "1.2"}


def test_a_taken_name_is_an_error_that_says_by_whom() -> None:
    second = with_architectures("good", architecture("second", 90))
    plugins = loaded(GOOD, second)
    (error,) = plugins.errors
    assert "its name is taken by good-dist 1.2" in str(error)
    assert [target for target, _ in plugins.registry] == ["sm_70"]


def test_the_name_of_a_plugin_that_failed_is_free() -> None:
    plugins = loaded((origin("good"), lambda: misspelt("sassmix_classfy")), GOOD)
    assert len(plugins.errors) == 1 and plugins.registry.get("sm_70")


def test_one_plugin_may_not_come_under_two_names() -> None:
    module = plugin(sassmix_architectures=lambda: [architecture("good", 70)])
    plugins = loaded(candidate("a", module), candidate("b", module))
    assert [error.plugin for error in plugins.errors] == ["b"] and plugins.registry.get("sm_70")


def test_modules_classes_and_objects_are_plugins() -> None:
    class Methods:
        @sassmix.hookimpl
        def sassmix_architectures(self) -> Iterable[Architecture]:
            yield architecture("methods", 90)

    module = ModuleType("a_module")
    vars(module).update(vars(plugin(sassmix_architectures=lambda: (architecture("module", 100),))))
    plugins = loaded(candidate("methods", Methods()), candidate("module", module))
    assert plugins.errors == [] and [target for target, _ in plugins.registry] == ["sm_90", "sm_100"]


def test_the_hooks_are_the_four_of_the_contract() -> None:
    assert sorted(hook_names()) == [
        "sassmix_architectures",
        "sassmix_classify",
        "sassmix_label_rules",
        "sassmix_readers",
    ]


def answer(mnemonic: str, arch: str, **facets: Any) -> OpcodeInfo:
    facets = {"category": "warp", "plugin": "override", **facets}
    return OpcodeInfo(opcode=mnemonic.partition(".")[0], mnemonic=mnemonic, arch=arch, known=True, **facets)


def overriding(name: str, function: Callable[[str, str], Any]) -> Candidate:
    def sassmix_classify(mnemonic: str, arch: str) -> Any:
        return function(mnemonic, arch)

    return candidate(name, plugin(sassmix_classify=sassmix_classify))


def only(wanted: str) -> Callable[[str, str], OpcodeInfo | None]:
    return lambda mnemonic, arch: answer(mnemonic, arch) if mnemonic == wanted else None


def test_an_override_answers_before_the_table_and_the_table_for_the_rest() -> None:
    plugins = loaded(GOOD, overriding("override", only("A.X")))
    infos = [plugins.classifier.info(m, "sm_70") for m in ("A.X", "A", "B", "NO")]
    assert [(i.plugin, i.category) for i in infos] == [
        ("override", "warp"),
        ("good", "control"),
        ("good", "control"),
        (None, None),
    ]


def test_an_override_answers_where_no_table_does() -> None:
    classifier = loaded(GOOD, overriding("override", only("NEW.X"))).classifier
    assert classifier.info("NEW.X", "sm_130").known and not classifier.info("NEW.Y", "sm_130").known


def test_of_two_overrides_the_first_that_answers_counts() -> None:
    asked: list[str] = []

    def silent(mnemonic: str, arch: str) -> None:
        asked.append(mnemonic)

    for order in ([silent, only("A")], [only("A"), silent]):
        candidates = [overriding(f"p{n}", function) for n, function in enumerate(order)]
        assert loaded(GOOD, *candidates).classifier.info("A", "sm_70").plugin == "override"
    assert asked == ["A"]


def test_an_override_is_asked_once_for_each_mnemonic_and_architecture() -> None:
    asked: list[tuple[str, str]] = []

    def remember(mnemonic: str, arch: str) -> None:
        asked.append((mnemonic, arch))

    classifier = loaded(GOOD, LAST, overriding("override", remember)).classifier
    for _ in range(3):
        for mnemonic in ("A", "A.X", "NO"):
            classifier.info(mnemonic, "sm_70")
            classifier.info(mnemonic, "sm_80")
    assert len(asked) == len(set(asked)) == 6


WRONG_ANSWERS: dict[str, tuple[Callable[[str, str], Any], str]] = {
    "an exception": (lambda *_: fails(KeyError("boom")), "sassmix_classify fails for A.X: KeyError: 'boom'"),
    "a text": (lambda *_: "tensor", "sassmix_classify gives str, not sassmix.OpcodeInfo"),
    "a row": (lambda *_: row("A"), "sassmix_classify gives Opcode, not sassmix.OpcodeInfo"),
    "an exit": (lambda *_: fails(SystemExit(3)), "sassmix_classify fails for A.X: SystemExit: 3"),
    "no category": (lambda *a: answer(*a, category=None), "answer for A.X: the opcode is known, but has no category"),
    "another category": (
        lambda *a: answer(*a, category="wrap"),
        "category 'wrap' is not one of its values; did you mean",
    ),
    "another pipe": (
        lambda *a: answer(*a, pipe="tensro"),
        "pipe 'tensro' is not one of its values; did you mean tensor",
    ),
    "another intent": (lambda *a: answer(*a, intent="x"), "intent 'x' is not one of its values"),
    "another knowledge": (lambda *a: answer(*a, knowledge="guessed"), "knowledge 'guessed' is not one of its values"),
    "a number": (lambda *a: answer(*a, dtype=16), "dtype 16 is not a text"),
    "a hidden matrix opcode": (lambda *a: answer(*a, category="tensor"), "tensor is False in the category tensor"),
    "a matrix opcode that is none": (lambda *a: answer(*a, tensor=True), "tensor is True in the category warp"),
}


@pytest.mark.parametrize(("function", "words"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_a_wrong_answer_is_reported_and_the_table_answers(function: Callable[[str, str], Any], words: str) -> None:
    plugins = loaded(GOOD, overriding("bad", function))
    assert plugins.errors == []
    assert {plugins.classifier.info(mnemonic, "sm_70").plugin for mnemonic in ("A.X", "A.Y", "B")} == {"good"}
    (error,) = plugins.errors
    assert words in str(error) and error.plugin == "bad"


@pytest.mark.parametrize(("function", "words"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
@pytest.mark.parametrize("first", [True, False])
def test_a_wrong_answer_leaves_the_other_overrides(
    function: Callable[[str, str], Any], words: str, first: bool
) -> None:
    both = [overriding("bad", function), overriding("works", only("A.X"))]
    plugins = loaded(GOOD, *(both if first else reversed(both)))
    assert plugins.classifier.info("A.X", "sm_70").plugin == "override"
    assert [error.plugin for error in plugins.errors] == ([] if first else ["bad"]), "the last one is asked first"


def test_an_override_may_take_fewer_arguments() -> None:
    def sassmix_classify(mnemonic: str) -> OpcodeInfo:
        return answer(mnemonic, "sm_70")

    plugins = loaded(GOOD, candidate("short", plugin(sassmix_classify=sassmix_classify)))
    assert plugins.classifier.info("A", "sm_70").plugin == "override" and plugins.errors == []


MODULE = """
import sassmix
from sassmix import discovery
from sassmix import Architecture, Opcode, sm

@sassmix.hookimpl
def {hook}():
    rows = (Opcode(opcode="QQMMA", category="tensor", knowledge="observed", source="acme"),)
    return [Architecture(name="{name}", sm=sm({target}), extends="hopper", opcodes=rows)]
"""
#: Modules that cannot be used, and what the error says.
BROKEN_MODULES = {
    "import": ("import sassmix_not_there\n", "ModuleNotFoundError"),
    "syntax": ("def (:\n", "SyntaxError"),
    "hook": (MODULE.format(hook="sassmix_architecturs", name="x", target=140), "did you mean sassmix_architectures"),
    "empty": ("", "implements no hook"),
    "target": (MODULE.format(hook="sassmix_architectures", name="x", target=90), "nvidia-hopper already"),
    "raises": ("import sassmix\n@sassmix.hookimpl\ndef sassmix_architectures():\n    return 1 / 0\n", "ZeroDivision"),
}


def acme(hook: str = "sassmix_architectures", name: str = "acme", target: int = 130) -> str:
    return MODULE.format(hook=hook, name=name, target=target)


def test_an_installed_plugin_is_found_with_its_distribution(distribution: Distribution) -> None:
    distribution.add("acme-chip", "acme_chip", acme())
    plugins = default_plugins()
    assert plugins.errors == []
    assert plugins.versions()["acme-chip"] == "1.2"
    assert plugins.registry.require("sm_130").origin == Origin("acme-chip", "acme", "1.2")
    info = sassmix.explain("qqmma.X", arch="130")
    assert (info.known, info.tensor, info.plugin) == (True, True, "acme-chip")
    assert "sm_130" in {target for a in sassmix.architectures() for target in a.sm}


@pytest.mark.parametrize(("source", "words"), BROKEN_MODULES.values(), ids=BROKEN_MODULES)
def test_a_broken_installed_plugin_leaves_the_rest(distribution: Distribution, source: str, words: str) -> None:
    distribution.add("a-bad", "acme_bad", source)
    distribution.add("b-good", "acme_good", acme())
    (error,) = default_plugins().errors
    assert str(error).startswith("a-bad (acme 1.2): ") and words in str(error)
    assert sassmix.explain("QQMMA", arch="sm_130").plugin == "b-good"
    assert sassmix.explain("HGMMA", arch="sm_90a").plugin == "nvidia-hopper"


@pytest.mark.parametrize(("source", "words"), BROKEN_MODULES.values(), ids=BROKEN_MODULES)
def test_the_command_warns_and_strict_refuses(
    distribution: Distribution, command: Command, source: str, words: str
) -> None:
    distribution.add("a-bad", "acme_bad", source)
    report = command("mix", HOPPER, "--format", "json")
    assert report.status == 0 and report.err.count(words) == 1 and report.err.count("acme 1.2") == 1
    assert sum(words in p["message"] for p in report.json["problems"]) == 1
    strict = command("mix", HOPPER, "--strict")
    assert (strict.status, strict.out) == (2, "") and words in strict.err and "Traceback" not in strict.err
    for other in (("archs",), ("explain", "HMMA")):
        assert command(*other).status == 0 and command(*other, "--strict").status == 2
    with pytest.raises(PluginError):
        command("mix", HOPPER, "--strict", "--debug")


LISTINGS = "[sassmix.parse('')]"
READER = "def sassmix_readers():\n    return [sassmix.Reader(name='x', sniff=lambda h: {}, read=lambda p: {})]\n"
RULES = "def sassmix_label_rules():\n    return [sassmix.LabelRule(name='x', label=lambda n: {})]\n"
EXIT = "__import__('sys').exit(3)"
#: Plugins that load, and fail when they are used; what the error says.
FAIL_AT_WORK = {
    "classify": ("def sassmix_classify(mnemonic, arch):\n    return 1 / 0\n", "sassmix_classify fails for "),
    "readers": ("def sassmix_readers():\n    return 1 / 0\n", "sassmix_readers fails: ZeroDivisionError"),
    "no readers": ("def sassmix_readers():\n    return ['x']\n", "sassmix_readers gives str, not sassmix.Reader"),
    "sniff": (READER.format("1 / 0", LISTINGS), "the reader x fails to tell what a file is: ZeroDivisionError"),
    "sniff and exit": (READER.format(EXIT, LISTINGS), "the reader x fails to tell what a file is: SystemExit"),
    "label rules": ("def sassmix_label_rules():\n    return 1 / 0\n", "sassmix_label_rules fails: ZeroDivisionError"),
    "a label rule": (RULES.format("1 / 0"), "the label rule x fails for "),
    "a label rule and exit": (RULES.format(EXIT), "the label rule x fails for "),
    "a label rule's number": (RULES.format("1"), "the label rule x gives int, not a text"),
}


@pytest.mark.parametrize(("source", "words"), FAIL_AT_WORK.values(), ids=FAIL_AT_WORK)
def test_a_plugin_that_fails_at_work_is_said_once(
    distribution: Distribution, command: Command, source: str, words: str
) -> None:
    plain = command("mix", HOPPER, "--format", "json").json
    default_plugins.cache_clear()
    distribution.add("bad", "acme_bad", f"import sassmix\n@sassmix.hookimpl\n{source}")
    run = command("mix", HOPPER, HOPPER.with_name("calls.sm_90a.sass"), "--format", "json")
    said = [p for p in run.json["problems"] if p["message"].startswith(f"plugin fails: bad (acme 1.2): {words}")]
    assert run.status == 0 and len(said) == len(run.json["problems"]) == 1
    assert run.err.count("bad (acme 1.2)") == 1 == run.err.count("\n")
    assert run.json["kernels"][: len(plain["kernels"])] == [
        {**kernel, "evidence": run.json["kernels"][n]["evidence"]} for n, kernel in enumerate(plain["kernels"])
    ]
    default_plugins.cache_clear()
    strict = command("mix", HOPPER, "--strict")
    assert (strict.status, strict.out) == (2, "") and words in strict.err


@pytest.mark.parametrize("failure", ["1 / 0", EXIT])
def test_a_reader_that_fails_is_an_error_of_the_input_that_names_the_plugin(
    distribution: Distribution, command: Command, failure: str
) -> None:
    distribution.add("bad", "acme_bad", f"import sassmix\n@sassmix.hookimpl\n{READER.format(True, failure)}")
    run = command("mix", HOPPER, "--format", "json")
    (problem,) = run.json["problems"]
    assert run.status == 2 and problem["path"] == str(HOPPER) and "Traceback" not in run.err
    assert problem["message"].startswith("bad (acme 1.2): its reader, x, fails: ")


def test_other_commands_say_what_fails_at_work(distribution: Distribution, command: Command) -> None:
    distribution.add("bad", "acme_bad", f"import sassmix\n@sassmix.hookimpl\n{FAIL_AT_WORK['classify'][0]}")
    run = command("explain", "HMMA")
    assert run.status == 0 and run.err.count("bad (acme 1.2): sassmix_classify fails") == 1
    default_plugins.cache_clear()
    assert command("explain", "HMMA", "--strict").status == 2
    diff = command("diff", HOPPER, HOPPER, "--format", "json")
    assert diff.err.count("bad (acme 1.2)") == len(diff.json["problems"]) == 1


def test_an_error_that_a_broken_plugin_may_have_caused_names_it(distribution: Distribution, command: Command) -> None:
    distribution.add("bad", "acme_bad", "import sassmix_not_there\n")
    arguments = ("explain", "HMMA", "--arch", "sm_130")
    run = command(*arguments)
    assert run.status == 2 and "bad (acme 1.2)" in run.err and "no plugin registers" in run.err
    strict = command(*arguments, "--strict")
    assert strict.status == 2 and "bad (acme 1.2)" in strict.err and "no plugin registers" not in strict.err


def test_a_name_of_ours_cannot_be_taken(distribution: Distribution) -> None:
    distribution.add("nvidia-hopper", "acme_hopper", acme())
    (error,) = default_plugins().errors
    assert "taken by sassmix" in str(error) and default_plugins().registry.get("sm_130") is None


@pytest.mark.parametrize(
    ("limit", "found"),
    [(None, {"one", "two"}), ("", set()), ("one", {"one"}), (" two , one", {"one", "two"}), ("three", set())],
)
def test_the_variable_limits_the_entry_points(
    distribution: Distribution, monkeypatch: pytest.MonkeyPatch, limit: str | None, found: set[str]
) -> None:
    distribution.add("one", "acme_one", acme(name="one", target=130))
    distribution.add("two", "acme_two", acme(name="two", target=140))
    if limit is not None:
        monkeypatch.setenv("SASSMIX_PLUGINS", limit)
    plugins = default_plugins()
    assert {name for name in plugins.versions() if not name.startswith("nvidia-")} == found
    assert plugins.registry.get("sm_90a")
    assert [error.plugin for error in plugins.errors] == (["three"] if limit == "three" else [])


def test_a_limit_to_what_is_not_installed_is_a_problem(
    distribution: Distribution, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    distribution.add("acme-chip", "acme_chip", acme())
    monkeypatch.setenv("SASSMIX_PLUGINS", "acme-chop")
    run = command("archs")
    assert run.status == 0 and "SASSMIX_PLUGINS names it, but" in run.err and "did you mean acme-chip?" in run.err
    assert command("archs", "--strict").status == 2


def test_a_plugin_of_an_installed_child_needs_no_order(distribution: Distribution) -> None:
    child = acme(name="a-child", target=140).replace('"hopper"', '"z-parent"').replace("QQMMA", "QRMMA")
    distribution.add("a-child", "acme_child", child)
    distribution.add("z-parent", "acme_parent", acme(name="z-parent"))
    assert default_plugins().errors == []
    assert {sassmix.explain(o, arch="sm_140").plugin for o in ("QQMMA", "QRMMA", "HGMMA")} == {"a-child"}


def test_the_own_plugins_load_without_an_error() -> None:
    plugins: Plugins = default_plugins()
    assert plugins.errors == [] and all(name.startswith("nvidia-") for name in plugins.versions())


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("PLUGIN", ""),
        ("Holder.plugin", ""),
        ("PLUGGIN", "names 'PLUGGIN', which is not there; did you mean PLUGIN?"),
        ("Holder.nothing", "names 'nothing', which is not there; name the module alone"),
        ("PLUGIN.qqq", "names 'qqq', which is not there; name the module alone"),
    ],
)
def test_an_entry_point_may_name_an_object_of_a_module(distribution: Distribution, attribute: str, said: str) -> None:
    tail = "\nimport sys\nPLUGIN = sys.modules[__name__]\n\nclass Holder:\n    plugin = PLUGIN\n"
    distribution.add("acme-chip", "acme_chip", acme() + tail)
    points = distribution.info / "entry_points.txt"
    points.write_text(points.read_text().replace("= acme_chip", f"= acme_chip:{attribute}"))
    errors = [str(error) for error in default_plugins().errors]
    assert bool(errors) == bool(said) and all(said in error for error in errors)
    assert ("acme-chip" in default_plugins().versions()) == (not said)


def test_every_module_of_the_folder_is_a_plugin(distribution: Distribution, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = distribution.folder / "chips_of_a_test"
    folder.mkdir()
    for name in ("__init__", "late", "early_chip"):
        (folder / f"{name}.py").write_text(f"NAME = {name!r}\n")
    (folder / "table.csv").write_text("")
    monkeypatch.setattr(discovery, "FOLDER", folder.name)
    found = {origin: load().NAME for origin, load in discovery.of_folder("7")}
    assert found == {
        Origin("nvidia-early-chip", "sassmix", "7"): "early_chip",
        Origin("nvidia-late", "sassmix", "7"): "late",
    }
    assert [origin.module for origin in found] == [f"{folder.name}.early_chip", f"{folder.name}.late"]


def test_what_is_not_installed_has_no_distribution(distribution: Distribution, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SASSMIX_PLUGINS", "three")
    (error,) = default_plugins().errors
    assert (error.plugin, error.distribution, error.version) == ("three", "", "")
    assert "None" not in str(error)


def test_an_error_has_its_cause_and_no_second_place() -> None:
    cause = ZeroDivisionError("x")
    (raised,) = loaded((origin("bad"), lambda: fails(cause))).errors
    assert raised.__cause__ is cause
    (own,) = loaded((origin("bad"), lambda: plugin(sassmix_architectures=own_error))).errors
    assert str(own).endswith(": t.csv, row 3: wrong")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sassmix_readrs", "sassmix_readers"),
        ("sassmix_label_rule", "sassmix_label_rules"),
        ("sassmix_zzz", None),
        ("sassmix_", None),
    ],
)
def test_a_misspelt_hook_is_told_the_near_ones_or_all(name: str, near: str | None) -> None:
    said = f"; did you mean {near}?" if near else f"; there are {', '.join(hook_names())}"
    (error,) = loaded((origin("bad"), lambda: misspelt(name))).errors
    assert f"no hook is called {name!r}{said} (test_plugins.py, line " in error.message


@pytest.mark.parametrize(
    ("hook", "function", "said"),
    [
        ("sassmix_readers", lambda chip: [], "'chip'; it takes none"),
        ("sassmix_classify", lambda mnemonics: None, "'mnemonics'; did you mean mnemonic?"),
        ("sassmix_classify", lambda arch, zzz: None, "'zzz'; it takes mnemonic, arch"),
        ("sassmix_classify", lambda arch, zzz=1: None, ""),
        ("sassmix_classify", lambda arch, mnemonic: None, ""),
    ],
)
def test_arguments_that_a_hook_is_not_given_are_told(hook: str, function: Callable[..., Any], said: str) -> None:
    plugins = loaded((origin("p"), lambda: plugin(**{hook: function})))
    wanted = f"{hook} is given no argument {said} (test_plugins.py, line {function.__code__.co_firstlineno})"
    assert [error.message for error in plugins.errors] == ([wanted] if said else [])
    assert plugins.classifier.info("A", "sm_70").known is False


@pytest.mark.parametrize("file", ["/x/chip.py", "/x/acme/__init__.py", None])
def test_a_module_without_a_hook_is_named_by_its_file(file: str | None) -> None:
    empty = SimpleNamespace(__file__=file)
    (error,) = loaded((Origin("p", "d", "1", "acme.chips"), lambda: empty)).errors
    name = {"/x/chip.py": "chip.py", "/x/acme/__init__.py": "acme/__init__.py", None: "acme.chips"}[file]
    assert error.message.startswith(f"{name} implements no hook; ")


@pytest.mark.parametrize(
    ("value", "what"), [(None, "None"), (print, "a function"), (int, "a class"), (fails, "a function")]
)
def test_what_is_no_plugin_is_named_with_its_entry_point(value: Any, what: str) -> None:
    (error,) = loaded((Origin("p", "d", "1", "acme:X"), lambda: value)).errors
    assert error.message == f"its entry point 'acme:X' names {what}; name a module or an object"


def test_a_plugin_under_a_second_name_is_told_its_first() -> None:
    same = plugin(sassmix_readers=lambda: [])
    (error,) = loaded((origin("first"), lambda: same), (Origin("second", "d", "1", "acme:X"), lambda: same)).errors
    assert error.message == "its entry point 'acme:X' names the plugin 'first' again; leave one of the two out"


def test_what_failed_is_kept_apart_from_what_is_loaded_and_what_is_left_out() -> None:
    bad, out = origin("bad"), (origin("x"), origin("y"))
    plugins = Plugins([LAST, (bad, lambda: fails(ValueError("x"))), GOOD], iter(out))
    assert plugins.failed == [bad] and plugins.excluded == out
    assert list(plugins.origins) == ["last", "good"] and list(plugins.versions()) == ["good", "last"]
    assert Plugins([GOOD]).excluded == ()


def test_a_problem_says_whether_the_plugin_is_left_out_or_fails() -> None:
    late = plugin(sassmix_label_rules=lambda: 1 / 0)
    plugins = loaded((origin("bad"), lambda: fails(ValueError("x"))), candidate("late", late))
    assert plugins.label_rules() == []
    problems = [(p.severity, p.path, p.message.partition(" (")[0]) for p in plugins.problems()]
    assert problems == [("warning", None, "plugin left out: bad"), ("warning", None, "plugin fails: late")]


@pytest.mark.parametrize("hook", ["sassmix_readers", "sassmix_label_rules"])
def test_what_plugins_register_comes_in_the_order_of_loading(hook: str) -> None:
    """And is guarded in the name of its own plugin."""

    def gives(name: str) -> Any:
        made: dict[str, Any] = {
            "sassmix_readers": sassmix.Reader(name=name, sniff=lambda _: fails(ValueError("x")), read=lambda _: []),
            "sassmix_label_rules": sassmix.LabelRule(name=name, label=lambda _: fails(ValueError("x"))),
        }
        return plugin(**{hook: lambda: (made[hook] for _ in range(1))})

    plugins = loaded(*(candidate(name, gives(name)) for name in "bac"))
    readers, rules = plugins.readers(), plugins.label_rules()
    assert [*(r.name for r in readers), *(r.name for r in rules)] == ["b", "a", "c"]
    assert [reader.sniff(b"") for reader in readers] + [rule.label("k") for rule in rules] in ([False] * 3, [None] * 3)
    assert [error.plugin for error in plugins.errors] == ["b", "a", "c"]


@pytest.mark.parametrize("text", ["x", "é\n", "y" * 59, "y" * 61, "  "])
def test_what_a_plugin_prints_is_told_when_it_is_loaded_or_called(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def hook() -> list[Architecture]:
        print(text)
        return []

    def load() -> Any:
        print(text)
        return plugin(sassmix_architectures=hook)

    plugins = loaded((origin("loud"), load))
    assert capsys.readouterr().out == "" and "loud" in plugins.versions()
    said = [error.message.partition(" (test_plugins.py, line ")[0] for error in plugins.errors]
    start = f"prints {text.strip()[:60]!r} when"
    assert said == ([f"{start} it is loaded", f"{start} sassmix_architectures is called"] if text.strip() else [])


@pytest.mark.parametrize("given", [None, 3, "text", b"", print])
def test_what_is_no_list_is_told_with_the_kind_that_is_wanted(given: Any) -> None:
    plugins = loaded((origin("p"), lambda: plugin(sassmix_readers=lambda: given)))
    assert plugins.readers() == []
    kind = "None" if given is None else type(given).__name__
    wanted = (
        f"sassmix_readers gives {kind}, not a list; give a list of sassmix.Reader, [] for none (test_plugins.py, line "
    )
    assert plugins.errors[0].message.startswith(wanted)


def test_an_override_that_fails_is_told_with_its_line_and_only_once() -> None:
    plugins = loaded(GOOD, overriding("bad", lambda *_: fails(ValueError("x"))), overriding("text", lambda *_: "A"))
    for mnemonic in ("A", "B"):
        assert plugins.classifier.info(mnemonic, "sm_70").plugin == "good"
    assert [error.plugin for error in plugins.errors] == ["text", "bad"]
    assert all("(test_plugins.py, line " in error.message for error in plugins.errors)
