"""The main job: read inputs, join what belongs together, report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from sassmix.arch import FACETS, sm
from sassmix.errors import InputError, Problem, SassmixError, Severity, did_you_mean
from sassmix.labels import demangled, selected
from sassmix.plugins import Plugins, default_plugins, distribution_version
from sassmix.readers import Input, files_of, open_input
from sassmix.report import InputReport, KernelReport, Report
from sassmix.static import FunctionSummary, kernels_of, summarise

PathName = str | PathLike[str]
BY = (*FACETS, "opcode")


class NothingRead(SassmixError):
    """Not one input could be read; ``problems`` says why for each."""

    def __init__(self, problems: list[Problem]) -> None:
        errors = [p for p in problems if p.severity == "error"] or problems
        super().__init__("; ".join(f"{p.path}: {p.message}" if p.path else p.message for p in errors))
        self.problems = problems


class NoSuchKernel(SassmixError):
    """``--kernel`` names nothing that the inputs hold."""


def mix(
    inputs: PathName | Sequence[PathName],
    *,
    arch: str | None = None,
    by: str = "category",
    kernels: Iterable[str] = (),
    include_padding: bool = False,
) -> Report:
    """Report the instruction mix of files and folders that belong together.

    :param inputs: listings and binaries; a folder is searched for files that sassmix knows.
    :param arch: a target such as ``sm_90a`` for inputs that do not name theirs; where it contradicts them it wins,
        and the evidence says so.
    :param by: the facet of the report's ``mix``, or ``opcode``.
    :param kernels: exact mangled or demangled names, or glob patterns; none selects all.
    :raises NothingRead: if not one input could be read.
    :raises NoSuchKernel: if nothing has one of the names, with near ones.
    """
    if by not in BY:
        raise SassmixError(f"no facet is called {by!r}{did_you_mean(by, BY)}")
    wanted_arch = sm(arch)[0] if arch else None
    plugins = default_plugins()
    problems: list[Problem] = []
    opened = open_all([inputs] if isinstance(inputs, (str, PathLike)) else inputs, problems)
    reports: list[InputReport] = []
    summaries: list[FunctionSummary] = []
    for item in opened:
        read = _read(item, plugins, wanted_arch, include_padding, problems)
        if read:
            reports.append(read[0])
            summaries += read[1]
    if not reports:
        raise NothingRead(problems + plugins.problems())
    chosen = _choose(list(kernels_of(summaries, plugins.registry, plugins.label_rules())), list(kernels))
    if not any(kernel.tally.rows for kernel in chosen):
        problems.append(Problem("warning", None, "the inputs hold no instructions"))
    report = empty_report(problems + plugins.problems())  # last: plugins fail at work too
    report.inputs, report.kernels, report.by = reports, chosen, by
    return report


def empty_report(problems: list[Problem]) -> Report:
    """A report of nothing but problems, with the versions of everything that made it."""
    versions = default_plugins().versions()
    return Report(inputs=[], kernels=[], problems=problems, plugins=versions, version=distribution_version())


def open_all(names: Sequence[PathName], problems: list[Problem]) -> list[Input]:
    """Find out what each input is. What is no input becomes a problem: an error if it was named itself."""
    opened: list[Input] = []
    if not names:
        problems.append(Problem("error", None, "no input was given"))
    for name in names:
        path = Path(name)
        opened += _open_folder(path, problems) if path.is_dir() else _open(path, "error", problems)
    return _without_repeats(opened, problems)


def _open_folder(folder: Path, problems: list[Problem]) -> list[Input]:
    found: list[Problem] = []
    files = files_of(folder, found)
    opened = [item for file in files for item in _open(file, "info", found)]
    problems += found
    if not opened and all(problem.severity == "info" for problem in found):
        what = "the folder holds no file of a known kind" if files else "the folder holds no file"
        problems.append(Problem("error", str(folder), what))
    return opened


def _open(path: Path, unknown: Severity, problems: list[Problem]) -> list[Input]:
    """The input, or none: a file of no known kind is a problem of the severity ``unknown``, another an error."""
    try:
        item = open_input(path)
    except InputError as error:
        severity = unknown if "no known kind" in error.reason else "error"
        problems.append(Problem(severity, error.path, error.reason, error.line))
        return []
    problems += item.problems
    return [item]


def _without_repeats(opened: list[Input], problems: list[Problem]) -> list[Input]:
    """A file that is given twice, or with the folder that it is in, would be counted twice."""
    first: dict[Path, Input] = {}
    for item in opened:
        if first.setdefault(item.path.resolve(), item) is not item:
            problems.append(Problem("info", str(item.path), "the same file is among the inputs already; counted once"))
    return list(first.values())


def _read(
    item: Input, plugins: Plugins, arch: str | None, include_padding: bool, problems: list[Problem]
) -> tuple[InputReport, list[FunctionSummary]] | None:
    """Read one input to its end. What fails on the way is a problem; what was read before stays."""
    report: InputReport | None = None
    summaries: list[FunctionSummary] = []
    lines: Counter[str] = Counter()
    path = str(item.path)
    try:
        for listing in item.listings():
            problems += listing.problems
            lines.update(listing.lines)
            summaries += summarise(listing, plugins, arch=arch, include_padding=include_padding)
            if report is None:
                report = InputReport(
                    path=path,
                    kind=listing.kind,
                    arch=listing.arch,
                    tool=listing.tool,
                    toolkit=listing.toolkit,
                    sha256=item.sha256,
                )
    except SassmixError as error:
        reason = error.reason if isinstance(error, InputError) else str(error)
        problems.append(Problem("error", path, reason.removeprefix(f"{path}: ")))
    except Exception as error:
        # Only the readers of plugins are expected to fail in any way; what was read before stays.
        problems.append(
            Problem("error", path, f"its reader, {item.reader.name}, fails: {type(error).__name__}: {error}")
        )
    if report is None:
        return None
    archs = {summary.arch for summary in summaries}
    report.arch = archs.pop() if len(archs) == 1 else report.arch if not archs else None
    report.functions = [summary.to_dict() for summary in summaries]
    report.lines = dict(lines)
    return report, summaries


def _choose(kernels: list[KernelReport], wanted: list[str]) -> list[KernelReport]:
    if not wanted:
        return kernels
    names = [kernel.name for kernel in kernels]
    chosen: set[str] = set()
    for pattern in wanted:
        found = selected(names, pattern)
        if not found:
            known = names + [d for d in map(demangled, names) if d]
            listed = did_you_mean(pattern, known) or f"; there are {', '.join(names[:5])}" if names else ""
            raise NoSuchKernel(f"no kernel is called {pattern!r}{listed}")
        chosen |= found
    return [kernel for kernel in kernels if kernel.name in chosen]
