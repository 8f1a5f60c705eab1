"""The frames of a zstd file, walked by their headers: whether it is whole costs no decompression."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_SIZES = (0, 1, 2, 4)
_RLE, _RESERVED = 1, 3
_NO_FRAME = "no frame but other data"


def is_zstd(head: bytes) -> bool:
    """Told by the magic number, of a frame or of a skippable frame in front of one."""
    return head[:4] == MAGIC or int.from_bytes(head[:4], "little") in _SKIPPABLE


def first_bytes(head: bytes, size: int = 65536) -> bytes:
    """What the start of a file holds, decompressed; as far as it goes."""
    if not is_zstd(head):
        return head[:size]
    found = bytearray()
    unpack = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)
    try:
        for at in range(0, len(head), 1024):
            found += unpack.decompress(head[at : at + 1024])
            if len(found) >= size:
                break
    except zstandard.ZstdError:
        pass
    return bytes(found[:size])


def walk(path: Path) -> tuple[list[int], str | None]:
    """Where the frames of a compressed file start, and what is wrong with them: None if they fill the file."""
    size = path.stat().st_size
    starts: list[int] = []
    with path.open("rb") as file:
        packed = is_zstd(file.read(4))
        file.seek(0 if packed else size)
        while file.tell() < size:
            starts.append(file.tell())
            fault = _frame(file, size)
            if fault:
                return starts, f"zstd frame {len(starts)} is {fault}"
    return starts, None


def _frame(file: BinaryIO, size: int) -> str | None:
    magic = file.read(4)
    if int.from_bytes(magic, "little") in _SKIPPABLE:
        return _skip(file, int.from_bytes(file.read(4), "little"), size)
    if magic != MAGIC:
        return "cut off" if len(magic) < 4 and MAGIC.startswith(magic) else _NO_FRAME
    descriptor = (file.read(1) or b"\0")[0]
    single = descriptor >> 5 & 1
    content = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    fault = _skip(file, (1 - single) + _SIZES[descriptor & 3] + content, size)
    while not fault:
        head = file.read(3)
        if len(head) < 3:
            return "cut off"
        block = int.from_bytes(head, "little")
        kind, length = block >> 1 & 3, block >> 3
        if kind == _RESERVED:
            return "damaged"
        fault = _skip(file, 1 if kind == _RLE else length, size)
        if block & 1:
            return fault or _skip(file, 4 if descriptor & 4 else 0, size)
    return fault


def _skip(file: BinaryIO, length: int, size: int) -> str | None:
    return "cut off" if file.seek(length, 1) > size else None


def pieces(path: Path, size: int = 1 << 16, start: int = 0) -> Iterator[bytes]:
    """The file's bytes, decompressed if need be, up to the first damage. ``start`` is the start of a frame."""
    starts, fault = walk(path)
    with path.open("rb") as file:
        if not starts:
            while piece := file.read(size):
                yield piece
            return
        file.seek(start)
        # What is no frame would cost the data before it, as the library raises before it hands them out.
        stop = starts[-1] if fault and fault.endswith(_NO_FRAME) else path.stat().st_size
        source = cast(BinaryIO, _Until(file, stop))
        reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
        try:
            while piece := reader.read(1 << 16):
                yield piece
        except zstandard.ZstdError:
            return


class _Until(io.RawIOBase):
    """A file that ends earlier."""

    def __init__(self, file: BinaryIO, stop: int) -> None:
        self._file, self._stop = file, stop

    def read(self, size: int = -1) -> bytes:
        left = self._stop - self._file.tell()
        return self._file.read(left if size < 0 else min(size, left))
