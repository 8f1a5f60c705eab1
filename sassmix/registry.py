"""The architectures of all plugins, checked against one another, with their inheritance resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from sassmix.arch import Architecture, ModifierRule, Opcode, sm
from sassmix.errors import PluginError, UnknownArchitectureError, did_you_mean


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a plugin comes from.

    :param module: what is loaded, as the entry point writes it: ``acme.chips`` or ``acme:PLUGIN``.
    :param place: where the code begins that an error is about, ``acme.py, line 3``; for errors that name no line.
    """

    plugin: str
    distribution: str
    version: str
    module: str = field(default="", compare=False)
    place: str = field(default="", compare=False)

    def error(self, message: str) -> PluginError:
        """A :class:`PluginError` that names this plugin, and the place where the message does not."""
        if self.place and not names_place(message):
            message = f"{message} ({self.place})"
        return PluginError(message, plugin=self.plugin, distribution=self.distribution, version=self.version)


@dataclass(frozen=True)
class Table:
    """An architecture with everything that it inherits.

    ``pipes`` holds the rows of the architecture itself only: a pipe measured on one chip says nothing of the next.
    """

    architecture: Architecture
    origin: Origin
    opcodes: dict[str, Opcode]
    pipes: dict[str, str]
    rules: tuple[ModifierRule, ...]

    @cached_property
    def matrix_opcodes(self) -> tuple[str, ...]:
        """The matrix multiplies that the architecture has, sorted."""
        return tuple(sorted(name for name, row in self.opcodes.items() if row.tensor))


