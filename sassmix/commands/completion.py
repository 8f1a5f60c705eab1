"""``sassmix completion``: the script that lets a shell complete the commands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from sassmix.commands import OK, Outcome, command
from sassmix.errors import SassmixError

#: What is completed to the name of a file, by the name of the argument.
_FILES = frozenset({"inputs", "before", "after", "output", "config", "samples"})


def add(commands: Any) -> None:
    """Describe the command."""
    about = "print a script for the shell, which completes commands and options; needs the extra completion"
    completion = command(commands, "completion", _run, about, formats=("text",))
    completion.add_argument("shell", choices=("bash", "zsh"))


def _run(arguments: argparse.Namespace) -> Outcome:
    try:
        import shtab  # optional: nothing else needs it
    except ImportError as error:
        what = "completion needs the package shtab; install it with: pip install 'sassmix[completion]'"
        raise SassmixError(what) from error
    parser = arguments.parser()
    for action in _actions(parser):
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return OK, f"{shtab.complete(parser, arguments.shell).rstrip()}\n", []


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All arguments of a command and of those below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
