"""``sassmix new-arch``: the plugin of a new architecture, begun from samples."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sassmix.commands import OK, Outcome, command

if TYPE_CHECKING:
    from sassmix.scaffold.job import Scaffold


def add(commands: Any) -> None:
    """Describe the command."""
    about = "begin the plugin of a new architecture, with a table of what its samples show"
    new = command(commands, "new-arch", _run, about, formats=("text", "json"), file=False)
    new.add_argument("name", metavar="NAME", help="of the module and the architecture: lower-case letters, digits, _")
    new.add_argument(
        "--sm",
        action="append",
        required=True,
        metavar="SM",
        help="its target; 107 means 107, 107a and 107f; repeatable",
    )
    new.add_argument(
        "--extends", required=True, metavar="PARENT", help="the architecture that is nearest, as blackwell"
    )
    new.add_argument(
        "--from",
        dest="samples",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="samples of its code: listings, binaries, or folders of them",
    )
    where = new.add_mutually_exclusive_group()
    where.add_argument("--output", dest="folder", metavar="DIR", help="the folder of the package (sassmix-NAME)")
    where.add_argument("--here", action="store_true", help="into this checkout of sassmix instead of a package")
    new.add_argument("--dry-run", action="store_true", help="write nothing, only say what would be")


def _run(arguments: argparse.Namespace) -> Outcome:
    from sassmix.plugins import default_plugins
    from sassmix.render import to_json
    from sassmix.scaffold.job import new_architecture
    from sassmix.scaffold.plan import make_plan

    done = new_architecture(
        make_plan(arguments.name, arguments.sm, arguments.extends, default_plugins()),
        arguments.samples,
        output=arguments.folder,
        here=arguments.here,
        dry=arguments.dry_run,
    )
    text = to_json(done.to_dict()) if arguments.format == "json" else _text(done)
    return OK, text, []


def _text(done: Scaffold) -> str:
    from sassmix.render import printable
    from sassmix.scaffold.summary import lines

    return "".join(f"{printable(line)}\n" for line in lines(done))
