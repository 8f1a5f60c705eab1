"""Executed counts to measure with, made up without repetition: traces of CUTracer, exports of Nsight Compute."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import zstandard

#: Instructions of the made-up kernel, and warps that run at a time.
_SIZE, _WARPS = 400, 64
#: Records of a megabyte.
_BUFFERED = 6000
_TEXTS = (
    "      LDC R{0}, c[0x0][0x28]",
    "      IMAD.WIDE R{0}, R5, 0x8, R2",
    "@P{1}   BRA {2:#x}",
    "      LDG.E.64 R{0}, desc[UR4][R2.64]",
    "      HMMA.16816.F32 R{0}, R4, R8, R12",
    "      IADD3 R{0}, R3, R4, RZ",
)
_BEGIN = "      LDC R1, c[0x0][0x28]"
_END = ("      EXIT", "      BRA {2:#x}", "      NOP", "      NOP")
_COUNTS = ("Instructions Executed", "Thread Instructions Executed", "Predicated-On Thread Instructions Executed")
#: The columns of a whole export, of which few metrics are not 0 in a row; and of one that was cut, as ours are.
WHOLE = (
    *("Address", "Source", "Warp Stall Sampling (All Samples)", "Warp Stall Sampling (Not-issued Samples)"),
    *("# Samples", *_COUNTS, *(f"metric {number}" for number in range(59))),
)
CUT = ("Address", "Source", *_COUNTS, "# Samples")
#: The first columns of a raw page, and what is counted in its last one of these.
_LAUNCH = (
    *("ID", "Kernel Name", "Block Size", "Grid Size", "CC", "smsp__inst_executed.sum"),
    "sass__inst_executed_per_opcode_with_modifier_all",
)
_OPCODES = (
    *("BRA", "EXIT", "FADD", "FFMA", "HMMA.16816.F32", "IADD3", "IMAD", "IMAD.MOV.U32", "IMAD.WIDE", "ISETP.GE.AND"),
    *("LDC", "LDG.E.64", "LEA.HI.X", "LOP3.LUT", "MOV", "S2R", "SHF.R.U32.HI", "STG.E", "ULDC.64"),
)


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


def source_page(path: Path, megabytes: float, columns: Sequence[str] = WHOLE) -> Path:
    """A source page of so many bytes. All cells are quoted where the columns are those of a whole export."""
    chance = random.Random(3)
    number = size = 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            text = _kernel(chance, number, columns)
            size += file.write(text)
            number += 1
    return path


def _kernel(chance: random.Random, number: int, columns: Sequence[str]) -> str:
    base = 0x7F00_0000_0000 + (number << 20)
    forms = [_BEGIN, *(chance.choice(_TEXTS) for _ in range(3000)), *_END]
    lines: list[Sequence[str]] = [["Kernel Name", f"k{number}(float *, int)"], columns]
    for index, form in enumerate(forms):
        target = index if form in _END else chance.randrange(len(forms))
        text = form.format(chance.randrange(256), chance.randrange(7), base + 16 * target)
        issued = chance.randrange(1, 1 << 24)
        threads = issued * 32 - chance.randrange(64)
        samples = max(0, chance.randrange(-300, 100))
        some = {chance.choice(columns): chance.randrange(1 << chance.randrange(1, 20)) for _ in range(4)}
        counts = dict(zip(_COUNTS, (issued, threads, threads), strict=True))
        cells = {**some, "Address": hex(base + 16 * index), "Source": text, "# Samples": samples, **counts}
        lines.append([str(cells.get(name, 0)) for name in columns])
    return "".join(_row(cells, columns is WHOLE) for cells in lines)


def _row(cells: Sequence[str], quoted: bool) -> str:
    return ",".join(f'"{cell}"' if quoted or "," in cell else cell for cell in cells) + "\n"


def raw_page(path: Path, megabytes: float) -> Path:
    """A raw page of so many bytes: in each row counts by opcode, with their names, and some 300 other metrics."""
    chance = random.Random(5)
    pipes = [f"sm__inst_executed_pipe_{name}.sum" for name in ("alu", "fma", "lsu", "tensor", "uniform", "xu")]
    metrics = [*pipes, *(f"metric {number}" for number in range(300))]
    number = size = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(_row([*_LAUNCH, *metrics], True) + _row([*[""] * len(_LAUNCH), *["inst"] * len(metrics)], True))
        while size < megabytes * 1e6:
            size += file.write(_row([*_launch(chance, number), *(_number(chance) for _ in metrics)], True))
            number += 1
    return path


def _launch(chance: random.Random, number: int) -> list[str]:
    counts = {name: chance.randrange(1, 1 << 20) for name in _OPCODES}
    total = sum(counts.values())
    cell = f"{total:,} ({'; '.join(f'{name}: {count:,}' for name, count in counts.items())})"
    return [str(number), f"k{number}(float *, int)", "(96, 1, 1)", "(2, 3, 1)", "9.0", f"{total:,}", cell]


def _number(chance: random.Random) -> str:
    return f"{chance.randrange(1 << chance.randrange(1, 20)):,}.{chance.choice(('000000', '250000'))}"
