"""``sassmix diff``: two inputs compared."""

from __future__ import annotations

import argparse
from typing import Any

from sassmix.commands import FAILED, OK, Outcome, command
from sassmix.commands._report import (
    add_conditions,
    add_options,
    conditions_of,
    is_shown,
    report_of,
    status_of,
    with_options,
)
from sassmix.errors import SassmixError


def add(commands: Any) -> None:
    """Describe the command."""
    about = "what changed between two inputs, by instruction class. Exit status 1 if something did; with conditions, "
    about += "if one is not met"
    diff = command(commands, "diff", with_options(_run), about)
    diff.add_argument("before", metavar="A")
    diff.add_argument("after", metavar="B")
    add_options(diff)
    add_conditions(diff, "require", "forbid", "max-increase")
    diff.add_argument("--tolerance", metavar="SHARE", help="differences up to this share of a count are none: 1%%")


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.conditions import share
    from sassmix.diff import diff
    from sassmix.render.diff import render_diff
    from sassmix.render.output import width_of

    if arguments.before == arguments.after == "-":
        raise SassmixError("standard input can be one of the two inputs only")
    conditions, tolerance = conditions_of(arguments), share(arguments.tolerance or "0%")
    before, after = (report_of(arguments, [name]) for name in (arguments.before, arguments.after))
    found = diff(before, after, by=arguments.by, tolerance=tolerance, kernels=arguments.kernel, conditions=conditions)
    good = not found["failed"] if conditions else found["same"]
    status = status_of(before, after) or (OK if good else FAILED)
    shown = is_shown(status, arguments.format)
    text = render_diff(found, arguments.format, width=width_of(arguments.output)) if shown else ""
    return status, text, before.problems + after.problems
