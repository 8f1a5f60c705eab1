"""What is read from an ELF file without any tool: its machine, architecture, notes, and whether it is whole."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

from sassmix.errors import InputError

ELF, FATBIN, ARCHIVE = b"\x7fELF", b"\x50\xed\x55\xba", b"!<arch>\n"
EM_CUDA = 190
_NOTE_ARCH = re.compile(rb"-arch[ =](sm_[0-9]+[af]?)\b")
_NOTE_TOOLKIT = re.compile(rb"release [0-9.]+, V([0-9.]+)")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NOTE, _LONGEST_NOTE = b".note.nv.tkinfo\0", 1 << 16
_IN_FILE = frozenset({1, 2, 3})  # PROGBITS, SYMTAB, STRTAB; NVIDIA has types of its own that take no room in the file


@dataclass(frozen=True, slots=True)
class Elf:
    """The header, and of the sections the compiler's notes and whether one holds instructions.

    A struct and 30 lines do; no dependency for that.
    """

    machine: int
    abi: int
    flags: int
    has_code: bool = False
    note: bytes = b""

    @property
    def arch(self) -> str:
        """The flags have the number; the letter stands there (ABI 7 and early ABI 8) or in the compiler's options."""
        new = self.abi >= 8
        number = self.flags >> 8 & 0xFF if new else self.flags & 0xFF
        plain = f"sm_{number}"
        option = _NOTE_ARCH.search(self.note)
        if option and option[1].decode().rstrip("af") == plain:
            return option[1].decode()
        return plain + ("a" if self.flags & (0x8 if new else 0x800) else "")

    @property
    def toolkit(self) -> str | None:
        """The version of the compiler; in front of it in the notes may stand a tool that rewrote its output."""
        return found[-1].decode() if (found := _NOTE_TOOLKIT.findall(self.note)) else None


def _read_elf(data: mmap, path: str) -> Elf:
    """:raises InputError: for a file that is shorter than its tables say."""
    if len(data) < 64:
        raise InputError(path, "is cut off: not even the ELF header is whole")
    if data[4] != 2 or data[5] != 1:
        return Elf(data[18] | data[19] << 8, data[8], 0)
    programs, table, flags, _, each, count, size, number, names = struct.unpack_from("<QQIHHHHHH", data, 32)
    _inside(data, programs + each * count, path, "program headers")
    _inside(data, table + size * max(number, bool(table)), path, "section headers")
    if not table or size != _SECTION.size:
        return Elf(data[18] | data[19] << 8, data[8], flags)
    first = _SECTION.unpack_from(data, table)
    number, names = number or first[5], first[6] if names == 0xFFFF else names  # more than fits into 16 bits
    _inside(data, table + size * max(number, names + 1), path, "section headers")
    strings = _SECTION.unpack_from(data, table + size * names)[4] if names < number else len(data)
    rows = (_SECTION.unpack_from(data, table + size * index) for index in range(number))
    return Elf(data[18] | data[19] << 8, data[8], flags, *_sections(data, rows, strings, path))


def _sections(data: mmap, rows: Iterable[tuple[int, ...]], strings: int, path: str) -> tuple[bool, bytes]:
    """Whether there is code, and the compiler's notes. Names are read no further than they tell something."""
    code, note = False, b""
    for row in rows:
        if row[1] in _IN_FILE:
            _inside(data, row[4] + row[5], path, "sections")
        start = min(strings + row[0], len(data))
        name = data[start : start + len(_NOTE)]
        if name.startswith(b".text.") and row[1] == 1 and row[5]:
            code = True
        elif name == _NOTE and not note and row[4] <= len(data):
            note = data[row[4] : row[4] + min(row[5], _LONGEST_NOTE)]
    return code, note


def _inside(data: mmap, end: int, path: str, what: str) -> None:
    if end > len(data):
        raise InputError(path, f"is cut off: its {what} reach to byte {end:,}, the file has {len(data):,}")


def open_elf(path: Path, name: str) -> tuple[bytes, Elf | None, bool]:
    """The start of a file, its ELF tables if it has any, and whether a fat binary stands anywhere in it.

    :param name: how messages call the file.
    :raises InputError: if it cannot be read or is cut off.
    """
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            elf = _read_elf(data, name) if data[:4] == ELF else None
            return data[:8], elf, (elf is None or elf.machine != EM_CUDA) and data.find(FATBIN) >= 0
    except (OSError, ValueError) as error:
        raise InputError(name, f"cannot be read: {error}") from error
