"""Listings as text: what nvdisasm, cuobjdump and other assemblers print, and what people paste from them."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from sassmix.errors import InputError, Problem
from sassmix.listing import Listing
from sassmix.parsing import parse_parts
from sassmix.readers import Reader

_SIGNS = re.compile(
    r"^[ \t]*(\[B[^\]\n]*\][ \t]*)?/\*[0-9a-fA-F]{4,}\*/[ \t]|^[ \t]*\.section[ \t]+\.|^[ \t]*code for sm_[0-9]"
    r"|^[ \t]*Function[ \t]*: \S|^Fatbin (elf|ptx) code:|^[ \t]*\.(headerflags|target)[ \t]",
    re.MULTILINE,
)
_TOOL_MESSAGE = re.compile(r"^.{0,80}?\b(nvdisasm|cuobjdump)\w*[ \t]+(fatal|error|warning|info)[ \t]*:.*", re.MULTILINE)
_PTX = re.compile(r"\A(?:\s|//[^\n]*\n)*\.version[ \t]+[0-9]+\.[0-9]+\s")
#: Bytes of a large listing that are read at once, about.
_PART = 1 << 22
#: What a part may begin with, in a text that names its architecture.
_BEGIN = re.compile(rb"\n(?=[ \t]*+(?:\.section[ \t]++\.text\.|Function[ \t]*+:[ \t])|Fatbin (?:elf|ptx) code:)")
_LONGEST_BEGIN = 256
_NAMES_ARCH = re.compile(rb"^[ \t]*+(?:\.target|code for)[ \t]++sm_|EF_CUDA_SM[0-9]", re.MULTILINE)
ODD_BYTES = "some bytes are no UTF-8 text and were replaced"
_ENCODINGS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decode(data: bytes) -> tuple[str, bool]:
    """The text of a file, and whether every byte of it was understood (PowerShell saves UTF-16)."""
    for mark, encoding in _ENCODINGS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), True
    try:
        return data.decode("utf-8"), True
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), False


def _sniff(head: bytes) -> bool:
    return is_text(head) and not _PTX.search(text := decode(head)[0]) and bool(_SIGNS.search(text))


_PACKED = {b"\x1f\x8b": "gzip -d", b"BZh": "bzip2 -d", b"\xfd7zXZ": "xz -d", b"PK\x03\x04": "unzip"}


def is_text(head: bytes) -> bool:
    return head.startswith(_ENCODINGS[1][0]) or head.startswith(_ENCODINGS[2][0]) or b"\x00" not in head[:4096]


def read_text(path: Path) -> Iterator[Listing]:
    """One listing, or one for each part of a large file, so that a library's never stands in memory as a whole."""
    told = False
    odd: list[bool] = []
    for listing in parse_parts(_texts(path, odd), path=str(path)):
        if odd and not told:
            listing.problems.append(Problem("warning", str(path), ODD_BYTES))
            told = True
        yield listing


def _texts(path: Path, odd: list[bool]) -> Iterator[str]:
    """:param odd: gets an entry for each part that is no UTF-8 text."""
    for text, understood in map(decode, _parts(path)):
        if not understood:
            odd.append(True)
        yield text


def _parts(path: Path) -> Iterator[bytes]:
    """A large file in parts, each but the first with the begin of a section or a function at its own.

    Where the start names no architecture, the file stays whole, as all of its opcodes together tell.
    """
    try:
        with path.open("rb") as file:
            held = bytearray(file.read(_PART))
            divided = _NAMES_ARCH.search(held)  # which UTF-16 does not do
            while block := file.read(_PART if divided else -1):
                sought = max(_PART, len(held) - _LONGEST_BEGIN)
                held += block
                while divided and (begin := _BEGIN.search(held, sought)):
                    yield bytes(held[: begin.start() + 1])
                    del held[: begin.start() + 1]
                    sought = _PART
            rest = [bytes(held)]
            held.clear()  # while the last part is read, only its text is kept
            yield rest.pop()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error


def describe(head: bytes) -> str:
    """Why a file is of no known kind, in words that help: a tool's message is quoted."""
    from sassmix.readers._zstd import first_bytes, is_zstd

    if is_zstd(head) and not first_bytes(head):
        return "is a compressed file of nothing: the tool that was to write it has captured nothing, or was stopped"
    for magic, tool in _PACKED.items():
        if head.startswith(magic):
            return f"is of no known kind: it is packed; unpack it with {tool} first"
    if not is_text(head):
        return "is of no known kind: neither a text, nor a cubin, a fat binary or an ELF file"
    if _PTX.search(decode(head)[0]):
        return "is of no known kind: it is PTX, which holds no SASS; assemble it with ptxas and give the cubin"
    message = _TOOL_MESSAGE.search(decode(head)[0])
    if message:
        return f"holds a tool's message instead of a listing: {message[0].strip()}"
    first = decode(head)[0].strip().splitlines()[:1]
    return f"is of no known kind; it starts with {first[0][:80]!r}" if first else "holds nothing but blanks"


READER = Reader(name="listing", sniff=_sniff, read=read_text)
