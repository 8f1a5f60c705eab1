"""The wheel and the editable install, without a network: the command in another folder says what the checkout says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FIXTURES, ROOT, Command

LISTING = FIXTURES / "listings" / "saxpy.sm_90a.sass"
OFFLINE = ("--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
#: Nothing that would make Python find the checkout.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}


def run(arguments: Sequence[str | Path], folder: Path) -> str:
    done = subprocess.run(arguments, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def pip(folder: Path, *arguments: str | Path) -> None:
    run([sys.executable, "-m", "pip", *arguments], folder)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip(folder, "wheel", *OFFLINE, "--wheel-dir", folder, ROOT)
    (found,) = folder.glob("*.whl")
    return found


def environment(folder: Path, *install: str | Path) -> Path:
    """A fresh environment with sassmix and, on a path of its own, the dependencies of the running one.

    A folder in a ``.pth`` file has its own ``.pth`` files ignored: an editable sassmix there stays unseen.
    """
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    variables = {"base": str(folder), "platbase": str(folder)}
    site = Path(sysconfig.get_path("purelib", "venv", variables))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    scripts = Path(sysconfig.get_path("scripts", "venv", variables))
    pip(folder, "--python", scripts / "python", "install", *OFFLINE, *install)
    return scripts


@pytest.fixture(scope="session", params=["wheel", "editable"])
def scripts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment in which sassmix is installed."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "wheel":
        return environment(folder, request.getfixturevalue("wheel"))
    return environment(folder, "--editable", ROOT)


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files(folder: str, *patterns: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for pattern in patterns for path in (ROOT / folder).rglob(pattern)}


def test_the_wheel_holds_every_module_table_and_grammar_and_nothing_else(wheel: Path) -> None:
    grammars = {f"sassmix/{name}" for name in files("grammars", "*.*")}
    wanted = files("sassmix", "*.py", "py.typed", "assets/*") | files("arch_plugins", "*.py", "*.csv") | grammars
    assert {"sassmix/grammars/sass.lark", "sassmix/py.typed", "arch_plugins/hopper.csv"} <= wanted
    assert {name for name in names(wheel) if ".dist-info/" not in name} == wanted
    assert "arch_plugins/__init__.py" not in wanted


def test_the_command_says_what_the_checkout_says(scripts: Path, tmp_path: Path, command: Command) -> None:
    for arguments in (["mix", str(LISTING)], ["archs"], ["explain", "HMMA.16816.F32", "--arch", "sm_90a"]):
        installed = json.loads(run([scripts / "sassmix", *arguments, "--format", "json"], tmp_path))
        assert installed == command(*arguments, "--format", "json").json
        assert installed


def asked(scripts: Path, folder: Path, expression: str) -> Any:
    source = f"import json, sassmix, sassmix.grammar, sassmix.plugins; print(json.dumps({expression}))"
    return json.loads(run([scripts / "python", "-c", source], folder))


def test_the_grammars_are_found_where_the_install_has_them(scripts: Path, tmp_path: Path) -> None:
    """And only the editable install runs the checkout's code: else the tests above would prove nothing."""
    where, package = asked(scripts, tmp_path, "[str(sassmix.grammar.grammar_folder()), sassmix.__file__]")
    editable = "editable" in scripts.parent.name
    installed = ROOT / "sassmix" if editable else next(scripts.parent.rglob("sassmix/py.typed")).parent
    assert Path(package).parent == installed
    assert Path(where) == (ROOT / "grammars" if editable else installed / "grammars")


def test_every_plugin_loads_where_it_is_installed(scripts: Path, tmp_path: Path) -> None:
    loaded, errors = asked(
        scripts,
        tmp_path,
        "[sassmix.plugins.default_plugins().versions(), list(map(str, sassmix.plugins.default_plugins().errors))]",
    )
    assert errors == [] and {"nvidia-hopper", "nvidia-blackwell"} <= set(loaded)
