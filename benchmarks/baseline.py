"""The loops that other tools have in the place of a parser or a reader.

They prove nothing, drop what they do not match, and do not say so.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def two_regex_loop(text: str) -> dict[str, list[str]]:
    """Opcodes by function, helpers counted to the function in whose section they stand."""
    functions: dict[str, list[str]] = {}
    opcodes: list[str] | None = None
    for line in text.splitlines():
        label = re.match(r"^\.text\.(\S+):", line)
        if label:
            opcodes = functions.setdefault(label.group(1), [])
            continue
        code = re.match(r"^\s+/\*[0-9a-fA-F]+\*/\s+(?:@[!P\w]+ )?(\w[\w.]*)", line)
        if code and opcodes is not None:
            opcodes.append(code.group(1).split(".")[0])
    return functions


@dataclass
class _Record:
    record_type: str
    opcode_id: int | None
    sass: str | None
    warp: int | None
    cta: list[int] | None
    timestamp: int | None
    raw: dict[str, Any]


def trace_loop(path: Path) -> dict[str, int]:
    """Executed instructions by opcode id: what the trace parser of nsys-ai 0.3.0 does for each line, and a count."""
    counts: dict[str, int] = {}
    with path.open(encoding="utf-8") as file:
        for raw in file:
            line = raw.strip()
            if not line:
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            made = _Record(
                record_type=record.get("type", "unknown"),
                opcode_id=record.get("opcode_id"),
                sass=record.get("sass"),
                warp=record.get("warp"),
                cta=record.get("cta"),
                timestamp=record.get("timestamp"),
                raw=record,
            )
            if made.opcode_id is not None:
                counts[str(made.opcode_id)] = counts.get(str(made.opcode_id), 0) + 1
    return counts


def csv_loop(path: Path) -> dict[str, int]:
    """Warp instructions by mnemonic: the plain loop over a source page of Nsight Compute."""
    counts: dict[str, int] = {}
    header: list[str] = []
    with path.open(newline="", encoding="utf-8") as file:
        for cells in csv.reader(file):
            if cells[0] == "Address":
                header = cells
            elif cells[0].startswith("0x"):
                row = dict(zip(header, cells, strict=False))
                words = row["Source"].split()
                name = words[1] if words[0].startswith("@") else words[0]
                counts[name] = counts.get(name, 0) + int(row["Instructions Executed"])
    return counts


def raw_loop(path: Path) -> dict[str, int]:
    """Warp instructions by mnemonic: the plain loop over a raw page of Nsight Compute."""
    counts: dict[str, int] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for part in row["sass__inst_executed_per_opcode_with_modifier_all"].partition("(")[2][:-1].split("; "):
                name, colon, count = part.partition(": ")
                if colon:
                    counts[name] = counts.get(name, 0) + int(count.replace(",", ""))
    return counts
