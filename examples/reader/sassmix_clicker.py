"""Counts of clicker, a made-up tool: one file for a program, a block for each kernel.

```text
#clicker 1
kernel saxpy sm_90a launches 2
0000 8 LDC
0010 8 S2R
end
```

A row holds an instruction's offset in the function (hexadecimal), how many warps issued it, and its mnemonic. A block
without ``end`` was cut off.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import sassmix
from sassmix import InputError, Problem, Reader
from sassmix.counts import CountRow, Counts, KernelNames

MARK = b"#clicker "
KERNEL = re.compile(r"kernel (\S+) (sm_\d{2,4}[af]?) launches (\d{1,18})")
ROW = re.compile(r"([0-9a-f]{4,8}) (\d{1,18}) ([A-Z][A-Z0-9_]*(?:\.\w+)*)")
CUT = "a block has no `end`: the tool was stopped while it wrote"


def sniff(head: bytes) -> bool:
    """The first line alone tells; ``head`` is the start of the file."""
    return head.startswith(MARK)


def read(path: Path) -> Iterator[Counts]:
    """One kernel after the other; a line that cannot be read is a problem of its kernel, never dropped in silence."""
    counts: Counts | None = None
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(map(str.rstrip, lines), 1):
            if found := KERNEL.fullmatch(line):
                if counts:
                    yield cut(counts)
                counts = block(path, found)
            elif counts and line == "end":
                yield counts
                counts = None
            elif counts:
                add(counts, number, line)
            elif number > 1 and line:
                raise InputError(str(path), f"{line[:80]!r} stands before the first `kernel` line", line=number)
    if counts:
        yield cut(counts)


def block(path: Path, found: re.Match[str]) -> Counts:
    """The kernel that a line begins, without its rows."""
    names = KernelNames(mangled=found[1])
    return Counts(path=str(path), kind="clicker", names=names, arch=found[2], launches=int(found[3]), tool="clicker")


def add(counts: Counts, number: int, line: str) -> None:
    """One row. What is not understood makes the capture incomplete: then nothing can be proved absent."""
    if found := ROW.fullmatch(line):
        counts.rows.append(CountRow(offset=int(found[1], 16), issued=int(found[2]), mnemonic=found[3]))
    else:
        counts.problems.append(Problem("warning", counts.path, f"{line[:80]!r} is no row; it is not counted", number))
        counts.lost.append(f"line {number} could not be read")


def cut(counts: Counts) -> Counts:
    """A block that does not end."""
    counts.lost.append(CUT)
    return counts


@sassmix.hookimpl
def sassmix_readers() -> list[Reader]:
    """Asked before the built-in readers; ``counts`` keeps the listings of a call, to be joined."""
    return [Reader(name="clicker", sniff=sniff, read=read, counts=True)]
