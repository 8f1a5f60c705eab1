"""Text of NVBit's tools ``opcode_hist`` and ``instr_count``, between whatever the traced program prints.

Both print a line per launch; the first prints the counts per opcode below it. What was counted (warps or threads,
with or without a false guard, which launches) stands only in the settings that the tool prints when it starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sassmix.counts import Counts, KernelNames
from sassmix.errors import TOLD, InputError, Problem, number_of
from sassmix.readers import Reader
from sassmix.readers._csv_lines import head_lines
from sassmix.readers._nvbit_launch import Launch
from sassmix.readers._nvbit_launches import BANNER, Text
from sassmix.readers._nvbit_lines import Head, Opcode, Torn, parts
from sassmix.readers._nvbit_settings import ALL, REST, Unit, explain, explain_windows


def _sniff(head: bytes) -> bool:
    lines = head_lines(head)
    return any(_begins_counts(line, lines[index : index + 1]) for index, line in enumerate(lines, 1))


def _begins_counts(line: str, following: Sequence[str]) -> bool:
    """Whether it is surely a tool's line; without the numbers, the opcode behind it tells."""
    if BANNER.fullmatch(line.strip()):
        return True
    for part in parts(line.rstrip("\r")):
        if isinstance(part, Head):
            return True
        if isinstance(part, Torn) and part.dots:
            return any(isinstance(found, Opcode) and found.shaped for text in following for found in parts(text))
    return False


def _read(path: Path) -> Iterator[Counts]:
    text = Text(path)
    runs: dict[int, list[Counts]] = {}
    for launch in text.launches():
        runs.setdefault(launch.run, []).append(_counts(path, launch))
    found = [counts for run in runs.values() for counts in run]
    if not found:
        raise InputError(str(path), "holds NVBit's banner but no kernel: the tool has counted nothing")
    found[-1].problems.extend(text.stray)
    for run in runs.values():
        _explain_bare(run)
    _explain_missing(found, text)
    yield from found


def _explain_bare(run: list[Counts]) -> None:
    """A tool prints opcodes below every launch or below none: where one has none, the run was ended before them."""
    if all(_is_bare(counts) for counts in run if counts.rows):
        return
    ended = {counts.names.best for counts in run if _is_bare(counts)}
    for counts in run:
        if _is_bare(counts):
            counts.gaps.append("the launch has no opcodes below its line, and others of the run have")
        elif counts.names.best in ended:
            counts.gaps.append("another launch of it has no opcodes below its line")


def _is_bare(counts: Counts) -> bool:
    return bool(counts.rows) and all(row.name == ALL for row in counts.rows)


def _explain_missing(found: list[Counts], text: Text) -> None:
    """Launches that are missing, or whose kernel is not known, may be any kernel's."""
    unknown = [counts for counts in found if not counts.names.known]
    gaps = [f"line {line}: {what}" for line, what in text.missing[:TOLD]]
    gaps += [gap for counts in unknown[:TOLD] for gap in counts.gaps[:1]]
    for line, what in text.missing[:TOLD]:
        _tell(found[-1], line, what)
    if more := text.missing[TOLD:]:
        _tell(found[-1], more[0][0], f"{number_of(len(more), 'more place')} where launches are missing")
    for counts in found:
        counts.gaps += [gap for gap in gaps if gap not in counts.gaps]


def _counts(path: Path, launch: Launch) -> Counts:
    counts = Counts(path=str(path), kind="nvbit-hist", names=_kernel_names(launch), launches=1)
    counts.tool = f"NVBit {launch.version}" if launch.version else "NVBit"
    numbers = [(opcode.name, opcode.count or 0) for _, opcode in launch.opcodes]
    _explain_line(counts, launch)
    if launch.total is not None:
        counts.hardware["kernel instructions"] = float(launch.total)
        if launch.total > launch.listed:
            numbers.append((REST if numbers else ALL, launch.total - launch.listed))
        _explain_sum(counts, launch, launch.total)
    unit = Unit(launch.settings)
    counts.rows = [unit.row(name, number) for name, number in numbers]
    explain(counts, unit, launch.settings, launch.line)
    _explain_opcodes(counts, launch)
    explain_windows(counts, launch.settings)
    return counts


def _kernel_names(launch: Launch) -> KernelNames:
    name, cut = launch.name.strip(), launch.dots
    if name.startswith("_Z"):
        return KernelNames(mangled=None if cut else name, file=name if cut else None, cut=cut)
    return KernelNames(demangled=name, cut=cut) if name else KernelNames()


def _explain_line(counts: Counts, launch: Launch) -> None:
    """What the launch's own line lacks."""
    if launch.damaged:
        counts.lost.append(f"line {launch.line}: the launch's own line is damaged, or not there")
        _tell(counts, launch.line, counts.lost[-1].partition(": ")[2])
    elif launch.reason:
        counts.lost.append(f"line {launch.line} has no count that can be read")
        _tell(counts, launch.line, f"{launch.reason}; the launch has no total")
    elif launch.unclean:
        _tell(counts, launch.line, "the launch's line does not end as the tool ends it; its numbers are read")
    counts.gaps += counts.lost


def _explain_sum(counts: Counts, launch: Launch, total: int) -> None:
    if total == launch.listed:
        return
    if not launch.opcodes:
        what = "the tool counted no opcodes, only instructions: use opcode_hist instead of instr_count"
        counts.problems.append(Problem("info", counts.path, what, launch.line))
        return
    what = f"the kernel's line has {number_of(total, 'instruction')}, its opcodes add up to {launch.listed:,}"
    _tell(counts, launch.line, what)
    counts.gaps.append(what)


def _explain_opcodes(counts: Counts, launch: Launch) -> None:
    """What the lines below the launch's own lack.

    Where they make up the total, what is not counted is the program's own. An opcode in the tool's own writing
    contradicts that: the tool prints none that was not executed.
    """
    odd = [item for item in launch.odd if item[1].shaped or not launch.whole]
    for line, opcode, reason in odd[:TOLD]:
        _tell(counts, line, f"{opcode.name} looks like an opcode's count and is left out: {reason}")
    if more := odd[TOLD:]:
        _tell(counts, more[0][0], f"left out: {number_of(len(more), 'more line')} like an opcode's count")
    if left := [item for item in odd if item[1].sure or not launch.whole]:
        counts.gaps.append(f"left out: {number_of(len(left), 'line')} like an opcode's count")
    if loose := [line for line, opcode in launch.opcodes if not opcode.shaped]:
        what = "the opcodes are not written as the tool writes them; they are counted, as they make up the total"
        _tell(counts, loose[0], what)
    if launch.total is None and not launch.reason and launch.opcodes:
        counts.gaps.append("the launch's line has no total, so nothing shows that all opcodes are here")
    opcodes = {(row.mnemonic or "").partition(".")[0] for row in counts.rows}
    if opcodes - {""} and "EXIT" not in opcodes:
        counts.gaps.append("no EXIT was counted")
    if not counts.rows:
        counts.gaps.append("nothing was counted in this launch")


def _tell(counts: Counts, line: int, what: str) -> None:
    counts.problems.append(Problem("warning", counts.path, what, line))


READER = Reader(name="NVBit counts", sniff=_sniff, read=_read, counts=True)
