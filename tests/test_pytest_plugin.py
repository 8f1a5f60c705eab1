"""The fixture that pytest finds wherever sassmix is installed: fails in words, costs nothing until it is used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from sassmix.testing import check_architecture
from tests.conftest import FIXTURES, ROOT
from tests.test_docs import named_block

LISTING = FIXTURES / "listings" / "saxpy.sm_90a.sass"
EXAMPLE = named_block("docs/testing.md", "test_chip.py")
#: As the entry point does it, installed or not.
CONFTEST = "from sassmix.pytest_plugin import architecture_contract as architecture_contract\n"
#: Modules that the plugin brings into a process that has pytest, and the CPU time for it in seconds.
COST = """
import json, sys, time, pytest
before, start = set(sys.modules), time.process_time()
import sassmix.pytest_plugin
print(json.dumps([time.process_time() - start, sorted(set(sys.modules) - before)]))
"""

Save = Callable[..., Path]


def run(folder: Path) -> tuple[int, str]:
    """pytest on what stands in a folder."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(folder),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def example(save: Save, arch: str, listing: Path) -> Path:
    """The test of the docs for another architecture and listing, in a folder of its own."""
    save(CONFTEST, "conftest.py")
    save(listing.read_text(encoding="utf-8"), listing.name)
    return save(EXAMPLE.replace("sm_130", arch, 1).replace("nova.sm_130.sass", listing.name), "test_chip.py").parent


def test_the_example_of_the_docs_passes_for_a_sound_architecture(save: Save) -> None:
    status, said = run(example(save, "sm_90a", LISTING))
    assert (status, "1 passed" in said) == (0, True), said


@pytest.mark.parametrize("arch", ["sm_130", "sm_80"])
def test_it_fails_with_all_faults_in_words_and_without_a_traceback(save: Save, arch: str) -> None:
    status, said = run(example(save, arch, LISTING))
    faults = check_architecture(arch, [LISTING])
    assert status == 1 and faults and all(fault in said for fault in faults), said
    assert "Traceback" not in said and "pytest_plugin.py" not in said


def test_it_has_the_options_of_the_function(save: Save) -> None:
    folder = example(save, "sm_80", LISTING)
    source = (folder / "test_chip.py").read_text(encoding="utf-8")
    (folder / "test_chip.py").write_text(
        source.replace('.sass"]', '.sass"], checks=["sorted_table"]'), encoding="utf-8"
    )
    assert run(folder)[0] == 0


def test_it_brings_nothing_but_itself_into_a_test_run() -> None:
    costs = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", COST], cwd=ROOT, capture_output=True, text=True, check=True)
        seconds, modules = json.loads(done.stdout)
        costs.append(seconds)
        assert {name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names} == {
            "sassmix",
            "sassmix.pytest_plugin",
            "sassmix.version",
        }
    assert min(costs) < 0.06, costs


def test_the_entry_point_names_the_module() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"sassmix": "sassmix.pytest_plugin"}
    assert re.search(
        r"@pytest.fixture\b.*\ndef architecture_contract\(", (ROOT / "sassmix/pytest_plugin.py").read_text()
    )
