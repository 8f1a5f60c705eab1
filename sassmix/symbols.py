"""The lines around the code: which function, section and architecture an instruction belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sassmix.arch import sm
from sassmix.errors import Problem, Severity, UnknownArchitectureError
from sassmix.listing import Columns, Function, Role

UNNAMED = "(no name)"
#: Bytes of an instruction at most; with control words in between, the next one is two steps away.
_STEP = 16
#: Where a line stands: behind how many code lines, and the how manieth of those in between.
Place = tuple[int, int]
_FLAGS = re.compile(r"(?<!\()EF_CUDA_SM([0-9]+)")
_TKINFO = re.compile(r"release [0-9.]+, V([0-9.]+)")
_SIZE_END = re.compile(r"\(\s*(\S+)\s+-\s")


@dataclass(slots=True)
class _Symbol:
    function: bool = False
    kernel: bool = False
    end: str = ""


@dataclass(slots=True)
class Scope:
    """Follows a listing from line to line; :meth:`finish` gives the functions with everything known of them."""

    columns: Columns
    problems: list[Problem]
    path: str | None
    number: Callable[[Place], int]
    kind: str = "nvdisasm-text"
    toolkit: str | None = None
    arch: str | None = None
    section: str | None = None
    functions: list[Function] = field(default_factory=list)
    symbols: dict[str, _Symbol] = field(default_factory=dict)
    unreadable: dict[int, str] = field(default_factory=dict)
    #: Whether the text has encodings, as the tool itself prints them.
    encodings: bool = False
    #: Starts of the functions whose closing line was seen.
    ended: set[int] = field(default_factory=set)
    #: The index that the next instruction will have.
    here: int = 0
    #: Labels of the function at hand, each with the index of the instruction behind it.
    labels: dict[str, int] = field(default_factory=dict)
    _damage: list[tuple[int, str]] = field(default_factory=list)
    _closed: bool = True
    #: Whether the lines belong to a PTX member: no SASS, and no lines of a listing either.
    in_ptx: bool = False

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
        elif word == ".type":
            self._symbol(name).function = value == "@function"
        elif word == ".other":
            self._symbol(name).kernel = "STO_CUDA_ENTRY" in value
        else:
            match = _SIZE_END.match(value)
            self._symbol(name).end = match[1] if match else ""

    def _symbol(self, name: str) -> _Symbol:
        symbol = self.symbols.get(name)
        if symbol is None:
            symbol = self.symbols[name] = _Symbol()
        return symbol

    def _architecture(self, name: str, place: Place) -> None:
        try:
            self.arch = sm(name)[0]
        except UnknownArchitectureError as error:
            self.arch = None
            self.problems.append(Problem("warning", self.path, str(error), self.number(place)))

    def _header_flags(self, text: str, place: Place) -> None:
        found = _FLAGS.search(text)
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
            self._architecture(text.rsplit(maxsplit=1)[-1], place)
        elif kind == "function":
            self.section = None
            self._start(text.partition(":")[2].strip())
        elif kind == "end":
            self._closed = True
            self.ended.update(f.start for f in self.functions[-1:])
        elif kind == "header":
            self.in_ptx = "ptx" in text
            self._closed = True
        elif kind == "pair" and text.startswith("arch ="):
            self._member_arch(text.partition("=")[2].strip(), place)

    def _member_arch(self, name: str, place: Place) -> None:
        if re.match(r"sm_[0-9]", name):
            self._architecture(name, place)
        if self.in_ptx:
            message = f"a PTX member for {name}: it holds no SASS and is not counted"
            self.problems.append(Problem("info", self.path, message, self.number(place)))

    def damage(self, reason: str) -> None:
        """Something in the function at hand could not be read."""
        self.damage_at(self.here, reason)

    def damage_at(self, index: int, reason: str) -> None:
        """Something at an instruction's place could not be read."""
        self._damage.append((index, reason))

    def finish(self, cut: bool) -> list[Function]:
        """The functions, with their ends, roles and damage; instructions in front of any name get a function too."""
        total = len(self.columns)
        if total and (not self.functions or self.functions[0].start > 0):
            self.functions.insert(0, self._unnamed())
        for function, following in zip(self.functions, self.functions[1:], strict=False):
            function.stop = following.start
        if self.functions:
            self.functions[-1].stop = total
        named = {function.name for function in self.functions}
        self.functions = [f for f in self.functions if len(f) or self._known(f)]
        for before, function in zip([None, *self.functions], self.functions, strict=False):
            function.role = self._role(function)
            self._begin(function, before)
            self._end(function, named)
        self._assign_damage()
        if cut and self.functions and not self.functions[-1].damage and self.functions[-1].falls_through:
            self.functions[-1].damage.append("the text is cut off")
        return self.functions

    def _unnamed(self) -> Function:
        return Function(
            name=UNNAMED, arch=self.arch, role="kernel", section=None, columns=self.columns, start=0, stop=0
        )

    def _known(self, function: Function) -> bool:
        symbol = self.symbols.get(function.name)
        return bool(symbol and symbol.function) or self.kind == "cuobjdump-sass"

    def _role(self, function: Function) -> Role:
        symbol = self.symbols.get(function.name)
        if symbol is None or not symbol.function:
            return role_by_code(function)
        if symbol.kernel:
            return "kernel"
        return "device" if function.section == f".text.{function.name}" else "helper"

    def _end(self, function: Function, named: set[str]) -> None:
        """Note it where the end of a function is not in the text, or nothing shows that it is."""
        end = self.symbols[function.name].end if function.name in self.symbols else ""
        if end:
            if end not in named and not self._reached(end, function.stop):
                self._cut(function, f"its end, label {end}, is not in the text")
        elif function.falls_through:
            function.damage.append("its last instruction is not an end")
        elif self.kind != "cuobjdump-sass":
            if not function.padding:
                function.damage.append("nothing in the text marks its end")
        elif self.encodings and function.start not in self.ended:
            self._cut(function, "the row of dots that closes it is not in the text")

    def _cut(self, function: Function, why: str) -> None:
        function.damage.append(why)
        self.problems.append(Problem("warning", self.path, f"function {function.name} is cut: {why}"))

    def _reached(self, label: str, stop: int) -> bool:
        """Whether a label stands at or behind the end of a function."""
        return any(function.labels.get(label, -1) >= stop for function in self.functions)

    def _begin(self, function: Function, before: Function | None) -> None:
        """Note it where a function begins elsewhere than at the start of its section or behind its neighbour."""
        offset = function.columns.offsets[function.start] if len(function) else ""
        if not offset:
            if len(function):
                function.damage.append("the text has no addresses, so that a missing line could not be noticed")
            return
        if before is not None and len(before) and before.section == function.section and function.section:
            expected = int(before.columns.offsets[before.stop - 1] or "0", 16) + _STEP
        else:
            expected = 0
        if int(offset, 16) > expected + _STEP:
            function.damage.append(f"it begins at {int(offset, 16):#x}; what stands before that is not in the text")

    def _assign_damage(self) -> None:
        marks = sorted([*self._damage, *self.unreadable.items()])
        place = 0
        for index, reason in marks:
            while place + 1 < len(self.functions) and self.functions[place].stop <= index:
                place += 1
            if self.functions:
                self.functions[place].damage.append(reason)
                if index in self.unreadable:
                    self.functions[place].unreadable.add(index)

    def common_arch(self, functions: list[Function]) -> str | None:
        """The architecture of the listing, None where its functions differ."""
        archs = {function.arch for function in functions} or {self.arch}
        return archs.pop() if len(archs) == 1 else None


def role_by_code(function: Function) -> Role:
    """A listing without symbols does not tell kernels from the rest; what returns and never exits is no kernel."""
    opcodes = {m.partition(".")[0] for m in function.columns.mnemonics[function.start : function.stop]}
    return "device" if "RET" in opcodes and "EXIT" not in opcodes else "kernel"
