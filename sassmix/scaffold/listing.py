"""The fixture: whole sections of the samples as a listing, for each opcode the shortest that has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sassmix.listing import INSIDE, Function
from sassmix.render import printable
from sassmix.scaffold.samples import Samples, Section

_SYMBOL = re.compile(r"[\w.$]+", re.ASCII)


def cut(samples: Samples) -> str:
    """The text of the fixture, nearly in the columns of ``nvdisasm -c``."""
    chosen = _chosen(samples)
    files = ", ".join(sorted({section.file for section in chosen}))
    tools = f", printed by {', '.join(sorted(samples.tools))}" if samples.tools else ""
    lines = [f"// Functions of {files}{tools}: for each opcode the shortest that has it."]
    names: set[str] = set()
    for section in chosen:
        lines += _section(section, names, samples.arch)
    return "".join(f"{printable(line)}\n" for line in lines)


def _chosen(samples: Samples) -> list[Section]:
    """Few sections that hold every opcode: the long ones that some opcode needs, and what they do not cover."""
    chosen, covered = list[Section](), set[str]()
    for opcode, section in sorted(samples.shortest.items(), key=lambda item: (-len(item[1]), item[0])):
        if opcode not in covered:
            chosen.append(section)
            covered |= section.opcodes
    return sorted(chosen, key=lambda section: (section.file, section.functions[0].start))


def _section(section: Section, names: set[str], arch: str) -> Iterator[str]:
    title = ""
    for function in section.functions:
        name = _free(function.name, names)
        if not title:
            title = name
            yield from ("", f"        .target         {function.arch or arch}")
            yield f'        .section        .text.{title},"ax",@progbits'
        yield from _symbol(function, name)
        yield from (f"{name}:", f".text.{title}:") if name == title else (f"{name}:",)
        yield from _code(function)
        if not function.damage:
            yield f".L_end_of_{name}:"


def _free(name: str, names: set[str]) -> str:
    """A name that no other function of the fixture has, and that is one."""
    name = name if _SYMBOL.fullmatch(name) else "function"
    while name in names:
        name += "_"
    names.add(name)
    return name


def _symbol(function: Function, name: str) -> Iterator[str]:
    yield f"        .type           {name},@function"
    if not function.damage:
        yield f"        .size           {name},(.L_end_of_{name} - {name})"
    if function.role == "kernel":
        yield f'        .other          {name},@"STO_CUDA_ENTRY STV_DEFAULT"'


def _code(function: Function) -> Iterator[str]:
    labels: dict[int, list[str]] = {}
    for label, index in function.labels.items():
        if index != INSIDE and label.startswith(".L") and _SYMBOL.fullmatch(label):
            labels.setdefault(index, []).append(label)
    columns = function.columns
    for index in range(function.start, function.stop + 1):
        yield from (f"{label}:" for label in sorted(labels.get(index, ())))
        if index < function.stop and index not in function.unreadable:
            offset = f"/*{columns.offsets[index]}*/" if columns.offsets[index] else ""
            code = f"{columns.guards[index].strip():>8} {columns.mnemonics[index]} {columns.tails[index].strip()}"
            yield f"        {offset}          {code.rstrip()} ;"
