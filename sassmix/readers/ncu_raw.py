"""``ncu --page raw --csv``: one row per launch, with instances per opcode and the counters of the pipes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from sassmix.arch import LANES
from sassmix.counts import CountRow, Counts
from sassmix.errors import TOLD, InputError, Problem, number_of
from sassmix.own_texts import by_opcode, mnemonic_of
from sassmix.readers import Reader
from sassmix.readers._csv_instances import Instances, instances_of, value_of
from sassmix.readers._csv_launches import Launch, is_details, is_header, launches_of, missing_launches
from sassmix.readers._csv_layout import arch_of, names_of
from sassmix.readers._csv_lines import cells_of, head_lines

#: From the most exact to the least: names with all modifiers, bare opcodes, NVIDIA's categories.
_METRICS = (
    "sass__inst_executed_per_opcode_with_modifier_all",
    "sass__inst_executed_per_opcode_with_modifier_selective",
    "sass__inst_executed_per_opcode",
    "sass__inst_executed_per_opcode_category",
)
#: What the hardware counts, and what the instructions patched into the kernel count.
_HARDWARE = ("smsp__inst_executed.sum", "sm__inst_executed.sum")
_PATCHED = ("inst_executed", "sass__inst_executed", "smsp__sass_inst_executed.sum")
_PIPE = re.compile(r"sms?p?__inst_executed_pipe_(\w+)\.sum")
#: Parts of the tensor pipe that add up to it; ``hfma2`` is a part of one of them.
_TENSOR_PART = re.compile(r"tensor_op_[a-z]+")
_PIPE_NAMES = {"tensor_op_hmma_type_hfma2": "tensor_hfma2"}
#: Of whole counts; in others, such as Kinst, they are rounded.
_UNITS = frozenset({"", "inst", "instruction", "instructions", "warp"})


def _sniff(head: bytes) -> bool:
    lines = (cells_of(line) for line in head_lines(head) if "Kernel Name" in line)
    return any(is_header(cells) or is_details(cells) for cells in lines)


def _read(path: Path) -> Iterator[Counts]:
    problems: list[Problem] = []
    found: list[tuple[Launch, Counts]] = []
    for launch in launches_of(path, problems):
        counts = _left_out(path, launch) if launch.lost else _Launch(path, launch).counts()
        launch.cells = {}  # large, and not needed any more
        found.append((launch, counts))
    if not found:
        why = problems[0].message if problems else "the profiler has written only the header"
        raise InputError(str(path), f"is a raw page of Nsight Compute that holds no launch: {why}")
    missing = missing_launches([launch for launch, _ in found])
    found[0][1].problems[:0] = [*problems, *(Problem("warning", str(path), what) for what in missing)]
    _settle(found, missing)
    yield from (counts for _, counts in found)


def _settle(found: Sequence[tuple[Launch, Counts]], missing: list[str]) -> None:
    """Put in what only all launches of a page show; ``missing`` may be launches of any kernel."""
    counted = {id(launch.table) for launch, counts in found if counts.rows}
    for launch, counts in found:
        if id(launch.table) in counted and not counts.rows and not counts.lost:
            counts.lost = [f"line {launch.number}: the launch has no counts, others have"]
            counts.gaps += counts.lost
    last, _ = found[-1]
    cut = [f"the file ends within line {last.number}: launches behind it may be missing"] if last.cut else []
    gaps = [*missing, *cut, *(gap for _, counts in found if not counts.names.known for gap in _nameless(counts))]
    for _, counts in found:
        counts.gaps += gaps if counts.names.known else []


def _nameless(counts: Counts) -> list[str]:
    """A launch without a name may be of any of the kernels."""
    size = number_of(counts.total, "instruction")
    return counts.lost or [f"a launch of {size} has no name: it may be of this kernel"]


def _left_out(path: Path, launch: Launch) -> Counts:
    lost = [f"line {launch.number}: {launch.lost}"]
    return Counts(
        path=str(path),
        kind="ncu-raw",
        names=names_of({"kernel name": launch.name}),
        tool="Nsight Compute",
        launches=1,
        lost=lost,
        gaps=[*lost],
        problems=[Problem("warning", str(path), launch.lost, launch.number)],
    )


@dataclass(slots=True)
class _Launch:
    """One row of the table that is whole."""

    path: Path
    launch: Launch
    problems: list[Problem] = field(default_factory=list)

    @property
    def row(self) -> dict[str, str]:
        """The cells by column."""
        return self.launch.cells

    def counts(self) -> Counts:
        """The rows by opcode, as exact as the metrics are, and the hardware's counters."""
        names = names_of({"kernel name": self.launch.name})
        counts = Counts(path=str(self.path), kind="ncu-raw", names=names, launches=1, problems=self.problems)
        counts.tool = "Nsight Compute"
        counts.arch = self._arch()
        counts.warps = self._warps()
        counts.hardware = self._hardware()
        read = {metric: instances_of(self.row[metric]) for metric in _METRICS if metric in self.row}
        metric, found = _best(read)
        if metric and found and found.values:
            counts.rows = self._rows(metric, found)
            counts.gaps = self._doubts(metric, read)
        else:
            counts.rows = self._only_total(counts.hardware, found)
        counts.lost = found.lost if found else []
        counts.gaps = [*counts.lost, *counts.gaps, *self._told(self.launch.doubt)]
        for name, item in read.items():
            for reason in item.bad[:TOLD]:
                self._tell(f"{name}: {reason}")
        return counts

    def _tell(self, message: str) -> None:
        self.problems.append(Problem("warning", str(self.path), message, self.launch.number))

    def _told(self, *doubts: str) -> list[str]:
        """The doubts there are, each a problem."""
        for doubt in filter(None, doubts):
            self._tell(doubt)
        return [doubt for doubt in doubts if doubt]

    def _doubts(self, metric: str, read: Mapping[str, Instances]) -> list[str]:
        """Why the instances of the most exact metric may not be all, or not exact."""
        found = read[metric]
        unit = self.launch.table.units.get(metric, "").strip()
        rounded = f"its unit is {unit[:40]!r}, so its counts are rounded; export with --print-units base"
        untold = "the total of the instances is missing, so some of them may be too"
        same = [other for other, item in read.items() if item.named and other != _METRICS[-1]]
        named = {other: _by_opcode(read[other]) for other in same if len(same) > 1}
        return self._told(
            f"{metric}: {rounded}" if unit.lower() not in _UNITS else "",
            f"{metric}: {untold}" if found.total is None else "",
            *(f"{other} has other counts than {metric}" for other in named if named[other] != named.get(metric)),
        )

    def _rows(self, metric: str, found: Instances) -> list[CountRow]:
        names = found.names or [f"instance {number} of {metric}" for number in range(len(found.values))]
        if not found.named:
            self._tell("the counts per opcode have no names; export with --print-metric-instances details")
        threads = self._threads(metric, dict(zip(found.names, found.values, strict=True)) if found.named else {})
        category = metric.endswith("_category")
        rows = []
        for name, value in zip(names, found.values, strict=True):
            known = None if category or not found.named else mnemonic_of(name)
            lanes = threads.get(name)
            active = 0 if lanes == 0 else None
            label = f"{name} (category)" if category and found.named else name
            rows.append(
                CountRow(mnemonic=known, name=None if known else label, issued=value, active=active, threads=lanes)
            )
        return rows + self._rest(metric, found)

    def _rest(self, metric: str, found: Instances) -> list[CountRow]:
        """Nothing is dropped: what the total has and the instances lack stays, without a name."""
        missing = (found.total or 0) - sum(found.values)
        if found.total is None or found.bad or not missing:
            return []
        self._tell(f"{metric}: the total is {found.total:,}, the instances add up to {sum(found.values):,}")
        return [CountRow(name="not among the instances", issued=missing)] if missing > 0 else []

    def _threads(self, metric: str, issued: Mapping[str, int]) -> dict[str, int]:
        """Thread instructions by name; none where they cannot be those of the warp instructions."""
        lanes = metric.replace("sass__inst_executed", "sass__thread_inst_executed_true")
        found = instances_of(self.row.get(lanes, ""))
        if not found.named:
            return {}
        threads = dict(zip(found.names, found.values, strict=True))
        whole = not found.bad and found.total in (None, sum(found.values))
        if not whole or any(number > LANES * issued.get(name, 0) for name, number in threads.items()):
            self._tell(f"{lanes}: the counts contradict one another or those of the warps, and are not used")
            return {}
        return threads

    def _only_total(self, hardware: dict[str, float], found: Instances | None) -> list[CountRow]:
        patched = found.total if found else None
        total = patched or hardware.get("sass_inst_executed") or hardware.get("inst_executed")
        self._tell(
            "the export has no counts per opcode; profile with --metrics "
            f"{_METRICS[0]} and export with --print-metric-instances details"
        )
        return [CountRow(name="all instructions", issued=int(total))] if total else []

    def _hardware(self) -> dict[str, float]:
        values: dict[str, float] = {}
        for name, known in (("sass_inst_executed", _PATCHED), ("inst_executed", _HARDWARE)):
            numbers = (self._number(column) for column in known)
            if (number := next((number for number in numbers if number is not None), None)) is not None:
                values[name] = number
        for column, pipe in _pipes(self.launch.table.header).items():
            if (number := self._number(column)) is not None:
                values[pipe] = number
        parts = sum(number for pipe, number in values.items() if _TENSOR_PART.fullmatch(pipe))
        return {"tensor": parts, **values} if parts else values

    def _number(self, column: str) -> float | None:
        return value_of(self.row.get(column, ""), self.launch.table.units.get(column, ""))

    def _arch(self) -> str | None:
        major, minor = (self._number(f"device__attribute_compute_capability_{part}") for part in ("major", "minor"))
        known = arch_of(self.row.get("CC", ""))
        return known or (f"sm_{int(major)}{int(minor)}" if major and minor is not None else None)

    def _warps(self) -> int | None:
        grid, block = (_volume(self.row.get(f"{what} Size", "")) for what in ("Grid", "Block"))
        return grid * -(-block // LANES) if grid and block else None


@lru_cache(maxsize=16)
def _pipes(header: tuple[str, ...]) -> dict[str, str]:
    """The columns that count for a pipe, with its name."""
    found = ((column, _PIPE.fullmatch(column)) for column in dict.fromkeys(header))
    return {column: _PIPE_NAMES.get(pipe[1], pipe[1]) for column, pipe in found if pipe}


def _best(read: Mapping[str, Instances]) -> tuple[str | None, Instances | None]:
    """The most exact metric that has names; else one that has values."""
    ranked = [(item.named, bool(item.values), item.total is not None) for item in read.values()]
    best = max(ranked, default=(False, False, False))
    return list(read.items())[ranked.index(best)] if any(best) else (None, None)


def _by_opcode(found: Instances) -> Counter[str]:
    return +by_opcode(zip(found.names, found.values, strict=True))


def _volume(text: str) -> int | None:
    sizes = re.fullmatch(r"\(?(\d{1,10}), *(\d{1,10}), *(\d{1,10})\)?", text.strip())
    return int(sizes[1]) * int(sizes[2]) * int(sizes[3]) if sizes else None


READER = Reader(name="Nsight Compute raw page", sniff=_sniff, read=_read, counts=True)
