"""Cubins, fat binaries, and host objects, libraries and archives that embed cubins, read by NVIDIA's own tools.

Every cubin goes through ``nvdisasm -c``, as its listing has labels and symbols that ``cuobjdump -sass`` does not print;
cuobjdump only takes the cubins out. What does the work is imported when there is a binary to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sassmix.errors import InputError
from sassmix.listing import Listing
from sassmix.readers import Reader
from sassmix.readers.elf import ARCHIVE, ELF, EM_CUDA, FATBIN, open_elf


def _sniff(head: bytes) -> bool:
    return head.startswith((ELF, FATBIN, ARCHIVE))


def _read(path: Path) -> Iterator[Listing]:
    head, elf, fat = open_elf(path, str(path))
    if elf and elf.machine == EM_CUDA:
        yield _cubin(path)
    elif fat:
        yield from _members(path, "fatbin" if head.startswith(FATBIN) else "elf")
    else:
        raise InputError(str(path), "holds no device code: no fat binary is embedded in it")


def _cubin(path: Path) -> Listing:
    from sassmix.readers.disassembly import LINK, Disassembly, disassembler, private_folder

    how = disassembler(str(path))
    with private_folder(path) as folder, closing(Disassembly(how, Path(folder, LINK), str(path), "cubin")) as work:
        return work.listing()


def _members(path: Path, kind: str) -> Iterator[Listing]:
    from sassmix.readers.disassembly import private_folder
    from sassmix.readers.library import Library

    with private_folder(path) as folder, closing(Library(path, Path(folder), kind)) as library:
        yield from library.listings()


READER = Reader(name="binary", sniff=_sniff, read=_read)
