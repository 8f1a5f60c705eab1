"""The command line: reads arguments, calls the library, prints what comes back. No logic of its own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sassmix.errors import PluginError, Problem, SassmixError

if TYPE_CHECKING:
    from sassmix.report import Report

OK, FAILED, UNUSABLE, EMPTY = 0, 1, 2, 3
FORMATS = ("text", "json", "csv", "markdown")
#: Exit status, text of the report, problems to tell on stderr.
Outcome = tuple[int, str, list[Problem]]
_NOTE = "Counts say what was executed, not how long it took: no report names what limits a kernel."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status (see the README)."""
    arguments = _parser().parse_args(argv)
    try:
        return _run(arguments)
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if arguments.debug:
            raise
        fault = f"internal error: {type(error).__name__}: {error}; run again with --debug and report it"
        _say(error if isinstance(error, SassmixError) else fault)
        return UNUSABLE


def _run(arguments: argparse.Namespace) -> int:
    from sassmix.plugins import default_plugins

    plugins = default_plugins()
    _refuse_broken(arguments, plugins.errors)
    told = plugins.problems()
    _tell(told)
    status, text, problems = arguments.run(arguments)
    _refuse_broken(arguments, plugins.errors)  # again: plugins fail at work too
    _write(arguments, text)
    _tell(p for p in dict.fromkeys([*problems, *plugins.problems()]) if p not in told and p.severity != "info")
    return int(status)


def _refuse_broken(arguments: argparse.Namespace, errors: list[PluginError]) -> None:
    if arguments.strict and errors:
        raise errors[0]


class _Parser(argparse.ArgumentParser):
    """argparse repeats an argument that it does not know as it is."""

    def error(self, message: str) -> NoReturn:
        from sassmix.render import printable

        super().error(printable(message))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="sassmix", description="What a GPU kernel really executes, with the evidence for it.", epilog=_NOTE
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

        print(f"sassmix {distribution_version()}")
        parser.exit()


def _command(commands: Any, name: str, run: Callable[..., Outcome], about: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about, epilog=_NOTE)
    command.set_defaults(run=run)
    command.add_argument("--format", choices=FORMATS, default="text")
    command.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    command.add_argument("--strict", action="store_true", help="a plugin that fails is an error")
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return command


def _mix_command(commands: Any) -> None:
    mix = _command(commands, "mix", _mix, "read listings and binaries, print the instruction mix with its evidence")
    mix.add_argument("inputs", nargs="+", metavar="INPUT", help="files and folders; their content decides their kind")
    mix.add_argument(
        "--by",
        default="category",
        metavar="FACET",
        help="category, group, pipe, datapath, space, dtype, opcode, intent",
    )
    _shared_options(mix)


def _check_command(commands: Any) -> None:
    about = "only the evidence: may this data be believed? Exit status 1 if evidence fails"
    check = _command(commands, "check", _check, about)
    check.add_argument("inputs", nargs="+", metavar="INPUT", help="files and folders; their content decides their kind")
    _shared_options(check)


def _diff_command(commands: Any) -> None:
    diff = _command(commands, "diff", _diff, "what changed between two inputs, by instruction class")
    diff.add_argument("before", metavar="A")
    diff.add_argument("after", metavar="B")
    _shared_options(diff)


def _shared_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--kernel", action="append", default=[], metavar="NAME", help="exact name or glob pattern; repeatable"
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

    report = _report(arguments, arguments.inputs, by=arguments.by)
    status = _status(report)
    shown = status != UNUSABLE or arguments.format == "json"
    width, encoding = _width(arguments), _encoding(arguments)
    text = render(report, arguments.format, width=width, encoding=encoding) if shown else ""
    return status, text, report.problems


def _check(arguments: argparse.Namespace) -> Outcome:
    from sassmix.check import check
    from sassmix.render import render_check

    report = _report(arguments, arguments.inputs)
    found = check(report)
    status = _status(report) or (FAILED if found["verdict"] == "fail" else OK)
    shown = status != UNUSABLE or arguments.format == "json"
    text = render_check(found, arguments.format, width=_width(arguments)) if shown else ""
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

    before, after = (_report(arguments, [name]) for name in (arguments.before, arguments.after))
    found = diff(before, after)
    status = _status(before, after) or (OK if found["same"] else FAILED)
    shown = status != UNUSABLE or arguments.format == "json"
    text = render_diff(found, arguments.format, width=_width(arguments)) if shown else ""
    return status, text, before.problems + after.problems


def _explain(arguments: argparse.Namespace) -> Outcome:
    from sassmix.api import explain_on
    from sassmix.render import render_rows

    rows = [info.to_dict() for info in explain_on(arguments.opcodes, arguments.arch)]
    return OK, render_rows(rows, arguments.format, width=_width(arguments)), []


def _archs(arguments: argparse.Namespace) -> Outcome:
    from sassmix.api import architecture_rows
    from sassmix.render import render_rows

    return OK, render_rows(architecture_rows(), arguments.format, width=_width(arguments)), []


def _width(arguments: argparse.Namespace) -> int | None:
    """Columns of the terminal; None where the report goes to a file or a pipe."""
    return os.get_terminal_size().columns if not arguments.output and sys.stdout.isatty() else None


def _encoding(arguments: argparse.Namespace) -> str:
    return "utf-8" if arguments.output else sys.stdout.encoding or "utf-8"


def _tell(problems: Iterable[Problem]) -> None:
    for problem in problems:
        _say(problem)


def _say(what: object) -> None:
    """One line on stderr, which itself escapes the letters that its encoding lacks."""
    from sassmix.render import printable

    print(f"sassmix: {printable(str(what))}", file=sys.stderr)


def _write(arguments: argparse.Namespace, text: str) -> None:
    from sassmix.render import encodable

    text = encodable(text, _encoding(arguments))
    try:
        if arguments.output and text:
            Path(arguments.output).write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        where = arguments.output or "standard output"
        raise SassmixError(f"{where} cannot be written: {error.strerror or error}") from error


if __name__ == "__main__":
    sys.exit(main())