class Registry:
    """Registered architectures, by name and by target. What is registered has been checked."""

    def __init__(self) -> None:
        self._by_name: dict[str, Table] = {}
        self._by_target: dict[str, Table] = {}
        self._failed: set[str] = set()
        self._in_order: list[tuple[str, Table]] = []

    def register(self, plugins: Iterable[tuple[Origin, Iterable[Architecture]]]) -> list[PluginError]:
        """Add the architectures of many plugins, parents before children whatever the order of the plugins.

        :returns: an error for each architecture that was left out.
        """
        errors: list[PluginError] = []
        waiting: dict[str, tuple[Origin, Architecture]] = {}
        for origin, architectures in plugins:
            for architecture in architectures:
                taken = waiting.get(architecture.name)
                if taken or architecture.name in self._by_name:
                    owner = taken[0] if taken else self._by_name[architecture.name].origin
                    errors.append(
                        origin.error(
                            f"architecture {architecture.name!r} is registered by {owner.plugin} already; "
                            "give it another name"
                        )
                    )
                else:
                    waiting[architecture.name] = (origin, architecture)
        for name in list(waiting):
            errors += self._add(name, waiting, ())
        self._in_order = sorted(self._by_target.items(), key=lambda item: target_key(item[0]))
        return errors

    def _add(
        self, name: str | None, waiting: dict[str, tuple[Origin, Architecture]], path: tuple[str, ...]
    ) -> list[PluginError]:
        if name in self._by_name or name not in waiting:
            return []
        origin, architecture = waiting[name]
        if name in path:
            del waiting[name]
            self._failed.add(name)
            circle = " -> ".join((*path, name))
            return [
                origin.error(f"architectures extend one another in a circle: {circle}; let one of them extend another")
            ]
        errors = self._add(architecture.extends, waiting, (*path, name))
        if name not in waiting:
            return errors
        del waiting[name]
        try:
            table = self._resolve(origin, architecture)
        except PluginError as error:
            self._failed.add(name)
            return [*errors, error]
        self._by_name[name] = table
        for target in architecture.sm:
            self._by_target[target] = table
        return errors

    def _resolve(self, origin: Origin, architecture: Architecture) -> Table:
        name = architecture.name
        for target in architecture.sm:
            if target in self._by_target:
                other = self._by_target[target].origin.plugin
                raise origin.error(
                    f"{target} of architecture {name!r} is claimed by plugin {other} already; take it out of sm"
                )
        inherited, rules = self._parent(origin, architecture)
        _check_removed(origin, architecture, inherited)
        opcodes = {key: row for key, row in inherited.items() if key not in set(architecture.remove)}
        pipes: dict[str, str] = {}
        for row in architecture.opcodes:
            if row.opcode in pipes:
                raise origin.error(_at(row, f"architecture {name!r} has two rows for {row.opcode}; leave one out"))
            parent = inherited.get(row.opcode)
            if parent and not row.pipe and row == replace(parent, pipe=""):
                what = f"architecture {name!r} repeats {architecture.extends}'s row {row.opcode} unchanged"
                raise origin.error(_at(row, f"{what}; leave it out"))
            opcodes[row.opcode] = row
            pipes[row.opcode] = row.pipe
        return Table(architecture, origin, opcodes, pipes, (*architecture.modifier_rules, *rules))

    def _parent(self, origin: Origin, architecture: Architecture) -> tuple[dict[str, Opcode], tuple[ModifierRule, ...]]:
        wanted = architecture.extends
        if wanted is None:
            return {}, ()
        parent = self._by_name.get(wanted)
        if parent is None:
            near = did_you_mean(wanted, self._by_name) or f"; there are {', '.join(self._by_name) or 'none'}"
            failed = wanted in self._failed
            why = "could not be registered; its own error says why" if failed else f"no plugin has{near}"
            if owner := self._by_target.get(wanted):
                why = f"is a target of {owner.architecture.name!r}; name the architecture"
            raise origin.error(f"architecture {architecture.name!r} extends {wanted!r}, which {why}")
        return parent.opcodes, parent.rules

    def __iter__(self) -> Iterator[tuple[str, Table]]:
        """Targets with their tables, in the order of their numbers."""
        return iter(self._in_order)

    def __contains__(self, target: object) -> bool:
        return target in self._by_target

    def tables(self) -> list[Table]:
        """Every architecture, those without a target included."""
        return list(self._by_name.values())

    def get(self, target: str | None) -> Table | None:
        """The table of a target such as ``sm_90a``, None where no plugin registers it."""
        return self._by_target.get(target) if target else None

    def require(self, target: str) -> Table:
        """The table of a target.

        :raises UnknownArchitectureError: with near names, where no plugin registers it.
        """
        table = self._by_target.get(target)
        if table is None:
            close = did_you_mean(target, [t for t, _ in self]) or "; `sassmix archs` lists them"
            raise UnknownArchitectureError(f"no plugin registers the architecture {target}{close}")
        return table

    def named(self, text: str) -> str:
        """The registered target that a person means, in its one spelling.

        :raises UnknownArchitectureError: with near names or, for the name of a family, with its targets.
        """
        try:
            target = sm(text)[0]
        except UnknownArchitectureError as error:
            raise UnknownArchitectureError(f"{error}{self._hint(text.strip().lower())}") from None
        self.require(target)
        return target

    def _hint(self, text: str) -> str:
        family = [
            t for t, table in self if text in (table.architecture.name.lower(), table.architecture.family.lower())
        ]
        return f"; {text} is {', '.join(family)}" if family else did_you_mean(text, [target for target, _ in self])

    def targets_with(self, opcode: str) -> list[str]:
        """The targets that have an opcode, in the order of their numbers."""
        return [target for target, table in self if opcode in table.opcodes]


def names_place(message: str) -> bool:
    """Whether an error's text names a line or row of a file already."""
    return ", row " in message or ", line " in message


def _at(row: Opcode, message: str) -> str:
    """A message with the place of the row that it is about, where it comes from a file."""
    return f"{row.place}: {message}" if row.place else message


def _check_removed(origin: Origin, architecture: Architecture, inherited: Mapping[str, Opcode]) -> None:
    rows = {row.opcode: row for row in architecture.opcodes}
    for opcode in architecture.remove:
        what = f"architecture {architecture.name!r} removes {opcode}"
        if architecture.extends is None:
            raise origin.error(f"{what}, but extends no other; name its parent in extends")
        if opcode in rows:
            message = f"{what} and has a row for it; a row replaces the parent's by itself, take it out of remove"
            raise origin.error(_at(rows[opcode], message))
        if opcode not in inherited:
            near = did_you_mean(opcode, inherited) or "; take it out of remove"
            raise origin.error(f"{what}, which {architecture.extends} lacks{near}")


@lru_cache(maxsize=1024)
def target_key(target: str) -> tuple[int, str]:
    """Sorts sm_90 before sm_90a before sm_100."""
    digits = "".join(c for c in target if c.isdigit())
    return (int(digits or 0), target)
