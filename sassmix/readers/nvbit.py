"""Text of NVBit's tools ``opcode_hist`` and ``instr_count``, between whatever the traced program prints.

Both print a line per launch; the first prints the counts per opcode below it. What was counted (warps or threads,
with or without a false guard, which launches) stands only in the settings that the tool prints when it starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.errors import InputError, Problem
from sassmix.readers import Reader
from sassmix.readers._csv_layout import mnemonic_of
from sassmix.readers._csv_lines import head_lines, lines_of
from sassmix.readers._csv_numbers import read_count

_KERNEL = re.compile(
    r"kernel (?P<id>\d+) ?- (?P<name>.{1,20000}?)"
    r"(?: ?- #thread-blocks (?P<blocks>\S{1,40}),[ ]*kernel instructions (?P<count>\S{1,40}),"
    r"[ ]*total instructions (?P<total>\S{1,40})|(?P<cut>\.\.\.))[ ]*"
)
_OPCODE = re.compile(r"[ \t]+([A-Z_][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*) = (\S+)[ \t]*")
_SETTING = re.compile(r"[ \t]*([A-Z_]{4,40}) = (\d{1,20}) - .*")
_BANNER = re.compile(r"-+ NVBit \(NVidia Binary Instrumentation Tool v?([\w.]+)\) Loaded -+")
_NO_END = (str((1 << 32) - 1), "0")
_MOST_PROBLEMS = 20
#: The tool itself has room for fewer.
_MOST_OPCODES = 1 << 16


def _sniff(head: bytes) -> bool:
    lines = head_lines(head)
    kernels = ((index, found) for index, line in enumerate(lines) if (found := _KERNEL.fullmatch(line)))
    return any(_plain(found, lines, index) for index, found in kernels) or _banner(lines)


def _banner(lines: list[str]) -> bool:
    return any(_BANNER.fullmatch(line.strip()) for line in lines)


def _plain(found: re.Match[str], lines: list[str], index: int) -> bool:
    """Whether it is surely a tool's line; without the numbers, the opcodes behind it tell."""
    return bool(found["blocks"]) or any(_OPCODE.fullmatch(line) for line in lines[index + 1 : index + 2])


