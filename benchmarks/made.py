"""Executed counts to measure with, made up without repetition: traces of CUTracer, exports of Nsight Compute."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

#: Instructions of the made-up kernel, and warps that run at a time.
_SIZE, _WARPS = 400, 64
#: Records of a megabyte.
_BUFFERED = 6000
_TEXTS = (
    "      LDC R{0}, c[0x0][0x28]",
    "      IMAD.WIDE R{0}, R5, 0x8, R2",
    "@P{1}   BRA 0x7f00{0}",
    "      LDG.E.64 R{0}, desc[UR4][R2.64]",
    "      HMMA.16816.F32 R{0}, R4, R8, R12",
    "      IADD3 R{0}, R3, R4, RZ",
)
_NAMES = ("Address", "Source", "# Samples", "Instructions Executed", "Thread Instructions Executed")
_ON = "Predicated-On Thread Instructions Executed"


def trace(path: Path, records: int) -> Path:
    """A complete ``opcode_only`` trace in CUTracer's schema; compressed if the name ends in ``.zst``."""
    with path.open("wb") as file:
        if path.suffix == ".zst":
            pack = zstandard.ZstdCompressor(3).compress
            _write_trace(lambda text: file.write(pack(text)), records)
        else:
            _write_trace(file.write, records)
    return path


def _write_trace(write: Callable[[bytes], object], records: int) -> None:
    """By the megabyte, which is how CUTracer writes; each is a frame of its own in a compressed file."""
    texts = ["FADD R2, R3, R4 ;"] * (_SIZE - 1) + ["EXIT ;"]
    table = {str(number): {"sass": text} for number, text in enumerate(texts)}
    first = {"type": "kernel_metadata", "mangled_name": "_Z1kPf", "sm_family": 90, "instructions": table}
    last = {
        "type": "capture_completion", "version": 1, "grid_launch_id": 0, "status": "complete", "kernel_completed": True,
        "channel_drained": True, "trace_records_written": records, "dropped_records": 0, "errors": [],
    }  # fmt: skip
    lines = [json.dumps(first) + "\n"]
    for line in _records(records):
        lines.append(line)
        if len(lines) == _BUFFERED:
            write("".join(lines).encode())
            lines.clear()
    write("".join([*lines, json.dumps(last)]).encode() + b"\n")


def _records(wanted: int) -> Iterator[str]:
    """Warps in turn, a few instructions each."""
    chance = random.Random(1)
    at = dict.fromkeys(range(_WARPS), 0)
    started, number = _WARPS, 0
    while True:
        for warp in list(at):
            for index in range(at[warp], min(_SIZE, at[warp] + chance.randint(1, 4))):
                mask = 0xFFFFFFFF if chance.random() < 0.9 else 1 << chance.getrandbits(2)
                yield (
                    f'{{"type":"opcode_only","ctx":"0x7f00a0","trace_index":{number},"timestamp":{number * 37},'
                    f'"grid_launch_id":0,"cta":[{warp // 8},0,0],"warp":{warp % 8},"opcode_id":{index},'
                    f'"pc":"{16 * index:#x}","active_mask":"{mask:#010x}"}}\n'
                )
                number += 1
                at[warp] = index + 1
                if number == wanted:
                    return
            if at[warp] == _SIZE:
                del at[warp]
                at[started] = 0
                started += 1


def source_page(path: Path, megabytes: float, metrics: int = 0) -> Path:
    """A source page of so many bytes: six columns, or as many more as there are metrics, then all cells quoted."""
    chance = random.Random(3)
    number = size = 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            text = _kernel(chance, number, metrics)
            size += file.write(text)
            number += 1
    return path


def _kernel(chance: random.Random, number: int, metrics: int) -> str:
    base = 0x7F00_0000_0000 + (number << 20)
    lines = [f'"Kernel Name","k{number}(float *, int)"', _row([*_NAMES, _ON, *map(str, range(metrics))], metrics)]
    for index in range(3000):
        text = chance.choice(_TEXTS).format(chance.randrange(256), chance.randrange(7))
        issued = chance.randrange(1, 1 << 24)
        threads = str(issued * 32 - chance.randrange(64))
        counts = [str(chance.randrange(300)), str(issued), threads, threads]
        more = [str(chance.randrange(1 << chance.randrange(1, 20))) for _ in range(metrics)]
        lines.append(_row([hex(base + 16 * index), text, *counts, *more], metrics))
    return "\n".join(lines) + "\n"


def _row(cells: list[str], metrics: int) -> str:
    return ",".join(f'"{cell}"' if metrics or "," in cell else cell for cell in cells)
