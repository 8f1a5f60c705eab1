"""A test of the tests: each fault below, planted in a copy of the engine, must make the tests beside it fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

_COPIED = ("sassmix", "arch_plugins", "grammars", "tests", "benchmarks")
_LINKED = ("fixtures", "docs", "examples", "README.md", "CONTRIBUTING.md", "pyproject.toml")
_WRONG_PACKAGE = 99
#: Runs pytest, unless Python finds another package than the one in the working folder.
_PYTEST = f"""
import os, sys, pytest
from importlib.util import find_spec
here = all(os.path.realpath(find_spec(name).submodule_search_locations[0]) == os.path.realpath(name)
           for name in ("sassmix", "arch_plugins"))
sys.exit(pytest.main(sys.argv[1:]) if here else {_WRONG_PACKAGE})
"""
#: Nothing of the pytest that runs this file.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}


@dataclass(frozen=True)
class Fault:
    """A text that stands once in a file, what stands there instead, and the tests each of which must fail."""

    file: str
    old: str
    new: str
    tests: str

    @property
    def caught_by(self) -> list[str]:
        """The tests as pytest names them: ``tests/test_flow.py::test_x``."""
        return [f"tests/test_{test.replace('.', '.py::test_')}" for test in self.tests.split()]


def _row(table: str, opcode: str) -> str:
    """A row of an opcode table, its line end included."""
    lines = (ROOT / table).read_text(encoding="utf-8").splitlines(keepends=True)
    return next((line for line in lines if line.startswith(f"{opcode},")), f"a row of {opcode}")


_HOPPER = "arch_plugins/hopper.csv"
FAULTS = {
    "a matrix opcode is missing": Fault(
        _HOPPER,
        _row(_HOPPER, "HGMMA"),
        "",
        "tables.printed_opcodes_are_known tables.matrix_opcodes_exist_only_where_printed",
    ),
    "the parent's rules come before the child's": Fault(
        "sassmix/registry.py",
        "(*architecture.modifier_rules, *rules)",
        "(*rules, *architecture.modifier_rules)",
        "registry.the_first_rule_decides_each_facet_the_childs_before_the_parents",
    ),
    "the last rule decides": Fault(
        "sassmix/classify.py",
        "changes.setdefault(facet, value)",
        "changes[facet] = value",
        "registry.the_first_rule_decides_each_facet_the_childs_before_the_parents",
    ),
    "numbers are one off": Fault(
        "sassmix/resolution.py",
        "by_number = self.function.start + row.index if",
        "by_number = self.function.start + row.index + 1 if",
        "flow.real_counts_resolve_to_what_the_profiler_named dynamic.numbers_resolve_to_the_mix_that_names_give",
    ),
    "offsets are one instruction off": Fault(
        "sassmix/resolution.py",
        "- first: i for i in range",
        "- first + 16: i for i in range",
        "flow.real_counts_resolve_to_what_the_profiler_named",
    ),
    "counts are never compared with the flow of the code": Fault(
        "sassmix/flow.py",
        "return FlowCheck(tuple(found), tuple(doubts))",
        "return FlowCheck()",
        "flow.counts_that_are_off_are_found_out_and_nothing_is_claimed flow.counts_of_another_kernel_are_found_out",
    ),
    "a part of a name matches": Fault(
        "sassmix/matching.py",
        'yield "exact", known.named(whole)',
        'yield "exact", [f for f in known if whole in f.name]',
        "matching.names_that_look_alike_are_candidates_and_never_chosen",
    ),
    "a name in another case matches": Fault(
        "sassmix/matching.py",
        'yield "exact", known.named(whole)',
        'yield "exact", [f for f in known if f.name.lower() == whole.lower()]',
        "matching.names_that_look_alike_are_candidates_and_never_chosen",
    ),
    "the first of several functions is taken": Fault(
        "sassmix/matching.py",
        "if len(found) == 1:",
        "if found:",
        "matching.one_name_on_two_architectures",
    ),
    "an error of a plugin is swallowed": Fault(
        "sassmix/guard.py",
        "self.errors.append(error)",
        "pass",
        "plugins.a_broken_plugin_is_named_and_the_rest_load plugins.a_wrong_answer_is_reported_and_the_table_answers",
    ),
    "unresolved rows are dropped": Fault(
        "sassmix/tally.py",
        "    rows += [Row(name, count, None) for name, count in (unresolved or {}).items() if count]\n",
        "",
        "classify.a_tally_loses_nothing dynamic.counts_are_conserved_whatever_is_unresolved",
    ),
    "shares are of what is resolved": Fault(
        "sassmix/tally.py",
        "total = self.total\n        return [",
        "total = self.total - self.unresolved or 1\n        return [",
        "classify.a_tally_loses_nothing",
    ),
    "a listing that was not read whole proves a no": Fault(
        "sassmix/tensor.py",
        'TensorVerdict(None, None, f"no matrix opcode was seen',
        'TensorVerdict(False, None, f"no matrix opcode was seen',
        "static.tensor_cores_have_three_answers_each_with_its_reason",
    ),
    "counts that cannot be believed prove a no": Fault(
        "sassmix/tensor.py",
        'TensorVerdict(present, None, f"no matrix opcode was counted, but',
        'TensorVerdict(present, False, f"no matrix opcode was counted, but',
        "dynamic.losing_what_resolves_never_turns_unknown_or_true_into_false "
        "dynamic.one_instruction_off_fails_and_claims_nothing",
    ),
    "a tensor pipe is taken for matrix work": Fault(
        "sassmix/tally.py",
        "if row.info and row.info.tensor:",
        'if row.info and row.info.pipe == "tensor":',
        "classify.matrix_counts_are_by_opcode",
    ),
    "padding is counted": Fault(
        "sassmix/listing.py",
        "return last if ends else self.stop\n",
        "return self.stop\n",
        "parsing.padding_is_the_branch_to_itself_and_what_fills_up_behind_an_end",
    ),
    "a function that is cut looks whole": Fault(
        "sassmix/wholeness.py",
        "    function.damage.append(why)\n",
        "",
        "parsing.a_cut_listing_never_looks_whole",
    ),
    "a filter of the tracer is forgotten": Fault(
        "sassmix/readers/_trace_gaps.py",
        "lost.append(window)",
        "pass",
        "cutracer.what_makes_a_trace_incomplete",
    ),
    "dropped records are forgotten": Fault(
        "sassmix/readers/_trace_gaps.py",
        "if dropped != 0:",
        "if False:",
        "cutracer.what_makes_a_trace_incomplete",
    ),
    "the gaps of a capture are closed unasked": Fault(
        "sassmix/gaps.py",
        "[gap for gap in counts.gaps if not closed.get(gap)]",
        "[]",
        "scenarios.every_warp_of_a_histogram_has_to_end",
    ),
    "what stands behind the frames of zstd is ignored": Fault(
        "sassmix/readers/_zstd.py",
        'f"zstd frame {len(starts)} is {fault}"',
        "None",
        "cutracer.what_is_no_frame",
    ),
    "the fast path accepts every operand": Fault(
        "sassmix/forms.py",
        "bad = {form for form in set(forms) if not _is_operand(form)}",
        "bad: set[str] = set()",
        "soundness.traps_of_folding",
    ),
    "numbers are folded too far": Fault(
        "sassmix/forms.py",
        '_RUN = re.compile("11+")',
        '_RUN = re.compile("1[1x]+")',
        "soundness.traps_of_folding",
    ),
    "of two launches the last is kept": Fault(
        "sassmix/launches.py",
        "total.update(part)",
        "dict.update(total, part)",
        "dynamic.the_order_of_rows_and_the_split_into_files_change_nothing",
    ),
    "an architecture that is not stated is sm_80": Fault(
        "sassmix/classify.py",
        "self._agreed(mnemonic) if arch is None else self._on(mnemonic, arch)",
        'self._on(mnemonic, arch or "sm_80")',
        "classify.without_an_architecture_a_facet_is_what_all_agree_on",
    ),
    "sources that disagree are not told": Fault(
        "sassmix/agreement.py",
        "if name in unequal",
        "if False",
        "dynamic.sources_that_disagree_are_told agreement.no_difference_goes_by_unsaid",
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, its large folders linked."""
    folder = tmp_path_factory.mktemp("planted")
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _LINKED:
        (folder / name).symlink_to(ROOT / name)
    return folder


