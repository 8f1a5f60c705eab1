"""Which function do counts belong to? One candidate is a match; more are none. Never a substring, never another case.

The order of the ways is that of the contract: exact, metadata, demangled, truncated-name, ignoring-build-hash,
only-function, none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sassmix.counts import KernelNames
from sassmix.errors import did_you_mean
from sassmix.labels import demangled
from sassmix.listing import Function

#: Ways of matching that are certain; the others are flagged.
CERTAIN = frozenset({"exact", "metadata", "demangled"})
_HASH = re.compile(r"(_GLOBAL__N__|_INTERNAL_+|__nv_static_[0-9]+__)[0-9a-f]{8}(?=_)")
_FILE_HASH = re.compile(r"(?<=_cu_)[0-9a-f]{8}")
_CAST = re.compile(r"\((?:unsigned |signed )?(?:char|short|int|long long|long|bool)\)(?=-?[0-9])")
_SUFFIX = re.compile(r"(?<=[0-9])(?:u|l|ul|ll|ull)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z_$][\w$]*(?:::[~A-Za-z_$][\w$]*)*|::|\S")
_PARAMETER = re.compile(r"T[1-9][0-9]?")
_QUALIFIERS = frozenset({"const", "volatile"})
_BUILTIN = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double"})


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


def match(names: KernelNames, arch: str | None, functions: Sequence[Function]) -> Match:
    """Find the function of some counts.

    :param arch: a target; only functions of that number are candidates. None: of all architectures, so that a name
        on two of them matches none.
    """
    possible = [f for f in functions if same_number(arch, f.arch)]
    for how, fits in _ways(names):
        found = _distinct(f for f in possible if fits(f))
        if len(found) == 1:
            return Match(how, found[0])
        if found:
            return Match("none", None, tuple(dict.fromkeys(f.name for f in found)))
    return Match("none", None, tuple(_alike(names, [f.name for f in functions])))


def _distinct(functions: Iterable[Function]) -> list[Function]:
    """Each function once: a cubin and its listing, or a file and its copy, hold the same."""
    found: list[Function] = []
    for function in functions:
        if not any(_is_copy(function, other) for other in found):
            found.append(function)
    return found


def _is_copy(one: Function, other: Function) -> bool:
    same_name = one.name == other.name and len(one) == len(other) and same_number(one.arch, other.arch)
    mine, theirs = slice(one.start, one.stop), slice(other.start, other.stop)
    return (
        same_name
        and one.columns.mnemonics[mine] == other.columns.mnemonics[theirs]
        and one.columns.guards[mine] == other.columns.guards[theirs]
    )


def same_number(arch: str | None, other: str | None) -> bool:
    """Whether two targets may be one machine: sm_90 and sm_90a are, and what is not known may be any."""
    return not arch or not other or arch.rstrip("af") == other.rstrip("af")


def _ways(names: KernelNames) -> Iterable[tuple[str, Callable[[Function], bool]]]:
    whole = names.mangled or (None if names.cut else names.file)
    if whole:
        yield "exact", lambda f: f.name == whole
    if names.root:
        root, declared = names.root, normalised(names.root)
        yield "metadata", lambda f: f.name == root
        yield "metadata", lambda f: _declared(f.name) == declared
    if names.demangled and not names.mangled:
        plain = names.demangled
        yield "exact", lambda f: f.name == plain  # a function that is not mangled has but one name
        wanted = normalised(names.demangled)
        yield "demangled", lambda f: _declared(f.name) == wanted
    bare = whole or names.demangled or ""
    if bare and not bare.startswith("_Z") and "(" not in bare:
        yield "demangled", lambda f: bare in _bare_names(f.name)
    if names.cut and names.file and not (names.mangled or names.root):
        part = names.file
        yield "truncated-name", lambda f: f.name.startswith(part)
    if whole:
        unhashed = without_hash(whole)
        yield "ignoring-build-hash", lambda f: without_hash(f.name) == unhashed
    if not names.known:
        yield "only-function", lambda f: f.role == "kernel"


def without_hash(name: str) -> str:
    """A name without what changes from build to build in names of internal linkage."""
    return _FILE_HASH.sub("HASH", _HASH.sub(r"\1HASH", name))


@lru_cache(maxsize=100_000)
def _declared(name: str) -> str | None:
    declaration = demangled(name)
    return normalised(declaration) if declaration else None


@lru_cache(maxsize=100_000)
def _bare_names(name: str) -> frozenset[str]:
    """The names of a function without parameters and template arguments: qualified, and its last part."""
    declaration = demangled(name)
    if not declaration:
        return frozenset()
    bare = _without_brackets(declaration.replace("(anonymous namespace)", "{anonymous}"))
    qualified = bare.partition("(")[0].strip().rpartition(" ")[2]
    return frozenset({qualified, qualified.rpartition("::")[2]})


def _without_brackets(text: str) -> str:
    depth, kept = 0, []
    for char in text:
        depth += char == "<"
        if not depth:
            kept.append(char)
        depth -= char == ">" and depth > 0
    return "".join(kept)


@lru_cache(maxsize=100_000)
def normalised(declaration: str) -> str:
    """A declaration in one spelling: demanglers differ in blanks, in casts of arguments, in the place of const.

    ``void gemm<float, (int)4>(const float *)`` and ``void gemm<float, 4>(float const*)`` are one.
    """
    text = (
        declaration.replace("<unnamed>", "(anonymous namespace)").replace("(bool)1", "true").replace("(bool)0", "false")
    )
    tokens = _with_arguments(_TOKEN.findall(_SUFFIX.sub("", _CAST.sub("", text))))
    joined = " ".join(_const_behind(tokens))
    return joined.removeprefix("void ")


def _with_arguments(tokens: list[str]) -> list[str]:
    """Nsight Compute writes ``f<float>(const T1 *)``: put the template's arguments in the place of T1, T2 and so on."""
    opening = next((i for i in range(1, len(tokens)) if tokens[i] == "(" and tokens[i - 1] == ">"), None)
    if opening is None or not any(_PARAMETER.fullmatch(token) for token in tokens[opening:]):
        return tokens
    arguments = _arguments(tokens[: opening - 1])
    result = tokens[:opening]
    for token in tokens[opening:]:
        number = int(token[1:]) if _PARAMETER.fullmatch(token) else 0
        result += arguments[number - 1] if 0 < number <= len(arguments) else [token]
    return result


