"""The packages in ``examples/``, as a stranger gets them: built, installed beside sassmix, used from another folder."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.test_packaging import OFFLINE, environment, pip, run

EXAMPLES = ROOT / "examples"
ARCHITECTURE, READER = EXAMPLES / "architecture", EXAMPLES / "reader"
PACKAGES = (ARCHITECTURE, READER)
LISTING = ARCHITECTURE / "tests" / "mma.sm_130.sass"
CLICKS, SAXPY = READER / "tests" / "saxpy.clicks", READER / "tests" / "saxpy.sm_90a.sass"
Sassmix = Callable[..., Any]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheels of the examples and of sassmix, built from copies: building leaves nothing in the checkout."""
    folder = tmp_path_factory.mktemp("wheels")
    sources = [shutil.copytree(package, folder / package.name) for package in PACKAGES]
    pip(folder, "wheel", *OFFLINE, "--wheel-dir", folder / "built", ROOT, *sources)
    return sorted((folder / "built").glob("*.whl"))


@pytest.fixture(scope="module")
def scripts(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with all of them."""
    return environment(tmp_path_factory.mktemp("strangers"), *wheels)


@pytest.fixture
def sassmix(scripts: Path, tmp_path: Path) -> Sassmix:
    """The JSON that the installed command prints in a folder far from the checkout."""
    return lambda *arguments: json.loads(run([scripts / "sassmix", *arguments, "--format", "json"], tmp_path))


def test_each_package_is_a_wheel_of_its_own(wheels: list[Path]) -> None:
    assert [wheel.name.partition("-")[0] for wheel in wheels] == ["sassmix", "sassmix_clicker", "sassmix_noether"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_tests_of_each_package_pass_where_it_is_installed(scripts: Path, tmp_path: Path, package: Path) -> None:
    shutil.copytree(package / "tests", tmp_path / "tests")
    said = run([scripts / "python", "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "tests"], tmp_path)
    assert " passed" in said and not any(word in said for word in ("failed", "skipped", "xfailed"))


def test_the_new_architecture_is_listed_with_its_distribution(sassmix: Sassmix) -> None:
    rows = {row["arch"]: row for row in sassmix("archs", "--strict")}
    assert {rows[target]["distribution"] for target in ("sm_130", "sm_130a")} == {"sassmix-noether 0.1.0"}
    parent, own = rows["sm_100"], rows["sm_130"]
    with (ARCHITECTURE / "sassmix_noether.csv").open(encoding="utf-8", newline="") as file:
        added = list(csv.DictReader(file))
    assert own["opcodes"] == parent["opcodes"] + len(added) - 1, "one is removed"
    assert set(own["matrix_opcodes"]) == {"CGMMA", *parent["matrix_opcodes"]} - {"DMMA"}


def test_a_listing_of_the_new_architecture_is_classified_as_a_whole(sassmix: Sassmix) -> None:
    (kernel,) = sassmix("mix", LISTING, "--strict")["kernels"]
    assert kernel["arch"] == "sm_130" and kernel["tensor_core_present"] is True
    assert (kernel["counts"]["unclassified"], kernel["counts"]["unresolved"]) == (0, 0)
    statuses = {item["check"]: item["status"] for item in kernel["evidence"]}
    assert statuses.pop("resolved") == "warn", "what its made-up opcodes do is inferred"
    assert set(statuses.values()) == {"pass"}


def test_counts_of_the_new_kind_beside_a_listing_give_a_dynamic_report(sassmix: Sassmix) -> None:
    report = sassmix("mix", CLICKS, SAXPY, "--strict")
    (kernel,) = report["kernels"]
    assert (kernel["name"], kernel["basis"], kernel["confidence"]) == ("saxpy", "dynamic", "high")
    assert [item["kind"] for item in report["inputs"]] == ["clicker", "nvdisasm-text"] and report["problems"] == []
    assert kernel["listing"]["function"] == "saxpy" and kernel["tensor_core_active"] is False
    assert kernel["counts"]["total"] == sum(int(line.split()[1]) for line in CLICKS.read_text().splitlines()[2:-1])


def test_both_are_among_the_plugins_with_what_they_give(sassmix: Sassmix) -> None:
    rows = {row["plugin"]: row for row in sassmix("plugins", "--strict")}
    noether, clicker = rows["noether"], rows["clicker"]
    assert (noether["distribution"], noether["architectures"]) == ("sassmix-noether", ["noether"])
    assert (noether["targets"], noether["readers"]) == (["sm_130", "sm_130a"], [])
    assert (clicker["distribution"], clicker["readers"], clicker["targets"]) == ("sassmix-clicker", ["clicker"], [])
    assert Path(noether["file"]).name == "sassmix_noether.py" and ROOT not in Path(noether["file"]).parents


def test_the_commands_of_the_readme_run(scripts: Path) -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\.venv/bin/sassmix ([^#\n]+)", readme, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["plugins", "mix", "mix"]
    for command in commands:
        assert run([scripts / "sassmix", *command.split()], ROOT)


def test_without_the_packages_both_inputs_are_said_to_be_unknown(
    tmp_path_factory: pytest.TempPathFactory, wheels: list[Path]
) -> None:
    """Else the tests above would prove nothing."""
    folder = tmp_path_factory.mktemp("bare")
    bare = environment(folder / "env", wheels[0])
    report = json.loads(run([bare / "sassmix", "mix", LISTING, CLICKS, "--format", "json"], folder))
    assert [item["path"] for item in report["inputs"]] == [str(LISTING)]
    assert report["kernels"][0]["counts"]["unclassified"] == report["kernels"][0]["counts"]["total"]


def test_the_module_of_an_architecture_is_short() -> None:
    assert len((ARCHITECTURE / "sassmix_noether.py").read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_each_package_is_named_in_the_readme_of_the_examples(package: Path) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"| `{package.name}` | `{project['name']}` |" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
