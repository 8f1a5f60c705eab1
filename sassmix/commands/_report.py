"""What the commands share that make a report of inputs: their options, and where these come from."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sassmix.arch import FACETS
from sassmix.commands import EMPTY, FORMATS, OK, UNUSABLE, Outcome
from sassmix.errors import Problem, SassmixError, did_you_mean

if TYPE_CHECKING:
    from sassmix.conditions import Condition
    from sassmix.report import Report

INPUTS = "files and folders, - for standard input; their content decides their kind"
_COUNTS = ("issued", "active", "threads")
_CHOICES = {"format": FORMATS, "counts": _COUNTS, "by": (*FACETS, "opcode")}
#: What an option is where neither the command line nor a file says.
_DEFAULTS: dict[str, Any] = {"format": "text", "counts": "issued", "by": "category", "include_padding": False}
_REPEATABLE = ("kernel", "require", "forbid", "max_increase")


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of ``mix``, ``check`` and ``diff``; all are None where they are not given."""
    command.add_argument("--by", metavar="FACET", help=f"{', '.join((*FACETS, 'opcode'))} (category)")
    command.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="name, with or without its parameters, or glob pattern; repeatable",
    )
    command.add_argument("--arch", metavar="SM", help="the architecture, where the input does not say or is wrong")
    command.add_argument(
        "--counts",
        choices=_COUNTS,
        help="what is counted, where the data tells: warp instructions issued, those with an active lane, or threads",
    )
    command.add_argument(
        "--include-padding",
        action=argparse.BooleanOptionalAction,
        help="count the filling behind the code too",
    )
    file = command.add_mutually_exclusive_group()
    file.add_argument("--config", metavar="FILE", help="take options from this file instead of the nearest one")
    file.add_argument("--no-config", action="store_true", help="take no options from a file")
    command.set_defaults(format=None)


def add_conditions(command: argparse.ArgumentParser, *kinds: str) -> None:
    """The options of ``check`` and ``diff`` that make a condition."""
    helps = {
        "require": ("WHAT", "a category, opcode or FACET=VALUE that each kernel must hold; repeatable"),
        "forbid": ("WHAT", "one that no kernel may hold, as memory.local for spills; repeatable"),
        "max-increase": ("WHAT=N", "one that may grow by this number, or by this share: memory.local=0, integer=5%%"),
    }
    for kind in kinds:
        metavar, text = helps[kind]
        command.add_argument(f"--{kind}", action="append", metavar=metavar, help=text)


def with_options(run: Callable[[argparse.Namespace], Outcome]) -> Callable[[argparse.Namespace], Outcome]:
    """A command that is run with all of its options filled in, and whose errors name the file that gave some."""

    def settled(arguments: argparse.Namespace) -> Outcome:
        _settle(arguments)
        try:
            outcome = run(arguments)
        except SassmixError as error:
            if not arguments.told:
                raise
            raise SassmixError(f"{error} ({arguments.told[0].path}: {arguments.told[0].message})") from error
        if arguments.told and arguments.format != "json":  # JSON has it among the problems
            from sassmix.render.output import say

            say(arguments.told[0])
        return outcome

    return settled


def _settle(arguments: argparse.Namespace) -> None:
    """Fill in what the command line leaves open, from a file of options and then from the defaults.

    ``arguments.told`` then holds the problem that names the file, if something was taken from it.
    """
    from sassmix.config import Config, load

    config = Config() if arguments.no_config else load(arguments.config)
    taken = {}
    for key, value in config.values.items():
        name = key.replace("-", "_")
        _check_choice(f"{config.path}: {key}", name, value)
        if getattr(arguments, name, False) is None:  # an option that the command has and that was not given
            setattr(arguments, name, value)
            taken[key] = value
    for name in [*_DEFAULTS, *_REPEATABLE]:
        if getattr(arguments, name, False) is None:
            setattr(arguments, name, _DEFAULTS.get(name, []))
    told = f"options taken from this file: {', '.join(taken)}"
    arguments.told = [Problem("info", config.path, told)] if taken else []


def _check_choice(where: str, name: str, value: Any) -> None:
    allowed = _CHOICES.get(name)
    if allowed and value not in allowed:
        near = did_you_mean(value, allowed) or f"; there are {', '.join(allowed)}"
        raise SassmixError(f"{where} is {value!r}{near}")


def conditions_of(arguments: argparse.Namespace) -> list[Condition]:
    """The conditions that were given; a wrong one ends the command before anything is read."""
    from sassmix.conditions import KINDS, condition

    texts = {kind: getattr(arguments, kind.replace("-", "_"), None) or () for kind in KINDS}
    return list(dict.fromkeys(condition(kind, text) for kind in KINDS for text in texts[kind]))


def report_of(
    arguments: argparse.Namespace, inputs: Sequence[str], kernels: Sequence[str] = (), code: bool = False
) -> Report:
    """The report; one without inputs where not one could be read."""
    from sassmix.analysis import NothingRead, empty_report, mix
    from sassmix.render.progress import progress

    try:
        with progress() as tell:
            report = mix(
                inputs,
                arch=arguments.arch,
                by=arguments.by,
                kernels=kernels,
                include_padding=arguments.include_padding,
                counts=arguments.counts,
                code=code,
                tell=tell,
            )
    except NothingRead as error:
        report = empty_report(error.problems)
    report.problems += arguments.told
    return report


def status_of(*reports: Report) -> int:
    """The exit status by what could be read."""
    if not all(report.inputs for report in reports):
        return UNUSABLE
    return EMPTY if all(report.empty for report in reports) else OK


def is_shown(status: int, form: str) -> bool:
    """Whether there is a report to print: JSON always says something."""
    return status != UNUSABLE or form == "json"
