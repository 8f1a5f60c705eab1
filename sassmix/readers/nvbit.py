"""Text of NVBit's tools ``opcode_hist`` and ``instr_count``, between whatever the traced program prints.

Both print a line per launch; the first prints the counts per opcode below it. What was counted (warps or threads,
with or without a false guard, which launches) stands only in the settings that the tool prints when it starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.counts import Counts, KernelNames
from sassmix.errors import InputError, Problem
from sassmix.readers import Reader
from sassmix.readers._csv_lines import head_lines, lines_of
from sassmix.readers._csv_numbers import read_count
from sassmix.readers._nvbit_settings import ALL, REST, SETTINGS, Unit, explain, explain_windows

_KERNEL = re.compile(
    r"kernel (?P<id>\d+) ?- (?P<name>.{1,20000}?)"
    r"(?: ?- #thread-blocks (?P<blocks>\S{1,40}),[ ]*kernel instructions (?P<count>\S{1,40}),"
    r"[ ]*total instructions (?P<total>\S{1,40})|(?P<cut>\.\.\.))[ ]*"
)
_START = re.compile(r"kernel \d{1,20} ?- ")
_OPCODE = re.compile(r"[ \t]+([A-Z_][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*) = (\S+)[ \t]*")
_LIKE_OPCODE = re.compile(r"[ \t]+[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*[ \t]*=.*")
_SETTING = re.compile(r"[ \t]*([A-Z_]{4,40}) = (\d{1,20}) - .*")
_BANNER = re.compile(r"-+ NVBit \(NVidia Binary Instrumentation Tool v?([\w.]+)\) Loaded -+")
_MOST_PROBLEMS = 20
#: The tool itself has room for fewer.
_MOST_OPCODES = 1 << 16


def _sniff(head: bytes) -> bool:
    lines = head_lines(head)
    kernels = ((index, found) for index, line in enumerate(lines) if (found := _kernel(line)))
    return any(_plain(found, lines, index) for index, found in kernels) or _banner(lines)


def _kernel(line: str) -> re.Match[str] | None:
    """A launch's line. Output of the program may stand in front of it: then only the numbers prove it."""
    line = line.strip("\r")
    start = max((found.start() for found in _START.finditer(line)), default=0)
    found = _KERNEL.fullmatch(line, start)
    return found if found and (found["blocks"] or not start) else _KERNEL.fullmatch(line) if start else None


def _banner(lines: list[str]) -> bool:
    return any(_BANNER.fullmatch(line.strip()) for line in lines)


def _plain(found: re.Match[str], lines: list[str], index: int) -> bool:
    """Whether it is surely a tool's line; without the numbers, the opcodes behind it tell."""
    return bool(found["blocks"]) or any(_OPCODE.fullmatch(line) for line in lines[index + 1 : index + 2])


@dataclass(slots=True)
class _Launch:
    """A launch's line, the opcodes below it, and the settings that stood above it.

    :param odd: lines that look like an opcode's and are not.
    """

    line: int
    name: str
    count: str | None
    cut: bool
    settings: dict[str, str]
    version: str | None
    run: int
    opcodes: list[tuple[int, str, str]] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Text:
    """The state of going through a file: the settings that apply here and the launch whose opcodes come.

    Each run prints its settings before its launches, and a text may hold several runs.

    :param tail: a last line that begins as a launch's and is cut off: its number, and what stands behind the beginning.
    """

    path: Path
    settings: dict[str, str] = field(default_factory=dict)
    version: str | None = None
    run: int = 0
    launch: _Launch | None = None
    tail: tuple[int, str] | None = None
    stray: list[Problem] = field(default_factory=list)

    def launches(self) -> Iterator[_Launch]:
        """Every launch once its last opcode was read."""
        number, line, found = 0, "", None
        for number, line in enumerate(lines_of(self.path, self.stray), 1):
            if found := _kernel(line):
                if self.launch:
                    yield self.launch
                cut = bool(found["cut"])
                self.launch = _Launch(
                    number, found["name"], found["count"], cut, {**self.settings}, self.version, self.run
                )
            elif banner := _BANNER.fullmatch(line.strip()):
                if self.launch:
                    yield self.launch
                self.launch, self.version, self.settings, self.run = None, banner[1], {}, self.run + 1
            elif (setting := _SETTING.fullmatch(line)) and (not self.launch or setting[1] in SETTINGS):
                self.settings[setting[1]] = setting[2]
            elif self.launch:
                _take(self.launch, line, number)
        if self.launch:
            yield self.launch
        if not found and (start := _START.match(line)):
            self.tail = (number, line[start.end() :])


def _take(launch: _Launch, line: str, number: int) -> None:
    if opcode := _OPCODE.fullmatch(line.rstrip("\r")):
        if len(launch.opcodes) < _MOST_OPCODES:
            launch.opcodes.append((number, opcode[1], opcode[2]))
    elif _LIKE_OPCODE.fullmatch(line.rstrip("\r")):
        launch.odd.append(number)


