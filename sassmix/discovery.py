"""Where plugins are found: the folder ``arch_plugins``, and the entry points of the group ``sassmix``.

Entry points are loaded one by one: pluggy's own loader ignores a second plugin with a taken name and stops at the first
import error.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sassmix.errors import PluginError, did_you_mean
from sassmix.registry import Origin

if TYPE_CHECKING:
    from importlib import metadata

FOLDER = "arch_plugins"
GROUP = "sassmix"
#: Comma-separated entry-point names; where set, no others are loaded (the folder always is).
LIMIT_VARIABLE = "SASSMIX_PLUGINS"

#: A plugin's origin, and the function that loads it.
_Found = tuple[Origin, Callable[[], Any]]


def of_folder(version: str) -> Iterator[_Found]:
    """The plugins of the folder, whose version is that of sassmix."""
    folder = importlib.import_module(FOLDER)
    for module in sorted(pkgutil.iter_modules(folder.__path__), key=lambda m: m.name):
        name = f"{FOLDER}.{module.name}"
        origin = Origin(f"nvidia-{module.name.replace('_', '-')}", "sassmix", version, name)
        yield origin, partial(importlib.import_module, name)


def of_entry_points() -> tuple[list[_Found], list[Origin]]:
    """The plugins of other packages, and those that the variable leaves out."""
    points = {_origin(point): point for point in _points()}
    limit = os.environ.get(LIMIT_VARIABLE)
    wanted = {o.plugin for o in points} if limit is None else {name.strip() for name in limit.split(",")} - {""}
    found: list[_Found] = [(o, partial(_load_point, p)) for o, p in points.items() if o.plugin in wanted]
    names = sorted({origin.plugin for origin in points})
    missing = [(Origin(name, "", ""), partial(_not_installed, name, names)) for name in sorted(wanted - {*names})]
    return [*found, *missing], [origin for origin in points if origin.plugin not in wanted]


def _points() -> Iterable[metadata.EntryPoint]:
    """The entry points of the group; loading what reads them takes longer than most listings, so it is last."""
    if not may_be_installed():
        return ()
    from importlib import metadata

    return metadata.entry_points(group=GROUP)


def may_be_installed() -> bool:
    """Whether any package may name a plugin: false only where every one of them was looked at, and none does."""
    others = (finder for finder in sys.meta_path if finder is not PathFinder)
    return any(hasattr(finder, "find_distributions") for finder in others) or any(map(_may_hold, map(str, sys.path)))


def _may_hold(folder: str) -> bool:
    if folder.lower().endswith(".egg"):
        return True
    try:
        with os.scandir(folder or ".") as entries:
            infos = [entry.path for entry in entries if entry.name.lower().endswith((".dist-info", ".egg-info"))]
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # an archive, for one
        return True
    return any(_names_group(Path(info, "entry_points.txt")) for info in infos)


def _names_group(file: Path) -> bool:
    try:
        return f"[{GROUP}]".encode() in file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _origin(point: metadata.EntryPoint) -> Origin:
    dist = point.dist
    return Origin(point.name, dist.name if dist else "unknown", dist.version if dist else "unknown", point.value)


def _load_point(point: metadata.EntryPoint) -> Any:
    """What an entry point names; the standard library's own loader does not say what is wrong with it."""
    if not (parts := point.pattern.match(point.value)):
        raise PluginError(f'its entry point {point.value!r} names nothing; write {point.name} = "MODULE"')
    name, found = parts["module"], None
    try:
        found = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and f"{name}.".startswith(f"{error.name}."):
            what = f"its entry point {point.value!r} names the module {error.name!r}, which is not installed"
            raise PluginError(f"{what}; package it, or correct the entry point") from error
        raise
    for attribute in filter(None, (parts["attr"] or "").split(".")):
        if not hasattr(found, attribute):
            near = did_you_mean(attribute, dir(found)) or "; name the module alone"
            raise PluginError(f"its entry point {point.value!r} names {attribute!r}, which is not there{near}")
        found = getattr(found, attribute)
    return found


def _not_installed(name: str, names: list[str]) -> None:
    near = did_you_mean(name, names) or (f"; there are {', '.join(names)}" if names else "; install its package")
    raise PluginError(f"{LIMIT_VARIABLE} names it, but no installed entry point of that name{near}")
