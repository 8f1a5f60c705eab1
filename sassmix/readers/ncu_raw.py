"""``ncu --page raw --csv``: one row per launch, with instances per opcode and the counters of the pipes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sassmix.counts import NO_EXIT, CountRow, Counts
from sassmix.errors import InputError, Problem
from sassmix.own_texts import mnemonic_of
from sassmix.readers import Reader
from sassmix.readers._csv_instances import Instances, instances_of, number_of
from sassmix.readers._csv_layout import arch_of, ended, names_of
from sassmix.readers._csv_lines import cells_of, head_lines, records_of

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
_PIPE_NAMES = {"tensor_op_hmma_type_hfma2": "tensor_hfma2"}
_MOST_PROBLEMS = 20
_ROW_CUT = re.compile(r'"\d+("?$|",)')


def _is_header(cells: list[str]) -> bool:
    return "Kernel Name" in cells and any("__" in cell or cell == "inst_executed" for cell in cells)


def _is_details(cells: list[str]) -> bool:
    return all(name in cells for name in ("Kernel Name", "Metric Name", "Metric Value"))


def _sniff(head: bytes) -> bool:
    lines = (cells_of(line) for line in head_lines(head) if "Kernel Name" in line)
    return any(_is_header(cells) or _is_details(cells) for cells in lines)


@dataclass(slots=True)
class _Table:
    """The header, the row of units behind it, the column of kernel names, the line of each launch's ID, the pipes."""

    header: list[str]
    units: dict[str, str]
    name: int
    ids: dict[str, int] = field(default_factory=dict)
    pipes: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        found = ((column, _PIPE.fullmatch(column)) for column in dict.fromkeys(self.header))
        self.pipes = {column: _PIPE_NAMES.get(pipe[1], pipe[1]) for column, pipe in found if pipe}

    def repeated(self, row: dict[str, str], path: Path, number: int) -> list[Problem]:
        """A problem where another launch has the same ID."""
        known = row.get("ID", "").strip()
        if not known or (before := self.ids.setdefault(known, number)) == number:
            return []
        what = f"the ID {known[:40]!r} stands in line {before} too: if that is the same launch, it is counted twice"
        return [Problem("warning", str(path), what, number)]


def _read(path: Path) -> Iterator[Counts]:
    problems: list[Problem] = []
    launches = list(_launches(path, problems))
    if not launches:
        why = problems[0].message if problems else "the profiler has written only the header"
        raise InputError(str(path), f"is a raw page of Nsight Compute that holds no launch: {why}")
    launches[-1].problems.extend(problems)
    # A launch without a name may be of any of the kernels.
    nameless = [gap for counts in launches if not counts.names.known for gap in counts.lost]
    for counts in launches:
        counts.gaps += nameless if counts.names.known else []
    yield from launches


def _launches(path: Path, problems: list[Problem]) -> Iterator[Counts]:
    """The launches; ``problems`` holds what was told behind the last one."""
    table: _Table | None = None
    for number, line, cut in records_of(path, problems):
        cells = cells_of(line)
        if _is_header(cells):
            table = _Table(cells, {}, cells.index("Kernel Name"))
        elif _is_details(cells):
            raise InputError(str(path), "is the details page; export with --page raw --csv", line=number)
        elif table and not (cut or _cut_behind_a_cell(line)) and len(cells) == len(table.header):
            if row := _row(table, cells):
                told = [*problems, *table.repeated(row, path, number)]
                yield _Launch(str(path), number, row, table, told).counts()
                problems.clear()
        elif table and (_ROW_CUT.match(line) or (len(cells) > table.name and cells[0].strip().isdigit())):
            yield _left_out(table, cells, path, number, cut or _cut_behind_a_cell(line))


def _cut_behind_a_cell(line: str) -> bool:
    """Where the profiler puts quotes around each cell, an empty one has them too."""
    return line.startswith('"') and line.endswith(",")


def _row(table: _Table, cells: list[str]) -> dict[str, str] | None:
    """A launch; None for units."""
    if not table.units and not cells[table.name].strip():
        table.units = dict(zip(table.header, cells, strict=True))
        return None
    return dict(zip(table.header, cells, strict=True))


