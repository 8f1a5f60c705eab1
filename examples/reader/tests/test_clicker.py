"""The reader on a good file, and on everything that can be wrong with one."""

from pathlib import Path

import pytest

import sassmix

HERE = Path(__file__).parent
CLICKS, LISTING = HERE / "saxpy.clicks", HERE / "saxpy.sm_90a.sass"


def report_of(text: str, folder: Path) -> sassmix.Report:
    path = folder / "k.clicks"
    path.write_text(text, encoding="utf-8")
    return sassmix.mix([path, LISTING])


def test_counts_are_joined_to_the_listing() -> None:
    (kernel,) = sassmix.mix([CLICKS, LISTING]).kernels
    assert (kernel.name, kernel.basis, kernel.launches, kernel.confidence) == ("saxpy", "dynamic", 2, "high")
    rows = [line.split() for line in CLICKS.read_text(encoding="utf-8").splitlines()[2:-1]]
    assert kernel.tally.counts()["total"] == sum(int(issued) for _, issued, _ in rows)
    assert kernel.tensor.active is False, "whole, resolved, consistent: absence is proved"


def test_a_block_that_is_cut_off_proves_nothing(tmp_path: Path) -> None:
    report = report_of(CLICKS.read_text(encoding="utf-8").removesuffix("end\n"), tmp_path)
    (kernel,) = report.kernels
    assert kernel.confidence == "low" and kernel.tensor.active is None


@pytest.mark.parametrize("line", ["0020 x S2UR", "0020 -8 S2UR", "S2UR 8", "\x1b[2J"])
def test_a_line_that_is_no_row_is_a_problem_with_its_number(tmp_path: Path, line: str) -> None:
    lines = CLICKS.read_text(encoding="utf-8").splitlines()
    report = report_of("\n".join([*lines[:4], line, *lines[5:]]) + "\n", tmp_path)
    (problem,) = [problem for problem in report.problems if problem.severity == "warning"]
    assert problem.line == 5 and "is no row" in problem.message
    assert report.kernels[0].confidence == "low"


def test_counts_that_the_code_cannot_have_are_said(tmp_path: Path) -> None:
    report = report_of(CLICKS.read_text(encoding="utf-8").replace("0050 8 ULDC", "0050 8 FFMA"), tmp_path)
    failed = {item.check for item in report.kernels[0].evidence if item.status == "fail"}
    assert failed == {"consistent"}


def test_a_row_before_the_first_kernel_is_an_error_of_the_file(tmp_path: Path) -> None:
    report = report_of("#clicker 1\n0000 8 LDC\n", tmp_path)
    (problem,) = report.problems
    assert problem.severity == "error" and "before the first `kernel` line" in problem.message
