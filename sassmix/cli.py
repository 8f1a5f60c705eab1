"""The command line: reads arguments, calls the library, prints what comes back. No logic of its own."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sassmix.errors import Problem, SassmixError

OK, FAILED, UNUSABLE, EMPTY = 0, 1, 2, 3
FORMATS = ("text", "json", "csv", "markdown")
_NOTE = "Counts say what was executed, not how long it took: no report names what limits a kernel."


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status (see the README)."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:
        # The reader of our output has gone; Python must not complain about it while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130
    except SassmixError as error:
        if arguments.debug:
            raise
        print(f"sassmix: {error}", file=sys.stderr)
        return UNUSABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sassmix", description="What a GPU kernel really executes, with the evidence for it.", epilog=_NOTE
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _mix_command(commands)
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


def _command(commands: Any, name: str, run: Callable[..., int], about: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about, epilog=_NOTE)
    command.set_defaults(run=run)
    command.add_argument("--format", choices=FORMATS, default="text")
    command.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    command.add_argument("--strict", action="store_true", help="a plugin that cannot be loaded is an error")
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
    command.add_argument("--include-padding", action="store_true", help="count the filling behind the code too")


def _check_plugins(arguments: argparse.Namespace) -> None:
    from sassmix.plugins import default_plugins

    for error in default_plugins().errors:
        if arguments.strict:
            raise error
        print(f"sassmix: plugin left out: {error}", file=sys.stderr)


def _mix(arguments: argparse.Namespace) -> int:
    from sassmix.analysis import NothingRead, empty_report, mix

    _check_plugins(arguments)
    try:
        report = mix(
            arguments.inputs,
            arch=arguments.arch,
            by=arguments.by,
            kernels=arguments.kernel,
            include_padding=arguments.include_padding,
        )
    except NothingRead as error:
        _tell(error.problems)
        if arguments.format == "json":
            _write(arguments, _json(empty_report(error.problems).to_dict()))
        return UNUSABLE
    from sassmix.render import render

    _write(arguments, render(report, arguments.format, width=_width(arguments)))
    _tell(p for p in report.problems if p.severity != "info")
    return EMPTY if report.empty else OK


def _diff(arguments: argparse.Namespace) -> int:
    from sassmix.analysis import mix
    from sassmix.diff import diff
    from sassmix.render import render_diff

    _check_plugins(arguments)
    options = {"arch": arguments.arch, "kernels": arguments.kernel, "include_padding": arguments.include_padding}
    found = diff(mix([arguments.before], **options), mix([arguments.after], **options))
    _write(arguments, render_diff(found, arguments.format, width=_width(arguments)))
    return OK if found["same"] else FAILED


def _explain(arguments: argparse.Namespace) -> int:
    from sassmix.api import explain_on
    from sassmix.render import render_rows

    _check_plugins(arguments)
    rows = [info.to_dict() for info in explain_on(arguments.opcodes, arguments.arch)]
    _write(arguments, render_rows(rows, arguments.format, width=_width(arguments)))
    return OK


def _archs(arguments: argparse.Namespace) -> int:
    from sassmix.api import architecture_rows
    from sassmix.render import render_rows

    _check_plugins(arguments)
    _write(arguments, render_rows(architecture_rows(), arguments.format, width=_width(arguments)))
    return OK


def _width(arguments: argparse.Namespace) -> int | None:
    """Columns of the terminal; None where the report goes to a file or a pipe."""
    return os.get_terminal_size().columns if not arguments.output and sys.stdout.isatty() else None


def _tell(problems: Any) -> None:
    for problem in problems:
        assert isinstance(problem, Problem)
        print(f"sassmix: {problem}".encode("ascii", "backslashreplace").decode(), file=sys.stderr)


def _json(data: Any) -> str:
    return json.dumps(data, indent=2) + "\n"


def _write(arguments: argparse.Namespace, text: str) -> None:
    if arguments.output:
        try:
            Path(arguments.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise SassmixError(f"{arguments.output} cannot be written: {error.strerror or error}") from error
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
