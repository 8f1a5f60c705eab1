"""One module per command, each with ``add``, which describes the command to argparse, and the function that runs it.

What a command needs is imported where it runs, so that the others, ``--help`` and ``--version`` start without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from sassmix.errors import Problem

#: The modules, in the order of ``sassmix --help``.
COMMANDS = ("mix", "check", "diff", "explain", "archs", "plugins", "new_arch", "completion")
OK, FAILED, UNUSABLE, EMPTY = 0, 1, 2, 3
FORMATS = ("text", "json", "csv", "markdown", "html")
#: Exit status, text of the report, problems to tell on stderr.
Outcome = tuple[int, str, list[Problem]]
STATUSES = (
    "Exit status: 0 good; 1 diff found a change, check a failure, or a condition is not met; 2 wrong usage or "
    "unreadable; 3 no instructions."
)
NOTE = "Counts say what was executed, not how long it took: no report names what limits a kernel."


def command(
    commands: Any,
    name: str,
    run: Callable[..., Outcome],
    about: str,
    *,
    formats: Sequence[str] = FORMATS,
    file: bool = True,
) -> argparse.ArgumentParser:
    """Add a command with the options that all have.

    :param file: whether what it prints can go to a file instead.
    """
    added: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=about, epilog=f"{STATUSES} {NOTE}"
    )
    added.set_defaults(run=run, output=None)
    added.add_argument("--format", choices=formats, default="text")
    if file:
        added.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    added.add_argument("--strict", action="store_true", help="a plugin that fails is an error")
    added.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return added
