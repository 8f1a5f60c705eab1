"""The main job: read inputs, join what belongs together, report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from sassmix.arch import FACETS, sm
from sassmix.errors import InputError, Problem, SassmixError, did_you_mean
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
    problems = [Problem("warning", None, f"plugin left out: {error}") for error in plugins.errors]
    opened = open_all([inputs] if isinstance(inputs, (str, PathLike)) else inputs, problems)
    reports: list[InputReport] = []
    summaries: list[FunctionSummary] = []
    for item in opened:
        read = _read(item, plugins, wanted_arch, include_padding, problems)
        if read:
            reports.append(read[0])
            summaries += read[1]
    if not reports:
        raise NothingRead(problems)
    chosen = _choose(list(kernels_of(summaries, plugins.registry, plugins.label_rules())), list(kernels))
    if not any(kernel.tally.rows for kernel in chosen):
        problems.append(Problem("warning", None, "the inputs hold no instructions"))
    report = empty_report(problems)
    report.inputs, report.kernels, report.by = reports, chosen, by
    return report


def empty_report(problems: list[Problem]) -> Report:
    """A report of nothing but problems, with the versions of everything that made it."""
    versions = default_plugins().versions()
    return Report(inputs=[], kernels=[], problems=problems, plugins=versions, version=distribution_version())


def open_all(names: Sequence[PathName], problems: list[Problem]) -> list[Input]:
    """Find out what each input is. What is no input becomes a problem: an error if it was named itself."""
    opened: list[Input] = []
    for name in names:
        path = Path(name)
        folder = path.is_dir()
        for file in files_of(path, problems) if folder else [path]:
            try:
                opened.append(open_input(file))
                problems += opened[-1].problems
            except InputError as error:
                severity = "info" if folder and "no known kind" in error.reason else "error"
                problems.append(Problem(severity, error.path, error.reason, error.line))  # type: ignore[arg-type]
    return opened


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
    for pattern in wanted:
        if not any(selected(name, [pattern]) for name in names):
            known = names + [d for d in map(demangled, names) if d]
            listed = did_you_mean(pattern, known) or f"; there are {', '.join(names[:5])}" if names else ""
            raise NoSuchKernel(f"no kernel is called {pattern!r}{listed}")
    return [kernel for kernel in kernels if selected(kernel.name, wanted)]
