"""The samples beside the parent's table: new opcodes, data types that no rule knows, and what relatives have lost."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sassmix.arch import Opcode
from sassmix.registry import Registry, Table, target_key
from sassmix.scaffold.guess import Guess, guess
from sassmix.scaffold.samples import OPCODE, Samples, Seen

#: A modifier that names a data type; in these categories it is the type computed on, elsewhere a width.
_TYPE = re.compile(r"(BF|TF|[FSUB])(4|6|8|16|19|32|64|128)\w*|U?E[0-9]M[0-9]\w*")
_COMPUTING = re.compile(r"tensor|float\..*|integer\..*")
#: The type of a matrix multiply's accumulator, where the inputs' type is looked for.
_ACCUMULATORS = frozenset({"F32", "S32"})

_ENOUGH = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the samples say that the parent's table does not.

    :param guesses: for each new opcode of which something can be told; ``seen`` has the first instruction of all.
    :param open: new opcodes of which nothing can be told.
    :param unreadable: names that no row can have.
    :param types: forms of one opcode with data types that no modifier rule knows, by the opcode; then these types.
    :param enough: whether the samples hold so many of the parent's opcodes that it means something to lack one.
    :param gone: where they do, relatives, each with the opcodes of the parent that it removed and the samples lack too.
    :param absent: opcodes of the parent that the samples lack.
    :param nearer: an architecture that lacks fewer of the samples' opcodes than the parent, with these.
    """

    guesses: tuple[Guess, ...]
    seen: dict[str, Seen]
    open: tuple[str, ...]
    unreadable: tuple[str, ...]
    types: dict[str, tuple[Seen, tuple[str, ...]]]
    enough: bool
    gone: dict[str, tuple[str, ...]]
    absent: tuple[str, ...]
    nearer: tuple[str, tuple[str, ...]] | None

    @property
    def rows(self) -> tuple[Opcode, ...]:
        """The rows of the guesses, in the order of the alphabet."""
        return tuple(found.row for found in self.guesses)


def compare(samples: Samples, parent: Table, registry: Registry, *, without: Collection[str] = ()) -> Findings:
    """Compare samples with the table that they are to extend.

    :param without: names of architectures that are not asked, though they are registered.
    """
    opcodes = samples.opcodes
    new = {name: forms for name, forms in opcodes.items() if name not in parent.opcodes}
    tables = _other_tables(registry, samples.number, without)
    guesses, unknown = list[Guess](), list[str]()
    for name in sorted(name for name in new if OPCODE.fullmatch(name)):
        first = new[name][0]
        seen = f"seen on sm_{samples.number} as {first.text} ({first.place})"
        found = guess(name, [form.operands for form in new[name]], tables, seen)
        guesses += [found] if found else []
        unknown += [] if found else [name]
    known = {**parent.opcodes, **{found.row.opcode: found.row for found in guesses}}
    enough = len(opcodes.keys() & parent.opcodes.keys()) > _ENOUGH * len(parent.opcodes)
    return Findings(
        guesses=tuple(guesses),
        seen={name: forms[0] for name, forms in new.items()},
        open=tuple(unknown),
        unreadable=tuple(sorted(name for name in new if not OPCODE.fullmatch(name))),
        types=_unruled(samples, parent, known),
        enough=enough,
        gone=_gone(samples, parent, registry, without) if enough else {},
        absent=tuple(sorted(parent.opcodes.keys() - opcodes.keys())),
        nearer=_nearer(set(opcodes), parent, registry, without),
    )


def _other_tables(registry: Registry, number: int, without: Collection[str]) -> dict[str, Mapping[str, Opcode]]:
    """Each table by its first target, the nearest in number first."""
    tables: dict[str, Mapping[str, Opcode]] = {}
    for target, table in sorted(registry, key=lambda item: (abs(target_key(item[0])[0] - number), item[0])):
        if table.architecture.name not in without and table.opcodes not in tables.values():
            tables[f"{target} ({table.origin.plugin})"] = table.opcodes
    return tables


def _nearer(
    opcodes: set[str], parent: Table, registry: Registry, without: Collection[str]
) -> tuple[str, tuple[str, ...]] | None:
    tables = {table.architecture.name: table for table in registry.tables()}
    lacking = {name: opcodes - table.opcodes.keys() for name, table in tables.items() if name not in without}
    best = min(lacking, key=lambda name: (len(lacking[name]), name != parent.architecture.name, name))
    return None if best == parent.architecture.name else (best, tuple(sorted(lacking[best])))


def _unruled(samples: Samples, parent: Table, known: dict[str, Opcode]) -> dict[str, tuple[Seen, tuple[str, ...]]]:
    found: dict[str, tuple[Seen, tuple[str, ...]]] = {}
    for mnemonic, seen in sorted(samples.forms.items()):
        opcode, *modifiers = mnemonic.split(".")
        row = known.get(opcode)
        if row and _COMPUTING.fullmatch(row.category) and not _ruled(parent, opcode, modifiers):
            first, types = found.get(opcode, (seen, ()))
            new = [m for m in modifiers if _TYPE.fullmatch(m) and not _is_told(row, m) and m not in types]
            found.update({opcode: (first, (*types, *dict.fromkeys(new)))} if new else {})
    return found


def _is_told(row: Opcode, modifier: str) -> bool:
    return modifier.lower() == row.dtype or (row.tensor and modifier in _ACCUMULATORS)


def _ruled(parent: Table, opcode: str, modifiers: Collection[str]) -> bool:
    """Whether a rule takes the data type from one of the modifiers."""
    return any(
        fnmatchcase(opcode, rule.opcode) and any(fnmatchcase(modifier, rule.modifier) for modifier in modifiers)
        for rule in parent.rules
        if "dtype" in rule.facets
    )


def _gone(samples: Samples, parent: Table, registry: Registry, without: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Absence from samples proves nothing; together with a relative that lost the opcode it is worth a look."""
    found = {}
    for table in registry.tables():
        relative = table.architecture
        if relative.name not in without and relative.extends in _line(registry, parent):
            lost = [name for name in relative.remove if name in parent.opcodes and name not in samples.opcodes]
            found.update({relative.name: tuple(sorted(lost))} if lost else {})
    return found


def _line(registry: Registry, parent: Table) -> set[str]:
    """The parent and those that extend it: their other children are the relatives of a new one."""
    names = {parent.architecture.name}
    for table in registry.tables():  # parents stand before their children
        if table.architecture.extends in names:
            names.add(table.architecture.name)
    return names
