"""``sassmix plugins``: what is loaded, from where, what it gives and what is wrong with it."""

from __future__ import annotations

import argparse
from typing import Any

from sassmix.commands import OK, Outcome, command


def add(commands: Any) -> None:
    """Describe the command."""
    command(commands, "plugins", _run, "the installed plugins: where they come from, what they give, what failed")


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.inventory import plugin_rows
    from sassmix.render.output import width_of
    from sassmix.render.plugins import render_plugins

    return OK, render_plugins(plugin_rows(), arguments.format, width=width_of(arguments.output)), []