def _read(path: Path) -> Iterator[Counts]:
    text = _Text(path)
    runs: dict[int, list[Counts]] = {}
    for launch in text.launches():
        runs.setdefault(launch.run, []).append(_counts(text, launch))
    found = [counts for run in runs.values() for counts in run]
    if not found:
        raise InputError(str(path), "holds NVBit's banner but no kernel: the tool has counted nothing")
    found[-1].problems.extend(text.stray)
    for run in runs.values():
        _explain_bare(run)
    if text.tail:
        last = _cut_launch(text.path, *text.tail)
        for counts in found if not last.names.known else ():
            counts.gaps += last.lost
        found.append(last)
    yield from found


def _explain_bare(run: list[Counts]) -> None:
    """A tool prints opcodes below every launch or below none: where one has none, the run was ended before them."""
    if all(map(_is_bare, run)):
        return
    ended = {counts.names.best for counts in run if _is_bare(counts)}
    for counts in run:
        if _is_bare(counts):
            counts.gaps.append("the launch has no opcodes below its line, and others of the run have")
        elif counts.names.best in ended:
            counts.gaps.append("another launch of it has no opcodes below its line")


def _is_bare(counts: Counts) -> bool:
    return all(row.name == ALL for row in counts.rows)


def _cut_launch(path: Path, line: int, rest: str) -> Counts:
    """A launch of which only the first part of its line is there; of which kernel is known if that goes past the name.

    Else it may be of any.
    """
    name, numbers, _ = rest.partition(" - #")
    what = "the launch is left out: its line is cut off"
    lost = [f"line {line}: {what}"]
    return Counts(
        path=str(path),
        kind="nvbit-hist",
        names=_kernel_names(name.strip(), cut=False) if numbers else KernelNames(),
        tool="NVBit",
        launches=1,
        lost=lost,
        gaps=[*lost],
        problems=[Problem("warning", str(path), what, line)],
    )


def _counts(text: _Text, launch: _Launch) -> Counts:
    counts = Counts(
        path=str(text.path), kind="nvbit-hist", names=_kernel_names(launch.name.strip(), launch.cut), launches=1
    )
    counts.tool = f"NVBit {launch.version}" if launch.version else "NVBit"
    total = _number(launch.count, launch.line, counts) if launch.count is not None else None
    told = len(counts.lost)
    numbers = _opcodes(launch, counts)
    listed = sum(number for _, number in numbers)
    if whole := numbers and total == listed:  # then what cannot be read is the program's own
        del counts.lost[told:], counts.gaps[told:]
    if total is not None:
        counts.hardware["kernel instructions"] = float(total)
        if total > listed:
            numbers.append((REST if numbers else ALL, total - listed))
        if numbers and total != listed:
            _explain_sum(counts, total, listed, launch)
    unit = Unit(launch.settings)
    counts.rows = [unit.row(name, number) for name, number in numbers]
    explain(counts, unit, launch.settings, launch.line)
    _explain_shape(counts, launch, bool(whole))
    explain_windows(counts, launch.settings)
    return counts


def _kernel_names(name: str, cut: bool) -> KernelNames:
    if name.startswith("_Z"):
        return KernelNames(mangled=None if cut else name, file=name if cut else None, cut=cut)
    return KernelNames(demangled=name, cut=cut)


def _number(value: str, line: int, counts: Counts) -> int | None:
    number, reason = read_count(value)
    if number is None:
        counts.lost.append(f"line {line} has no count that can be read")
        counts.gaps.append(counts.lost[-1])
        if len(counts.problems) < _MOST_PROBLEMS:
            counts.problems.append(Problem("warning", counts.path, f"{reason}; the line is left out", line))
    return number


def _opcodes(launch: _Launch, counts: Counts) -> list[tuple[str, int]]:
    """All that looks like an opcode: the total cannot prove that a line behind the others is the program's own."""
    numbers = ((name, _number(value, line, counts)) for line, name, value in launch.opcodes)
    return [(name, number) for name, number in numbers if number is not None]


def _explain_sum(counts: Counts, total: int, listed: int, launch: _Launch) -> None:
    if not listed:
        what = "the tool counted no opcodes, only instructions: use opcode_hist instead of instr_count"
        counts.problems.append(Problem("info", counts.path, what, launch.line))
        return
    what = f"the kernel's line has {total} instructions, its opcodes add up to {listed}"
    counts.problems.append(Problem("warning", counts.path, what, launch.line))
    counts.gaps.append(what)


def _explain_shape(counts: Counts, launch: _Launch, whole: bool) -> None:
    """What the lines below the launch's own lack."""
    if launch.odd:
        what = "the line looks like an opcode's count and cannot be read; it is left out"
        counts.problems += [Problem("warning", counts.path, what, line) for line in launch.odd[:_MOST_PROBLEMS]]
        if not whole:
            counts.gaps.append(f"{len(launch.odd)} lines that look like an opcode's count cannot be read")
    if launch.count is None and counts.rows:
        counts.gaps.append("the launch's line has no total, so nothing shows that all opcodes are here")
    opcodes = {(row.mnemonic or "").partition(".")[0] for row in counts.rows}
    if opcodes - {""} and "EXIT" not in opcodes:
        counts.gaps.append("no EXIT was counted")
    if not counts.rows:
        counts.gaps.append("nothing was counted in this launch")


READER = Reader(name="NVBit counts", sniff=_sniff, read=_read, counts=True)
