"""Counts as people's locales write them, decided for a whole column: ``1,024`` is ``1.024`` in a German one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

#: No counter holds more.
LARGEST = (1 << 63) - 1
_GROUPED = re.compile(r"\d{1,3}([,.'\u2019 \u00a0\u2009\u202f\u066c\ufffd])(?:\d{2,3}\1)*\d{3}")
_DECIMAL = re.compile(r"(\d+|\d{1,3}(?:([,.'\u2019 \u00a0\u2009\u202f\ufffd])\d{3})+)([.,])(\d+)")
_ENGLISH = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}|;[0-9]{1,3})*")
_SCIENCE = re.compile(r"\d+(\.\d+)?[eE]\+?\d{1,2}")


@dataclass(slots=True)
class Column:
    """Numbers of one column; None where a cell holds no count, with the reason in ``bad`` by position."""

    values: list[int | None]
    bad: dict[int, str] = field(default_factory=dict)
    doubt: str | None = None


def read_column(texts: Sequence[str]) -> Column:
    """Whole numbers of a column. What can be read in two ways is read as whole, and ``doubt`` says so."""
    try:
        numbers = list(map(int, texts))
    except ValueError:
        english = _without_commas(texts)
        return read_column(english) if english else _read_odd(texts)
    if numbers and (min(numbers) < 0 or max(numbers) > LARGEST):
        return _read_odd(texts)
    return Column([*numbers])


def _without_commas(texts: Sequence[str]) -> list[str]:
    """The numbers without thousands separators, if all have them where the profiler puts them in English; else none."""
    text = ";".join(texts)
    plain = text.replace(",", "").split(";") if "," in text and _ENGLISH.fullmatch(text) else []
    return plain if len(plain) == len(texts) else []


def _read_odd(texts: Sequence[str]) -> Column:
    column = Column([])
    decimal = _decimal_mark(texts)
    for position, text in enumerate(texts):
        number, reason = read_count(text, decimal)
        column.values.append(number)
        if reason:
            column.bad[position] = reason
    column.doubt = _doubt(texts, decimal)
    return column


def read_count(text: str, decimal: str = "") -> tuple[int | None, str]:
    """A count and why there is none. ``decimal`` is the mark known to start a fraction in this column."""
    text = text.strip()
    if not text or text.lower() in ("-", "n/a", "na", "null", "none"):
        return None, "holds no count"
    if text.isascii() and text.isdigit():
        return _bounded(text)
    if text[0] in "-\u2212":
        return None, f"{text[:40]!r} is negative"
    grouped = _GROUPED.fullmatch(text)
    if grouped and grouped[1] != decimal:
        return _bounded(re.sub(r"\D", "", text))
    if fraction := _DECIMAL.fullmatch(text):
        whole = not fraction[4].strip("0") and fraction[2] != fraction[3]
        return _bounded(re.sub(r"\D", "", fraction[1])) if whole else (None, f"{text[:40]!r} is no whole number")
    if _SCIENCE.fullmatch(text) and float(text).is_integer():
        return _bounded(str(int(float(text))))
    return None, f"{text[:40]!r} is no count"


def _bounded(digits: str) -> tuple[int | None, str]:
    if len(digits) > 19 or int(digits) > LARGEST:
        return None, f"{digits[:40]!r} is larger than any counter"
    return int(digits), ""


def _decimal_mark(texts: Sequence[str]) -> str:
    """The mark in front of fractions, told by a number that no grouping explains (``32.000000``)."""
    for text in texts:
        found = _DECIMAL.fullmatch(text.strip())
        if found and not _GROUPED.fullmatch(text.strip()):
            return found[3]
    return ""


def _doubt(texts: Sequence[str], decimal: str) -> str | None:
    grouped = [match for text in texts if (match := _GROUPED.fullmatch(text.strip()))]
    marks = {match[1] for match in grouped} - {decimal}
    if not marks:
        return None
    certain = any(match[0].count(match[1]) > 1 for match in grouped)
    plain = any(3 < len(text.strip()) < 20 and text.strip().isdigit() for text in texts)
    if len(marks) == 1 and not plain and (certain or marks != {"."}):
        return None
    example = next(match[0] for match in grouped if match[1] in marks)
    return f"{example!r} is read as a whole number with a thousands separator; it could be a fraction"
