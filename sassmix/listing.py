"""The model of a listing: functions over shared columns of instructions, made into objects only when asked for.

A listing of a library holds millions of instructions; as columns of text they cost a few bytes each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from sassmix.columns import NEVER, Columns, Instruction
from sassmix.errors import Problem, number_of

__all__ = ["INSIDE", "Columns", "Function", "Instruction", "Listing", "Role"]

Role = Literal["kernel", "device", "helper"]

#: In :attr:`Function.labels`: a helper that stands somewhere inside the function.
INSIDE = -1
_LAST = re.compile(r"(EXIT|RET|BRA|BRX|BRXU|JMP|JMX|JMXU|BPT|KILL|CALL|JCAL|CAL|BRK|CONT|SYNC|LONGJMP)(\.|$)")
_TARGET = re.compile(r"`\(([^()`]+)\)")
_NUMBER = re.compile(r"(?:^|[ ,])(0x[0-9a-f]+)\s*$")
CALLS = frozenset({"CALL", "CAL", "JCAL"})
#: Jumps that may lead out of the section.
FAR_JUMPS = frozenset({"JMP", "JMX", "JMXU"})
#: Jumps through a register.
INDIRECT_JUMPS = frozenset({"BRX", "BRXU", "JMX", "JMXU"})
_JUMPS = FAR_JUMPS | INDIRECT_JUMPS | {"BRA"}
_BRANCHES = frozenset({"BRA", "BSSY", "SSY", "PBK", "PCNT"})


@dataclass(kw_only=True, eq=False)
class Function:
    """A kernel, a device function, or a helper inside another function's section.

    ``arch`` is None where the listing does not say. The instructions are ``columns[start:stop]``.
    """

    name: str
    arch: str | None
    role: Role
    section: str | None
    columns: Columns = field(repr=False)
    start: int
    stop: int
    #: Code labels, each with the index of the instruction behind it.
    labels: dict[str, int] = field(default_factory=dict, repr=False)
    #: Indices of lines that stand for an instruction which cannot be read.
    unreadable: set[int] = field(default_factory=set)
    #: Why instructions may be missing from this function, in words; empty where nothing says so.
    damage: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return self.stop - self.start

    def __iter__(self) -> Iterator[Instruction]:
        return (self.columns.instruction(index) for index in range(self.start, self.stop))

    @property
    def instructions(self) -> list[Instruction]:
        """All instructions, padding included."""
        return list(self)

    @cached_property
    def padding(self) -> int:
        """How many instructions at the end only fill up the section: the branch to itself and the NOPs behind it."""
        return self.stop - self.code_stop

    @cached_property
    def code_stop(self) -> int:
        """The index behind the last instruction that is not padding."""
        mnemonics, guards = self.columns.mnemonics, self.columns.guards
        last = self.stop
        while last > self.start and mnemonics[last - 1] == "NOP" and not guards[last - 1]:
            last -= 1
        if last > self.start and self._is_trap(last - 1):
            return last - 1 if last - 1 > self.start else last
        ends = last > self.start and _LAST.match(mnemonics[last - 1]) and not guards[last - 1]
        return last if ends else self.stop

    def _is_trap(self, index: int) -> bool:
        """Whether the instruction is an unguarded branch to itself."""
        if self.columns.mnemonics[index].partition(".")[0] != "BRA" or self.columns.guards[index]:
            return False
        tail = self.columns.tails[index]
        target = _TARGET.search(tail)
        if target:
            return self.labels.get(target[1]) == index
        number = _NUMBER.search(tail)
        offset = self.columns.offsets[index]
        return bool(number and offset and int(number[1], 16) == int(offset, 16))

    @cached_property
    def dead(self) -> int:
        """How many instructions have a guard that is never true."""
        guards = Counter(self.columns.guards[self.start : self.code_stop])
        return sum(count for guard, count in guards.items() if guard.strip() in NEVER)

    def counts(self, *, include_padding: bool = False) -> Counter[str]:
        """Occurrences of each mnemonic, lines that cannot be read left out."""
        stop = self.stop if include_padding else self.code_stop
        counts = Counter(self.columns.mnemonics[self.start : stop])
        counts.subtract(self.unread(include_padding=include_padding))
        return +counts

    def unread(self, *, include_padding: bool = False) -> Counter[str]:
        """Lines that stand for an instruction but cannot be read, by the text in the place of the mnemonic."""
        stop = self.stop if include_padding else self.code_stop
        return Counter(self.columns.mnemonics[index] for index in self.unreadable if index < stop)

    @cached_property
    def missing(self) -> int:
        """How many addresses between the first and the last instruction are not printed; negative if some repeat.

        A disassembler prints nothing for an encoding that it hides.
        """
        offsets = self.columns.offsets
        if len(self) < 2 or not offsets[self.start] or not offsets[self.stop - 1]:
            return 0
        first, last = int(offsets[self.start], 16), int(offsets[self.stop - 1], 16)
        step, period = self._layout
        slots = (last - first) // step + 1
        controls = last // period - first // period if period and first % period else 0
        return slots - controls - len(self)

    @cached_property
    def _layout(self) -> tuple[int, int]:
        """Bytes from one instruction to the next, and the period of the words that hold control fields instead."""
        digits = re.match(r"sm_([0-9]+)", self.arch or "")
        generation = int(digits[1]) if digits else 0
        if generation >= 70:
            return 16, 0
        if generation:
            return 8, 32 if generation >= 50 else 64
        ends = {offset[-2:] for offset in self.columns.offsets[self.start : self.stop]}
        if not any(end.endswith("8") for end in ends):
            return 16, 0
        return 8, 64 if ends & {"20", "60", "a0", "e0"} else 32

    @cached_property
    def falls_through(self) -> bool:
        """Whether the last instruction would run on into whatever stands behind the function."""
        last = self.code_stop - 1
        if last < self.start:
            return True
        return not (_LAST.match(self.columns.mnemonics[last]) and not self.columns.guards[last])

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The names of the functions that are called or jumped to, in the order of the first call."""
        return tuple(dict.fromkeys(name for name in self._targets if name))

    @cached_property
    def unknown_calls(self) -> int:
        """How many calls and jumps go where the listing does not say: through a register or an open relocation."""
        return sum(1 for name in self._targets if name is None)

    @cached_property
    def _targets(self) -> list[str | None]:
        return self._transfers[0]

    @cached_property
    def branches(self) -> frozenset[str]:
        """Where branches lead: code labels, and addresses that lie outside of the function's own."""
        return frozenset(self._transfers[1])

    @cached_property
    def _transfers(self) -> tuple[list[str | None], list[str]]:
        """Called functions (None for one that the listing does not name), and targets of branches."""
        called: list[str | None] = []
        branches: list[str] = []
        for index in range(self.start, self.code_stop):
            opcode = self.columns.mnemonics[index].partition(".")[0]
            if opcode in CALLS or opcode in _JUMPS:
                called += self._target(opcode, self.columns.tails[index])
            if opcode in _BRANCHES:
                branches += self._branch(self.columns.tails[index])
        return called, branches

    def _branch(self, tail: str) -> list[str]:
        label = _TARGET.search(tail)
        if label:
            return [label[1]] if label[1].startswith(".L") else []
        number = _NUMBER.search(tail)
        return [number[1]] if number and not self._holds(int(number[1], 16)) else []

    def _target(self, opcode: str, tail: str) -> list[str | None]:
        called = opcode in CALLS
        first = tail.rsplit(", ", maxsplit=1)[-1].split("`", maxsplit=1)[0].strip()
        through_register = bool(re.match(r"U?R[0-9Z]", first))
        label = _TARGET.search(tail)
        if through_register and called:
            return [None]
        if label:
            name = label[1]
            inside = self.labels.get(name) == INSIDE or (name == self.name and not called)
            if inside or name.startswith((".L", ".text.")):
                return []
            return [name]
        number = _NUMBER.search(tail)
        if number and not called:
            return []
        if number:
            return [] if self._holds(int(number[1], 16)) else [None]
        return [None] if called or (opcode in {"JMX", "JMXU"} and "(*" not in tail) else []

    def _holds(self, offset: int) -> bool:
        """Whether an address lies inside the function; address 0 in a call is an open relocation."""
        offsets = self.columns.offsets
        if not len(self) or not offset or not offsets[self.start] or not offsets[self.stop - 1]:
            return False
        return int(offsets[self.start], 16) <= offset <= int(offsets[self.stop - 1], 16)


@dataclass(slots=True, kw_only=True)
class Listing:
    """What one text holds: functions, problems, and how many lines of each kind it has.

    ``kind`` is that of the report's ``inputs``; ``arch`` is None where the functions differ or nothing says;
    ``toolkit`` is the version of the compiler as the listing's notes say.
    """

    kind: str
    functions: list[Function]
    problems: list[Problem]
    path: str | None = None
    arch: str | None = None
    tool: str | None = None
    toolkit: str | None = None
    lines: Counter[str] = field(default_factory=Counter)
    #: One and the same object for all parts of one text, whose functions call one another by name.
    home: object = field(default_factory=object, repr=False, compare=False)

    def function(self, name: str) -> Function:
        """The function of this name.

        :raises KeyError: if there is none, or more than one (an architecture each).
        """
        found = [f for f in self.functions if f.name == name]
        if len(found) != 1:
            raise KeyError(f"{number_of(len(found), 'function', 'is', 'are')} called {name!r}")
        return found[0]

    def __iter__(self) -> Iterator[Function]:
        return iter(self.functions)
