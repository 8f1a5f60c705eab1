"""What Nsight Compute's exports call things: columns of the source page, kernels, addresses, architectures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, repeat

from sassmix.counts import CountRow, KernelNames
from sassmix.own_texts import mnemonic_of
from sassmix.readers._csv_lines import cells_of

#: Names of a column in any version, in lower case, without "# " and units: the first that a header has is taken.
_COLUMNS = (
    ("address", "pc"),
    ("source", "sass"),
    (
        "instructions executed",
        "warp instructions executed",
        "inst_executed",
        "inst executed",
        "smsp__inst_executed.sum",
        "sm__inst_executed.sum",
    ),
    ("predicated-on thread instructions executed", "thread_inst_executed_true", "thread_inst_executed_pred_on"),
    ("thread instructions executed", "thread_inst_executed", "thread inst executed"),
    ("samples", "warp stall sampling (all samples)", "warp stall sampling (all cycles)", "sampling data (all)"),
)
_CAPABILITY = re.compile(r"(\d{1,2})[.,](\d)")


#: Positions of what is read of a row.
ADDRESS, SOURCE, ISSUED, ON, THREADS, SAMPLES = range(len(_COLUMNS))


@dataclass(frozen=True)
class Layout:
    """Where the columns of :data:`_COLUMNS` are (-1 for one that the export lacks), and how many there are in all."""

    columns: tuple[int, ...]
    width: int

    @cached_property
    def last(self) -> int:
        """The last column that is read."""
        return max(self.columns)

    @cached_property
    def has(self) -> tuple[bool, ...]:
        """Which columns there are."""
        return tuple(at >= 0 for at in self.columns)


@lru_cache(maxsize=64)
def header_of(line: str) -> Layout | None:
    """The layout that a header line gives; None for a line that is no header of a source page."""
    return layout_of(cells_of(line)) if "ource" in line or "SASS" in line else None


def layout_of(cells: Sequence[str]) -> Layout | None:
    """The layout that the cells of a header give; None for those of another row."""
    names = [_column_name(cell) for cell in cells]
    if not {"source", "sass"} & set(names):
        return None
    columns = tuple(next((names.index(name) for name in known if name in names), -1) for known in _COLUMNS)
    layout = Layout(columns, len(names))
    sampled = layout.has[ADDRESS] and any("stall" in name or "sampl" in name for name in names)
    return layout if layout.has[ISSUED] or sampled else None


def _column_name(cell: str) -> str:
    """In lower case, without the sign of a number in front and a unit in brackets behind."""
    name = cell.strip().lower().removeprefix("#").lstrip()
    return name.rpartition("[")[0].rstrip() if name.endswith("]") else name


def names_of(title: dict[str, str]) -> KernelNames:
    """Names as the lines above the rows give them; the profiler prints mangled ones if told to."""
    name = title.get("kernel name", title.get("function name", "")).strip()
    mangled = title.get("mangled name", "").strip() or (name if name.startswith("_Z") else "")
    return KernelNames(mangled=mangled or None, demangled=name if name and name != mangled else None)


def arch_of(capability: str) -> str | None:
    """``sm_90`` for a compute capability of 9.0."""
    found = _CAPABILITY.fullmatch(capability.strip())
    return f"sm_{int(found[1])}{found[2]}" if found else None


def mnemonics_of(texts: Sequence[str]) -> list[str | None]:
    """The mnemonics of many instructions, each the text of a cell; few of them differ in what decides."""
    several = ";" in "".join(texts)  # then there may be two instructions in a text, and all of it decides
    words = texts if several else [_guarded(t) if t[:1] == "@" else t.partition(" ")[0] for t in texts]
    known = {word: mnemonic_of(word) for word in set(words)}
    return [known[word] for word in words]


def _guarded(text: str) -> str:
    guard, _, rest = text.partition(" ")
    return f"{guard} {rest.lstrip(' ').partition(' ')[0]}"


def addresses_of(texts: Sequence[str]) -> list[int | None]:
    """Addresses in the notation of the column: with 0x, or hexadecimal or decimal by the step between rows."""
    try:
        numbers = list(map(int, texts, repeat(16))) if texts and texts[0][:2] == "0x" else []
    except ValueError:
        numbers = []
    return [*numbers] if numbers and min(numbers) >= 0 and max(numbers) < 1 << 64 else _addresses(texts)


def _addresses(texts: Sequence[str]) -> list[int | None]:
    base = 16
    if not any(text[:2] in ("0x", "0X") for text in texts[:2]) and len(texts) > 1:
        first, second = (_number(text, 10) for text in texts[:2])
        base = 10 if first is not None and second is not None and second - first in (8, 16) else 16
    return [_number(text, base) for text in texts]


def _number(text: str, base: int) -> int | None:
    try:
        number = int(text, base)
    except ValueError:
        return None
    return number if 0 <= number < 1 << 64 else None


@dataclass(slots=True)
class Places:
    """Where instructions stand: bytes from the first one, and their number, as far as they are in one piece with it."""

    offsets: list[int | None]
    indexes: list[int | None]


def places_of(addresses: list[int | None]) -> Places:
    """Places by address. Rows in the order of source lines are put in order; what stands apart has no number."""
    count = len(addresses)
    numbers: list[int | None] = list(range(count))
    if not count or (base := addresses[0]) is None:
        return Places([None] * count, numbers)
    if in_a_row(addresses):
        return Places(list(range(0, 16 * count, 16)), numbers)
    known = sorted(address for address in addresses if address is not None)
    if len(known) == count and all(0 < b - a <= 32 for a, b in pairwise(known)):
        ranks = {address: rank for rank, address in enumerate(known)}
        offsets: list[int | None] = [address - known[0] for address in known]
        order = [ranks[address] for address in addresses if address is not None]
        return Places([offsets[rank] for rank in order], list(order))
    return _pieces(addresses, base)


def in_a_row(addresses: Sequence[int | None]) -> bool:
    """Whether each instruction stands 16 bytes behind the one before, as in nearly every kernel."""
    first = addresses[0] if addresses else None
    return first is not None and addresses == list(range(first, first + 16 * len(addresses), 16))


def _pieces(addresses: list[int | None], base: int) -> Places:
    """Called functions behind the kernel have addresses of their own: no number there, no offset after a restart."""
    places = Places([], [])
    whole = ordered = True
    before, at = base - 1, 0
    for index, address in enumerate(addresses):
        if address is not None:
            ordered = ordered and address > before
            whole = whole and ordered and address - before <= 32 * (index - at) + 1
            before, at = address, index
        places.offsets.append(address - base if address is not None and ordered else None)
        places.indexes.append(index if whole else None)
    return places


def ended(rows: Iterable[CountRow]) -> bool:
    """Whether a warp came to its end."""
    return any(row.issued and row.mnemonic and row.mnemonic.partition(".")[0] == "EXIT" for row in rows)
