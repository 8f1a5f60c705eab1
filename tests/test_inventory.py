"""``sassmix plugins``: every plugin that is found has a row, with what it gives and every error that it has."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest

from sassmix.commands import FORMATS
from sassmix.inventory import plugin_rows
from sassmix.plugins import default_plugins, hook_names
from tests.conftest import FIXTURES, ROOT, Command, Distribution, loaded, origin, with_architectures
from tests.test_plugin_errors import CASES, HEAD, install

HOPPER = FIXTURES / "listings" / "saxpy.sm_90a.sass"
GOOD = f"""{HEAD}
@sassmix.hookimpl
def sassmix_architectures():
    return [Architecture(name="acme", sm=sm(130, "130a"), extends="hopper", opcodes=(ROW,))]

@sassmix.hookimpl
def sassmix_classify(mnemonic): ...

@sassmix.hookimpl
def sassmix_readers():
    return [Reader(name="clicks", sniff=lambda head: False, read=lambda path: [])]

@sassmix.hookimpl
def sassmix_label_rules():
    return [LabelRule(name="short", label=lambda name: None)]
"""


def rows(command: Command, *arguments: str) -> dict[str, dict[str, Any]]:
    return {row["plugin"]: row for row in command("plugins", "--format", "json", *arguments).json}


def test_a_plugin_is_listed_with_all_that_it_gives(distribution: Distribution, command: Command) -> None:
    distribution.add("acme", "acme", GOOD)
    assert rows(command, "--strict")["acme"] == {
        "plugin": "acme",
        "state": "loaded",
        "distribution": "acme",
        "version": "1.2",
        "module": "acme",
        "file": str(distribution.folder / "acme.py"),
        "hooks": hook_names(),
        "architectures": ["acme"],
        "targets": ["sm_130", "sm_130a"],
        "readers": ["clicks"],
        "label_rules": ["short"],
        "errors": [],
    }


def test_the_own_plugins_are_all_there_and_give_what_is_registered(fresh_plugins: None, command: Command) -> None:
    found = rows(command)
    modules = {f"arch_plugins.{path.stem}" for path in (ROOT / "arch_plugins").glob("*.py")}
    assert {row["module"] for row in found.values()} == modules
    assert all(Path(row["file"]).stem == row["module"].partition(".")[2] for row in found.values())
    targets = [target for row in found.values() for target in row["targets"]]
    assert sorted(targets) == sorted(target for target, _ in default_plugins().registry)
    assert all(row["state"] == "loaded" and not row["errors"] for row in found.values())


@pytest.mark.parametrize("name", CASES)
def test_every_error_stands_in_the_row_of_its_plugin(
    distribution: Distribution, command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case = CASES[name]
    install(distribution, case)
    if case.limit:
        monkeypatch.setenv("SASSMIX_PLUGINS", case.limit)
    if case.at_work:
        command("mix", HOPPER)
    found = plugin_rows()
    errors = default_plugins().errors
    assert sorted(error for row in found for error in row["errors"]) == sorted(error.message for error in errors)
    assert all(row["distribution"] != "sassmix" for row in found if row["errors"])
    if name == "a reader fails to read":
        assert errors == [], "an error of the input that it reads"
        return
    states = {row["state"] for row in found if row["errors"]}
    assert states <= {"loaded", "failed"} and states
    assert ("loaded" in states) >= case.at_work
    run = command("plugins")
    assert run.status == 0 and command("plugins", "--strict").status == 2
    for error in errors:
        assert "".join(error.message.split()) in "".join(run.out.split())


def test_a_plugin_that_failed_gives_nothing(distribution: Distribution, command: Command) -> None:
    distribution.add("acme", "acme", GOOD.replace("sassmix_classify", "sassmix_clasify"))
    row = rows(command)["acme"]
    assert row["state"] == "failed" and row["file"] == str(distribution.folder / "acme.py")
    assert not any(row[field] for field in ("hooks", "architectures", "targets", "readers", "label_rules"))


def test_the_file_of_a_module_that_cannot_be_imported_is_found_without_importing_it(
    distribution: Distribution, command: Command
) -> None:
    distribution.add("acme", "acme", "import acme_not_there\n")
    distribution.add("gone", "gone", "")
    (distribution.folder / "gone.py").unlink()
    found = rows(command)
    assert found["acme"]["file"] == str(distribution.folder / "acme.py") and found["gone"]["file"] is None


@pytest.mark.parametrize(("limit", "excluded"), [("", ["a", "b"]), ("a", ["b"]), ("a,b", []), ("c", ["a", "b"])])
def test_what_the_variable_leaves_out_is_listed(
    distribution: Distribution, command: Command, monkeypatch: pytest.MonkeyPatch, limit: str, excluded: list[str]
) -> None:
    for name, target in (("a", "130"), ("b", "140")):
        source = GOOD.replace('"acme"', f'"{name}"').replace("130", target)
        distribution.add(name, f"acme_{name}", source)
    monkeypatch.setenv("SASSMIX_PLUGINS", limit)
    found = rows(command)
    assert sorted(name for name, row in found.items() if row["state"] == "excluded") == excluded
    assert all(not found[name]["targets"] and found[name]["version"] == "1.2" for name in excluded)
    assert ("c" in found) == (limit == "c"), "a name that is not installed has a row of its own"


def test_of_two_plugins_with_one_name_each_has_its_row(distribution: Distribution) -> None:
    distribution.add("nvidia-hopper", "acme", GOOD)
    found = [row for row in plugin_rows() if row["plugin"] == "nvidia-hopper"]
    assert [(row["distribution"], row["state"]) for row in found] == [("sassmix", "loaded"), ("acme", "failed")]
    assert found[0]["targets"] == ["sm_90", "sm_90a"] and found[1]["targets"] == []


def test_any_plugins_can_be_listed() -> None:
    from tests.conftest import architecture

    good = with_architectures("good", architecture("good", 70))
    bad = (origin("bad"), lambda: 1 / 0)
    assert [(row["plugin"], row["state"]) for row in plugin_rows(loaded(good, bad))] == [
        ("good", "loaded"),
        ("bad", "failed"),
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_names_every_plugin_and_steers_no_terminal(
    distribution: Distribution, command: Command, form: str
) -> None:
    distribution.add("acme", "acme", GOOD.replace('"short"', r'"\x1b[2J|a"'))
    distribution.add("bad", "bad", "raise ValueError('\\x1b[31m|<b>')\n")
    run = command("plugins", "--format", form)
    assert run.status == 0 and "\x1b" not in run.out + run.err
    for name in ("acme", "bad", "nvidia-hopper"):
        assert re.search(name.replace("-", r"\\?-"), run.out)


def test_a_table_has_a_row_for_each_plugin_with_all_fields(distribution: Distribution, command: Command) -> None:
    distribution.add("acme", "acme", GOOD)
    found = list(csv.DictReader(io.StringIO(command("plugins", "--format", "csv").out)))
    assert [row["plugin"] for row in found] == [row["plugin"] for row in plugin_rows()]
    assert list(found[0]) == list(plugin_rows()[0])
    (row,) = [row for row in found if row["plugin"] == "acme"]
    assert (row["targets"], row["readers"]) == ("sm_130 sm_130a", "clicks")


def test_every_field_is_documented() -> None:
    section = (ROOT / "docs/hooks.md").read_text(encoding="utf-8").partition("\n## What is loaded\n")[2]
    names = re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    assert names == list(plugin_rows()[0])
