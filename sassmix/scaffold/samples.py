"""Samples of an architecture's code, reduced to one instruction of each form and the functions that show them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from os import PathLike
from pathlib import Path

from sassmix.counts import Counts
from sassmix.errors import InputError, Problem, SassmixError, number_of
from sassmix.intake import open_all
from sassmix.listing import Function, Listing
from sassmix.registry import target_key

#: What a row of a table can be about; a disassembler writes question marks for what it does not know.
OPCODE = re.compile(r"[A-Z_][A-Z0-9_]*")
#: Characters of an instruction that are told.
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Seen:
    """The first instruction of one mnemonic, and where it stands; ``offset`` in bytes, None where none is printed."""

    mnemonic: str
    text: str
    operands: str
    file: str
    function: str
    offset: int | None

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        where = f"{self.file}, {self.function or 'code without a name'}"
        return where if self.offset is None else f"{where}, {self.offset:#x}"


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A kernel or device function with the helpers behind it, and the name of the file that has it."""

    file: str
    functions: tuple[Function, ...]

    def __len__(self) -> int:
        return sum(map(len, self.functions))

    @property
    def opcodes(self) -> set[str]:
        """What it holds, padding included."""
        forms = (mnemonic for function in self.functions for mnemonic in function.counts(include_padding=True))
        return {mnemonic.partition(".")[0] for mnemonic in forms}


@dataclass(slots=True)
class Samples:
    """What the samples hold of the wanted architecture.

    ``forms`` has every mnemonic with its first instruction, ``shortest`` for every opcode the shortest section that
    has it; ``notes`` are for the person who gave the samples.
    """

    number: int
    forms: dict[str, Seen] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    shortest: dict[str, Section] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    archs: set[str] = field(default_factory=set)
    files: int = 0
    functions: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def arch(self) -> str:
        """What code that names no target is taken for: the one target that the rest names."""
        return min(self.archs) if len(self.archs) == 1 else f"sm_{self.number}"

    @property
    def opcodes(self) -> dict[str, list[Seen]]:
        """The forms of each opcode, in the order of the alphabet."""
        found: dict[str, list[Seen]] = {}
        for mnemonic in sorted(self.forms):
            found.setdefault(mnemonic.partition(".")[0], []).append(self.forms[mnemonic])
        return found

    def take(self, listing: Listing, path: Path) -> None:
        """Add a listing.

        :raises InputError: where all its code is of other architectures.
        """
        file = path.name
        own = [function for function in listing if self._is_ours(function)]
        others = sorted({f.arch for f in listing if f.arch and not self._is_ours(f)}, key=target_key)
        if others and not own:
            what = (
                f"holds code of {', '.join(others)}, not of sm_{self.number}; leave it out, or give its number as --sm"
            )
            raise InputError(str(path), what)
        if others:
            self.notes.append(f"{file}: its code for {', '.join(others)} was passed over")
        if any(function.arch is None for function in own):
            self.notes.append(f"{file} names no architecture; it was taken for code of sm_{self.number}")
        self.archs.update(function.arch for function in own if function.arch)
        self.tools.update([listing.tool] if listing.tool else [])
        for _, functions in groupby(own, key=lambda function: (function.section or function.name, function.arch)):
            self._take_section(Section(file, tuple(functions)))

    def _is_ours(self, function: Function) -> bool:
        return function.arch is None or target_key(function.arch)[0] == self.number

    def _take_section(self, section: Section) -> None:
        for function in section.functions:
            self._take_function(function, section.file)
        for opcode in section.opcodes:
            if opcode not in self.shortest or len(section) < len(self.shortest[opcode]):
                self.shortest[opcode] = section

    def _take_function(self, function: Function, file: str) -> None:
        self.functions += 1
        if lost := len(function.unreadable):
            self.notes.append(
                f"{file}, {function.name}: {number_of(lost, 'line', 'is', 'are')} not readable and left out"
            )
        for mnemonic, count in function.counts(include_padding=True).items():
            opcode = mnemonic.partition(".")[0]
            self.counts[opcode] = self.counts.get(opcode, 0) + count
            if mnemonic not in self.forms:
                self.forms[mnemonic] = _first(function, mnemonic, file)


def _first(function: Function, mnemonic: str, file: str) -> Seen:
    columns, start = function.columns, function.start
    index = columns.mnemonics.index(mnemonic, start, function.stop)
    while index in function.unreadable:
        index = columns.mnemonics.index(mnemonic, index + 1, function.stop)
    found = columns.instruction(index)
    text = " ".join(filter(None, (found.guard, mnemonic, found.operand_text)))
    return Seen(mnemonic, text[:_LONGEST], found.operand_text, file, function.name, found.offset)


def read_samples(names: Sequence[str | PathLike[str]], number: int) -> Samples:
    """Read listings and binaries of one architecture.

    :param names: files and folders.
    :param number: of the architecture, 107 for sm_107a.
    :raises SassmixError: for what cannot be read, holds no code, or holds that of another architecture only.
    """
    samples, problems = Samples(number), list[Problem]()
    opened = open_all(names, problems) if names else []
    _refuse(problems)
    for item in opened:
        for part in item.parts():
            _refuse(part.problems)
            if isinstance(part, Counts):
                raise InputError(str(item.path), f"is {part.kind}, which holds counts; give listings or binaries")
            samples.take(part, item.path)
        samples.files += 1
    if names and not samples.forms:
        raise SassmixError(f"{', '.join(map(str, names))}: no instruction in it; give listings or binaries with code")
    return samples


def _refuse(problems: Sequence[Problem]) -> None:
    for problem in problems:
        if problem.severity == "error":
            raise InputError(problem.path or "samples", problem.message, line=problem.line)
