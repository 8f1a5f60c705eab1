"""Function labels: the names that people read, and the choice of functions by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from sassmix.errors import listed

#: Blanks and signs in a declaration that part nothing: of a namespace without a name, and of an expression among
#: template arguments. The demangler writes parentheses around ``1 > 0`` there, and around no other comparison.
_UNTOLD = re.compile(r"\(anonymous namespace\)| (?:<<|<=|<|>=) |->")
_OPERATOR = re.compile(r"\boperator\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """From a function's name to the one that a user knows it by.

    :param name: shown where the rule was used.
    :param label: gives the readable name, None where the rule does not apply.
    """

    name: str
    label: Callable[[str], str | None]


#: Names that a message lists where none is near.
_SHOWN = 5
_LONGEST = 16_000  # characters; the demangler recurses, and a longer name can end the process
#: Characters that the demangler may come to write for a name, and those of a declaration that is kept.
_MOST_WRITTEN = 1 << 24
_LONGEST_DECLARATION = 200_000


@lru_cache(maxsize=100_000)
def demangled(name: str) -> str | None:
    """The C++ declaration of a mangled name; None for a name that is not mangled or not well formed, or is too long.

    A helper's name holds two names (``$kernel$callee``); it is left as it is.
    """
    if not name.startswith("_Z") or len(name) > _LONGEST:
        return None
    import pydemumble  # LLVM's demangler; only loaded where a mangled name is seen

    from sassmix.demangling import declares_at_most

    if not declares_at_most(name, _MOST_WRITTEN):
        return None
    declaration = pydemumble.demangle(name)
    return declaration if 0 < len(declaration) <= _LONGEST_DECLARATION else None


def readable(name: str, rules: Iterable[LabelRule] = ()) -> str | None:
    """The name by the first rule that applies, else the demangled one."""
    for rule in rules:
        label = rule.label(name)
        if label is not None:
            return label
    return demangled(name)


def selected(names: Iterable[str], wanted: str) -> set[str]:
    """The functions that a name means: the mangled one, else the demangled one, else that without its parameters.

    A declaration may be spelled as any tool spells it. Only where none has the name itself, it is a glob pattern:
    ``f(int*)`` would select ``f(int*, float*)`` too.
    """
    from sassmix.spelling import normalised  # only where a kernel is asked for

    names = list(names)
    spelled = normalised(wanted) if "(" in wanted else None
    ways: tuple[Callable[[str], bool], ...] = (
        lambda name: wanted == name,
        lambda name: wanted == demangled(name),
        lambda name: spelled is not None and spelled == normalised(demangled(name) or name),
        lambda name: wanted in declared_names(demangled(name) or name),
        lambda name: any(fnmatchcase(one, wanted) for one in (name, demangled(name) or name)),
    )
    for way in ways:
        if found := {name for name in names if way(name)}:
            return found
    return set()


def bare_names(name: str) -> tuple[str, ...]:
    """``ns::f<int>`` and ``ns::f`` of the mangled name of ``void ns::f<int>(float*)``."""
    return declared_names(demangled(name) or "")


def declared_names(declaration: str) -> tuple[str, ...]:
    """The same of a declaration; a name without parameters is a declaration too."""
    declared = _without_parameters(declaration)
    told = _UNTOLD.sub(lambda found: "_" * len(found[0]), declared)
    # An operator is written with the signs of brackets, or with the blanks of a type: nothing in it is told apart.
    head = _OPERATOR.split(told)[0]
    places = _outside_arguments(head)
    # What stands in front of the last blank is the type of the result.
    start = max((place + 1 for place in places if told[place] == " "), default=0)
    full = declared[start:]
    bare = full if head != told else "".join(declared[place] for place in places if place >= start)
    return tuple(dict.fromkeys((full, bare))) if bare else ()


def _without_parameters(declared: str) -> str:
    """Without the last pair of parentheses and what is behind it, unless the name goes on there; it may hold others."""
    depth, last = 0, declared.rfind(")")
    if not set("<>:").isdisjoint(declared[last + 1 :]):
        return declared
    for place in range(last, 0, -1):
        depth += {")": 1, "(": -1}.get(declared[place], 0)
        if not depth:
            return declared[:place]
    return declared


def _outside_arguments(declared: str) -> list[int]:
    """The places outside of template arguments."""
    kept, depth, inner = [], 0, 0
    for place, sign in enumerate(declared):
        inner += {"(": 1, ")": -1}.get(sign, 0)
        depth += 1 if sign == "<" and not inner else 0
        if not depth:
            kept.append(place)
        depth -= 1 if sign == ">" and not inner else 0
    return kept


def near_names(names: Iterable[str], wanted: str) -> str:
    """``; did you mean X?`` of all spellings of the names, each name once; else ``; there are X, Y and 3 more``."""
    from difflib import get_close_matches  # only where something is misspelt

    names = list(dict.fromkeys(names))
    owner: dict[str, str] = {}
    for name in names:
        for spelling in (demangled(name) or name, name, *declared_names(demangled(name) or name)):
            owner.setdefault(spelling, name)
    begun = [spelling for spelling in owner if wanted and spelling.lower().startswith(wanted.lower())]
    close: dict[str, str] = {}
    for spelling in [*get_close_matches(wanted, owner, n=12), *begun]:
        close.setdefault(owner[spelling], spelling)
    if close:
        return f"; did you mean {' or '.join(list(close.values())[:3])}?"
    shown = list(dict.fromkeys(demangled(name) or name for name in names))
    return f"; there are {listed(shown, _SHOWN)}" if shown else ""
