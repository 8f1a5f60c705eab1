"""``sassmix archs``: the registered architectures."""

from __future__ import annotations

import argparse
from typing import Any

from sassmix.commands import OK, Outcome, command


def add(commands: Any) -> None:
    """Describe the command."""
    command(commands, "archs", _run, "the registered architectures and the plugin each comes from")


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.api import architecture_rows
    from sassmix.render import render_rows
    from sassmix.render.output import width_of

    return (
        OK,
        render_rows(architecture_rows(), arguments.format, width=width_of(arguments.output), title="Architectures"),
        [],
    )
