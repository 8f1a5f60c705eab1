"""Options from a file: the nearest one, checked, said, and never stronger than the command line."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.config import KEYS, load
from sassmix.errors import SassmixError
from tests.conftest import ROOT, Body, Command, written

Save = Callable[..., Path]
FILLED = ["EXIT", ".L_x_1:", "BRA `(.L_x_1)", "NOP"]
SPILLS = written(Body("k", ["MOV R2, R3", "STL [R1], R2", "LDL R2, [R1]", "EXIT"]), Body("q", FILLED))
OWN, SHARED = 'forbid = ["memory.local"]\n', '[project]\nname = "x"\n\n[tool.sassmix]\nforbid = "memory.local"\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of its own with a listing, in which the command runs."""
    folder = tmp_path / "project"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / "k.sass").write_text(SPILLS)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(("name", "text"), [("sassmix.toml", OWN), ("pyproject.toml", SHARED)])
@pytest.mark.parametrize("place", [".", "deep", "deep/deeper"])
def test_the_nearest_file_upwards_gives_the_options_and_is_named(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, place: str
) -> None:
    (project / name).write_text(text)
    monkeypatch.chdir(project / place)
    run = command("check", project / "k.sass", "--format", "json")
    assert run.status == 1 and run.json["conditions"] == ["forbid memory.local"]
    told = [one for one in run.json["problems"] if one["severity"] == "info"]
    assert [one["path"] for one in told] == [str(project / name)] and told[0]["message"].endswith(": forbid")
    assert run.err == ""
    (project / "deep" / "sassmix.toml").write_text('forbid = ["tensor"]\n')
    expected = "forbid memory.local" if place == "." else "forbid tensor"
    assert command("check", project / "k.sass", "--format", "json").json["conditions"] == [expected]


def test_the_search_ends_at_the_repository_and_outside_of_one_where_it_starts(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.parent / "sassmix.toml").write_text(OWN)
    assert load().path is None
    (project / ".git").rmdir()
    monkeypatch.setenv("HOME", str(project.parent / "nobody"))
    assert load().path is None
    monkeypatch.chdir(project.parent)
    assert load().path == str(project.parent / "sassmix.toml")
    monkeypatch.chdir(project / "deep")
    monkeypatch.setenv("HOME", str(project.parent))
    assert load().path == str(project.parent / "sassmix.toml")


def test_its_own_file_goes_before_the_shared_one_and_others_are_passed_over(project: Path) -> None:
    (project / "deep" / "pyproject.toml").write_text('[project]\nname = "x"\n[tool]\n')
    (project / "pyproject.toml").write_text(SHARED)
    assert load(folder=project / "deep").path == str(project / "pyproject.toml")
    (project / "sassmix.toml").write_text(OWN)
    assert load(folder=project / "deep").path == str(project / "sassmix.toml")


GIVEN: dict[str, tuple[str, list[str], list[str]]] = {
    "by": ('by = "group"', [], ["--by=group"]),
    "format": ('format = "csv"', [], ["--format=csv"]),
    "kernel": ('kernel = ["q"]', [], ["--kernel=q"]),
    "kernel, one": ('kernel = "q"', [], ["--kernel=q"]),
    "arch": ('arch = "sm_90"', [], ["--arch=sm_90"]),
    "padding": ("include-padding = true", [], ["--include-padding"]),
    "counts": ('counts = "active"', [], ["--counts=active"]),
    "the line wins": ('kernel = ["k"]', ["--kernel=q"], ["--kernel=q"]),
    "the line wins, once": ('by = "group"', ["--by=pipe"], ["--by=pipe"]),
    "the line wins, no": ("include-padding = true", ["--no-include-padding"], []),
    "none": ('by = "group"', ["--no-config"], []),
}


@pytest.mark.parametrize(("text", "line", "same"), GIVEN.values(), ids=GIVEN)
def test_an_option_of_a_file_is_as_if_it_were_written(
    command: Command, project: Path, text: str, line: list[str], same: list[str]
) -> None:
    def kernels(*arguments: str) -> Any:
        run = command("mix", "k.sass", *arguments)
        return run.status, run.out.partition("\nProblems")[0].rstrip()

    expected = kernels(*same)
    (project / "sassmix.toml").write_text(text)
    assert kernels(*line) == expected
    if not line:
        assert kernels("--no-config") != expected or text.startswith(("arch", "counts"))


def test_conditions_of_the_line_are_in_place_of_those_of_the_file(command: Command, project: Path) -> None:
    (project / "sassmix.toml").write_text('forbid = ["memory.local"]\nrequire = ["MOV"]\ntolerance = "3%"\n')
    run = command("diff", "k.sass", "k.sass", "--forbid=tensor", "--format", "json")
    assert run.json["conditions"] == ["require MOV", "forbid tensor"] and run.json["tolerance"] == 0.03
    told = [one["message"] for one in run.json["problems"] if one["severity"] == "info"]
    assert told == ["options taken from this file: require, tolerance"]


def test_options_that_a_command_does_not_have_are_not_taken(command: Command, project: Path) -> None:
    (project / "sassmix.toml").write_text('max-increase = ["memory.local=0"]\ntolerance = "1%"\n')
    assert command("check", "k.sass", "--format", "json").json["problems"] == []
    assert command("diff", "k.sass", "k.sass", "--format", "json").json["conditions"] == ["max-increase memory.local=0"]


