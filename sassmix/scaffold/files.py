"""The files of a new architecture: their places and their text. Nothing from a sample gets into code as it stands."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sassmix.arch import Opcode
from sassmix.errors import SassmixError
from sassmix.render import printable
from sassmix.scaffold.findings import Findings
from sassmix.scaffold.listing import cut
from sassmix.scaffold.plan import Plan
from sassmix.scaffold.samples import Samples

#: What a checkout has, and the place of each file in it.
CHECKOUT = ("arch_plugins", "fixtures/listings", "tests", "sassmix")
#: Of an opcode table, in the order of the other tables.
COLUMNS = tuple("opcode category group datapath space dtype pipe knowledge source description".split())
_WIDTH = 110
_LINES = 2

_MODULE = '''"""{name}: {targets}, as the difference from {extends}. Begun by `sassmix new-arch`.

{notes}
"""

import sassmix
from sassmix import Architecture, load_opcodes, sm

#: Opcodes of {extends} that it does not have: each needs a proof, absence from a sample is none.
REMOVED: tuple[str, ...] = ()


@sassmix.hookimpl
def sassmix_architectures() -> list[Architecture]:
    """The difference from {extends}; everything else is inherited."""
    return [
        Architecture(
            name="{name}",
            sm=sm({sm}),
            extends={parent},
            opcodes=load_opcodes(__file__),
            remove=REMOVED,
        )
    ]
'''

_TEST = '''"""The contract that every architecture keeps, on the table and the sample of {name}."""

from pathlib import Path

from sassmix.testing import ArchitectureContract


class Test{title}(ArchitectureContract):
    """One test for each check."""

    arch = "{target}"
{listings}'''

_PYPROJECT = """[build-system]
requires = ["hatchling>=1.26"]
build-backend = "hatchling.build"

[project]
name = "sassmix-{dashed}"
version = "0.1.0"
description = "The architecture {name} ({target}) for sassmix"
requires-python = ">=3.11"
dependencies = ["sassmix"]

[project.optional-dependencies]
test = ["sassmix[testing]"]

[project.entry-points.sassmix]
{name} = "{name}"

[tool.hatch.build.targets.wheel]
only-include = ["{name}.py", "{name}.csv"]
"""


def texts(plan: Plan, samples: Samples, found: Findings, *, here: bool) -> dict[str, str]:
    """The files by their places, relative to the folder of the package or the checkout."""
    name, target = plan.name, plan.targets[0]
    sample = f"{name}.{samples.arch}.sass"
    code, data = ("arch_plugins/", "fixtures/listings/") if here else ("", "tests/")
    folder = 'parent.parent / "fixtures" / "listings"' if here else "parent"
    listings = f'    listings = (Path(__file__).{folder} / "{sample}",)\n' if samples.forms else ""
    files = {
        f"{code}{name}.py": _module(plan, found),
        f"{code}{name}.csv": table(found.rows),
        f"tests/test_{name}.py": _TEST.format(
            name=name, title=name.title().replace("_", ""), target=target, listings=listings
        ),
    }
    if samples.forms:
        files[f"{data}{sample}"] = cut(samples)
    if not here:
        files["pyproject.toml"] = _PYPROJECT.format(name=name, target=target, dashed=name.replace("_", "-"))
    return dict(sorted(files.items()))


def _module(plan: Plan, found: Findings) -> str:
    extends = _harmless(plan.extends)
    return _MODULE.format(
        name=plan.name,
        targets=", ".join(plan.targets),
        extends=extends,
        parent=f'"{extends}"' if extends == plan.extends else repr(plan.extends),
        sm=", ".join(_argument(target) for target in plan.targets),
        notes="\n".join(_notes(found)),
    )


def _argument(target: str) -> str:
    number = target.removeprefix("sm_")
    return number if number.isdecimal() else f'"{number}"'


def _harmless(text: str) -> str:
    """A name of a plugin's for a docstring or a comment."""
    return re.sub(r"[^\w.-]", "?", printable(text), flags=re.ASCII)


def _notes(found: Findings) -> list[str]:
    """What a person has to decide, for the docstring; the names that get here are opcodes and names of plugins."""
    paragraphs = [
        ("Guesses, each to be checked; the table says why", [row.opcode for row in found.rows]),
        ("In the samples, but nothing tells what they are; each needs a row", list(found.open)),
    ]
    for relative, names in found.gone.items():
        paragraphs.append((f"Not in the samples, which proves nothing, and not on {_harmless(relative)}", list(names)))
    lines = [line for says, names in paragraphs for line in _paragraph(says, names)]
    return lines or ["The samples hold no opcode that the parent lacks."]


def _paragraph(says: str, names: Sequence[str]) -> list[str]:
    """At most two lines, so that the module stays short; the command's summary names all."""
    if not names:
        return []
    lines = textwrap.wrap(f"{says}: {', '.join(names)}.", _WIDTH, break_long_words=False)
    if len(lines) <= _LINES:
        return lines
    kept = " ".join(lines[:_LINES])[:-24].rpartition(", ")[0]
    rest = len(names) - kept.count(", ") - 1
    return textwrap.wrap(f"{kept} and {rest} more.", _WIDTH, break_long_words=False)


def table(rows: Sequence[Opcode]) -> str:
    """Rows as the text of an opcode table."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([printable(getattr(row, column)) for column in COLUMNS] for row in rows)
    return buffer.getvalue()


def free_paths(folder: Path, files: Iterable[str]) -> list[Path]:
    """Where the files go.

    :raises SassmixError: where one is there already.
    """
    paths = [folder / place for place in files]
    there = ", ".join(str(path) for path in paths if path.exists() or path.is_symlink())
    if there:
        raise SassmixError(f"{there}: there already, and nothing is overwritten; choose another name or folder")
    return paths


def write(paths: Sequence[Path], files: Mapping[str, str]) -> None:
    """Write new files.

    :raises SassmixError: where one cannot be written; it is never another's that is changed.
    """
    try:
        for path, text in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise SassmixError(f"{error.filename or paths[0]} cannot be written: {error.strerror or error}") from error
