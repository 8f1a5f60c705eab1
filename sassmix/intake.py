"""Inputs read to their end: what each file is, and what it holds, reduced to what the analysis needs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from sassmix.errors import InputError, Problem, SassmixError, Severity, number_of
from sassmix.labels import selected
from sassmix.listing import Function, Listing
from sassmix.plugins import Plugins
from sassmix.readers import DASH, Input, files_of, open_input, standard_input
from sassmix.report import InputReport
from sassmix.static import FunctionSummary, summarise

if TYPE_CHECKING:
    from sassmix.counts import Counts

_NO_KIND = "no known kind"
PathName = str | PathLike[str]


@dataclass(slots=True, kw_only=True)
class Intake:
    """Everything that was read. ``functions`` are kept only where counts are among the inputs, to be joined.

    :param code: names and patterns of functions whose instructions are kept, to be shown.
    :param room: instructions to keep, but for the last listing, which is kept as a whole; a page shows fewer.
    :param tell: is told what is being read, in words.
    """

    plugins: Plugins
    arch: str | None
    include_padding: bool
    keep: bool = False
    code: Sequence[str] = ()
    room: int = 200_000
    tell: Callable[[str], None] | None = None
    inputs: list[InputReport] = field(default_factory=list)
    summaries: list[FunctionSummary] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    counts: list[Counts] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def read_all(self, names: Sequence[PathName]) -> None:
        """Open and read files and folders. What fails is a problem; what was read before it stays."""
        if DASH not in map(str, names):
            self._read_files(names)
            return
        try:
            with standard_input() as copy:
                self._read_files([copy if str(name) == DASH else name for name in names])
                self._call_stdin(f"{copy.parent}{os.sep}")
        except InputError as error:
            self.problems.append(Problem("error", error.path, error.reason))
            self._read_files([name for name in names if str(name) != DASH])

    def _call_stdin(self, folder: str) -> None:
        """Take the private folder of standard input out of everything that names a file."""
        self.problems = [
            replace(p, path=p.path and p.path.replace(folder, ""), message=p.message.replace(folder, ""))
            for p in self.problems
        ]
        for report in self.inputs:
            report.path = report.path.replace(folder, "")
        self.summaries = [replace(s, path=s.path.replace(folder, "")) for s in self.summaries]
        for counts in self.counts:
            counts.path = counts.path.replace(folder, "")

    def _read_files(self, names: Sequence[PathName]) -> None:
        opened = open_all(names, self.problems)
        self.keep = any(item.reader.counts for item in opened)
        for number, item in enumerate(opened, 1):
            self._say(f"reading {number} of {len(opened)}: {item.path}")
            self._read(item)
        if self.counts:
            self._settle_counts()
        if unknown := self._unknown:
            from sassmix.filters import filter_problems

            self.problems += filter_problems(unknown, self._names())

    def _settle_counts(self) -> None:
        from sassmix.copies import counted_once  # a listing alone needs neither
        from sassmix.filters import empty_problems

        digests = {report.path: report.sha256 for report in self.inputs}
        self.counts = counted_once(self.counts, digests, self.problems)
        self.problems += empty_problems(self.counts, self.functions)

    def _say(self, text: str) -> None:
        if self.tell:
            self.tell(text)

    @property
    def _unknown(self) -> list[str]:
        """The files beside the inputs that are of no known kind."""
        return [p.path for p in self.problems if p.path and p.severity == "info" and _NO_KIND in p.message]

    def _names(self) -> list[str]:
        counted = (name for c in self.counts for name in (c.names.mangled, c.names.demangled, c.names.file) if name)
        return [*(summary.name for summary in self.summaries), *counted]

    def _read(self, item: Input) -> None:
        report: InputReport | None = None
        path, before = str(item.path), len(self.summaries)
        try:
            for part in item.parts():
                self._say(f"{path}: {number_of(len(self.summaries), 'function')}" if self.summaries else path)
                self.problems += part.problems
                report = report or _input_report(item, part)
                if isinstance(part, Listing):
                    self._take_listing(part, report)
                else:
                    self._take_counts(part, report)
        except SassmixError as error:
            reason = error.reason if isinstance(error, InputError) else str(error)
            self.problems.append(Problem("error", path, reason.removeprefix(f"{path}: ")))
        except Exception as error:
            # Only the readers of plugins are expected to fail in any way; what was read before stays.
            what = f"its reader, {item.reader.name}, fails: {type(error).__name__}: {error}"
            self.problems.append(Problem("error", path, what))
        if report:
            self.inputs.append(report)
            self._choose_arch(before, report)

    def _choose_arch(self, before: int, report: InputReport) -> None:
        """Of a file with code for several architectures only that for the one asked for, if it is there at all."""
        found, kept = self.summaries[before:], list[FunctionSummary]()
        if not self.arch or all(summary.claim.stated != self.arch for summary in found):
            return
        for summary, entry in zip(found, report.functions, strict=True):
            if summary.claim.stated in (None, self.arch):
                kept.append(summary)
            else:
                entry["arch"] = summary.claim.stated
        self.summaries[before:] = kept
        if left := sorted({entry["arch"] for entry in report.functions} - {self.arch}):
            what = f"{number_of(len(found) - len(kept), 'function')} for {', '.join(left)}"
            message = f"left out: {what}; the file has code for {self.arch} too, which --arch asks for"
            self.problems.append(Problem("info", report.path, message))

    def _take_counts(self, counts: Counts, report: InputReport) -> None:
        self.counts.append(counts)
        report.archs.add(counts.arch)

    def _take_listing(self, listing: Listing, report: InputReport) -> None:
        padding, keep = self.include_padding, self._to_show(listing)
        found = list(summarise(listing, self.plugins, arch=self.arch, include_padding=padding, keep=keep))
        self.summaries += found
        self.functions += listing.functions if self.keep else []
        report.functions += [summary.to_dict() for summary in found]
        report.archs.update(summary.claim.stated or summary.arch for summary in found)
        report.lines.update(listing.lines)
        report.toolkit = report.toolkit or listing.toolkit

    def _to_show(self, listing: Listing) -> set[str]:
        """The functions whose instructions are kept, as long as there is room."""
        if not self.code or self.room <= 0:
            return set()
        names = [function.name for function in listing.functions]
        wanted = {name for pattern in self.code for name in selected(names, pattern)}
        self.room -= sum(len(function) for function in listing.functions if function.name in wanted)
        return wanted


def _input_report(item: Input, part: Listing | Counts) -> InputReport:
    return InputReport(
        path=str(item.path),
        kind=part.kind,
        arch=part.arch,
        tool=part.tool,
        toolkit=None,
        sha256=item.sha256,
        lines=Counter(),
    )


def open_all(names: Sequence[PathName], problems: list[Problem]) -> list[Input]:
    """Find out what each input is. What is no input becomes a problem: an error if it was named itself."""
    opened: list[Input] = []
    if not names:
        problems.append(Problem("error", None, "no input was given"))
    for name in names:
        path = Path(name)
        if not str(name):  # it would mean the folder at hand
            problems.append(Problem("error", "", "an empty name is no input"))
        else:
            opened += _open_folder(path, problems) if _is_folder(path) else _open(path, "error", problems)
    return _without_repeats(opened, problems)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _open_folder(folder: Path, problems: list[Problem]) -> list[Input]:
    found: list[Problem] = []
    files = files_of(folder, found)
    opened = [item for file in files for item in _open(file, "info", found)]
    problems += found
    if not opened and all(problem.severity == "info" for problem in found):
        what = "the folder holds no file of a known kind" if files else "the folder holds no file"
        what += "; if a tracer was to write here, its filter has fitted no kernel (case counts), or it has failed"
        problems.append(Problem("error", str(folder), what))
    return opened


def _open(path: Path, unknown: Severity, problems: list[Problem]) -> list[Input]:
    """The input, or none: a file of no known kind is a problem of the severity ``unknown``, another an error."""
    try:
        item = open_input(path)
    except InputError as error:
        severity = unknown if _NO_KIND in error.reason else "error"
        problems.append(Problem(severity, error.path, error.reason, error.line))
        return []
    problems += item.problems
    return [item]


def _without_repeats(opened: list[Input], problems: list[Problem]) -> list[Input]:
    """A file that is given twice, or with the folder that it is in, would be counted twice."""
    first: dict[Path, Input] = {}
    for item in opened:
        if first.setdefault(item.path.resolve(), item) is not item:
            problems.append(Problem("info", str(item.path), "the same file is among the inputs already; counted once"))
    return list(first.values())