WRONG = {
    'forbit = ["x"]': ["forbit", "did you mean forbid"],
    "[kernels]": ["kernels", "did you mean kernel"],
    "forbid = 3": ["forbid", "a list of texts"],
    "forbid = [3]": ["forbid", "a list of texts"],
    'forbid = ["memory.locl"]': ["did you mean memory.local"],
    "include-padding = 1": ["include-padding", "true or false"],
    "arch = 90": ["arch", "a text"],
    'arch = "sm_900"': ["sm_900", "did you mean"],
    'by = "categry"': ["by", "did you mean category"],
    'format = "yaml"': ["format", "there are text, json"],
    'counts = "issue"': ["counts", "did you mean issued"],
    'kernel = "nope"': ["nope"],
    "tolerance = 1": ["tolerance", "a text"],
    "= 3": ["cannot be read", "line 1"],
    "a\x00": ["cannot be read"],
    "\udcff": ["cannot be read"],
}


@pytest.mark.parametrize(("text", "words"), WRONG.items())
def test_what_is_wrong_in_a_file_is_said_with_its_name_and_key(
    command: Command, project: Path, text: str, words: list[str]
) -> None:
    for name, head in (("sassmix.toml", ""), ("pyproject.toml", "[tool.sassmix]\n")):
        text_of = f"{head}{text}".replace("[kernels]", "[tool.sassmix.kernels]" if head else "[kernels]")
        (project / name).write_bytes(text_of.encode("utf-8", "surrogateescape"))
        run = command("check", "k.sass")
        assert run.status == 2 and run.out == ""
        assert run.err.startswith("sassmix: error: ") and len(run.err.splitlines()) == 1
        said = [word.replace("line 1", "line ") for word in words]
        assert all(word in run.err for word in [str(project / name), *said]), run.err
        assert command("check", "k.sass", "--no-config").status == 0
        (project / name).unlink()


def test_a_file_can_be_named_and_has_to_say_something(command: Command, project: Path) -> None:
    (project / "other.toml").write_text(OWN)
    (project / "sassmix.toml").write_text('forbid = "tensor"')
    run = command("check", "k.sass", "--config", "other.toml", "--format", "json")
    assert run.json["conditions"] == ["forbid memory.local"]
    (project / "pyproject.toml").write_text("[project]\n")
    assert "no [tool.sassmix]" in command("check", "k.sass", "--config", "pyproject.toml").err
    for name in ("none.toml", "deep"):
        run = command("check", "k.sass", "--config", name)
        assert run.status == 2 and name in run.err
    assert command("check", "k.sass", "--config", "other.toml", "--no-config").status == 2


@given(st.dictionaries(st.sampled_from([*KEYS, "x"]), st.one_of(st.text(), st.booleans(), st.lists(st.text()))))
def test_any_values_are_options_or_an_error(tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "sassmix.toml"
    path.write_text("".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in values.items()), "utf-8")
    try:
        found = load(str(path))
    except SassmixError as error:
        assert str(path) in str(error)
    else:
        assert set(found.values) == set(values) and all(isinstance(v, KEYS[k]) for k, v in found.values.items())


def test_every_option_of_a_report_can_stand_in_a_file() -> None:
    from sassmix.cli import _parser

    commands = next(a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    actions = [a for name in ("mix", "check", "diff") for a in commands[name]._actions if a.option_strings]
    names = {action.dest.replace("_", "-") for action in actions}
    assert names - {"help", "output", "strict", "debug", "config", "no-config"} == set(KEYS)


@pytest.mark.parametrize(("shell", "sign"), [("bash", "complete -o"), ("zsh", "#compdef sassmix")])
def test_a_shell_gets_a_script_for_all_commands(command: Command, shell: str, sign: str) -> None:
    run = command("completion", shell)
    assert run.status == 0 and sign in run.out and run.out.endswith("\n") and not run.out.endswith("\n\n")
    assert all(word in run.out for word in ("max-increase", "new-arch", "explain"))


def test_completion_without_its_package_says_what_to_install(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    run = command("completion", "bash")
    assert run.status == 2 and "sassmix[completion]" in run.err and os.linesep not in run.err[:-1]


CI = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def test_the_options_of_the_recipe_are_options(tmp_path: Path) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", CI, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(text)
    assert set(load(str(tmp_path / "pyproject.toml")).values) == {"forbid", "max-increase", "kernel"}
    rows = re.findall(r"^\| (`.*`) \| (?:a text|`true`)", CI, re.MULTILINE)
    assert {key for row in rows for key in re.findall(r"`([\w-]+)`", row)} == set(KEYS)


def test_the_commands_of_the_recipes_are_commands() -> None:
    from sassmix.cli import _parser
    from sassmix.commands._report import conditions_of

    lines = re.findall(r"(?<!\w)sassmix ((?:check|diff) .*?)(?: \|\| .*|`.*)?$", CI, re.MULTILINE)
    assert len(lines) >= 10
    for line in lines:
        arguments = _parser().parse_args(shlex.split(line))
        assert conditions_of(arguments) or "BASELINE" in line
