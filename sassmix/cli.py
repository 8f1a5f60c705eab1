"""The command line: reads arguments, calls the library, prints what comes back. No logic of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from sassmix.arch import FACETS
from sassmix.errors import PluginError, Problem, SassmixError

if TYPE_CHECKING:
    from sassmix.report import Report

OK, FAILED, UNUSABLE, EMPTY = 0, 1, 2, 3
FORMATS = ("text", "json", "csv", "markdown")
#: Exit status, text of the report, problems to tell on stderr.
Outcome = tuple[int, str, list[Problem]]
_STATUSES = (
    "Exit status: 0 good; 1 diff found a change or check a failure; 2 wrong usage or unreadable; 3 no instructions."
)
_INPUTS = "files and folders, - for standard input; their content decides their kind"
_NOTE = "Counts say what was executed, not how long it took: no report names what limits a kernel."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status (see the README)."""
    from sassmix.render.output import say

    debug = False
    try:
        arguments = _parser().parse_args(argv)
        debug = arguments.debug
        return _run(arguments)
    except BrokenPipeError:
        return OK  # the reader of our output has gone
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if debug:
            raise
        fault = f"internal error: {type(error).__name__}: {error}; run again with --debug and report it"
        say(f"error: {error if isinstance(error, SassmixError) else fault}")
        return UNUSABLE


def _run(arguments: argparse.Namespace) -> int:
    from sassmix.plugins import default_plugins
    from sassmix.render.output import write

    plugins = default_plugins()
    _refuse_broken(arguments, plugins.errors)
    told = plugins.problems()
    _tell(told)
    status, text, problems = arguments.run(arguments)
    _refuse_broken(arguments, plugins.errors)  # again: plugins fail at work too
    write(text, arguments.output)
    _tell(p for p in dict.fromkeys([*problems, *plugins.problems()]) if p not in told and p.severity != "info")
    return int(status)


def _refuse_broken(arguments: argparse.Namespace, errors: list[PluginError]) -> None:
    if arguments.strict and errors:
        raise errors[0]


