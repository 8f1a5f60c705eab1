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
_LIKE_OPCODE = re.compile(r"[ \t]+[A-Z][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*[ \t]*=.*")
_SETTING = re.compile(r"[ \t]*([A-Z_]{4,40}) = (\d{1,20}) - .*")
_BANNER = re.compile(r"-+ NVBit \(NVidia Binary Instrumentation Tool v?([\w.]+)\) Loaded -+")
_NO_END = (str((1 << 32) - 1), "0")
#: Settings that say where counting begins and ends, by what is numbered.
_INSTRUCTIONS = ("INSTR_BEGIN", "INSTR_END")
_LAUNCHES = (("KERNEL_BEGIN", "KERNEL_END"), ("START_GRID_NUM", "END_GRID_NUM"))
#: Any other word could as well be an opcode.
_SETTINGS = frozenset(
    (*_INSTRUCTIONS, *(name for pair in _LAUNCHES for name in pair), "COUNT_WARP_LEVEL", "EXCLUDE_PRED_OFF")
) | {"ACTIVE_FROM_START", "TOOL_VERBOSE", "MANGLED_NAMES"}
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
    """A launch's line, the opcodes below it, and the settings that stood above it.

    :param odd: lines that look like an opcode's and are not.
    """

    line: int
    name: str
    count: str | None
    cut: bool
    settings: dict[str, str]
    version: str | None
    opcodes: list[tuple[int, str, str]] = field(default_factory=list)
    odd: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Text:
    """The state of going through a file: the settings that apply here and the launch whose opcodes come.

    Each run prints its settings before its launches, and a text may hold several runs.
    """

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
                cut = bool(found["cut"])
                self.launch = _Launch(number, found["name"], found["count"], cut, {**self.settings}, self.version)
            elif banner := _BANNER.fullmatch(line.strip()):
                if self.launch:
                    yield self.launch
                self.launch, self.version, self.settings = None, banner[1], {}
            elif (setting := _SETTING.fullmatch(line)) and (not self.launch or setting[1] in _SETTINGS):
                self.settings[setting[1]] = setting[2]
            elif self.launch:
                _take(self.launch, line, number)
        if self.launch:
            yield self.launch


def _take(launch: _Launch, line: str, number: int) -> None:
    if opcode := _OPCODE.fullmatch(line.rstrip("\r")):
        if len(launch.opcodes) < _MOST_OPCODES:
            launch.opcodes.append((number, opcode[1], opcode[2]))
    elif _LIKE_OPCODE.fullmatch(line.rstrip("\r")):
        launch.odd.append(number)


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
    counts.tool = f"NVBit {launch.version}" if launch.version else "NVBit"
    total = _number(launch.count, launch.line, counts) if launch.count is not None else None
    numbers = _opcodes(launch, counts)
    listed = sum(number for _, number in numbers)
    if total is not None:
        counts.hardware["kernel instructions"] = float(total)
        if total > listed:
            numbers.append((_REST if numbers else _ALL, total - listed))
        if numbers and total != listed:
            _explain_sum(counts, total, listed, launch)
    unit = _Unit(launch.settings)
    counts.rows = [unit.row(name, number) for name, number in numbers]
    _explain(counts, unit, launch)
    _explain_shape(counts, launch)
    _explain_windows(counts, launch.settings)
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


def _explain(counts: Counts, unit: _Unit, launch: _Launch) -> None:
    """What the counts are and lack by the tool's settings, in words."""
    notes = counts.problems
    if unit.threads:
        lanes = "with the guard true" if unit.guarded else "whatever the guard says"
        what = f"the counts are thread instructions, {lanes} (COUNT_WARP_LEVEL = 0); warps were not counted"
        notes.append(Problem("warning", counts.path, what, launch.line))
        counts.missing = ("warp instructions",)
    if unit.guarded:
        counts.gaps.append("instructions with a false guard were not counted (EXCLUDE_PRED_OFF = 1)")
    if not launch.settings:
        what = "the tool's settings are not in the text: warp instructions are assumed, the default"
        notes.append(Problem("info", counts.path, what, launch.line))


def _explain_windows(counts: Counts, settings: dict[str, str]) -> None:
    """Launches that were left out may be of this kernel or not; instructions were of it for certain."""
    if window := _window(settings, *_INSTRUCTIONS):
        counts.lost.append(f"only instructions {window} of each function were counted")
        counts.gaps.append(counts.lost[-1])
    windows = (_window(settings, *names) for names in _LAUNCHES)
    counts.gaps += [f"only launches {window} of the program were counted" for window in windows if window]
    if settings.get("ACTIVE_FROM_START") == "0":
        counts.gaps.append("only launches between the program's own marks were counted (ACTIVE_FROM_START = 0)")


def _window(settings: dict[str, str], first: str, last: str) -> str:
    begin, end = settings.get(first, "0"), settings.get(last, _NO_END[0])
    return f"{begin} to {end} ({first}, {last})" if begin != "0" or end not in _NO_END else ""


def _explain_shape(counts: Counts, launch: _Launch) -> None:
    """What the lines below the launch's own lack."""
    if launch.odd:
        what = "the line looks like an opcode's count and cannot be read; it is left out"
        counts.problems += [Problem("warning", counts.path, what, line) for line in launch.odd[:_MOST_PROBLEMS]]
        counts.gaps.append(f"{len(launch.odd)} lines that look like an opcode's count cannot be read")
    if launch.count is None and counts.rows:
        counts.gaps.append("the launch's line has no total, so nothing shows that all opcodes are here")
    opcodes = {(row.mnemonic or "").partition(".")[0] for row in counts.rows}
    if opcodes - {""} and "EXIT" not in opcodes:
        counts.gaps.append("no EXIT was counted")
    if not counts.rows:
        counts.gaps.append("nothing was counted in this launch")


READER = Reader(name="NVBit counts", sniff=_sniff, read=_read, counts=True)
