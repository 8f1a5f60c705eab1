"""Discovery: the folder ``arch_plugins`` first, then the entry points of the group ``sassmix``, one by one.

One by one, because pluggy's own loader ignores a second plugin with a taken name and stops at the first import error.
A broken plugin is named and left out, the rest work; :data:`Plugins.errors` says which. Hooks, readers and label rules
run later, and may add to it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from sassmix import hookspecs
from sassmix.arch import Architecture, OpcodeInfo
from sassmix.classify import Classifier, check_answer
from sassmix.errors import PluginError, Problem, SassmixError, did_you_mean
from sassmix.registry import Origin, Registry

if TYPE_CHECKING:
    from sassmix.counts import Counts
    from sassmix.labels import LabelRule
    from sassmix.listing import Listing
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
        self._blamed: set[tuple[Origin, str]] = set()
        self.origins: dict[str, Origin] = {}
        for origin, load in candidates:
            self._load(origin, load)
        self.registry = Registry()
        self.errors += self.registry.register(self._collect("sassmix_architectures", Architecture))
        overrides = self.manager.hook.sassmix_classify.get_hookimpls()
        self.classifier = Classifier(self.registry, self._override if overrides else None)

    @contextmanager
    def _guard(self, origin: Origin, what: str, failure: str) -> Iterator[None]:
        """Run a plugin's code: it may fail in any way, even leave Python, and must not take the others along.

        :param what: of this only the first failure is kept: what fails for a mnemonic fails for a thousand.
        :param failure: the start of the error's text.
        """
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if (origin, what) not in self._blamed:
                text = f"{failure}: {type(error).__name__}: {error}"
                self.errors.append(origin.error(error.message if isinstance(error, PluginError) else text))
            self._blamed.add((origin, what))

    def _load(self, origin: Origin, load: Callable[[], Any]) -> None:
        if origin.plugin in self.origins:
            taken = self.origins[origin.plugin]
            self.errors.append(origin.error(f"its name is taken by {taken.distribution} {taken.version}"))
            return
        with self._guard(origin, "load", "cannot be loaded"):
            self.manager.register(load(), origin.plugin)
            self._check(origin)
            self.origins[origin.plugin] = origin
            return
        if self.manager.has_plugin(origin.plugin):
            self.manager.unregister(name=origin.plugin)

    def _check(self, origin: Origin) -> None:
        plugin = self.manager.get_plugin(origin.plugin)
        callers = self.manager.get_hookcallers(plugin) or []
        for caller in callers:
            if not caller.has_spec():
                raise PluginError(f"no hook is called {caller.name!r}{_near_hooks(caller.name)}")
        if not callers:
            raise PluginError("implements no hook; mark its functions with @sassmix.hookimpl")

    def _collect(self, hook: str, kind: type[T]) -> Iterator[tuple[Origin, list[T]]]:
        """What each plugin registers by a hook, in the order of registration; one that fails is named and left out."""
        for impl in getattr(self.manager.hook, hook).get_hookimpls():
            origin = self.origins[impl.plugin_name]
            found: list[T] = []
            with self._guard(origin, hook, f"{hook} fails"):
                given = impl.function()
                if isinstance(given, kind):
                    raise PluginError(f"{hook} gives one {kind.__name__}; give a list of them")
                found = [_checked(item, kind, hook) for item in given]
            yield origin, found

    def _override(self, mnemonic: str, arch: str) -> OpcodeInfo | None:
        """The first sound answer, the plugin that was loaded last asked first, as pluggy does it.

        Asked one by one: pluggy's own call ends at the first plugin that fails, and does not say which.
        """
        arguments = {"mnemonic": mnemonic, "arch": arch}
        for impl in reversed(self.manager.hook.sassmix_classify.get_hookimpls()):
            origin = self.origins[impl.plugin_name]
            with self._guard(origin, "sassmix_classify", f"sassmix_classify fails for {mnemonic}"):
                answer = impl.function(*(arguments[name] for name in impl.argnames))
                if answer is not None:
                    return check_answer(answer)
        return None

    def readers(self) -> list[Reader]:
        """The readers that plugins register, in the order of registration."""
        from sassmix.readers import Reader

        return [
            self._guarded_reader(origin, item)
            for origin, found in self._collect("sassmix_readers", Reader)
            for item in found
        ]

    def _guarded_reader(self, origin: Origin, reader: Reader) -> Reader:
        """One that knows no file where it fails to tell, and whose plugin is named where it fails to read."""

        def sniff(head: bytes) -> bool:
            with self._guard(origin, f"sniff {reader.name}", f"the reader {reader.name} fails to tell what a file is"):
                return bool(reader.sniff(head))
            return False

        def read(path: Path) -> Iterator[Listing | Counts]:
            try:
                yield from reader.read(path)
            except (SassmixError, KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # as in _guard
                failure = f"its reader, {reader.name}, fails: {type(error).__name__}: {error}"
                raise origin.error(failure) from error

        return replace(reader, sniff=sniff, read=read)

    def label_rules(self) -> list[LabelRule]:
        """The label rules that plugins register, in the order of registration."""
        from sassmix.labels import LabelRule

        return [
            self._guarded_rule(origin, item)
            for origin, found in self._collect("sassmix_label_rules", LabelRule)
            for item in found
        ]

    def _guarded_rule(self, origin: Origin, rule: LabelRule) -> LabelRule:
        """One that does not apply where it fails."""

        def label(name: str) -> str | None:
            with self._guard(origin, f"label {rule.name}", f"the label rule {rule.name} fails for {name}"):
                found = rule.label(name)
                if found is not None and not isinstance(found, str):
                    raise PluginError(f"the label rule {rule.name} gives {type(found).__name__}, not a text")
                return found
            return None

        return replace(rule, label=label)

    def problems(self) -> list[Problem]:
        """The errors so far, for a report."""
        return [Problem("warning", None, f"plugin {self._state(error)}: {error}") for error in self.errors]

    def _state(self, error: PluginError) -> str:
        at_work = Origin(error.plugin, error.distribution, error.version) in self.origins.values()
        return "fails" if at_work else "left out"

    def versions(self) -> dict[str, str]:
        """The version of each loaded plugin by its name."""
        return {name: origin.version for name, origin in sorted(self.origins.items())}


def hook_names() -> list[str]:
    """The names of all hooks."""
    return [name for name, value in inspect.getmembers(hookspecs, inspect.isfunction) if name.startswith("sassmix_")]


def _checked(item: object, kind: type[T], hook: str) -> T:
    if not isinstance(item, kind):
        raise PluginError(f"{hook} gives {type(item).__name__}, not sassmix.{kind.__name__}")
    return item


def _near_hooks(name: str) -> str:
    """Hooks with a similar name; the prefix that all share would make every name look similar."""
    bare = name.removeprefix("sassmix_")
    near = [hook for hook in hook_names() if did_you_mean(bare, [hook.removeprefix("sassmix_")])]
    return did_you_mean(name, near)


def _folder_candidates() -> Iterator[Candidate]:
    folder = importlib.import_module(FOLDER)
    version = distribution_version()
    for module in sorted(pkgutil.iter_modules(folder.__path__), key=lambda m: m.name):
        name = f"{FOLDER}.{module.name}"
        origin = Origin(f"nvidia-{module.name.replace('_', '-')}", "sassmix", version)
        yield origin, partial(importlib.import_module, name)


def _entry_point_candidates() -> Iterator[Candidate]:
    points = metadata.entry_points(group=GROUP)
    limit = os.environ.get(LIMIT_VARIABLE)
    wanted = None if limit is None else {name.strip() for name in limit.split(",")}
    for point in points:
        if wanted is None or point.name in wanted:
            dist = point.dist
            origin = Origin(point.name, dist.name if dist else "unknown", dist.version if dist else "unknown")
            yield origin, point.load
    for name in sorted((wanted or set()) - points.names - {""}):
        yield Origin(name, "", ""), partial(_not_installed, name, sorted(points.names))


def _not_installed(name: str, names: list[str]) -> None:
    near = did_you_mean(name, names) or f"; there are {', '.join(names)}" if names else ""
    raise PluginError(f"{LIMIT_VARIABLE} names it, but no installed entry point of that name{near}")


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