@contextmanager
def planted(folder: Path, fault: Fault) -> Iterator[None]:
    """The fault in a file of a folder; taken out afterwards."""
    path = folder / fault.file
    whole = path.read_text(encoding="utf-8")
    assert whole.count(fault.old) == 1, (
        f"{fault.file} holds {fault.old!r} {whole.count(fault.old)} times: plant it anew"
    )
    path.write_text(whole.replace(fault.old, fault.new), encoding="utf-8", newline="")
    yield
    path.write_text(whole, encoding="utf-8", newline="")


def run(folder: Path, tests: list[str]) -> tuple[int, str]:
    """The exit status and the output of pytest in a copy."""
    # No byte code: what was compiled a moment ago would hide a change of the same size.
    environment = {**_ENVIRONMENT, "CI": "true", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=faults"]
    command = [sys.executable, "-c", _PYTEST, *options, *tests]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_without_a_fault_the_same_tests_pass(copy: Path) -> None:
    status, output = run(copy, sorted({test for fault in FAULTS.values() for test in fault.caught_by}))
    assert status == 0, output


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_caught(copy: Path, name: str) -> None:
    fault = FAULTS[name]
    with planted(copy, fault):
        status, output = run(copy, fault.caught_by)
    assert status == pytest.ExitCode.TESTS_FAILED, output
    assert set(re.findall(r"^FAILED ([^\[\s]+)", output, re.MULTILINE)) == set(fault.caught_by), output


def test_a_fault_that_no_longer_applies_is_said(copy: Path) -> None:
    before = (copy / "sassmix" / "flow.py").read_bytes()
    with pytest.raises(AssertionError, match=r"sassmix/flow.py holds 'no such text' 0 times: plant it anew"):
        planted(copy, Fault("sassmix/flow.py", "no such text", "", "")).__enter__()
    assert (copy / "sassmix" / "flow.py").read_bytes() == before


def test_another_package_than_the_copy_is_noticed(copy: Path, tmp_path: Path) -> None:
    assert run(copy, ["--version"])[0] == 0
    assert run(tmp_path, ["--version"])[0] == _WRONG_PACKAGE
