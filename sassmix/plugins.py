"""The plugins at work: loaded one by one, their hooks checked and called.

A broken plugin is named and left out, the rest work; :data:`Plugins.errors` says which. Hooks, readers and label rules
run later, and may add to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

from sassmix import hookspecs
from sassmix.arch import Architecture, OpcodeInfo
from sassmix.classify import Classifier, check_answer
from sassmix.discovery import of_entry_points, of_folder
from sassmix.errors import PluginError, Problem, did_you_mean
from sassmix.guard import Guard, file_name, guarded_reader, guarded_rule, line_of_function
from sassmix.registry import Origin, Registry
from sassmix.version import __version__

if TYPE_CHECKING:
    from sassmix.labels import LabelRule
    from sassmix.readers import Reader

T = TypeVar("T")
#: A plugin's origin, and the function that loads it.
Candidate = tuple[Origin, Callable[[], Any]]


class Plugins:
    """The loaded plugins, their errors, and what they registered.

    :param candidates: each plugin's origin and the function that loads it.
    :param excluded: plugins that were found and are not to be loaded.
    """

    def __init__(self, candidates: Iterable[Candidate], excluded: Iterable[Origin] = ()) -> None:
        self.manager = pluggy.PluginManager("sassmix")
        self.manager.add_hookspecs(hookspecs)
        self._guard = Guard()
        self.errors: list[PluginError] = self._guard.errors
        self.origins: dict[str, Origin] = {}
        self.failed: list[Origin] = []
        self.excluded = tuple(excluded)
        for origin, load in candidates:
            self._load(origin, load)
        self.registry = Registry()
        self.errors += self.registry.register(self.registered("sassmix_architectures", Architecture))
        overrides = self.hook("sassmix_classify")
        self.classifier = Classifier(self.registry, self._override if overrides else None)

    def hook(self, name: str) -> list[pluggy.HookImpl]:
        """The implementations of a hook, in the order in which their plugins were loaded."""
        found: list[pluggy.HookImpl] = getattr(self.manager.hook, name).get_hookimpls()
        return found

    def _load(self, origin: Origin, load: Callable[[], Any]) -> None:
        with self._guard(origin, "load", "cannot be loaded"), self._guard.silent(origin, "it is loaded"):
            if taken := self.origins.get(origin.plugin):
                by = f"{taken.distribution} {taken.version}"
                raise PluginError(f"its name is taken by {by}; give the entry point another name")
            plugin = load()
            self._check(origin, plugin)
            self.manager.register(plugin, origin.plugin)
            self.origins[origin.plugin] = origin
            return
        self.failed.append(origin)

    def _check(self, origin: Origin, plugin: Any) -> None:
        if plugin is None or inspect.isroutine(plugin) or inspect.isclass(plugin):
            what = "None" if plugin is None else "a class" if inspect.isclass(plugin) else "a function"
            raise PluginError(f"its entry point {origin.module!r} names {what}; name a module or an object")
        if self.manager.is_registered(plugin):
            name = self.manager.get_name(plugin)
            again = f"its entry point {origin.module!r} names the plugin {name!r} again"
            raise PluginError(f"{again}; leave one of the two out")
        hooks = {name: getattr(plugin, name) for name in dir(plugin) if self.manager.parse_hookimpl_opts(plugin, name)}
        for name in hook_names():
            if name not in hooks and inspect.isroutine(getattr(plugin, name, None)):
                line = line_of_function(getattr(plugin, name))
                raise PluginError(f"{name} is not marked; put @sassmix.hookimpl above it ({line})")
        if not hooks:
            file = getattr(plugin, "__file__", None) or origin.module
            raise PluginError(f"{file_name(file)} implements no hook; mark its functions with @sassmix.hookimpl")
        for name, function in hooks.items():
            _check_hook(name, function)

    def registered(self, hook: str, kind: type[T]) -> Iterator[tuple[Origin, list[T]]]:
        """What each plugin registers by a hook, in the order of registration; one that fails is named and left out."""
        for impl in self.hook(hook):
            origin = replace(self.origins[impl.plugin_name], place=line_of_function(impl.function))
            found: list[T] = []
            with self._guard(origin, hook, f"{hook} fails"), self._guard.silent(origin, f"{hook} is called"):
                found = _checked(impl.function(), kind, hook)
            yield origin, found

    def _override(self, mnemonic: str, arch: str) -> OpcodeInfo | None:
        """The first sound answer, the plugin that was loaded last asked first, as pluggy does it.

        Asked one by one: pluggy's own call ends at the first plugin that fails, and does not say which.
        """
        arguments = {"mnemonic": mnemonic, "arch": arch}
        for impl in reversed(self.hook("sassmix_classify")):
            origin = replace(self.origins[impl.plugin_name], place=line_of_function(impl.function))
            with self._guard(origin, "sassmix_classify", f"sassmix_classify fails for {mnemonic}"):
                answer = impl.function(*(arguments[name] for name in impl.argnames))
                if answer is not None:
                    return check_answer(answer)
        return None

    def readers(self) -> list[Reader]:
        """The readers that plugins register, in the order of registration."""
        from sassmix.readers import Reader

        return [
            guarded_reader(self._guard, origin, item)
            for origin, found in self.registered("sassmix_readers", Reader)
            for item in found
        ]

    def label_rules(self) -> list[LabelRule]:
        """The label rules that plugins register, in the order of registration."""
        from sassmix.labels import LabelRule

        return [
            guarded_rule(self._guard, origin, item)
            for origin, found in self.registered("sassmix_label_rules", LabelRule)
            for item in found
        ]

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


def _check_hook(name: str, function: Callable[..., Any]) -> None:
    """A function that is marked is a hook and takes its arguments; pluggy's own message names neither line nor remedy.

    :raises PluginError: where it is not.
    """
    line = line_of_function(function)
    if name not in hook_names():
        raise PluginError(f"no hook is called {name!r}{_near_hooks(name)} ({line})")
    takes = [p.name for p in inspect.signature(getattr(hookspecs, name)).parameters.values()]
    wanted = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    for argument in wanted:
        if argument not in takes:
            near = did_you_mean(argument, takes) or f"; it takes {', '.join(takes) or 'none'}"
            raise PluginError(f"{name} is given no argument {argument!r}{near} ({line})")


def _checked(given: object, kind: type[T], hook: str) -> list[T]:
    """What a hook gives, as a list of its kind."""
    how = f"give a list of sassmix.{kind.__name__}"
    if isinstance(given, kind):
        raise PluginError(f"{hook} gives one {kind.__name__}; give a list of them")
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        kind_given = "None" if given is None else type(given).__name__
        raise PluginError(f"{hook} gives {kind_given}, not a list; {how}, [] for none")
    items = list(given)
    for item in items:
        if not isinstance(item, kind):
            raise PluginError(f"{hook} gives {type(item).__name__}, not sassmix.{kind.__name__}; {how}")
    return items


def _near_hooks(name: str) -> str:
    """Hooks with a similar name; the prefix that all share would make every name look similar."""
    bare = name.removeprefix("sassmix_")
    near = [hook for hook in hook_names() if did_you_mean(bare, [hook.removeprefix("sassmix_")])]
    return did_you_mean(name, near) or f"; there are {', '.join(hook_names())}"


@cache
def default_plugins() -> Plugins:
    """Everything that is installed, loaded at the first use and kept."""
    found, excluded = of_entry_points()
    return Plugins([*of_folder(__version__), *found], excluded)
