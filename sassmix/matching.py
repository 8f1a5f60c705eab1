"""Which function do counts belong to? One candidate is a match; more are none. Never a substring, never another case.

The order of the ways is that of the contract: exact, metadata, demangled, truncated-name, ignoring-build-hash,
only-function, none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

from sassmix.alike import Alike
from sassmix.counts import KernelNames
from sassmix.labels import bare_names, declared_names, demangled
from sassmix.listing import Function
from sassmix.spelling import normalised

#: Ways of matching that are certain; the others are flagged.
CERTAIN = frozenset({"exact", "metadata", "demangled"})
_HASH = re.compile(r"(_GLOBAL__N__|_INTERNAL_+|__nv_static_[0-9]+__)[0-9a-f]{8}(?=_)")
_FILE_HASH = re.compile(r"(?<=_cu_)[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Match:
    """The function, or None with the candidates: names that are possible, or that look alike."""

    how: str
    function: Function | None
    candidates: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The report's ``listing``."""
        name = self.function.name if self.function else None
        return {"function": name, "how": self.how, "candidates": list(self.candidates)}


class Functions(tuple[Function, ...]):
    """All functions of the inputs, found by any of their spellings without a look at each."""

    def named(self, name: str) -> list[Function]:
        """Those of this very name."""
        return self._by_name.get(name, [])

    def declared(self, declaration: str) -> list[Function]:
        """Those whose mangled name means this declaration, however it is spelt."""
        return self._by_declaration.get(normalised(declaration), [])

    def bare(self, name: str) -> list[Function]:
        """Those that have this name without parameters and template arguments, with or without namespaces."""
        return self._by_bare_name.get(name, [])

    def unhashed(self, name: str) -> list[Function]:
        """Those whose name is the same but for the digits of a build."""
        return self._by_unhashed.get(without_hash(name), [])

    def beginning(self, part: str) -> list[Function]:
        """Those whose name begins with a part."""
        names = self._in_order[bisect_left(self._in_order, part) :]
        begun = takewhile(lambda name: name.startswith(part), names)
        return [function for name in begun for function in self._by_name[name]]

    def alike(self, names: KernelNames) -> list[str]:
        """Names that a person may have meant."""
        bare = [_base(name) for name in (names.mangled, names.root, names.file, names.demangled) if name]
        return self._alike.to(bare, names.file if names.cut else None)

    def _index(self, keys: Callable[[str], Iterable[Hashable]]) -> dict[Hashable, list[Function]]:
        found: dict[Hashable, list[Function]] = {}
        for function in self:
            for key in keys(function.name):
                found.setdefault(key, []).append(function)
        return found

    @cached_property
    def _by_name(self) -> dict[Hashable, list[Function]]:
        return self._index(lambda name: (name,))

    @cached_property
    def _by_declaration(self) -> dict[Hashable, list[Function]]:
        return self._index(_declared)

    @cached_property
    def _by_bare_name(self) -> dict[Hashable, list[Function]]:
        return self._index(_bare)

    @cached_property
    def _by_unhashed(self) -> dict[Hashable, list[Function]]:
        return self._index(lambda name: (without_hash(name),))

    @cached_property
    def _in_order(self) -> list[str]:
        return sorted({function.name for function in self})

    @cached_property
    def _alike(self) -> Alike:
        return Alike((function.name, _base(function.name)) for function in self)


def match(names: KernelNames, arch: str | None, functions: Sequence[Function]) -> Match:
    """Find the function of some counts.

    :param arch: a target; only functions of that number are candidates. None: of all architectures, so that a name
        on two of them matches none.
    :param functions: of many counts, best the same :class:`Functions` each time.
    """
    known = functions if isinstance(functions, Functions) else Functions(functions)
    for how, fitting in _ways(names, known):
        found = distinct(f for f in fitting if same_number(arch, f.arch))
        if len(found) == 1:
            return Match(how, found[0])
        if found:
            return Match("none", None, tuple(dict.fromkeys(f.name for f in found)))
    return Match("none", None, tuple(known.alike(names)))


def distinct(functions: Iterable[Function]) -> list[Function]:
    """Each function once: a cubin and its listing, or a file and its copy, hold the same."""
    found: dict[tuple[str, int], list[Function]] = {}
    for function in functions:
        same = found.setdefault((function.name, len(function)), [])
        if not any(_is_copy(function, other) for other in same):
            same.append(function)
    return [function for same in found.values() for function in same]


def _is_copy(one: Function, other: Function) -> bool:
    mine, theirs = slice(one.start, one.stop), slice(other.start, other.stop)
    return (
        same_number(one.arch, other.arch)
        and one.columns.mnemonics[mine] == other.columns.mnemonics[theirs]
        and one.columns.guards[mine] == other.columns.guards[theirs]
    )


def same_number(arch: str | None, other: str | None) -> bool:
    """Whether two targets may be one machine: sm_90 and sm_90a are, and what is not known may be any."""
    return not arch or not other or arch.rstrip("af") == other.rstrip("af")


def _ways(names: KernelNames, known: Functions) -> Iterator[tuple[str, list[Function]]]:
    whole = names.mangled or (None if names.cut else names.file)
    if whole:
        yield "exact", known.named(whole)
    if names.root:
        yield "metadata", known.named(names.root)
        yield "metadata", known.declared(names.root)
    if names.demangled and not names.mangled:
        yield "exact", known.named(names.demangled)  # a function that is not mangled has but one name
        yield "demangled", known.declared(names.demangled)
    if bare := whole or names.demangled:
        yield "demangled", known.bare(bare)
    if names.cut and names.file and not (names.mangled or names.root):
        yield "truncated-name", known.beginning(names.file)
    if whole:
        yield "ignoring-build-hash", known.unhashed(whole)
    if not names.known:
        yield "only-function", [f for f in known if f.role == "kernel"]


def without_hash(name: str) -> str:
    """A name without what changes from build to build in names of internal linkage."""
    return _FILE_HASH.sub("HASH", _HASH.sub(r"\1HASH", name))


def _declared(name: str) -> tuple[str, ...]:
    declaration = demangled(name)
    return (normalised(declaration),) if declaration else ()


def _bare(name: str) -> set[str]:
    """The names of a function without parameters and template arguments: qualified, and its last part."""
    bare = bare_names(name)[-1:]
    return {*bare, *(one.rpartition("::")[2] for one in bare)}


@lru_cache(maxsize=100_000)
def _base(name: str) -> str:
    """The last part of a name, mangled or declared, without namespaces, template arguments and parameters."""
    bare = declared_names(demangled(name) or name)
    return bare[-1].rpartition("::")[2] if bare else name
