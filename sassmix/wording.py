"""A comparison in words and numbers: one line for each kernel, and one for all."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sassmix.errors import listed, number_of
from sassmix.evidence import few
from sassmix.tally import UNRESOLVED

_Entry = dict[str, Any]
_Rows = list[dict[str, Any]]
_MOST = 4


def totals(entries: list[_Entry]) -> str:
    """``1 changed, 3 same`` of all kernels, and how they were compared where not by every count."""
    numbers = Counter(entry["status"] for entry in entries)
    words = ", ".join(f"{numbers[s]:,} {s}" for s in ("changed", "new", "gone", "same") if numbers[s]) or "no kernels"
    if not all(entry["same_architecture"] for entry in entries):
        words += "; different architectures: what opcodes do compares, their names are others"
    if not all(entry["same_unit"] for entry in entries):
        words += "; counts of different units: which opcodes there are compares, numbers do not"
    doubtful = sum(bool({"low", "medium"} & set(entry["confidence"].values())) for entry in entries)
    if doubtful:
        words += f"; confidence is not high for {doubtful:,}: `sassmix check` says why"
    return words


def what_changed(entry: _Entry, by: str) -> str:
    """``tensor -8, memory.local +12: LDL, STL new``."""
    if entry["status"] in ("new", "gone"):
        return _alone(entry, by)
    notes = _notes(entry)
    if not entry["same_unit"]:
        return "; ".join([_presence(entry), *notes])
    words = _levels(entry, by)
    if not entry["same_architecture"] and words != "same":
        words = f"{entry['arch']['before']} against {entry['arch']['after']}: {words}"
    return "; ".join([words, *notes])


def _alone(entry: _Entry, by: str) -> str:
    side = "after" if entry["status"] == "new" else "before"
    parts = _listed([f"{row[by]} {row[side]:,}" for row in entry["mix"]])
    total = f"{entry['total'][side]:,} {entry['unit'][side]}{f' ({parts})' if parts else ''}"
    words = f"{entry['status']}: " + ", ".join(filter(None, [entry["arch"][side], total]))
    hints = [f"{candidate['name']} ({candidate['reason']})" for candidate in entry["candidates"]]
    return f"{words}; renamed? {few(hints)}" if hints else words


def _notes(entry: _Entry) -> list[str]:
    """What the reader has to know besides the numbers."""
    confidence, launches = entry["confidence"], entry["launches"]
    notes = []
    if entry["matched"] == "ignoring-build-hash":
        notes.append(f"matched with {entry['names']['after']}, {entry['matched']}")
    if entry["tolerated"]:
        notes.append(f"{number_of(len(entry['tolerated']), 'more count', 'differs', 'differ')} within the tolerance")
    if not entry["same_unit"]:
        return notes
    if launches["before"] != launches["after"]:
        notes.append(f"launches: {_or_unknown(launches['before'])} before, {_or_unknown(launches['after'])} after")
    if confidence["before"] != confidence["after"]:
        notes.append(f"confidence {confidence['before']} before, {confidence['after']} after")
    return notes


def _or_unknown(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _levels(entry: _Entry, by: str) -> str:
    mix, opcodes, forms = entry["mix"], entry["opcodes"], entry["forms"]
    if not (mix or opcodes or forms):
        return "same"
    if not opcodes:
        return f"the same by opcode; {_signed(forms, 'form')}"
    head = _signed(mix, by) if mix else f"the same by {by}"
    if not entry["same_architecture"]:
        tail = _counterparts(opcodes)
    else:
        tail = _new_and_gone(opcodes, entry["unresolved"]) or ("" if mix else _signed(opcodes, "opcode"))
    return f"{head}: {tail}" if tail else head


def _signed(rows: _Rows, name: str) -> str:
    words = [f"{row[name]} {row['after'] - row['before']:+,}" for row in rows]
    return _listed(words)


def _listed(words: list[str]) -> str:
    return listed(words, _MOST)


def _new_and_gone(opcodes: _Rows, unresolved: dict[str, int]) -> str:
    """Opcodes of one side only; where something is not resolved on the other, they may be among that."""
    named = [row for row in opcodes if row["category"] != UNRESOLVED]
    new = [row["opcode"] for row in named if not row["before"]]
    gone = [row["opcode"] for row in named if not row["after"]]
    words = ("not seen before" if unresolved["before"] else "new", "not seen after" if unresolved["after"] else "gone")
    return "; ".join(f"{_listed(names)} {word}" for names, word in zip((new, gone), words, strict=True) if names)


def _counterparts(opcodes: _Rows) -> str:
    """Opcodes that replace one another on another architecture, by what they do: ``tensor HGMMA -> UTCHMMA``."""
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for row in (row for row in opcodes if row["category"] != UNRESOLVED):
        gone, new = groups.setdefault(row["category"], ([], []))
        if not row["after"]:
            gone.append(row["opcode"])
        if not row["before"]:
            new.append(row["opcode"])
    order = sorted(groups.items(), key=lambda item: item[0] != "tensor")
    return _listed([f"{name} {' '.join(gone)} -> {' '.join(new)}" for name, (gone, new) in order if gone and new])


def _presence(entry: _Entry) -> str:
    """A listing against its counts: which opcodes ran, never how many more or fewer."""
    units = entry["unit"]
    words = []
    unsure = f" (cannot be told for certain: {few(entry['doubts'])})" if entry["doubts"] else ""
    if entry["never_ran"]:
        words.append(f"{'not seen to run' if unsure else 'never ran'}: {_listed(entry['never_ran'])}")
    if entry["not_in_code"]:
        words.append(f"ran, but not seen in the code: {_listed(entry['not_in_code'])}")
    if not entry["opcodes"]:
        words.append("the same opcodes on both sides")
    elif not (entry["never_ran"] or entry["not_in_code"]):
        words.append(f"on one side only: {_listed([row['opcode'] for row in entry['opcodes']])}")
    return f"{units['before']} against {units['after']}: {'; '.join(words)}{unsure}"
