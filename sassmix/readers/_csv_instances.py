"""Cells of the raw page that hold a value for each instance of a metric.

``640 (160; 128)`` is what ``--print-metric-instances values`` prints, ``640 (LDC: 160; IMAD: 128)`` the ``details``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sassmix.errors import number_of
from sassmix.readers._csv_numbers import read_column, read_count

_PARENTHESES = re.compile(r"([^(;:]*)\((.*)\)", re.DOTALL)
_SCALES = {"k": 1e3, "m": 1e6, "g": 1e9}
_UNIT = re.compile(r"([KMGkmg])inst\b.*")


@dataclass(slots=True)
class Instances:
    """The total of a metric, its instances (``names`` empty where only values are printed), and what is wrong."""

    total: int | None
    names: list[str] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)

    @property
    def named(self) -> bool:
        """Whether the values have names."""
        return bool(self.names)

    @property
    def lost(self) -> list[str]:
        """What is missing for certain: counts that cannot be read, or a total that is smaller than its instances."""
        found = [f"{number_of(len(self.bad), 'count')} cannot be read"] if self.bad else []
        if self.total is not None and self.total < sum(self.values):
            parts = sum(self.values)
            found.append(f"the total is {self.total:,}, the counts that it is made of add up to {parts:,}")
        return found


def instances_of(cell: str) -> Instances:
    """Read a cell; instances whose value cannot be read are left out and told in ``bad``."""
    cell = cell.strip()
    open_end = "(" in cell and not cell.endswith(")")
    head, parts = _parts(f"{cell})" if open_end else cell)
    cut = parts[-1:] if open_end else []
    parts = parts[: len(parts) - len(cut)]
    head = "" if head.lower() in ("n/a", "-") else head
    pairs = [part.rpartition(":") if ":" in part else part.rpartition("=") for part in parts]
    column = read_column([value.strip() for _, _, value in pairs])
    found = Instances(total=read_count(head)[0] if head else None)
    if head and found.total is None:
        found.bad.append(f"total: {read_count(head)[1]}")
    found.bad += [f"{part.strip()[:80]}: the list is cut off here" for part in cut]
    named = any(name.strip() for name, _, _ in pairs)
    for position, (name, _, _) in enumerate(pairs):
        value = column.values[position]
        if value is None:
            found.bad.append(f"{name.strip()[:80] or f'instance {position}'}: {column.bad[position]}")
            continue
        found.values.append(value)
        if named:
            found.names.append(name.strip() or f"instance {position}")
    return found


def _parts(cell: str) -> tuple[str, list[str]]:
    if match := _PARENTHESES.fullmatch(cell):
        return match[1].strip(), [part for part in match[2].split(";") if part.strip()]
    parts = [part for part in cell.split(";") if part.strip()]
    if parts and ":" not in parts[0] and "=" not in parts[0]:
        return parts[0].strip(), parts[1:]
    return "", parts


def value_of(cell: str, unit: str = "") -> float | None:
    """The value of a counter, in single instructions; None where it was not measured."""
    head = cell.partition("(")[0].strip()
    scale = _SCALES[found[1].lower()] if (found := _UNIT.fullmatch(unit.strip())) else 1.0
    count, _ = read_count(head)
    if count is not None and (scale == 1.0 or head.isdigit()):
        return count * scale
    try:
        number = float(head)
    except ValueError:
        return None
    return number * scale if 0 <= number < 1e19 else None
