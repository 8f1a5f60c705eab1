"""The lines around the code: which function, section and architecture an instruction belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sassmix.arch import sm
from sassmix.errors import Problem, Severity, UnknownArchitectureError
from sassmix.listing import Columns, Function

#: Which of the lines around the code.
Place = int
_FLAGS = re.compile(r"(?<!\()EF_CUDA_SM([0-9]+)")
_TKINFO = re.compile(r"release [0-9.]+, V([0-9.]+)")
_NOT_IN_PTX = (".elftype", ".headerflags")
_OF_A_FILE = ("member ", "Host ")  # headers of what holds members for several architectures
_SIZE_END = re.compile(r"\(\s*(\S+)\s+-\s")


@dataclass(slots=True)
class Symbol:
    """What directives say of a symbol: whether it is a function, a kernel, and the label of its end."""

    function: bool = False
    kernel: bool = False
    end: str = ""


@dataclass(slots=True)
class Scope:
    """Follows a listing from line to line; :mod:`sassmix.wholeness` judges at the end what it has seen."""

    columns: Columns
    problems: list[Problem]
    path: str | None
    number: Callable[[Place], int]
    kind: str = "nvdisasm-text"
    toolkit: str | None = None
    arch: str | None = None
    section: str | None = None
    functions: list[Function] = field(default_factory=list)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    unreadable: dict[int, str] = field(default_factory=dict)
    #: Whether the text has encodings, as the tool itself prints them.
    encodings: bool = False
    #: Starts of the functions whose closing line was seen.
    ended: set[int] = field(default_factory=set)
    #: The index that the next instruction will have.
    here: int = 0
    #: Labels of the function at hand, each with the index of the instruction behind it.
    labels: dict[str, int] = field(default_factory=dict)
    #: What could not be read, by the index of the instruction that follows.
    damaged: list[tuple[int, str]] = field(default_factory=list)
    _closed: bool = True
    #: Whether the lines belong to a PTX member: no SASS, and no lines of a listing either.
    in_ptx: bool = False
    #: Whether a line has named the architecture of the listing that begins here.
    _named: bool = False
    #: The symbols of the listings before this one in the same file, by the identity of each of their functions.
    _before: dict[int, dict[str, Symbol]] = field(default_factory=dict)

    def line(self, kind: str, line: str, place: Place) -> None:
        """Take one line in, whose kind the grammar has told."""
        if kind == "label":
            self._label(line.partition("//")[0].rstrip()[:-1])
        elif kind == "symbol":
            self._directive(line, place)
        elif kind == "message":
            self._message(line.strip(), place)
        elif kind == "data":
            self._data(line)
        else:
            self.kind = "cuobjdump-sass"
            self._member_line(kind, line.strip(), place)

    def still_in_ptx(self, kind: str | None, line: str, place: Place) -> bool:
        """Whether a line belongs to a PTX member; a listing behind it in the same file has no header to say so."""
        word = line.split(None, 1)[0] if kind == "symbol" else ""
        if word == ".target":  # of the PTX, or of that listing
            self._directive(line, place)
        self.in_ptx = kind != "architecture" and word not in _NOT_IN_PTX
        return self.in_ptx

    def _label(self, name: str) -> None:
        self.labels[name] = self.here
        if name.startswith(".text."):
            self.section = name
            self._open(name.removeprefix(".text."))
            return
        symbol = self.symbols.get(name)
        unheard = symbol is None and not name.startswith(".") and self._closed
        if unheard or (symbol and symbol.function):
            self._open(name)

    def _open(self, name: str) -> None:
        if self.functions and not self._closed and self.functions[-1].start == self.here:
            last = self.functions[-1]
            if last.name == name or last.name not in self.symbols:
                self.functions.pop()
            elif name not in self.symbols:
                return  # `.text.k:` behind `k:`
        self._start(name)

    def _start(self, name: str) -> None:
        self._closed = False
        self.labels = {name: self.here}
        self.functions.append(
            Function(
                name=name,
                arch=self.arch,
                role="kernel",
                section=self.section,
                columns=self.columns,
                start=self.here,
                stop=self.here,
                labels=self.labels,
            )
        )

    def _directive(self, text: str, place: Place) -> None:
        word, *rest = text.split(None, 1)
        name, _, value = rest[0].partition("//")[0].strip().partition(",") if rest else ("", "", "")
        name, value = name.rstrip(), value.lstrip()
        if word == ".section":
            self.section = name
            self._closed = True
        elif word == ".target":
            self._architecture(name, place)
        elif word == ".headerflags":
            self._header_flags(text, place)
        elif word == ".elftype":
            self._begin()
            self.arch = self.arch if self._named else None
            self._named = False
        elif word == ".type":
            self._symbol(name).function = value == "@function"
        elif word == ".other":
            self._symbol(name).kernel = "STO_CUDA_ENTRY" in value
        else:
            match = _SIZE_END.match(value)
            self._symbol(name).end = match[1] if match else ""

    def _symbol(self, name: str) -> Symbol:
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = Symbol()
        return symbol

    def symbols_of(self, function: Function) -> dict[str, Symbol]:
        """Those of the listing that a function stands in."""
        return self._before.get(id(function), self.symbols)

    def _begin(self) -> None:
        """A listing begins, which the file may hold behind another; that one's names and labels are not its own."""
        self._closed = True
        self._before.update((id(function), self.symbols) for function in self.functions[len(self._before) :])
        self.symbols = {}

    def _architecture(self, name: str, place: Place) -> None:
        self._named = True
        try:
            self.arch = sm(name)[0]
        except UnknownArchitectureError as error:
            self.arch = None
            self.problems.append(Problem("warning", self.path, str(error), self.number(place)))

    def _header_flags(self, text: str, place: Place) -> None:
        found = _FLAGS.search(text)
        self._named |= bool(found)
        if found and not (self.arch or "").startswith(f"sm_{found[1]}"):
            self._architecture(f"sm_{found[1]}{'a' if 'EF_CUDA_ACCELERATORS' in text else ''}", place)

    def _message(self, text: str, place: Place) -> None:
        severity: Severity = "error" if re.match(r"\w+\s+(fatal|error)", text) else "warning"
        what = f"a tool's message stands in the listing: {text}"
        self.problems.append(Problem(severity, self.path, what, self.number(place)))

    def _data(self, text: str) -> None:
        found = _TKINFO.search(text)
        self.toolkit = found[1] if found else self.toolkit

    def _member_line(self, kind: str, text: str, place: Place) -> None:
        if kind == "architecture":
            self._begin()
            self._architecture(text.rsplit(maxsplit=1)[-1], place)
        elif kind == "function":
            self.section = None
            self._start(text.partition(":")[2].strip())
        elif kind == "end":
            self._closed = True
            self.ended.update(f.start for f in self.functions[-1:])
        elif kind == "header":
            self.in_ptx = "ptx" in text
            self._begin()
            self.arch = self.arch if text.startswith(_OF_A_FILE) else None
        elif kind == "pair" and text.startswith("arch ="):
            self._member_arch(text.partition("=")[2].strip(), place)

    def _member_arch(self, name: str, place: Place) -> None:
        if re.match(r"sm_[0-9]", name):
            self._architecture(name, place)
        if self.in_ptx:
            message = f"a PTX member for {name}: no SASS, not counted"
            self.problems.append(Problem("info", self.path, message, self.number(place)))

    def damage(self, reason: str) -> None:
        """Something in the function at hand could not be read."""
        self.damage_at(self.here, reason)

    def damage_at(self, index: int, reason: str) -> None:
        """Something at an instruction's place could not be read."""
        self.damaged.append((index, reason))

    def common_arch(self, functions: list[Function]) -> str | None:
        """The architecture of the listing, None where its functions differ."""
        archs = {function.arch for function in functions} or {self.arch}
        return archs.pop() if len(archs) == 1 else None
