"""What a source itself says of its instructions, by number or with the record, and where that contradicts itself."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sassmix.counts import CountRow, Counts
from sassmix.listing import CALLS, FAR_JUMPS, Function

_SASS = re.compile(
    r"\s*(?P<guard>@!?U?P[0-9T][ \t]+)?(?P<mnemonic>[A-Z_][A-Z0-9_]*(?:\.[A-Za-z0-9_]+)*)"
    r"(?P<operands>[ \t][^;\r\n]*)?;?\s*"
)
#: What no warp goes on behind: no guard, no predicate among the operands, no modifier that makes a branch conditional.
_END = re.compile(
    r"(?:@U?PT\s+)?(?:(?:EXIT|RET|RTT|BRX|BRXU|JMP|JMX|JMXU|KILL)(?:\.\w+)*|BRA(?:\.U)?)(?![^\s;])(?!\s+!?U?P[0-9])"
)


def mnemonic_of(sass: str) -> str | None:
    """The mnemonic of an instruction's text in any tool's spelling; None for what is not one, or a number."""
    match = _SASS.fullmatch(sass)
    return match["mnemonic"] if match and not match["mnemonic"].upper().startswith("OPCODE_") else None


def may_multiply(opcode: str) -> bool:
    """Whether an opcode may be a matrix multiply, by its name alone: on every generation they are called so."""
    return "MMA" in opcode


def guard_of(sass: str) -> str:
    """The guard of an instruction's text; empty where there is none."""
    match = _SASS.fullmatch(sass)
    return (match["guard"] or "").strip() if match else ""


def parts_of(sass: str) -> tuple[str, str, str] | None:
    """The guard, the mnemonic and the operands of an instruction's text; None for what is not one instruction."""
    match = _SASS.fullmatch(sass)
    return ((match["guard"] or "").strip(), match["mnemonic"], (match["operands"] or "").strip()) if match else None


def is_end(sass: str) -> bool:
    """Whether a function can end with the instruction: no warp goes on behind it."""
    return bool(_END.match(sass) and mnemonic_of(sass))


def is_padding(sass: str) -> bool:
    """Whether the text is a NOP without a guard, with which functions are filled up."""
    return sass == "NOP" or (sass[:3] == "NOP" and mnemonic_of(sass) == "NOP")


def opcode_of(mnemonic: str) -> str:
    """The first part of a mnemonic, in capitals."""
    return mnemonic.partition(".")[0].upper()


def by_opcode(counts: Iterable[tuple[str, int]]) -> Counter[str]:
    """Counts by mnemonic put together by opcode."""
    total: Counter[str] = Counter()
    for mnemonic, count in counts:
        total[opcode_of(mnemonic)] += count
    return total


def named(counts: Counts, row: CountRow) -> tuple[str | None, bool]:
    """The mnemonic by the source's own words, and whether it is known by the instruction's number only."""
    if row.mnemonic:
        return row.mnemonic, False
    if row.sass:
        return mnemonic_of(row.sass), False
    text = counts.table.get(row.index) if row.index is not None else None
    return (mnemonic_of(text) if text else None), True


def shared_numbers(
    counts: Counts,
    by_number: Sequence[tuple[str, CountRow]],
    others: Iterable[tuple[str, CountRow]],
    callees: Sequence[Function] | None,
) -> int:
    """How many numbers, from 0, may stand for an instruction of a called function too: each has its own from 0 on.

    None, unless the kernel executed a call to another section (or a jump, and began more often than it was entered),
    the source does not say that it left these out, and its first instruction does not prove it.

    :param by_number: what is known by its number only, with its mnemonic; ``others`` says itself what it is.
    :param callees: the functions in other sections that are called; None where they are not all known.
    """
    if counts.root_only or (callees is not None and not callees):
        return 0
    began = sum(row.issued for row in counts.rows if row.index == 0)
    if counts.entered == began and not counts.lost:
        return 0
    again = counts.entered is not None and began > counts.entered
    leaving = CALLS | FAR_JUMPS if again else CALLS
    if not any(row.issued and opcode_of(name) in leaving for name, row in (*by_number, *others)):
        return 0
    return sys.maxsize if callees is None else max(map(len, callees))


def contradictions(counts: Counts, shared: int) -> list[str]:
    """Numbers, from ``shared`` on, that the source gives two texts: in its table and its records."""
    given = Counter(number for number, _ in _texts(counts))
    texts: dict[int, dict[str, str]] = {}
    for number, text in _texts(counts):
        if number >= shared and given[number] > 1 and (own := mnemonic_of(text)):
            texts.setdefault(number, {}).setdefault(opcode_of(own), own)
    return [
        f"the source itself calls instruction {number} {' and '.join(found.values())}"
        for number, found in sorted(texts.items())
        if len(found) > 1
    ]


def _texts(counts: Counts) -> Iterator[tuple[int, str]]:
    yield from counts.table.items()
    yield from ((row.index, row.sass) for row in counts.rows if row.index is not None and row.sass)


def other_tables(tables: Sequence[tuple[str, dict[int, str]]]) -> list[str]:
    """Where the tables of captures of one kernel, with their paths, tell of different code."""
    first: dict[int, tuple[str, str]] = {}
    for path, table in tables:
        for number, text in sorted(table.items()):
            if own := mnemonic_of(text):
                before, where = first.setdefault(number, (own, path))
                if before != own:
                    return [f"instruction {number} is {before} in {where} and {own} in {path}: different code"]
    return []
