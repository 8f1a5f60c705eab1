"""The job behind ``sassmix new-arch``: plan, read, compare, write, and say what is left for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sassmix.errors import SassmixError
from sassmix.plugins import Plugins, default_plugins
from sassmix.scaffold.decisions import decisions, in_the_checkout
from sassmix.scaffold.files import CHECKOUT, COLUMNS, free_paths, texts, write
from sassmix.scaffold.findings import Findings, compare
from sassmix.scaffold.plan import Plan
from sassmix.scaffold.samples import Samples, read_samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaffold:
    """What was written, and from what."""

    plan: Plan
    samples: Samples
    found: Findings
    files: list[Path]
    here: bool
    dry: bool

    def decisions(self) -> Iterator[str]:
        """What only a person can decide, a sentence each."""
        yield from decisions(self.plan, self.samples, self.found)
        if self.here:
            yield from in_the_checkout(self.plan, self.found)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command."""
        return {
            "name": self.plan.name,
            "sm": list(self.plan.targets),
            "extends": self.plan.extends,
            "files": list(map(str, self.files)),
            "guesses": [
                {**{column: getattr(guess.row, column) for column in COLUMNS}, "reason": guess.reason}
                for guess in self.found.guesses
            ],
            "open": list(self.found.open),
            "samples": {
                opcode: {"text": seen.text, "file": seen.file, "function": seen.function, "offset": seen.offset}
                for opcode, seen in self.found.seen.items()
            },
            "absent": list(self.found.absent),
            "decisions": list(self.decisions()),
        }


def new_architecture(
    plan: Plan,
    samples: Sequence[str | PathLike[str]] = (),
    *,
    output: str | PathLike[str] | None = None,
    here: bool = False,
    dry: bool = False,
    plugins: Plugins | None = None,
) -> Scaffold:
    """Begin the plugin of a new architecture.

    :param samples: listings and binaries of its code, or folders of them.
    :param output: the folder of the new package; ``sassmix-NAME`` if left out.
    :param here: into the checkout of sassmix that is the working folder, instead of a package.
    :param dry: only say what would be written.
    :raises SassmixError: before anything is written, where it cannot be.
    """
    folder = _checkout() if here else Path(output or f"sassmix-{plan.name.replace('_', '-')}")
    read = read_samples(samples, plan.number)
    found = compare(read, plan.parent, (plugins or default_plugins()).registry)
    files = texts(plan, read, found, here=here)
    paths = free_paths(folder, files)
    if not dry:
        write(paths, files)
    return Scaffold(plan=plan, samples=read, found=found, files=paths, here=here, dry=dry)


def _checkout() -> Path:
    missing = [name for name in CHECKOUT if not Path(name).is_dir()]
    if missing:
        raise SassmixError(f"the working folder is no checkout of sassmix: {missing[0]} is missing; leave --here out")
    return Path()