class _Parser(argparse.ArgumentParser):
    """argparse repeats an argument that it does not know as it is, and passes over output that cannot be written."""

    def print_help(self, file: Any = None) -> None:
        from sassmix.render.output import write

        write(self.format_help())

    def error(self, message: str) -> NoReturn:
        from sassmix.render import printable

        super().error(printable(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sassmix",
        description="What a GPU kernel really executes, with the evidence for it.",
        epilog=f"{_STATUSES} {_NOTE}",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _mix_command(commands)
    _check_command(commands)
    _diff_command(commands)
    explain = _command(commands, "explain", _explain, "what an opcode or a full mnemonic is")
    explain.add_argument("opcodes", nargs="+", metavar="OPCODE")
    explain.add_argument("--arch", metavar="SM", help="on this architecture only; left out, on all that have it")
    _command(commands, "archs", _archs, "the registered architectures and the plugin each comes from")
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is printed: asking for installed metadata takes long."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from sassmix.plugins import distribution_version
        from sassmix.render.output import write

        write(f"sassmix {distribution_version()}\n")
        parser.exit()


def _command(commands: Any, name: str, run: Callable[..., Outcome], about: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=about, epilog=f"{_STATUSES} {_NOTE}"
    )
    command.set_defaults(run=run)
    command.add_argument("--format", choices=FORMATS, default="text")
    command.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    command.add_argument("--strict", action="store_true", help="a plugin that fails is an error")
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _mix_command(commands: Any) -> None:
    mix = _command(commands, "mix", _mix, "read listings and binaries, print the instruction mix with its evidence")
    mix.add_argument("inputs", nargs="+", metavar="INPUT", help=_INPUTS)
    mix.add_argument("--by", default="category", metavar="FACET", help=", ".join((*FACETS, "opcode")))
    _shared_options(mix)


def _check_command(commands: Any) -> None:
    about = "only the evidence: may this data be believed? Exit status 1 if evidence fails"
    check = _command(commands, "check", _check, about)
    check.add_argument("inputs", nargs="+", metavar="INPUT", help=_INPUTS)
    _shared_options(check)


def _diff_command(commands: Any) -> None:
    diff = _command(commands, "diff", _diff, "what changed between two inputs, by instruction class")
    diff.add_argument("before", metavar="A")
    diff.add_argument("after", metavar="B")
    _shared_options(diff)


def _shared_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME",
        help="name, with or without its parameters, or glob pattern; repeatable",
    )
    command.add_argument("--arch", metavar="SM", help="the architecture, where the input does not say or is wrong")
    command.add_argument(
        "--counts",
        choices=("issued", "active", "threads"),
        default="issued",
        help="what is counted, where the data tells: warp instructions issued, those with an active lane, or threads",
    )
    command.add_argument("--include-padding", action="store_true", help="count the filling behind the code too")


def _mix(arguments: argparse.Namespace) -> Outcome:
    from sassmix.render import render
    from sassmix.render.output import encoding_of, width_of

    report = _report(arguments, arguments.inputs, by=arguments.by)
    status = _status(report)
    shown = status != UNUSABLE or arguments.format == "json"
    width, encoding = width_of(arguments.output), encoding_of(arguments.output)
    text = render(report, arguments.format, width=width, encoding=encoding) if shown else ""
    return status, text, report.problems


def _check(arguments: argparse.Namespace) -> Outcome:
    from sassmix.check import check
    from sassmix.render import render_check
    from sassmix.render.output import width_of

    report = _report(arguments, arguments.inputs)
    found = check(report)
    status = _status(report) or (FAILED if found["verdict"] == "fail" else OK)
    shown = status != UNUSABLE or arguments.format == "json"
    text = render_check(found, arguments.format, width=width_of(arguments.output)) if shown else ""
    return status, text, report.problems


def _status(*reports: Report) -> int:
    if not all(report.inputs for report in reports):
        return UNUSABLE
    return EMPTY if all(report.empty for report in reports) else OK


def _report(arguments: argparse.Namespace, inputs: Sequence[str], by: str = "category") -> Report:
    """The report; one without inputs where not one could be read."""
    from sassmix.analysis import NothingRead, empty_report, mix

    try:
        return mix(
            inputs,
            arch=arguments.arch,
            by=by,
            kernels=arguments.kernel,
            include_padding=arguments.include_padding,
            counts=arguments.counts,
        )
    except NothingRead as error:
        return empty_report(error.problems)


def _diff(arguments: argparse.Namespace) -> Outcome:
    from sassmix.diff import diff
    from sassmix.render import render_diff
    from sassmix.render.output import width_of

    if arguments.before == arguments.after == "-":
        raise SassmixError("standard input can be one of the two inputs only")
    before, after = (_report(arguments, [name]) for name in (arguments.before, arguments.after))
    found = diff(before, after)
    status = _status(before, after) or (OK if found["same"] else FAILED)
    shown = status != UNUSABLE or arguments.format == "json"
    text = render_diff(found, arguments.format, width=width_of(arguments.output)) if shown else ""
    return status, text, before.problems + after.problems


def _explain(arguments: argparse.Namespace) -> Outcome:
    from sassmix.api import explained_rows
    from sassmix.render.explain import render_explained
    from sassmix.render.output import width_of

    rows = explained_rows(arguments.opcodes, arguments.arch)
    return OK, render_explained(rows, arguments.format, width=width_of(arguments.output)), []


def _archs(arguments: argparse.Namespace) -> Outcome:
    from sassmix.api import architecture_rows
    from sassmix.render import render_rows
    from sassmix.render.output import width_of

    return OK, render_rows(architecture_rows(), arguments.format, width=width_of(arguments.output)), []


def _tell(problems: Iterable[Problem]) -> None:
    from sassmix.render.output import say

    for problem in problems:
        say(problem)


if __name__ == "__main__":
    sys.exit(main())