def _left_out(table: _Table, cells: list[str], path: Path, number: int, cut: bool) -> Counts:
    """A launch whose row is not whole.

    Of which kernel it was is known where the row is surely cut, and behind the name: else a cell may lack in front.
    """
    what = f"the launch is left out: the row is cut off or malformed, it has {len(cells)} cells of {len(table.header)}"
    name = cells[table.name] if cut and table.name + 1 < len(cells) <= len(table.header) else ""
    lost = [f"line {number}: {what}"]
    return Counts(
        path=str(path),
        kind="ncu-raw",
        names=names_of({"kernel name": name}),
        tool="Nsight Compute",
        launches=1,
        lost=lost,
        gaps=[*lost],
        problems=[Problem("warning", str(path), what, number)],
    )


@dataclass(slots=True)
class _Launch:
    """One row of the table."""

    path: str
    line: int
    row: dict[str, str]
    table: _Table
    problems: list[Problem]

    def counts(self) -> Counts:
        """The rows by opcode, as exact as the metrics are, and the hardware's counters."""
        names = names_of({"kernel name": self.row["Kernel Name"]})
        counts = Counts(path=self.path, kind="ncu-raw", names=names, launches=1, problems=self.problems)
        counts.tool = "Nsight Compute"
        counts.arch = self._arch()
        counts.warps = self._warps()
        counts.hardware = self._hardware()
        metric, found = self._best()
        if metric and found and found.values:
            counts.rows = self._rows(metric, found)
        else:
            counts.rows = self._only_total(counts.hardware, found)
        if found:
            counts.lost = found.lost
            for reason in found.bad[:_MOST_PROBLEMS]:
                self._tell(f"{metric}: {reason}")
        untold = found and found.total is None and any(row.mnemonic for row in counts.rows)
        counts.gaps = [*counts.lost, *([NO_EXIT] if untold and not ended(counts.rows) else [])]
        return counts

    def _tell(self, message: str) -> None:
        self.problems.append(Problem("warning", self.path, message, self.line))

    def _best(self) -> tuple[str | None, Instances | None]:
        """The most exact metric that has names; else one that has values."""
        read = {metric: instances_of(self.row[metric]) for metric in _METRICS if metric in self.row}
        ranked = [(item.named, bool(item.values), item.total is not None) for item in read.values()]
        best = max(ranked, default=(False, False, False))
        return list(read.items())[ranked.index(best)] if any(best) else (None, None)

    def _rows(self, metric: str, found: Instances) -> list[CountRow]:
        names = found.names or [f"instance {number} of {metric}" for number in range(len(found.values))]
        if not found.named:
            self._tell("the counts per opcode have no names; export with --print-metric-instances details")
        threads = self._threads(metric)
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
        self._tell(f"{metric}: the total is {found.total}, the instances add up to {sum(found.values)}")
        return [CountRow(name="not among the instances", issued=missing)] if missing > 0 else []

    def _threads(self, metric: str) -> dict[str, int]:
        cell = self.row.get(metric.replace("sass__inst_executed", "sass__thread_inst_executed_true"), "")
        found = instances_of(cell)
        return dict(zip(found.names, found.values, strict=True)) if found.named else {}

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
        for column, pipe in self.table.pipes.items():
            if (number := self._number(column)) is not None:
                values[pipe] = number
        return values

    def _number(self, column: str) -> float | None:
        return number_of(self.row.get(column, ""), self.table.units.get(column, ""))

    def _arch(self) -> str | None:
        major, minor = (self._number(f"device__attribute_compute_capability_{part}") for part in ("major", "minor"))
        known = arch_of(self.row.get("CC", ""))
        return known or (f"sm_{int(major)}{int(minor)}" if major and minor is not None else None)

    def _warps(self) -> int | None:
        grid, block = (_volume(self.row.get(f"{what} Size", "")) for what in ("Grid", "Block"))
        return grid * -(-block // 32) if grid and block else None


def _volume(text: str) -> int | None:
    sizes = re.fullmatch(r"\(?(\d{1,10}), *(\d{1,10}), *(\d{1,10})\)?", text.strip())
    return int(sizes[1]) * int(sizes[2]) * int(sizes[3]) if sizes else None


READER = Reader(name="Nsight Compute raw page", sniff=_sniff, read=_read, counts=True)