def _arguments(tokens: list[str]) -> list[list[str]]:
    """The template arguments at the end of some tokens, without the bracket that closes them."""
    found: list[list[str]] = [[]]
    depth = 0
    for token in reversed(tokens):
        if token == "<" and depth == 0:
            return [list(reversed(argument)) for argument in reversed(found)]
        depth += (token == ">") - (token == "<")
        if token == "," and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return []


def _const_behind(tokens: list[str]) -> list[str]:
    """Put each qualifier in front of a type behind the type's name and template arguments."""
    result: list[str] = []
    index = 0
    while index < len(tokens):
        if tokens[index] in _QUALIFIERS and (not result or result[-1] in "(<,"):
            stop = _type_end(tokens, index + 1)
            result += [*_const_behind(tokens[index + 1 : stop]), tokens[index]]
            index = stop
        else:
            result.append(tokens[index])
            index += 1
    return result


def _type_end(tokens: list[str], start: int) -> int:
    index = start + 1
    while index < len(tokens) and tokens[index - 1] in _BUILTIN and tokens[index] in _BUILTIN:
        index += 1
    depth = 0
    while index < len(tokens) and (depth or tokens[index] in ("<", "::")):
        depth += (tokens[index] == "<") - (tokens[index] == ">")
        index += 1
    return index


def _alike(names: KernelNames, known: list[str]) -> list[str]:
    """Names that a person may have meant: of another case, in one another, or nearly spelt the same."""
    wanted = [n.lower() for n in (names.mangled, names.root, names.file, names.demangled) if n]
    found = [k for k in known if any(w in (low := k.lower()) or low in w for w in wanted)]
    near = [k for w in wanted for k in known if did_you_mean(w, [k.lower()])]
    return list(dict.fromkeys([*found, *near]))[:10]
