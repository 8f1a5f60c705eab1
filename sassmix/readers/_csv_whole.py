"""What shows that rows of a kernel in a source page are missing, or are another kernel's."""

from __future__ import annotations

from collections.abc import Sequence

from sassmix.counts import NO_ADDRESS, NO_EXIT, CountRow
from sassmix.own_texts import is_end, is_padding, opcode_of
from sassmix.readers._csv_holes import holes_of
from sassmix.readers._csv_layout import ended

#: What leads to instructions that stand apart.
_LEAVES = frozenset({"CALL", "CAL", "JCAL", "JMP", "JMX", "JMXU", "BRX", "BRXU"})


def cuts_of(
    rows: Sequence[CountRow],
    addresses: Sequence[int | None],
    texts: Sequence[str],
    issued: Sequence[int | None],
) -> list[str]:
    """What shows that rows are missing: a hole between addresses, an open end, no EXIT; or that nothing can show it."""
    gaps = holes_of(addresses, texts, issued)
    if all(address is None for address in addresses):
        gaps.append(NO_ADDRESS)
    if not ended(reversed(rows)) and any(row.mnemonic for row in rows):
        gaps.append(NO_EXIT)
    return gaps


def ends_whole(texts: Sequence[str]) -> bool:
    """Whether the last instruction, but for what pads the kernel, is one with which a kernel can end."""
    return is_end(next((text for text in reversed(texts) if not is_padding(text)), ""))


def uncalled(rows: Sequence[CountRow]) -> list[str]:
    """What rows that stand apart mean, those without a number, where nothing in front leads to any, in words."""
    if any(opcode_of(name) in _LEAVES for name in {row.mnemonic for row in rows if row.index is not None} if name):
        return []
    return ["the addresses leap, but nothing is called: rows are missing, or those behind are another kernel's"]


def strays(addresses: Sequence[int | None]) -> bool:
    """Whether the rows end too far from where they begin for a kernel of so many; a wrong address alone is none."""
    known = [address for address in addresses if address is not None]
    far = 32 * len(known)
    return len(known) > 3 and all(abs(first - last) > far for first in known[:2] for last in known[-2:])
