"""How long the declaration of a mangled name is at most, added up without writing it.

A name may refer to its own parts. Where each part refers twice to the one before, 300 characters declare gigabytes, and
LLVM's demangler writes them. The grammar is that of the Itanium C++ ABI, as far as kernels use it.
"""

from __future__ import annotations

import re
from math import inf

#: Characters of a builtin type, an operator or a sign at most, with what parts two: ``unsigned long long, ``.
_WORD = 24
#: Of an abbreviation, two letters: ``std::basic_string<char, std::char_traits<char>, std::allocator<char>>``.
_STANDARD = 80
_REFERS, _STANDS_FOR = re.compile(r"S[0-9A-Z]*_"), re.compile(r"T(?:L\d*_)?\d*_")
_SOURCE, _REFERENCE, _PARAMETER = re.compile(r"\d{1,5}"), re.compile(r"S[0-9A-Z]{0,4}_"), re.compile(r"T\d*_")
_ABBREVIATED, _QUALIFIERS, _SUFFIX = re.compile(r"S[absiod]"), re.compile(r"[rVK]*[RO]?"), re.compile(r"\..*")
_BUILTIN = re.compile(r"[a-jl-ostv-z]|D[acdefhinsu]|DF\d+_|DF16b")
_SIGNS = re.compile(r"[rVK]+|[PROCG]|A\d*_|Dv\d+_(?!p)")  # a vector of p is of pixels
_FUNCTION = re.compile(r"[rVK]*FY?")
_LITERAL = re.compile(r"L(?:[wbcahstijlmxyno]n?\d+|[fde][0-9a-f]+|Dn0?)E")
_NUMBER = re.compile(r"n?\d*E")
_UNNAMED, _DISCRIMINATOR = re.compile(r"Ut\d*_"), re.compile(r"_\d|__\d+_")
_LAMBDA_END = re.compile(r"E\d*_")
_STRUCTOR = re.compile(r"C[1-5]|D[0-5]")
_UNARY = re.compile(r"ps|ng|ad|de|co|nt")
_BINARY = re.compile(r"pl|mi|ml|dv|rm|an|or|eo|ls|rs|eq|ne|lt|gt|le|ge|ss|aa|oo|cm")
_OPERATOR = re.compile(
    rf"{_UNARY.pattern}|{_BINARY.pattern}|nw|na|dl|da|aw|aS|pL|mI|mL|dV|rM|aN|oR|eO|lS|rS|pp|mm|pm|pt|cl|ix|qu"
)


def declares_at_most(name: str, characters: int) -> bool:
    """Whether it is sure that the declaration of a mangled name is no longer than that."""
    return _by_references(name) <= characters or _by_parts(name) <= characters


def _by_references(name: str) -> int:
    """Each reference at most doubles what there is; that to a pack of arguments repeats it for each of them."""
    references = len(_REFERS.findall(name)) + len(_STANDS_FOR.findall(name))
    return len(name) * _STANDARD << references * (len(name).bit_length() if "J" in name else 1)


def _by_parts(name: str) -> float:
    """Far nearer; not known for most expressions, conversion operators, and what nests deeper than Python's calls."""
    try:
        return _Name(name).declaration()
    except (_NotFollowed, RecursionError):
        return inf


class _NotFollowed(Exception):
    pass


