"""The frames of a zstd file, walked by their headers: whether it is whole costs no decompression."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_SIZES = (0, 1, 2, 4)
_RLE, _PACKED, _RESERVED = 1, 2, 3
#: Bytes that a block unpacks to at most.
_BLOCK = 1 << 17
#: The fixtures are packed 18 and 33 times, a made trace of equal records 106 times. What claims more than this, and
#: more than this many bytes, is no trace.
_RATIO, _ROOM = 1000, 1 << 28
_NO_FRAME = "no frame but other data"
_LINE_ENDS = re.compile(rb"[\r\n]+")


def is_zstd(head: bytes) -> bool:
    """Told by the magic number, of a frame or of a skippable frame in front of one."""
    return head[:4] == MAGIC or int.from_bytes(head[:4], "little") in _SKIPPABLE


def first_bytes(head: bytes, size: int = 65536) -> bytes:
    """What the start of a file holds, decompressed; as far as it goes."""
    if not is_zstd(head):
        return head[:size]
    head = head[: _walk(io.BytesIO(head), len(head)).stop]
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


class Frames(NamedTuple):
    """Where the frames of a compressed file start, what is wrong with them (None if they fill the file), and to how
    many bytes they unpack at most.
    """

    starts: list[int]
    fault: str | None
    most: int

    @property
    def stop(self) -> int | None:
        """Where data begin that are no frame. They would cost what is before them, as the library raises before it
        hands that out.
        """
        return self.starts[-1] if self.fault and self.fault.endswith(_NO_FRAME) else None

    def bomb(self, size: int) -> bool:
        """Whether a file of this size may unpack to more than any trace does, which no time would be enough for."""
        return self.most > max(_ROOM, size * _RATIO)


def walk(path: Path) -> Frames:
    """Go from frame to frame and from block to block by their headers."""
    with path.open("rb") as file:
        return _walk(file, path.stat().st_size)


def _walk(file: BinaryIO, size: int) -> Frames:
    starts: list[int] = []
    most = 0
    packed = is_zstd(file.read(4))
    file.seek(0 if packed else size)
    while file.tell() < size:
        starts.append(file.tell())
        fault, room = _frame(file, size)
        most += room
        if fault:
            return Frames(starts, f"zstd frame {len(starts)} is {fault}", most)
    return Frames(starts, None, most)


def _frame(file: BinaryIO, size: int) -> tuple[str | None, int]:
    """What is wrong with the frame that starts here, and to how many bytes it unpacks at most."""
    magic = file.read(4)
    if int.from_bytes(magic, "little") in _SKIPPABLE:
        return _skip(file, int.from_bytes(file.read(4), "little"), size), 0
    if magic != MAGIC:
        return ("cut off" if len(magic) < 4 and MAGIC.startswith(magic) else _NO_FRAME), 0
    descriptor = (file.read(1) or b"\0")[0]
    single = descriptor >> 5 & 1
    content = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    fault = _skip(file, (1 - single) + _SIZES[descriptor & 3] + content, size)
    room = 0
    while not fault:
        head = file.read(3)
        if len(head) < 3:
            return "cut off", room
        block = int.from_bytes(head, "little")
        kind, length = block >> 1 & 3, block >> 3
        if kind == _RESERVED:
            return "damaged", room
        room += _BLOCK if kind == _PACKED else length
        fault = _skip(file, 1 if kind == _RLE else length, size)
        if block & 1:
            return fault or _skip(file, 4 if descriptor & 4 else 0, size), room
    return fault, room


def _skip(file: BinaryIO, length: int, size: int) -> str | None:
    return "cut off" if file.seek(length, 1) > size else None


def pieces(path: Path, size: int = 1 << 16, start: int = 0) -> Iterator[bytes]:
    """The file's bytes, decompressed if need be, up to the first damage. ``start`` is the start of a frame."""
    frames = walk(path)
    with path.open("rb") as file:
        if not frames.starts:
            while piece := file.read(size):
                yield piece
            return
        file.seek(start)
        source = cast(BinaryIO, _Until(file, path.stat().st_size if frames.stop is None else frames.stop))
        reader = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
        try:
            while piece := reader.read(1 << 16):
                yield piece
        except zstandard.ZstdError:
            return


def content_digest(path: Path) -> str:
    """The SHA-256 of the lines that the file holds, decompressed if need be. How they end makes no difference."""
    digest = hashlib.sha256()
    ended = False
    for piece in pieces(path):
        text = _LINE_ENDS.sub(b"\n", piece)
        if lines := text.strip(b"\n"):
            digest.update(b"\n" * (ended or text.startswith(b"\n")) + lines)
            ended = False
        ended = ended or text.endswith(b"\n")
    return digest.hexdigest()


class _Until(io.RawIOBase):
    """A file that ends earlier."""

    def __init__(self, file: BinaryIO, stop: int) -> None:
        self._file, self._stop = file, stop

    def read(self, size: int = -1) -> bytes:
        left = self._stop - self._file.tell()
        return self._file.read(left if size < 0 else min(size, left))
