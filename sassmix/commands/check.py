"""``sassmix check``: the evidence alone."""

from __future__ import annotations

import argparse
from typing import Any

from sassmix.commands import FAILED, OK, Outcome, command
from sassmix.commands._report import (
    INPUTS,
    add_conditions,
    add_options,
    conditions_of,
    is_shown,
    report_of,
    status_of,
    with_options,
)


def add(commands: Any) -> None:
    """Describe the command."""
    about = "only the evidence: may this data be believed? Exit status 1 if evidence or a condition fails"
    check = command(commands, "check", with_options(_run), about)
    check.add_argument("inputs", nargs="+", metavar="INPUT", help=INPUTS)
    add_options(check)
    add_conditions(check, "require", "forbid")


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.check import check
    from sassmix.render.check import render_check
    from sassmix.render.output import width_of

    conditions = conditions_of(arguments)
    report = report_of(arguments, arguments.inputs, arguments.kernel)
    found = check(report, conditions)
    status = status_of(report) or (FAILED if found["verdict"] == "fail" else OK)
    shown = is_shown(status, arguments.format)
    text = render_check(found, arguments.format, width=width_of(arguments.output)) if shown else ""
    return status, text, report.problems
