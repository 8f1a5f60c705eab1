"""The command line: reads arguments, runs the command, prints what comes back. The commands are in ``commands/``."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from sassmix.commands import COMMANDS, FORMATS, NOTE, OK, STATUSES, UNUSABLE
from sassmix.errors import PluginError, Problem, SassmixError
from sassmix.version import __version__

__all__ = ["FORMATS", "main"]

#: New objects between two searches for garbage. After every 700, as Python has it, half of the work on a library is
#: walking over what is kept; commands leave little garbage behind.
_UNSEARCHED = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status (see the README)."""
    from sassmix.render.output import say

    gc.set_threshold(_UNSEARCHED)
    debug, words = False, sys.argv[1:] if argv is None else argv
    try:
        arguments = _parser(words[:1]).parse_args(words)
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


def _tell(problems: Iterable[Problem]) -> None:
    from sassmix.render.output import say

    for problem in problems:
        say(problem)


class _Parser(argparse.ArgumentParser):
    """argparse repeats an argument that it does not know as it is, and passes over output that cannot be written."""

    def print_help(self, file: Any = None) -> None:
        from sassmix.render.output import write

        write(self.format_help())

    def error(self, message: str) -> NoReturn:
        from sassmix.render import printable

        super().error(printable(message))


def _parser(first: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The arguments; where the first word is a command, of that one alone: describing all takes longer than a listing.

    :param first: the first word, if there is one.
    """
    parser = _Parser(
        prog="sassmix",
        description="What a GPU kernel really executes, with the evidence for it.",
        epilog=f"{STATUSES} {NOTE}",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in [name for name in COMMANDS if name.replace("_", "-") in first] or COMMANDS:
        import_module(f"sassmix.commands.{name}").add(commands)
    parser.set_defaults(parser=_parser)  # for the command that describes all others to a shell
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from sassmix.render.output import write

        write(f"sassmix {__version__}\n")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
