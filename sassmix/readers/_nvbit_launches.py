"""The launches of a text of NVBit's tools: which opcodes are whose, and which launches are missing.

A tool numbers the launches of a process from 0 and adds up their instructions. It prints an opcode only if it was
executed, all of them right below the launch's line, and they add up to the launch's total. So:

- a count that does not fit into what is left of the total is damaged, or another launch's;
- an opcode below a launch whose opcodes make up its total is of a launch whose own line is not there;
- a number that is left out is a launch that is not there, unless the sums show that it executed nothing;
- a line that only looks like a launch's is one if its number is left out, or if opcodes of no launch come behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.errors import Problem, number_of
from sassmix.readers._csv_lines import ends_open, lines_of
from sassmix.readers._csv_numbers import read_count
from sassmix.readers._nvbit_launch import Launch
from sassmix.readers._nvbit_lines import Head, Opcode, Torn, begins_launch, parts
from sassmix.readers._nvbit_settings import SETTINGS

BANNER = re.compile(r"-+ NVBit \(NVidia Binary Instrumentation Tool v?([\w.]+)\) Loaded -+")
_BANNERS_START = re.compile(r"-{13} ")
_OPCODES_START = re.compile(r"[ \t]+(?:[A-Z][A-Za-z0-9_.]*(?: =? ?)?)?")
_SETTING = re.compile(r"[ \t]*([A-Z_]{4,40}) = (\d{1,20}) - .*")
_END = re.compile(r"Total app instructions: (\d{1,20})[ ]*")
#: Lines that may be a launch's, kept until its number comes or is left out.
_MOST_TORN = 1000


@dataclass(slots=True)
class Text:
    """The state of going through a file: the settings that apply here and the launch whose opcodes come.

    :param number: the last launch's, -1 before the first of a run.
    :param named: whether opcodes were counted in the run.
    :param sums: the instructions up to each launch of the run.
    :param torn: lines that may be those of launches to come, by their number, the latest last.
    :param speaks: whether the program is known to print such lines.
    :param missing: what says that launches of any kernel may be missing, with the line that shows it.
    """

    path: Path
    settings: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    run: int = 0
    number: int = -1
    named: bool = False
    launch: Launch | None = None
    sums: set[int] = field(default_factory=lambda: {0})
    torn: dict[int, tuple[int, Torn]] = field(default_factory=dict)
    speaks: bool = False
    missing: list[tuple[int, str]] = field(default_factory=list)
    stray: list[Problem] = field(default_factory=list)

    def launches(self) -> Iterator[Launch]:
        """Every launch once its last opcode was read."""
        number, line = 0, ""
        for number, line in enumerate(lines_of(self.path, self.stray), 1):
            yield from self._line(number, line.rstrip("\r"))
        self._end_of_text(number, line)
        yield from self._end_of_run()

    def _line(self, number: int, line: str) -> Iterator[Launch]:
        if "NVBit" in line and (banner := BANNER.fullmatch(line.strip())):
            yield from self._end_of_run()
            self.version, self.settings = banner[1], {}
        elif (setting := _SETTING.fullmatch(line)) and (not self.launch or setting[1] in SETTINGS):
            self.settings[setting[1]] = setting[2]
        elif end := _END.fullmatch(line):
            if self.number >= 0 and int(end[1]) not in self.sums:
                counted = number_of(int(end[1]), "instruction")
                self.missing.append((number, f"the launches do not add up to the {counted} of the end"))
        else:
            for part in parts(line):
                match part:
                    case Head():
                        yield from self._head(number, part)
                    case Torn():
                        yield from self._torn(number, part)
                    case Opcode():
                        yield from self._opcode(number, part)

    def _head(self, line: int, head: Head) -> Iterator[Launch]:
        total, reason = read_count(head.count)
        before = None if head.total is None or total is None else head.total - total
        yield from self._advance(line, head.number, before in self.sums)
        if head.total is not None:
            self.sums.add(head.total)
        self.launch = self._begun(line, head.name, total)
        self.launch.reason, self.launch.unclean = reason, not head.clean

    def _torn(self, line: int, torn: Torn) -> Iterator[Launch]:
        launch = self.launch
        if torn.sure:
            if torn.number is not None or not (launch and launch.damaged and not launch.opcodes):  # its other half
                yield from self._open(line, torn)
        elif torn.number is not None:
            self.speaks |= 0 < torn.number <= self.number
            self.torn.pop(torn.number, None)
            if len(self.torn) < _MOST_TORN:
                self.torn[torn.number] = line, torn

    def _opcode(self, line: int, opcode: Opcode) -> Iterator[Launch]:
        launch = self.launch
        if launch and opcode.count is not None and self._fits(launch, line, opcode):
            launch.take(line, opcode)
        elif opcode.sure and (not launch or (opcode.count is not None and self._is_full(launch, line))):
            yield from self._open(*(self._announced(line) or (line, Torn(None))))
            if self.launch and opcode.count is not None:
                self.launch.take(line, opcode)
        elif launch and (opcode.sure or opcode.count is None or not launch.whole):
            launch.odd.append((line, opcode, opcode.reason or "it is more than is left of the launch's total"))

    def _fits(self, launch: Launch, line: int, opcode: Opcode) -> bool:
        if launch.total is not None:
            return launch.listed + (opcode.count or 0) <= launch.total
        return opcode.shaped and (opcode.known or launch.dots) and not self._is_full(launch, line)

    def _is_full(self, launch: Launch, line: int) -> bool:
        """Whether an opcode that does not fit is another launch's: else its count is damaged."""
        return launch.whole or self._announced(line) is not None

    def _announced(self, line: int) -> tuple[int, Torn] | None:
        """What may be the line of the launch that begins here: the next number's, or what stands right above."""
        latest = next(reversed(self.torn.values()), None)
        return self.torn.get(self.number + 1) or (latest if latest and latest[0] == line - 1 else None)

    def _open(self, line: int, torn: Torn) -> Iterator[Launch]:
        """Begin a launch of whose line there is a part, or nothing."""
        if torn.number is None and (found := self._announced(line)):
            line, torn = found  # the first half of the same line
        number = self.number + 1 if torn.number is None else torn.number
        self.torn.pop(number, None)
        yield from self._advance(line, number, False)
        self.launch = self._begun_by_half(line, torn)

    def _begun(self, line: int, name: str, total: int | None) -> Launch:
        return Launch(line, name, total, {**self.settings}, self.version, self.run, last=line)

    def _begun_by_half(self, line: int, torn: Torn) -> Launch:
        launch = self._begun(line, torn.name, None)
        launch.dots, launch.damaged = torn.dots, not torn.dots
        return launch

    def _advance(self, line: int, to: int, summed: bool) -> Iterator[Launch]:
        """Go on to another launch, past those that are missing in between."""
        if to == 0 and self.number >= 0:
            yield from self._end_of_run()
        yield from self._close()
        if not summed:
            for number in sorted(number for number in self.torn if self.number < number < to):
                self._step(line, number)
                yield self._lost(number)
            self._step(line, to)
        self.speaks |= bool(self.torn)
        self.torn.clear()
        self.number = to

    def _step(self, line: int, to: int) -> None:
        if to > self.number + 1:
            which = f"launch {to - 1} is" if to == self.number + 2 else f"launches {self.number + 1} to {to - 1} are"
            self.missing.append((line, f"{which} not in the text"))
        elif to <= self.number:
            self.missing.append((line, f"launch {to} stands behind launch {self.number}"))
        self.number = to

    def _lost(self, number: int) -> Launch:
        return self._begun_by_half(*self.torn.pop(number))

    def _close(self) -> Iterator[Launch]:
        if self.launch:
            self.launch.settle()
            self.named |= bool(self.launch.opcodes)
            yield self.launch
        self.launch = None

    def _end_of_run(self) -> Iterator[Launch]:
        """A run that ends within a launch may lack launches of any kernel.

        A last line that looks like the next launch's is one, unless the program is known to print such lines.
        """
        launch = self.launch
        if launch and not (launch.whole or launch.dots) and (self.named or launch.opcodes):
            self.missing.append((launch.last, "the opcodes of the last launch are not all there"))
        yield from self._close()
        while (found := self.torn.get(self.number + 1)) and found[1].first and self._is_launchs(found[1]):
            self.number += 1
            yield self._lost(self.number)
        self.torn.clear()
        self.run, self.number, self.named, self.sums, self.speaks = self.run + 1, -1, False, {0}, False

    def _end_of_text(self, number: int, line: str) -> None:
        """A text that ends within a line of the tool's may lack launches of any kernel."""
        if number and ends_open(self.path) and self._breaks_off(number, line):
            self.missing.append((number, "the text ends within a line of the tool's"))

    def _breaks_off(self, number: int, text: str) -> bool:
        launch, nexts = self.launch, (self.number + 1, 0)
        if _BANNERS_START.match(text) or any(begins_launch(text, following) for following in nexts):
            return True
        if launch and (launch.line == number or (not launch.whole and _OPCODES_START.fullmatch(text))):
            return True
        if self.number < 0 and (self.version or self.settings):
            return True
        found = (self.torn[following] for following in nexts if following in self.torn)
        return any(line == number and self._is_launchs(torn) for line, torn in found)

    def _is_launchs(self, torn: Torn) -> bool:
        return torn.likely or not self.speaks