@dataclass(slots=True)
class _Launch:
    """A launch's line and the opcodes below it."""

    line: int
    name: str
    count: str | None
    cut: bool
    opcodes: list[tuple[int, str, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Text:
    """The state of going through a file: settings seen so far and the launch whose opcodes come."""

    path: Path
    settings: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    launch: _Launch | None = None
    stray: list[Problem] = field(default_factory=list)

    def launches(self) -> Iterator[_Launch]:
        """Every launch once its last opcode was read."""
        for number, line in enumerate(lines_of(self.path, self.stray), 1):
            if found := _KERNEL.fullmatch(line.strip("\r")):
                if self.launch:
                    yield self.launch
                self.launch = _Launch(number, found["name"], found["count"], bool(found["cut"]))
            elif self.launch and (opcode := _OPCODE.fullmatch(line)) and len(self.launch.opcodes) < _MOST_OPCODES:
                self.launch.opcodes.append((number, opcode[1], opcode[2]))
            elif banner := _BANNER.fullmatch(line.strip()):
                self.version = banner[1]
            elif setting := _SETTING.fullmatch(line):
                self.settings[setting[1]] = setting[2]
        if self.launch:
            yield self.launch


def _read(path: Path) -> Iterator[Counts]:
    text = _Text(path)
    pending: Counts | None = None
    for launch in text.launches():
        if pending:
            yield pending
        pending = _counts(text, launch)
    if not pending:
        raise InputError(str(path), "holds NVBit's banner but no kernel: the tool has counted nothing")
    pending.problems.extend(text.stray)
    yield pending


def _counts(text: _Text, launch: _Launch) -> Counts:
    counts = Counts(path=str(text.path), kind="nvbit-hist", names=_names(launch), launches=1)
    counts.tool = f"NVBit {text.version}" if text.version else "NVBit"
    total = _number(launch.count, launch.line, counts) if launch.count is not None else None
    numbers = _opcodes(launch, total, counts)
    listed = sum(number for _, number in numbers)
    if total is not None:
        counts.hardware["kernel instructions"] = float(total)
        if total > listed:
            numbers.append((_REST if numbers else _ALL, total - listed))
        if numbers and total != listed:
            _explain_sum(counts, total, listed, launch)
    unit = _Unit(text.settings)
    counts.rows = [unit.row(name, number) for name, number in numbers]
    _explain(text, counts, unit, launch)
    return counts


_REST, _ALL = "not among the opcodes", "all instructions"


def _names(launch: _Launch) -> KernelNames:
    name = launch.name.strip()
    if name.startswith("_Z"):
        return KernelNames(mangled=None if launch.cut else name, file=name if launch.cut else None, cut=launch.cut)
    return KernelNames(demangled=name, cut=launch.cut)


def _number(value: str, line: int, counts: Counts) -> int | None:
    number, reason = read_count(value)
    if number is None:
        counts.lost.append(f"line {line} has no count that can be read")
        counts.gaps.append(counts.lost[-1])
        if len(counts.problems) < _MOST_PROBLEMS:
            counts.problems.append(Problem("warning", counts.path, f"{reason}; the line is left out", line))
    return number


def _opcodes(launch: _Launch, total: int | None, counts: Counts) -> list[tuple[str, int]]:
    """The opcodes that make up the total; a line that looks like one behind them is the program's own."""
    found: list[tuple[str, int]] = []
    rest = total
    for line, name, value in launch.opcodes:
        if rest == 0:
            break
        if (number := _number(value, line, counts)) is not None:
            found.append((name, number))
            rest = None if rest is None else rest - number
    return found


def _explain_sum(counts: Counts, total: int, listed: int, launch: _Launch) -> None:
    if not listed:
        what = "the tool counted no opcodes, only instructions: use opcode_hist instead of instr_count"
        counts.problems.append(Problem("info", counts.path, what, launch.line))
        return
    what = f"the kernel's line has {total} instructions, its opcodes add up to {listed}"
    counts.problems.append(Problem("warning", counts.path, what, launch.line))
    counts.gaps.append(what)


class _Unit:
    """What one count is, by the tool's settings: a warp that issues, unless they say otherwise."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.threads = settings.get("COUNT_WARP_LEVEL") == "0"
        self.guarded = settings.get("EXCLUDE_PRED_OFF") == "1"

    def row(self, name: str, number: int) -> CountRow:
        """Counts of threads stand in both places, since the tool has none of warps then."""
        mnemonic = None if name in (_REST, _ALL) else mnemonic_of(name)
        return CountRow(
            mnemonic=mnemonic,
            name=None if mnemonic else name,
            issued=number,
            active=number if self.guarded and not self.threads else None,
            threads=number if self.threads else None,
        )


def _explain(text: _Text, counts: Counts, unit: _Unit, launch: _Launch) -> None:
    """What the counts lack, in words."""
    notes = counts.problems
    if unit.threads:
        lanes = "with the guard true" if unit.guarded else "whatever the guard says"
        what = f"the counts are thread instructions, {lanes} (COUNT_WARP_LEVEL = 0); warps were not counted"
        notes.append(Problem("warning", counts.path, what, launch.line))
        counts.missing = ("warp instructions",)
    if unit.guarded:
        counts.gaps.append("instructions with a false guard were not counted (EXCLUDE_PRED_OFF = 1)")
    if not text.settings:
        what = "the tool's settings are not in the text: warp instructions are assumed, the default"
        notes.append(Problem("info", counts.path, what, launch.line))
    begin, end = text.settings.get("INSTR_BEGIN", "0"), text.settings.get("INSTR_END", _NO_END[0])
    if begin != "0" or end not in _NO_END:
        counts.lost.append(f"only instructions {begin} to {end} of each function were counted (INSTR_BEGIN, INSTR_END)")
        counts.gaps.append(counts.lost[-1])
    opcodes = {(row.mnemonic or "").partition(".")[0] for row in counts.rows}
    if opcodes - {""} and "EXIT" not in opcodes:
        counts.gaps.append("no EXIT was counted")
    if not counts.rows:
        counts.gaps.append("nothing was counted in this launch")


READER = Reader(name="NVBit counts", sniff=_sniff, read=_read, counts=True)
