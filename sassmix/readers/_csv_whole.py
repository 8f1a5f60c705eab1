"""What shows that rows of a kernel in a source page are missing, or are another kernel's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sassmix.counts import NO_EXIT, CountRow
from sassmix.listing import CALLS
from sassmix.own_texts import mnemonic_of, opcode_of
from sassmix.readers._csv_holes import DIRECT, holes_of
from sassmix.readers._csv_layout import ended

#: What leads to instructions that stand apart.
_LEAVES = CALLS | {"JMP", "JMX", "JMXU", "BRX", "BRXU"}
#: Bytes between instructions of one piece at most.
_PIECE = 32


def cuts_of(
    rows: Sequence[CountRow],
    addresses: Sequence[int | None],
    texts: Sequence[str],
    issued: Sequence[int | None],
) -> list[str]:
    """What shows that rows are missing: a hole between addresses, an open end, no EXIT."""
    gaps = holes_of(addresses, texts, issued)
    if not ended(reversed(rows)) and any(row.mnemonic for row in rows):
        gaps.append(NO_EXIT)
    return gaps


def uncalled(addresses: Sequence[int | None], texts: Sequence[str]) -> list[str]:
    """What rows mean that stand apart though nothing leads to them, in words.

    A call or jump that does not say where it leads may lead to any of them.
    """
    leading = [text for text in texts if opcode_of(mnemonic_of(text) or "") in _LEAVES]
    named = [match for text in leading if (match := DIRECT.fullmatch(text))]
    if len(named) < len(leading):
        return []
    found = [address for address in addresses if address is not None]
    known = sorted(found)
    targets = {int(match["address"], 16) for match in named}
    targets |= {found[0] + target for target in targets}  # some exports count from the kernel's first one on
    targets.add(found[0])
    cuts = [at for at, (before, behind) in enumerate(pairwise(known), 1) if behind - before > _PIECE]
    pieces = [(known[start], known[stop - 1]) for start, stop in pairwise([0, *cuts, len(known)])]
    lonely = [first for first, last in pieces if not any(first <= target <= last for target in targets)]
    what = "the addresses leap to {:#x}, where nothing leads: rows are missing, or those behind are another kernel's"
    return [what.format(start) for start in lonely[:1]]


def strays(addresses: Sequence[int | None]) -> bool:
    """Whether the rows end too far from where they begin for a kernel of so many; a wrong address alone is none."""
    known = [address for address in addresses if address is not None]
    far = 32 * len(known)
    return len(known) > 3 and all(abs(first - last) > far for first in known[:2] for last in known[-2:])
