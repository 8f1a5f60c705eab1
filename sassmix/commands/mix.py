"""``sassmix mix``: the instruction mix with its evidence."""

from __future__ import annotations

import argparse
from typing import Any

from sassmix.commands import Outcome, command
from sassmix.commands._report import INPUTS, add_options, is_shown, report_of, status_of, with_options


def add(commands: Any) -> None:
    """Describe the command."""
    mix = command(
        commands, "mix", with_options(_run), "read listings, binaries and counts, print the mix with its evidence"
    )
    mix.add_argument("inputs", nargs="+", metavar="INPUT", help=INPUTS)
    add_options(mix)


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.render import render
    from sassmix.render.output import encoding_of, width_of

    report = report_of(arguments, arguments.inputs, arguments.kernel, code=arguments.format == "html")
    status = status_of(report)
    shown = is_shown(status, arguments.format)
    width, encoding = width_of(arguments.output), encoding_of(arguments.output)
    text = render(report, arguments.format, width=width, encoding=encoding) if shown else ""
    seen = arguments.format == "text" and width is not None and shown  # the report on the terminal lists them
    return status, text, [] if seen else report.problems
