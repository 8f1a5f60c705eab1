"""Fat binaries of any cubins, without a toolkit."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from sassmix.readers.elf import FATBIN, open_elf

_HEADER = struct.Struct("<4sHHQ")  # magic, version, size of this header, bytes behind it
_MEMBER = struct.Struct("<HHIQQHHIQQQQ")  # kind, version, size of this header, bytes behind it ... 64 bytes
_ELF, _FLAGS = 2, 0x11


def fat_binary(path: Path, cubins: Iterable[Path]) -> Path:
    """A file with these cubins as members, not compressed, in this order."""
    members = b"".join(_member(cubin) for cubin in cubins)
    path.write_bytes(_HEADER.pack(FATBIN, 1, _HEADER.size, len(members)) + members)
    return path


def _member(cubin: Path) -> bytes:
    elf = open_elf(cubin, str(cubin))[1]
    assert elf is not None
    number = int(elf.arch.removeprefix("sm_").rstrip("af"))
    data = cubin.read_bytes()
    data += bytes(-len(data) % 8)
    return _MEMBER.pack(_ELF, 0x101, _MEMBER.size, len(data), 0, 8, 1, number, 0, _FLAGS, 0, 0) + data
