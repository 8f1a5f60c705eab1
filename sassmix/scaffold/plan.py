"""What a new architecture is to be called, and whether that can be: names, targets, parent."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from sassmix.arch import sm
from sassmix.errors import SassmixError, UnknownArchitectureError, did_you_mean
from sassmix.plugins import Plugins
from sassmix.registry import Table, target_key

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A new architecture whose name and targets are free. ``targets`` are in their one spelling."""

    name: str
    targets: tuple[str, ...]
    parent: Table

    @property
    def number(self) -> int:
        """Of the targets: 107 of sm_107a."""
        return target_key(self.targets[0])[0]

    @property
    def extends(self) -> str:
        """The parent's name."""
        return self.parent.architecture.name


def make_plan(name: str, targets: Sequence[str], extends: str, plugins: Plugins) -> Plan:
    """Check what the person asked for.

    :param targets: as :func:`sassmix.sm` reads them; a plain number stands for its ``a`` and ``f`` variants too.
    :raises SassmixError: for a name that cannot be or is taken, targets that are, and a parent that is not there.
    """
    plan = Plan(name=name, targets=_targets(targets), parent=_parent(extends, plugins))
    _check_name(name, plugins)
    for target in plan.targets:
        if table := plugins.registry.get(target):
            raise SassmixError(f"{target} is registered by the plugin {table.origin.plugin} already; change its table")
    return plan


def _targets(texts: Sequence[str]) -> tuple[str, ...]:
    named = sm(*texts)
    numbers = {target_key(target)[0] for target in named}
    if len(numbers) != 1:
        raise SassmixError(f"--sm names {', '.join(named)}; one architecture at a time")
    every = sm(*(f"{numbers.copy().pop()}{letter}" for letter in ("", "a", "f")))
    return every if every[0] in named else tuple(dict.fromkeys(named))


def _check_name(name: str, plugins: Plugins) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        how = "write a lower-case letter, then letters, digits or underscores, 40 at most; no word of Python"
        raise SassmixError(f"{name!r} cannot be the name of a module; {how}")
    owners = {table.architecture.name: table.origin.plugin for table in plugins.registry.tables()}
    owners |= {
        origin.plugin.removeprefix("nvidia-").replace("-", "_"): plugin for plugin, origin in plugins.origins.items()
    }
    if name in owners:
        raise SassmixError(f"the name {name!r} is taken by the plugin {owners[name]}; choose another")
    if name in sys.stdlib_module_names or importlib.util.find_spec(name):
        raise SassmixError(f"the name {name!r} is that of an installed module, which it would hide; choose another")


def _parent(extends: str, plugins: Plugins) -> Table:
    tables = {table.architecture.name: table for table in plugins.registry.tables()}
    if extends in tables:
        return tables[extends]
    try:
        table = plugins.registry.get(sm(extends)[0])
    except UnknownArchitectureError:
        table = None
    near = f"; {extends} is a target of {table.architecture.name}" if table else did_you_mean(extends, tables)
    raise SassmixError(f"no plugin has an architecture {extends!r} to extend{near or '; `sassmix archs` lists them'}")
