"""``python -m fuzz.seeds``: small inputs of every harness, cut from the fixtures, to start from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import zstandard

from fuzz.printed import FIXTURES

CORPUS = Path(__file__).parent / "corpus"
_COUNTS = FIXTURES / "counts"


def _lines(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        return b"".join(islice(file, start, stop))


def listing() -> Iterator[bytes]:
    """The head of listings of some generations, and some lines by hand."""
    for path in sorted((FIXTURES / "listings").glob("*.sass")):
        if path.name.startswith(("saxpy.sm_", "calls.sm_", "switch.sm_", "tcgen05.sm_100a", "wgmma")):
            yield _lines(path, 0, 60)
    yield b"\tcode for sm_75\n\t\tFunction : k\n        /*0000*/  MOV R1, R2 ;  /* 0x00 */\n        /*0010*/ EXIT ;\n\t\t.....\n"
    yield b"@P0 IMAD.WIDE R2, R3, 0x4, R4\nHMMA.16816.F32 R0, R4, R8, R0 ;\n// note\nEXIT\n"
    yield b"[B------:R-:W-:-:S04] /*0000*/ @!PT LDS RZ, [RZ] ;\n[B0-----:R-:W-:Y:S01] /*0010*/ EXIT ;\n"


def listing_json() -> Iterator[bytes]:
    """Functions with a few instructions each."""
    for path in sorted((FIXTURES / "json").glob("*.json"))[:6]:
        head, functions = json.loads(path.read_text())
        for item in functions:
            item["sass-instructions"] = item["sass-instructions"][:12]
        yield json.dumps([head, functions[:2]]).encode()


def elf() -> Iterator[bytes]:
    """The smallest cubins of the ABIs, and what embeds some, cut to its start."""
    for path in sorted((FIXTURES / "cubins").glob("switch*.cubin"), key=lambda p: p.stat().st_size)[:5]:
        yield path.read_bytes()
    yield (FIXTURES / "binaries" / "saxpy.fatbin").read_bytes()[:2000]
    yield b"!<arch>\n" + bytes(50) + b"\x50\xed\x55\xba"


def tool_output() -> Iterator[bytes]:
    """A listing of one cubin; the lists of cuobjdump for a library, and a listing of each member."""
    one = _lines(FIXTURES / "listings" / "saxpy.sm_90a.sass", 0, 60)
    yield one
    yield b"\0".join([b"ELF file    1: the-file.1.sm_90a.cubin\n", b"PTX file    1: the-file.2.sm_90.ptx\n", b"", one])
    yield b"member a.o:the-file:x.o:\nELF file    1: x.1.sm_75.cubin\nELF file    2: ../y.sm_75.cubin\n\0\0"


def hist() -> Iterator[bytes]:
    """Histograms by name and by number, with and without cycles."""
    for path in sorted(_COUNTS.rglob("*_hist.csv")):
        yield _lines(path, 0, 15)
    yield b"warp_id,region_id,instruction,count,cycles\n0,0,OPCODE_12,3,0\n0,1,OPCODE_0x13,9223372036854775807,0\n"
    yield b'\xef\xbb\xbfwarp_id,instruction,count\r\n1,"MOV R1, R2 ;",4.0\r\n1,EXIT,1\r\n'


def trace() -> Iterator[bytes]:
    """The head and the end of traces, plain and packed."""
    for path in sorted(_COUNTS.rglob("*.ndjson")):
        lines = path.read_bytes().splitlines(keepends=True)
        few = b"".join([_short(lines[0]), *lines[1:8], *lines[-2:]])
        yield few
        yield zstandard.ZstdCompressor().compress(few)
    yield b'{"type":"kernel_launch","mangled_name":"_Z1kv","grid_launch_id":0}\n'
    yield b'{"type":"reg_trace","grid_launch_id":0,"cta":[0,0,0],"warp":0,"trace_index":0,"opcode_id":0,"pc":"0x0"}\n'


def _short(line: bytes) -> bytes:
    record = json.loads(line)
    if isinstance(record.get("instructions"), dict):
        record["instructions"] = dict(islice(record["instructions"].items(), 4))
    return json.dumps(record).encode() + b"\n"


def source_page() -> Iterator[bytes]:
    """The head of source pages."""
    for path in sorted(_COUNTS.rglob("*.source.csv")):
        yield _lines(path, 0, 12)
    yield b'"Kernel Name","k"\n"#","Address","Source","Instructions Executed"\n"0","0x10","EXIT","1,024"\n'


def raw_page() -> Iterator[bytes]:
    """A raw page, and one of few columns."""
    for path in sorted(_COUNTS.rglob("*.raw.csv")):
        yield path.read_bytes()
    metric = b"sass__inst_executed_per_opcode_with_modifier_all"
    head = b'"ID","Kernel Name","Block Size","Grid Size","CC","' + metric + b'"\n'
    yield head + b'"","","","","",""\n"0","k(int)","(128, 1, 1)","(4, 1, 1)","9.0","640 (LDC: 160; IMAD.WIDE: 480)"\n'


def nvbit() -> Iterator[bytes]:
    """The heads of its texts."""
    for path in sorted((_COUNTS / "nvbit").glob("*.txt")):
        yield path.read_bytes()
    yield b"kernel 0 - _Z1kv - #thread-blocks 4,  kernel instructions 40, total instructions 40\n  EXIT = 8\n  MOV = 32\n"


def zstd() -> Iterator[bytes]:
    """Frames with and without checksum and size, one behind the other, skippable ones, runs of one byte."""
    text = b'{"type":"opcode_only","opcode_id":1}\n' * 20
    plain = zstandard.ZstdCompressor(write_checksum=True).compress(text)
    unsized = zstandard.ZstdCompressor(write_content_size=False).compress(text)
    run = zstandard.ZstdCompressor().compress(bytes(200_000))
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    yield from (plain, unsized, plain + unsized, skippable + plain, run, plain[:-3], plain + b"tail")


SEEDS = {
    **{"listing": listing, "listing-json": listing_json, "elf": elf, "tool-output": tool_output, "hist": hist},
    **{"trace": trace, "source-page": source_page, "raw-page": raw_page, "nvbit": nvbit, "zstd": zstd},
}


def main() -> None:
    """Write them; what is there under the same name is the same."""
    for name, seeds in SEEDS.items():
        folder = CORPUS / name
        folder.mkdir(parents=True, exist_ok=True)
        for data in seeds():
            (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


if __name__ == "__main__":
    main()