class _Name:
    """A parser that keeps of each part how long it is at most.

    :ivar parts: for each part that can be referred to, the length of the longest up to it. To be on the safe side: a
        part that the demangler numbers and this does not is within the next.
    :ivar argument: length of the longest template argument so far, which a parameter may stand for.
    :ivar most: the most arguments in one list so far: an expansion repeats its pattern no more often.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.parts: list[int] = []
        self.argument, self.most = _WORD, 1

    def take(self, what: str | re.Pattern[str]) -> str:
        """Go on behind it, if it comes next."""
        if isinstance(what, str):
            found = what if self.text.startswith(what, self.at) else ""
        else:
            found = match[0] if (match := what.match(self.text, self.at)) else ""
        self.at += len(found)
        return found

    def need(self, what: str | re.Pattern[str]) -> str:
        """The same.

        :raises _NotFollowed: if something else comes next.
        """
        found = self.take(what)
        if not found:
            raise _NotFollowed
        return found

    def part(self, length: int) -> int:
        """Number a part."""
        self.parts.append(max(length, self.parts[-1] if self.parts else 0))
        return length

    def declaration(self) -> int:
        self.need("_Z")
        length = self.encoding() + len(self.take(_SUFFIX))
        if self.at < len(self.text):
            raise _NotFollowed
        return length

    def encoding(self) -> int:
        """A name with the types of its result and parameters."""
        length = self.name()
        while self.text[self.at : self.at + 1] not in {"", "E", "."}:
            length += self.type()
        return length

    def name(self) -> int:
        if self.take("N"):
            return self.nested()
        if self.take("Z"):
            return self.local()
        length = self.unqualified()
        return self.part(length) + self.arguments() if self.take("I") else length

    def nested(self) -> int:
        self.take(_QUALIFIERS)
        length = _WORD
        while not self.take("E"):
            if refers := self.reference():
                length += refers
                continue
            length += self.parameter() or (self.arguments() if self.take("I") else self.unqualified())
            self.part(length)
        if not self.parts:
            raise _NotFollowed
        self.parts.pop()  # the whole is numbered by whoever needs it, if it is a type
        return length

    def local(self) -> int:
        length = self.encoding()
        self.need("E")
        length += _WORD if self.take("s") else self.name()
        return length + len(self.take(_DISCRIMINATOR))

    def unqualified(self) -> int:
        length = _WORD if self.take("St") else 0
        self.take("L")
        if self.take("Ul"):
            length += self.list_until(_LAMBDA_END)
        elif self.take(_STRUCTOR):
            length += len(self.text)  # the last name again
        else:
            length += _WORD if self.take(_UNNAMED) or self.take(_OPERATOR) else self.source()
        while self.take("B"):
            length += self.source()
        return length

    def source(self) -> int:
        length = int(self.need(_SOURCE))
        self.at += length
        if not length or self.at > len(self.text):
            raise _NotFollowed
        return length + _WORD

    def type(self) -> int:
        if self.take(_BUILTIN):
            return _WORD
        if self.take(_FUNCTION):
            return self.part(self.list_until("E"))
        if signs := self.take(_SIGNS):
            return self.part(len(signs) + _WORD + self.type())
        if self.take("M"):
            return self.part(self.type() + _WORD + self.type())
        if self.take("Dp"):
            return self.part(self.type() * self.most)
        if length := self.parameter():
            self.part(length)
        elif not (length := self.reference()):
            return self.part(self.name())
        return self.part(length + self.arguments()) if self.take("I") else length

    def list_until(self, end: str | re.Pattern[str]) -> int:
        """Types; in front of the end of a function may stand what it is called on."""
        length = _WORD
        while not (found := self.take(end)):
            if not (self.text.startswith(("RE", "OE"), self.at) and self.take(_QUALIFIERS)):
                length += self.type()
        return length + len(found)

    def parameter(self) -> int:
        """The length of what a template parameter stands for, 0 if none comes next."""
        return self.argument if self.take(_PARAMETER) else 0

    def reference(self) -> int:
        """The length of the part that is referred to, 0 if no reference comes next."""
        if found := self.take(_REFERENCE):
            number = int(found[1:-1], 36) + 1 if found != "S_" else 0
            if number >= len(self.parts):
                raise _NotFollowed
            return self.parts[number]
        return _STANDARD if self.take(_ABBREVIATED) else 0

    def arguments(self) -> int:
        length, count = _WORD, 0
        while not self.take("E"):
            one, count = self.one_argument(), count + 1
            self.argument, self.most = max(self.argument, one), max(self.most, count)
            length += one
        return length

    def one_argument(self) -> int:
        if self.take("J"):
            return self.arguments()
        if self.take("X"):
            return self.expression() + len(self.need("E"))
        return self.literal() if self.text.startswith("L", self.at) else self.type()

    def literal(self) -> int:
        if literal := self.take(_LITERAL):
            return len(literal) + _WORD
        if self.take("L_Z"):
            return self.encoding() + len(self.need("E"))
        if self.text.startswith("LU", self.at):
            raise _NotFollowed  # what the demangler numbers of it differs
        self.need("L")
        return self.type() + len(self.need(_NUMBER)) + _WORD

    def expression(self) -> int:
        if self.text.startswith("L", self.at):
            return self.literal()
        if self.take(_UNARY):
            return _WORD + self.expression()
        if self.take(_BINARY):
            return _WORD + self.expression() + self.expression()
        if length := self.parameter():
            return length
        raise _NotFollowed
