"""Any classifier of SASS against the tables: which opcodes it takes for something else, matrix work first.

What is compared is the category of each opcode on each target, or whatever facets the classifier gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from sassmix.api import read
from sassmix.arch import FACETS, OpcodeInfo, sm
from sassmix.errors import SassmixError, did_you_mean, number_of
from sassmix.plugins import default_plugins
from sassmix.registry import target_key

#: Asked with a mnemonic and a target; True or False is an answer to "is it a matrix multiply?", a text a category, a
#: mapping any facets, None "not known".
Classify = Callable[[str, str], Any]
#: A classifier's own names of categories, each with ours as glob patterns; None for a name that means "not known".
Names = Mapping[str, str | Iterable[str] | None]

#: What can be found, the worst first.
KINDS = ("matrix opcode missed", "matrix opcode invented", "fails", "differs", "not known to it", "not known here")
_COMPARED = (*FACETS, "tensor")


@dataclass(frozen=True, slots=True)
class Finding:
    """One mnemonic on one target, on which a classifier and the tables differ.

    ``ours`` and ``theirs`` are values of ``facet``; ``knowledge`` and ``source`` say how far ours can be believed.
    """

    kind: str
    opcode: str
    arch: str
    facet: str
    ours: str | None
    theirs: str | None
    knowledge: str | None
    source: str | None

    def __str__(self) -> str:
        what = f"{self.opcode} on {self.arch}: {self.kind}: {self.facet} {self.ours or 'not known'}"
        return f"{what}, it says {self.theirs or 'nothing'} (ours {self.knowledge}: {self.source})"


def differential(
    classify: Classify,
    *,
    names: Names | None = None,
    archs: Iterable[str] | None = None,
    listings: Iterable[Path | str] = (),
) -> list[Finding]:
    """Ask a classifier for every opcode of every registered target, and say where it differs.

    :param classify: called with mnemonic and target.
    :param names: what the classifier's own categories mean; ours are compared as they are, if left out.
    :param archs: targets to ask for; all, if left out.
    :param listings: inputs whose full mnemonics are asked too, on their own targets.
    :returns: findings by :data:`KINDS`, then opcode and target; ``pandas.DataFrame(found)`` makes a table of them.
    :raises UnknownArchitectureError: for a target that no plugin registers.
    :raises InputError: for a listing that cannot be read.
    """
    chosen = None if archs is None else {default_plugins().registry.named(arch) for arch in archs}
    found = [
        finding
        for mnemonic, arch in _questions(listings)
        if chosen is None or arch in chosen
        for finding in _compare(
            default_plugins().classifier.info(mnemonic, arch), _ask(classify, mnemonic, arch), names
        )
    ]
    return sorted(found, key=lambda f: (KINDS.index(f.kind), f.opcode, target_key(f.arch), f.facet))


def _questions(listings: Iterable[Path | str]) -> dict[tuple[str, str], None]:
    asked = {(opcode, target): None for target, table in default_plugins().registry for opcode in table.opcodes}
    for path in listings:
        for function in read(path):
            if function.arch:
                asked |= {(mnemonic, function.arch): None for mnemonic in function.counts(include_padding=True)}
    return asked


def _ask(classify: Classify, mnemonic: str, arch: str) -> Any:
    try:
        return classify(mnemonic, arch)
    except Exception as error:
        return error


def _compare(info: OpcodeInfo, answer: Any, names: Names | None) -> Iterator[Finding]:
    def finding(kind: str, facet: str, theirs: object) -> Finding:
        ours, theirs = (None if value is None else str(value) for value in (getattr(info, facet), theirs))
        return Finding(kind, info.mnemonic, info.arch or "", facet, ours, theirs, info.knowledge, info.source)

    if isinstance(answer, Exception):
        yield finding("fails", "category", f"{type(answer).__name__}: {answer}")
        return
    for facet, theirs, allowed in _facets(answer, names):
        if kind := _kind(info, facet, theirs, allowed):
            yield finding(kind, facet, theirs)


def _kind(info: OpcodeInfo, facet: str, theirs: object, allowed: tuple[str, ...]) -> str | None:
    """What is found for one facet, None where both agree."""
    if facet == "tensor" or (facet == "category" and info.known):
        matrix = theirs is True or allowed == ("tensor",)
        if info.tensor != matrix:
            return "matrix opcode missed" if info.tensor else "matrix opcode invented"
    if facet == "tensor":
        return None
    ours = getattr(info, facet)
    if not allowed or ours is None:
        return "not known to it" if ours is not None else "not known here" if allowed else None
    return None if any(fnmatchcase(ours, pattern) for pattern in allowed) else "differs"


def _facets(answer: Any, names: Names | None) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Facet, their own value, and ours that it may stand for."""
    if isinstance(answer, bool):
        yield "tensor", answer, ()
    elif answer is None or isinstance(answer, str):
        yield "category", answer, _meant(answer, names)
    elif isinstance(answer, Mapping):
        for facet, value in answer.items():
            if facet not in _COMPARED:
                near = did_you_mean(str(facet), _COMPARED) or "; there are " + ", ".join(_COMPARED)
                raise SassmixError(f"the classifier gives a facet {facet!r}, which there is not{near}")
            meant = _meant(value, names if facet == "category" else None) if facet != "tensor" else ()
            yield facet, value, meant
    else:
        raise SassmixError(f"the classifier gives {type(answer).__name__}; give a text, a mapping, True, False or None")


def _meant(theirs: str | None, names: Names | None) -> tuple[str, ...]:
    if theirs is None:
        return ()
    if names is None:
        return (theirs,)
    if theirs not in names:
        near = did_you_mean(theirs, names)
        raise SassmixError(f"the classifier's category {theirs!r} is not in `names`; say what it means{near}")
    meant = names[theirs]
    return () if meant is None else (meant,) if isinstance(meant, str) else tuple(meant)


def described(findings: Iterable[Finding]) -> list[str]:
    """Findings in short: one line for those that differ by the target only."""
    together: dict[tuple[Any, ...], list[str]] = {}
    for f in findings:
        together.setdefault((f.kind, f.opcode, f.facet, f.ours, f.theirs), []).append(f.arch)
    return [
        f"{kind}: {opcode}: {facet} {ours or 'not known'}, it says {theirs or 'nothing'} ({_targets(archs)})"
        for (kind, opcode, facet, ours, theirs), archs in together.items()
    ]


def _targets(archs: list[str]) -> str:
    numbers = sorted({sm(arch.rstrip("af"))[0] for arch in archs}, key=target_key)
    return numbers[0] if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}, {number_of(len(archs), 'target')}"
