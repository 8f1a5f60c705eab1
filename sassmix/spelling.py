"""Declarations of C++ in one spelling, so that what two demanglers say of one function compares equal."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

_CAST = re.compile(r"\((unsigned|signed|char|short|int|long|bool)((?: (?:char|short|int|long))*)\)(?=-?[0-9])")
_NUMBER = re.compile(r"(?<![\w$.])(-?[0-9]+)(ull|ul|ll|u|l)\b", re.IGNORECASE)
_BOOL = re.compile(r"\(bool\)([01])\b")
_SUFFIXES = {"u": "unsigned", "l": "long", "ul": "unsigned long", "ll": "long long", "ull": "unsigned long long"}
_TOKEN = re.compile(r"\(anonymous namespace\)|[A-Za-z_$][\w$]*(?:::[~A-Za-z_$][\w$]*)*|::|\S")
_PARAMETER = re.compile(r"T[1-9][0-9]?")
_QUALIFIERS = frozenset({"const", "volatile"})
_OPENING = frozenset("(<,")
_BUILTIN = frozenset({"unsigned", "signed", "long", "short", "int", "char", "double"})
#: Tokens of a declaration in which T1, T2 and so on were replaced; a hostile one would grow with the square.
_MOST_TOKENS = 100_000


@lru_cache(maxsize=100_000)
def normalised(declaration: str) -> str:
    """A declaration in one spelling: demanglers differ in blanks, in casts of arguments, in the place of const.

    ``void gemm<float, (int)4>(const float *)`` and ``void gemm<float, 4>(float const*)`` are one. The type of a number
    stays, for ``f<(char)4>`` and ``f<4>`` are two functions; only that of an ``int`` may be left out.
    """
    text = declaration.replace("<unnamed>", "(anonymous namespace)")
    text = _BOOL.sub(lambda found: "true" if found[1] == "1" else "false", text)
    text = _NUMBER.sub(lambda found: f"({_SUFFIXES[found[2].lower()]}){found[1]}", text)
    text = _CAST.sub(lambda found: _cast(found[1] + found[2]), text)
    # In this order: of a pointer T1, "const T1 &" is a constant pointer, not one to a constant.
    tokens = _with_arguments(_const_behind(_TOKEN.findall(text)))
    return " ".join(tokens).removeprefix("void ")


def _cast(words: str) -> str:
    """A cast by the shortest name of its type: none for ``int``, ``(unsigned)`` for ``(unsigned int)``."""
    short = words.removesuffix(" int") if words != "int" else ""
    return f"({short})" if short and short != "signed" else ""


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
        if len(result) > _MOST_TOKENS:
            return tokens
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
    waiting: list[tuple[int, str]] = []  # qualifiers, each with the number of brackets that are open around it
    depth = 0
    for token, following in pairwise([*tokens, ""]):
        if token in _QUALIFIERS and (not result or result[-1] in _OPENING):
            waiting.append((depth, token))
            continue
        result.append(token)
        depth += (token == "<") - (token == ">")
        inside = following in ("<", "::") or token == "::" or (token in _BUILTIN and following in _BUILTIN)
        ready = []
        while waiting and waiting[-1][0] == depth and not inside:
            ready.append(waiting.pop()[1])
        result += reversed(ready)
    return result + [qualifier for _, qualifier in waiting]
