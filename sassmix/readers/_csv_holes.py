"""What shows that rows of a source page are missing: its addresses, and the texts of its instructions."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise

from sassmix.columns import ALWAYS
from sassmix.listing import CALLS
from sassmix.own_texts import is_end, is_padding, parts_of
from sassmix.readers._csv_layout import in_a_row

_REGISTER = re.compile(r"(?<![\w.])R[0-9]+")
#: With what compilers fill up the section behind a kernel.
_FILLING = ("NOP", "BRA")
#: A kernel of instructions of 16 bytes begins at a multiple of this many.
_KERNEL = 128
#: Called functions begin at multiples of this many bytes; before sm_70 with a control word.
_ALIGNED = 64
_STARTS = (0, 8)
#: Before sm_70 there is a control word at each multiple, and no row for it.
_CONTROL = 32
_STEPS = (8, 16)
#: Jumps and calls that say where they lead, behind a condition at most.
DIRECT = re.compile(
    r"(?:@!?U?P\w+\s+)?(?P<opcode>BRA|JMP|CALL|CAL|JCAL|BSSY|SSY|PBK|PCNT)(?:\.\w+)*"
    r"\s+(?:(?:!?U?P|UR|B)\w+\s*,\s*)?(?:`\([^`]*\)\s*)?0x(?P<address>[0-9a-fA-F]+)\s*;?"
)
#: Those of them that lead to other functions.
_OUT = CALLS | {"JMP"}
#: How the texts of these and of guarded instructions begin; others need no closer look.
_MAY_LEAD = frozenset({"@P", "@U", "@!", "BR", "JM", "CA", "JC", "BS", "SS", "PB", "PC"})
_INDIRECT = re.compile(r"(?:@!?U?P\w+\s+)?(?P<opcode>BRXU?|JMXU?)(?![^\s.])")


def holes_of(addresses: Sequence[int | None], texts: Sequence[str], issued: Sequence[int | None] = ()) -> list[str]:
    """Where instructions are missing, in words; ``texts`` and ``issued`` are those of the rows.

    A step larger than the usual one is right only where a called function follows: at an address at which a function
    can begin, behind an instruction with which one can end. With such a one the rows end, too. Where a branch leads,
    there is a row; where a call leads that was executed, too.
    """
    if not (whole := in_a_row(addresses)):
        rows = zip(addresses, texts, issued or [None] * len(texts), strict=False)
        known = sorted(((a, text, number or 0) for a, text, number in rows if a is not None), key=lambda row: row[0])
        if not known:
            return _open_end(texts)
        addresses, texts, issued = zip(*known, strict=True)
    places: Sequence[int] = [address for address in addresses if address is not None]
    standing: Container[int] = range(places[0], places[-1] + 1, 16) if whole else set(places)
    leading = [at for at, text in enumerate(texts) if text[:2] in _MAY_LEAD]
    return [
        *_late_start(places, texts),
        *([] if whole else [*_twice(places), *_leaps(places, texts)]),
        *_open_end(texts),
        *dict.fromkeys(_led_out(places[0], standing, texts, issued, leading)),
        *_open_jumps(places, texts, issued, leading),
    ]


def _late_start(rows: Sequence[int], texts: Sequence[str]) -> list[str]:
    """Kernels begin at certain addresses only, with an instruction that needs nothing that another one has set."""
    first, large = rows[0], _STEPS[1]
    wide = all(behind - before >= large for before, behind in pairwise(rows[:4]))
    if first % _ALIGNED not in _STARTS or (wide and first % _KERNEL):
        return [f"no kernel begins at {first:#x}: the first rows are missing"]
    parts = parts_of(texts[0])
    if parts and _needs_another(*parts, compiled=texts[-1].startswith(_FILLING)):
        return [f"the first row is {texts[0][:80]!r}, which needs what another one sets: the first rows are missing"]
    return []


def _needs_another(guard: str, _: str, operands: str, *, compiled: bool) -> bool:
    """Whether it has a guard or reads a general register; one that stands first among the operands is written.

    :param compiled: whether what a compiler puts behind a kernel is there: by hand, people begin anywhere.
    """
    first, _, others = operands.partition(",")
    read = others if _REGISTER.fullmatch(first.strip()) else operands
    return guard not in ALWAYS or (compiled and bool(_REGISTER.search(read)))


def _twice(rows: Sequence[int]) -> list[str]:
    """An instruction has one row."""
    again = next((at for at, behind in pairwise(rows) if at == behind), None)
    return [] if again is None else [f"the address {again:#x} stands twice: rows of two launches stand in one table"]


def _leaps(rows: Sequence[int], texts: Sequence[str]) -> list[str]:
    """Steps between addresses, in order, behind which no function begins."""
    small, large = _STEPS
    usual = small if any(behind - before == small for before, behind in pairwise(rows)) else large
    found = []
    last = ""
    for text, (before, behind) in zip(texts, pairwise(rows), strict=False):
        last = last if is_padding(text) else text
        control = behind - before == large and (before + small) % _CONTROL == 0
        if behind - before <= usual or control or (behind % _ALIGNED in _STARTS and is_end(last)):
            continue
        found.append(f"the addresses leap from {before:#x} to {behind:#x}: rows are missing between them")
    return found


def _last(texts: Sequence[str]) -> int:
    """The position of the last row that is no padding; -1 where there is none."""
    return next((at for at in range(len(texts) - 1, -1, -1) if not is_padding(texts[at])), -1)


def ends_whole(texts: Sequence[str]) -> bool:
    """Whether the last instruction, but for what pads the kernel, is one with which a kernel can end."""
    at = _last(texts)
    return at >= 0 and is_end(texts[at])


def _open_end(texts: Sequence[str]) -> list[str]:
    if not texts or ends_whole(texts):
        return []
    return [f"the last row is {texts[-1][:80]!r}, behind which a warp can go on: rows behind it are missing"]


def _led_out(
    first: int, places: Container[int], texts: Sequence[str], issued: Sequence[int | None], leading: Sequence[int]
) -> Iterator[str]:
    """Branches, and calls that were executed, to places of which there is no row."""
    for at in leading:
        match = DIRECT.fullmatch(texts[at])
        if not match or (match["opcode"] in _OUT and not (issued and issued[at])):
            continue
        target = int(match["address"], 16)
        # Some exports write addresses from the kernel's first one on; before sm_70 one may be that of a control word.
        possible = {target, first + target} if target % _CONTROL else {target, target + 8, first + target}
        if not any(place in places for place in possible):
            yield f"{match['opcode']} leads to {target:#x}, of which there is no row: rows are missing"


def _open_jumps(
    rows: Sequence[int], texts: Sequence[str], issued: Sequence[int | None], leading: Sequence[int]
) -> list[str]:
    """Where a jump leads through a register, only the branch to itself behind a kernel shows that its end is here."""
    jumps = (m["opcode"] for at in leading if issued and issued[at] if (m := _INDIRECT.match(texts[at])))
    jump, at = next(jumps, ""), _last(texts)
    trap = DIRECT.fullmatch(texts[at]) if at >= 0 else None
    if not jump or (trap and int(trap["address"], 16) in (rows[at], rows[at] - rows[0])):
        return []
    return [f"{jump} leads through a register, and no branch to itself ends the rows: rows behind them may be missing"]
