"""What is installed: every plugin that was found, where it comes from, what it gives, and what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sassmix.errors import PluginError
from sassmix.plugins import Plugins, default_plugins, hook_names
from sassmix.registry import Origin

if TYPE_CHECKING:
    from sassmix.labels import LabelRule
    from sassmix.readers import Reader

#: ``failed`` is a plugin that was not loaded; one that fails later is ``loaded`` and has ``errors``.
LOADED, FAILED, EXCLUDED = "loaded", "failed", "excluded"


def plugin_rows(plugins: Plugins | None = None) -> list[dict[str, Any]]:
    """One entry per plugin: the loaded ones in their order, those that failed, those that SASSMIX_PLUGINS leaves out.

    :param plugins: those to list; what is installed, if left out.
    :returns: entries with the fields ``plugin, state, distribution, version, module, file, hooks, architectures,
        targets, readers, label_rules`` and ``errors``; ``file`` is None where the module is not found.
    """
    from sassmix.labels import LabelRule
    from sassmix.readers import Reader

    plugins = plugins or default_plugins()
    readers = dict(_names(plugins.registered("sassmix_readers", Reader)))
    rules = dict(_names(plugins.registered("sassmix_label_rules", LabelRule)))
    states = ((LOADED, plugins.origins.values()), (FAILED, plugins.failed), (EXCLUDED, plugins.excluded))
    return [
        {
            **_place(origin, state),
            **_gives(plugins, origin.plugin if state == LOADED else None),
            "readers": readers.get(origin, []),
            "label_rules": rules.get(origin, []),
            "errors": [error.message for error in plugins.errors if _of(error) == origin],
        }
        for state, origins in states
        for origin in origins
    ]


def _names(given: Iterable[tuple[Origin, Sequence[Reader | LabelRule]]]) -> Iterator[tuple[Origin, list[str]]]:
    return ((origin, [item.name for item in items]) for origin, items in given)


def _of(error: PluginError) -> Origin:
    return Origin(error.plugin, error.distribution, error.version)


def _place(origin: Origin, state: str) -> dict[str, Any]:
    return {
        "plugin": origin.plugin,
        "state": state,
        "distribution": origin.distribution,
        "version": origin.version,
        "module": origin.module,
        "file": _file(origin.module.partition(":")[0].strip()),
    }


def _gives(plugins: Plugins, name: str | None) -> dict[str, list[str]]:
    """What is in the registry from a plugin: an architecture that was refused is not."""
    return {
        "hooks": [hook for hook in hook_names() if any(impl.plugin_name == name for impl in plugins.hook(hook))],
        "architectures": [t.architecture.name for t in plugins.registry.tables() if t.origin.plugin == name],
        "targets": [target for target, table in plugins.registry if table.origin.plugin == name],
    }


def _file(module: str) -> str | None:
    """The file of a module; of one that could not be imported that of its package, which is not imported for it."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__file__", None)
    with suppress(ImportError, ValueError):
        found = find_spec(module.partition(".")[0])
        return found.origin if found else None
    return None
