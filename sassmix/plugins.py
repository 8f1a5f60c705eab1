"""Discovery: the folder ``arch_plugins`` first, then the entry points of the group ``sassmix``, one by one.

One by one, because pluggy's own loader ignores a second plugin with a taken name and stops at the first import error.
A broken plugin is named and left out, the rest work; :data:`Plugins.errors` says which.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from sassmix import hookspecs
from sassmix.arch import Architecture, OpcodeInfo
from sassmix.classify import Classifier
from sassmix.errors import PluginError
from sassmix.registry import Origin, Registry

if TYPE_CHECKING:
    from sassmix.labels import LabelRule
    from sassmix.readers import Reader

FOLDER = "arch_plugins"
GROUP = "sassmix"
#: Comma-separated entry-point names; where set, no others are loaded (the folder always is).
LIMIT_VARIABLE = "SASSMIX_PLUGINS"

T = TypeVar("T")
Candidate = tuple[Origin, Callable[[], Any]]


class Plugins:
    """The loaded plugins, their errors, and what they registered."""

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self.manager = pluggy.PluginManager("sassmix")
        self.manager.add_hookspecs(hookspecs)
        self.errors: list[PluginError] = []
        self.origins: dict[str, Origin] = {}
        for origin, load in candidates:
            self._load(origin, load)
        self.registry = Registry()
        self.errors += self.registry.register(self._collect("sassmix_architectures", Architecture))
        self.classifier = Classifier(self.registry, self._override if self._overrides() else None)

    def _load(self, origin: Origin, load: Callable[[], Any]) -> None:
        if origin.plugin in self.origins:
            taken = self.origins[origin.plugin]
            self.errors.append(origin.error(f"its name is taken by {taken.distribution} {taken.version}"))
            return
        try:
            plugin = load()
            self.manager.register(plugin, origin.plugin)
            self._check(origin)
        except PluginError as error:
            self.errors.append(origin.error(error.message))
        except Exception as error:  # a plugin may fail in any way, and must not take the others along
            self.errors.append(origin.error(f"cannot be loaded: {type(error).__name__}: {error}"))
        else:
            self.origins[origin.plugin] = origin
            return
        if self.manager.has_plugin(origin.plugin):
            self.manager.unregister(name=origin.plugin)

    def _check(self, origin: Origin) -> None:
        plugin = self.manager.get_plugin(origin.plugin)
        callers = self.manager.get_hookcallers(plugin) or []
        for caller in callers:
            if not caller.has_spec():
                from sassmix.errors import did_you_mean

                close = did_you_mean(caller.name, hook_names())
                raise origin.error(f"no hook is called {caller.name!r}{close}")
        if not callers:
            raise origin.error("implements no hook; mark its functions with @sassmix.hookimpl")

    def _collect(self, hook: str, kind: type[T]) -> Iterator[tuple[Origin, list[T]]]:
        """What each plugin registers by a hook, in the order of registration; one that fails is named and left out."""
        for impl in getattr(self.manager.hook, hook).get_hookimpls():
            origin = self.origins[impl.plugin_name]
            try:
                found = list(impl.function())
                for item in found:
                    if not isinstance(item, kind):
                        raise origin.error(f"{hook} gives {type(item).__name__}, not sassmix.{kind.__name__}")
            except PluginError as error:
                self._blame(origin, error.message)
            except Exception as error:  # as in _load
                self._blame(origin, f"{hook} fails: {type(error).__name__}: {error}")
            else:
                yield origin, found

    def _blame(self, origin: Origin, message: str) -> None:
        """Record an error once, however often the hook is asked."""
        error = origin.error(message)
        if str(error) not in map(str, self.errors):
            self.errors.append(error)

    def _overrides(self) -> bool:
        return bool(self.manager.hook.sassmix_classify.get_hookimpls())

    def _override(self, mnemonic: str, arch: str) -> OpcodeInfo | None:
        try:
            answer = self.manager.hook.sassmix_classify(mnemonic=mnemonic, arch=arch)
        except Exception as error:  # as in _load
            self._complain(f"sassmix_classify fails for {mnemonic}: {type(error).__name__}: {error}")
            return None
        if answer is not None and not isinstance(answer, OpcodeInfo):
            self._complain(f"sassmix_classify gives {type(answer).__name__}, not sassmix.OpcodeInfo")
            return None
        return answer

    def _complain(self, message: str) -> None:
        names = [impl.plugin_name for impl in self.manager.hook.sassmix_classify.get_hookimpls()]
        self.errors.append(PluginError(message, plugin=", ".join(names)))

    def readers(self) -> list[Reader]:
        """The readers that plugins register, in the order of registration."""
        from sassmix.readers import Reader

        return [item for _, found in self._collect("sassmix_readers", Reader) for item in found]

    def label_rules(self) -> list[LabelRule]:
        """The label rules that plugins register, in the order of registration."""
        from sassmix.labels import LabelRule

        return [item for _, found in self._collect("sassmix_label_rules", LabelRule) for item in found]

    def versions(self) -> dict[str, str]:
        """The version of each loaded plugin by its name."""
        return {name: origin.version for name, origin in sorted(self.origins.items())}


def hook_names() -> list[str]:
    """The names of all hooks."""
    return [name for name, value in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("sassmix_")]


def _folder_candidates() -> Iterator[Candidate]:
    folder = importlib.import_module(FOLDER)
    version = distribution_version()
    for module in sorted(pkgutil.iter_modules(folder.__path__), key=lambda m: m.name):
        name = f"{FOLDER}.{module.name}"
        origin = Origin(f"nvidia-{module.name.replace('_', '-')}", "sassmix", version)
        yield origin, partial(importlib.import_module, name)


def _entry_point_candidates() -> Iterator[Candidate]:
    limit = os.environ.get(LIMIT_VARIABLE)
    wanted = None if limit is None else {name.strip() for name in limit.split(",")}
    for point in metadata.entry_points(group=GROUP):
        if wanted is None or point.name in wanted:
            dist = point.dist
            origin = Origin(point.name, dist.name if dist else "unknown", dist.version if dist else "unknown")
            yield origin, point.load


def distribution_version() -> str:
    """The installed version of sassmix."""
    try:
        return metadata.version("sassmix")
    except metadata.PackageNotFoundError:
        return "0+unknown"


@cache
def default_plugins() -> Plugins:
    """Everything that is installed, loaded at the first use and kept."""
    return Plugins([*_folder_candidates(), *_entry_point_candidates()])
