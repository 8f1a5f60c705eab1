"""The code that a capture itself carries, by its rows or its table: as functions, to be checked like a listing's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from sassmix.counts import Counts
from sassmix.listing import Columns, Function
from sassmix.own_texts import is_end, is_padding, may_multiply, opcode_of, parts_of
from sassmix.transfers import address_of

#: Bytes of an instruction from sm_70 on, where a number tells the address.
_STEP, _WIDE = 16, 70
#: In the place of a mnemonic that no text tells, and of the parts of its instruction.
_UNTOLD = "?"
_NONE = ("", _UNTOLD, "")
#: An instruction: its address, its guard, mnemonic and operands, and whether a function may begin with it.
_Row = tuple[int, str, str, str, bool]


@dataclass(frozen=True, slots=True)
class OwnCode:
    """A kernel, the functions behind it, and the executions of their instructions by index in the columns.

    :param partial: whether rows have no place, so that each may be any instruction.
    :param anywhere: whether a branch leads to where no instruction is known, so that it may lead to any.
    :param exact: whether instructions that a guard turned off for all lanes are counted, as some are.
    """

    functions: list[Function]
    counts: dict[int, int]
    partial: bool
    anywhere: bool
    exact: bool


def matrix_idle(counts: Counts) -> bool:
    """Whether matrix multiplies, or what no text tells, stand in the code of a capture, and none of them was counted.

    Few captures are like that; only for them the code is made.
    """
    texts = _texts(counts)
    telling = {place for place, text in texts.items() if _may_be_matrix(text)}
    if telling:
        return telling.isdisjoint(_place(counts, row.index, row.offset) for row in counts.rows if row.issued)
    apart = any(after - before > _STEP for before, after in pairwise(sorted(texts)))
    return apart and any(mnemonic == _UNTOLD for _, _, mnemonic, *_ in _rows(texts))


def _may_be_matrix(text: str) -> bool:
    parts = parts_of(text)
    return parts is None or may_multiply(opcode_of(parts[1]))


def own_code(counts: Counts) -> OwnCode | None:
    """The code as far as the source tells its texts and their places; None where it does not, or contradicts itself."""
    texts = _texts(counts)
    if not texts:
        return None
    places, guards, mnemonics, operands, begins = map(list, zip(*_rows(texts), strict=True))
    columns = Columns(list(map("{:x}".format, places)), guards, mnemonics, operands)
    unread = {index for index, mnemonic in enumerate(mnemonics) if mnemonic == _UNTOLD}
    starts = [index for index, first in enumerate(begins) if first]
    functions = [
        Function(
            name=f"function {number}",
            arch=counts.arch,
            role="helper" if number else "kernel",
            section=None,
            columns=columns,
            start=start,
            stop=stop,
            unreadable=set() if number else unread,
        )
        for number, (start, stop) in enumerate(zip(starts, [*starts[1:], len(places)], strict=True))
    ]
    issued, partial = _issued(counts, {place: index for index, place in enumerate(places)})
    exact = any(row.active == 0 and row.issued for row in counts.rows)
    return OwnCode(functions, issued, partial, _leads_out(columns, range(places[0], places[-1] + 1)), exact)


def _place(counts: Counts, index: int | None, offset: int | None) -> int | None:
    """The address of an instruction: by its number where the source has a table of these, else by its offset."""
    if offset is not None and not counts.table:
        return counts.base + offset
    return None if index is None else counts.base + _STEP * index


def _texts(counts: Counts) -> dict[int, str]:
    """The texts of the instructions by address; none where one address has two, or numbers tell no address."""
    if counts.table and int("".join(filter(str.isdigit, counts.arch or "")) or _WIDE) < _WIDE:
        return {}
    found = {counts.base + _STEP * number: text for number, text in counts.table.items()}
    for row in counts.rows:
        place = _place(counts, row.index, row.offset)
        if place is None or not row.sass:
            continue
        text = found.setdefault(place, row.sass)
        if text != row.sass and parts_of(text) != parts_of(row.sass):
            return {}
    return found


def _rows(texts: Mapping[int, str]) -> Iterator[_Row]:
    """The instructions in order; in a hole stands one that no text tells."""
    before: int | None = None
    last = ""
    padded = True  # behind padding, and at the begin
    for place in sorted(texts):
        text = texts[place]
        hole = before is not None and place - before > _STEP
        if hole and not is_end(last):
            yield place - 1, *_NONE, False
        pads = is_padding(text)
        begins = before is None or (not pads and (hole or (padded and is_end(last))))
        yield place, *(parts_of(text) or _NONE), begins
        before, last, padded = place, last if pads else text, pads


def _issued(counts: Counts, places: Mapping[int, int]) -> tuple[dict[int, int], bool]:
    """Executions by index, and whether there are more whose place is not known."""
    found: Counter[int] = Counter()
    partial = False
    for row in counts.rows:
        place = _place(counts, row.index, row.offset)
        if place is not None and place in places:
            found[places[place]] += row.issued
        partial = partial or (place is None and row.issued > 0)
    return dict(found), partial


def _leads_out(columns: Columns, inside: range) -> bool:
    """Whether a branch leads to where no instruction is, as where the texts count addresses from another place on."""
    named = zip(columns.mnemonics, columns.tails, strict=True)
    return any(address_of(tail) not in inside for name, tail in named if opcode_of(name) == "BRA")
