"""``sassmix explain``: what an opcode is."""

from __future__ import annotations

import argparse
from typing import Any

from sassmix.commands import OK, Outcome, command


def add(commands: Any) -> None:
    """Describe the command."""
    explain = command(commands, "explain", _run, "what an opcode or a full mnemonic is")
    explain.add_argument("opcodes", nargs="+", metavar="OPCODE")
    explain.add_argument("--arch", metavar="SM", help="on this architecture only; left out, on all that have it")


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.api import explained_rows
    from sassmix.render.explain import render_explained
    from sassmix.render.output import width_of

    rows = explained_rows(arguments.opcodes, arguments.arch)
    return OK, render_explained(rows, arguments.format, width=width_of(arguments.output)), []
