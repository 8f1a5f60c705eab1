"""Function labels: the names that people read, and the choice of functions by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """From a function's name to the one that a user knows it by.

    :param name: shown where the rule was used.
    :param label: gives the readable name, None where the rule does not apply.
    """

    name: str
    label: Callable[[str], str | None]


@lru_cache(maxsize=100_000)
def demangled(name: str) -> str | None:
    """The C++ declaration of a mangled name; None for a name that is not mangled or not well formed.

    A helper's name holds two names (``$kernel$callee``); it is left as it is.
    """
    if not name.startswith("_Z"):
        return None
    import pydemumble  # LLVM's demangler; only loaded where a mangled name is seen

    return pydemumble.demangle(name) or None


def readable(name: str, rules: Iterable[LabelRule] = ()) -> str | None:
    """The name by the first rule that applies, else the demangled one."""
    for rule in rules:
        label = rule.label(name)
        if label is not None:
            return label
    return demangled(name)


def selected(names: Iterable[str], wanted: str) -> set[str]:
    """The functions with a mangled or demangled name; only where none has exactly it, it is a glob pattern for both.

    ``f(int*)`` is a name in the first place, and as a pattern it would select ``f(int*, float*)`` too.
    """
    both = {name: (name, demangled(name) or name) for name in names}
    exact = {name for name in both if wanted in both[name]}
    return exact or {name for name in both if any(fnmatchcase(one, wanted) for one in both[name])}
