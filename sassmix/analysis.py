"""The main job: read inputs, join what belongs together, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike

from sassmix.errors import Problem, SassmixError, did_you_mean
from sassmix.evidence import few
from sassmix.intake import Intake, PathName
from sassmix.labels import near_names, selected
from sassmix.plugins import default_plugins
from sassmix.report import UNITS, KernelReport, Report, facet_of
from sassmix.static import kernels_of
from sassmix.version import __version__


class NothingRead(SassmixError):
    """Not one input could be read; ``problems`` says why for each."""

    def __init__(self, problems: list[Problem]) -> None:
        errors = [p for p in problems if p.severity == "error"] or problems
        super().__init__("; ".join(f"{p.path}: {p.message}" if p.path else p.message for p in errors))
        self.problems = problems


class NoSuchKernel(SassmixError):
    """``--kernel`` names nothing that the inputs hold."""


def mix(  # noqa: PLR0913 (every option of the command, by name)
    inputs: PathName | Sequence[PathName],
    *,
    arch: str | None = None,
    by: str = "category",
    kernels: str | Iterable[str] = (),
    include_padding: bool = False,
    counts: str = "issued",
    code: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Report:
    """Report the instruction mix of files and folders that belong together.

    :param inputs: listings and binaries; a folder is searched for files that sassmix knows, ``-`` is standard input.
    :param arch: a target such as ``sm_90a`` for inputs that do not name theirs; where it contradicts them it wins,
        and the evidence says so.
    :param by: the facet of the report's ``mix``, or ``opcode``.
    :param counts: which executions are counted, where the data tells: ``issued`` warp instructions, those ``active`` in
        at least one lane, or ``threads``.
    :param code: keep the instructions too, as far as a page shows them (:meth:`Report.to_html`).
    :param tell: is told what is being read, in words; for long jobs.
    :param kernels: mangled or demangled names, these also without parameters, or glob patterns; none selects all.
    :raises NothingRead: if not one input could be read.
    :raises UnknownArchitectureError: if no plugin registers ``arch``.
    :raises NoSuchKernel: if nothing has one of the names, with near ones.
    """
    facet_of(by)
    if counts not in UNITS:
        raise SassmixError(f"no counts are called {counts!r}{did_you_mean(counts, UNITS)}")
    plugins, wanted = default_plugins(), [kernels] if isinstance(kernels, str) else list(kernels)
    intake = Intake(
        plugins=plugins,
        arch=None if arch is None else plugins.registry.named(arch),
        include_padding=include_padding,
        code=wanted or ["*"] if code else [],
        tell=tell,
    )
    intake.read_all([inputs] if isinstance(inputs, (str, PathLike)) else inputs)
    if not intake.inputs:
        raise NothingRead(intake.problems + plugins.problems())
    found = _kernels(intake, counts)
    try:
        names = choose([kernel.name for kernel in found], wanted)
    except NoSuchKernel as error:
        odd = [str(problem) for problem in intake.problems if problem.severity != "info"]
        raise NoSuchKernel("; ".join([str(error), *odd[:3]])) from None
    chosen = [kernel for kernel in found if kernel.name in names]
    if not any(kernel.tally.rows for kernel in chosen):
        what = "the inputs hold no instructions"
        if intake.counts and intake.functions:
            what = "nothing was counted, so no kernel is reported; give the listings alone for what stands in them"
        intake.problems.append(Problem("warning", None, what))
    report = empty_report(intake.problems + plugins.problems())  # last: plugins fail at work too
    report.inputs, report.kernels, report.by = intake.inputs, chosen, by
    report.others = [kernel for kernel in found if kernel.name not in names]
    return report


def _kernels(intake: Intake, what: str) -> list[KernelReport]:
    """The traced kernels where counts were given, else every function of the listings."""
    plugins, rules = intake.plugins, intake.plugins.label_rules()
    static = list(kernels_of(intake.summaries, plugins.registry, rules))
    if not intake.counts:
        return static
    from sassmix.dynamic import kernel_report, static_of  # a listing alone needs neither
    from sassmix.launches import gather

    found, gathered = [], gather(intake.counts, intake.functions, intake.arch)
    if gathered and intake.functions and not any(sources[0].match.function for sources in gathered):
        names = few(function.name for function in intake.functions)
        message = f"none of the listings' functions was counted for certain ({names}): are they the code that ran?"
        intake.problems.append(Problem("warning", None, message))
    for sources in gathered:
        code = static_of(sources[0].match.function, static)
        kernel = kernel_report(
            sources,
            classifier=plugins.classifier,
            rules=rules,
            arch=intake.arch,
            what=what,
            static=code,
            keep=bool(intake.code),
        )
        if kernel.unit != UNITS[what]:
            message = f"kernel {kernel.name}: the data does not tell {UNITS[what]}; these are {kernel.unit}"
            intake.problems.append(Problem("warning", sources[0].first.path, message))
        found.append(kernel)
    return found


def empty_report(problems: list[Problem]) -> Report:
    """A report of nothing but problems, with the versions of everything that made it."""
    versions = default_plugins().versions()
    return Report(inputs=[], kernels=[], problems=problems, plugins=versions, version=__version__)


def choose(names: Sequence[str], wanted: Sequence[str]) -> set[str]:
    """The names that ``--kernel`` means; all where it is not given.

    :raises NoSuchKernel: if nothing has one of the wanted names, with near ones.
    """
    chosen: set[str] = set()
    for pattern in wanted:
        found = selected(names, pattern)
        if not found:
            raise NoSuchKernel(f"no kernel is called {pattern!r}{near_names(names, pattern)}")
        chosen |= found
    return chosen if wanted else set(names)
