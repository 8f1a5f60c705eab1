"""Hostile inputs of every kind, by every command: a problem or a clear error, in the time and memory of docs/limits.md.

Large ones are made here, and only with SASSMIX_HOSTILE=1 (``make hostile``) at their full size.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zstandard

import sassmix
from sassmix.errors import SassmixError
from sassmix.readers.elf import open_elf
from tests.conftest import FIXTURES, Command, Run
from tests.test_binary import FATBIN, LISTING, fake, no_packages

__all__ = ["no_packages"]
FORMATS = ("text", "json", "csv", "markdown", "html")
LARGE = os.environ.get("SASSMIX_HOSTILE") == "1"
HIST = b"warp_id,region_id,instruction,count\n0,0,MOV,4\n0,0,IMAD.WIDE,9\n0,0,EXIT,1\n"
RECORD = '{{"type":"opcode_only","grid_launch_id":0,"cta":[0,0,0],"warp":0,"trace_index":{0},"opcode_id":{0}}}\n'
TRACE = "".join(RECORD.format(number) for number in range(3)).encode()
SOURCE = b'"Kernel Name","k(int)"\n"#","Address","Source","Instructions Executed"\n' + b"".join(
    f'"{n}","0x7f{16 * n:02x}","{text}","{n + 4}"\n'.encode() for n, text in enumerate(["MOV R1, R2", "EXIT"])
)
RAW = (
    b'"ID","Kernel Name","Block Size","Grid Size","CC","sass__inst_executed_per_opcode"\n"","","","","",""\n'
    b'"0","k(int)","(128, 1, 1)","(4, 1, 1)","9.0","640 (LDC: 160; IMAD: 480)"\n'
)
NVBIT = b"kernel 0 - _Z1kv - #thread-blocks 4,  kernel instructions 40, total instructions 40\n  EXIT = 8\n  MOV = 32\n"
JSON = (
    b'[{"SM":{"version":{"major":9,"minor":0}}},[{"function-name":"k","start":0,"length":32,"sass-instructions":'
    b'[{"opcode":"MOV","operands":"R1,R2"},{"opcode":"EXIT"}]}]]'
)
#: A small input of every reader: the name of its file, and what it holds.
KINDS: dict[str, tuple[str, bytes]] = {
    "listing": (
        "k.sass",
        LISTING.replace("/*0000*/", "/*0000*/                   MOV R1, R2 ;\n        /*0010*/").encode(),
    ),
    "cuobjdump": ("k.sass", b"\tcode for sm_75\n\t\tFunction : k\n        /*0000*/  EXIT ;  /* 0x00 */\n\t\t.....\n"),
    "bare": ("k.sass", b"MOV R1, R2 ;\nHMMA.16816.F32 R0, R4, R8, R0 ;\nEXIT ;\n"),
    "json": ("k.json", JSON),
    "histogram": ("kernel_1a2b3c4d_iter0__Z1kv_hist.csv", HIST),
    "trace": ("kernel_1a2b3c4d_iter0__Z1kv.ndjson", TRACE),
    "packed trace": ("kernel_1a2b3c4d_iter0__Z1kv.ndjson.zst", zstandard.ZstdCompressor().compress(TRACE)),
    "source page": ("k.csv", SOURCE),
    "raw page": ("k.csv", RAW),
    "nvbit": ("k.txt", NVBIT),
    "cubin": ("k.cubin", (FIXTURES / "cubins" / "switch.sm_75.cubin").read_bytes()),
    "fat binary": ("k.fatbin", FATBIN.read_bytes()),
}
NEVER = re.compile(r"Traceback|internal error|its reader, [^\n]*, fails|fails to tell whether")
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HTML = b"<script>alert(1)</script>|`x`[a](b)<img src=x onerror=y>"


def numbers(text: bytes) -> Callable[[bytes], bytes]:
    """Every number becomes another."""
    return lambda data: re.sub(rb"\d+", text, data)


#: What is done to an input, whatever it is.
MUTATIONS: dict[str, Callable[[bytes], bytes]] = {
    "NUL behind": lambda data: data + bytes(5000),
    "NUL in front": lambda data: bytes(3) + data,
    "NUL between": lambda data: data.replace(b"\n", b"\n\0"),
    "no text": lambda data: bytes(byte ^ 0x80 for byte in data),
    "bytes that are no UTF-8": lambda data: data.replace(b"k", b"\xff\xc3"),
    "UTF-16": lambda data: b"\xff\xfe" + data.decode("latin-1").encode("utf-16-le"),
    "half a surrogate": lambda data: data.replace(b"MOV", b"\xed\xa0\x80").replace(b'"k"', b'"\\ud800"'),
    "cut": lambda data: data[: len(data) * 2 // 3],
    "doubled": lambda data: data + data,
    "a long line": lambda data: data + b"x" * 200_000 + b"\n" + data,
    "columns twice": lambda data: data.replace(b"count\n", b"count,count\n").replace(b'"Source"', b'"Source","Source"'),
    "numbers past 64 bits": numbers(b"9" * 30),
    "numbers past the digits of int()": numbers(b"9" * 5000),
    "negative numbers": numbers(b"-7"),
    "no numbers": numbers(b"NaN"),
    "endless numbers": numbers(b"inf"),
    "largest numbers": numbers(b"9223372036854775807"),
    "deep brackets": lambda data: data.replace(b"R2", b"[" * 3000 + b"R2" + b"]" * 3000).replace(
        b"[0,0,0]", b"[" * 3000
    ),
    "escapes": lambda data: data.replace(b"k", b"k\x1b[2J\x07").replace(b"MOV", b"\x1b]0;x\x07"),
    "markup": lambda data: data.replace(b"k(int)", HTML).replace(b"_Z1kv", HTML).replace(b"MOV", HTML),
    "formulas": lambda data: data.replace(b"k(int)", b"=1+1").replace(b"MOV", b"=cmd|'/c x'!A0"),
    "wrong types": lambda data: re.sub(rb":\s*[0-9]+|:\s*\"\w+\"", b":[{}]", data),
    "paths": lambda data: data.replace(b"_Z1kv", b"../../pwned").replace(b"k(int)", b"/tmp/pwned"),
}

#: Those whose outcome differs in other formats.
_OF_TEXT = [MUTATIONS[name] for name in ("escapes", "markup", "formulas", "half a surrogate")]


def harmless(run: Run) -> Run:
    """An end with one of the statuses, in words."""
    assert run.status in {0, 1, 2, 3} and not NEVER.search(run.out + run.err), run.err
    assert run.out or run.err
    assert not STEERS.search(run.err)
    return run


@pytest.mark.parametrize("change", MUTATIONS.values(), ids=MUTATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_done_to_an_input_the_commands_end_in_words(
    command: Command, tmp_path: Path, kind: str, change: Callable[[bytes], bytes]
) -> None:
    name, data = KINDS[kind]
    path, good = tmp_path / name, tmp_path / "good.sass"
    path.write_bytes(change(data))
    good.write_bytes(KINDS["listing"][1])
    report = harmless(command("mix", path, "--format", "json"))
    for kernel in report.json["kernels"]:
        assert sum(row["count"] for row in kernel["mix"]) == kernel["counts"]["total"]
    if report.status == 2:
        assert any(problem["severity"] == "error" for problem in report.json["problems"])
    harmless(command("check", path, "--format", "json"))
    harmless(command("diff", good, path))
    for form in (FORMATS[2:] if change in _OF_TEXT else ("csv",)) if kind not in {"cubin", "fat binary"} else ():
        run = harmless(command("mix", path, good, "--format", form))
        assert run.status in {0, 3} and not STEERS.search(run.out)
        assert form == "csv" or not re.search(r"(?<!\\)<(script>alert|img src=x)", run.out)
        if form == "csv":
            rows = list(csv.reader(io.StringIO(run.out)))
            assert len({len(row) for row in rows}) == 1 and not any(row[0].startswith("=") for row in rows)
    assert {item.name for item in tmp_path.iterdir()} == {name, good.name}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"cubin", "fat binary"}])
def test_wherever_an_input_is_cut_what_stands_before_is_read(tmp_path: Path, kind: str) -> None:
    name, data = KINDS[kind]
    path, before = tmp_path / name, 0
    for cut in range(0, len(data) + 1, max(1, len(data) // 25)):
        path.write_bytes(data[:cut])
        try:
            report = sassmix.mix([path], include_padding=True)
        except SassmixError as error:
            assert "\n" not in str(error)
            continue
        total = sum(kernel.tally.total for kernel in report.kernels)
        assert kind not in {"listing", "cuobjdump", "trace"} or total >= before
        before = total


# Files and folders


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with one good input."""
    inside = tmp_path / "inputs"
    inside.mkdir()
    (inside / "good.sass").write_bytes(KINDS["listing"][1])
    yield inside


def test_links_in_circles_end(command: Command, folder: Path) -> None:
    (folder / "self").symlink_to(folder)
    (folder / "a").symlink_to(folder / "b")
    (folder / "b").symlink_to(folder / "a")
    assert len(harmless(command("mix", folder, "--format", "json")).json["inputs"]) == 1
    assert harmless(command("mix", folder / "a")).status == 2


@pytest.mark.skipif(os.name == "nt", reason="no FIFOs, no permissions")
def test_what_is_no_file_in_a_folder_is_passed_over(command: Command, folder: Path) -> None:
    os.mkfifo(folder / "fifo")
    (folder / "device").symlink_to("/dev/zero")
    (folder / "closed").mkdir(mode=0)
    (folder / "unreadable.sass").write_bytes(KINDS["listing"][1])
    (folder / "unreadable.sass").chmod(0)
    report = harmless(command("mix", folder, "--format", "json")).json
    readable = os.access(folder / "unreadable.sass", os.R_OK)  # root reads everything
    assert len(report["inputs"]) == 1 + readable
    said = " ".join(problem["message"] for problem in report["problems"])
    assert readable or ("the folder cannot be read" in said and "cannot be read: Permission denied" in said)


def test_what_may_not_be_read_is_said_for_whoever_runs_it(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The superuser may read everything, and runs the tests in many a container."""

    def refusing(way: Callable[..., Any]) -> Callable[..., Any]:
        def refused(path: Path, *arguments: Any, **named: Any) -> Any:
            if path.name.startswith("closed"):
                raise PermissionError(13, "Permission denied", str(path))
            return way(path, *arguments, **named)

        return refused

    (folder / "closed").mkdir()
    (folder / "closed.sass").write_bytes(KINDS["listing"][1])
    for way in ("iterdir", "open"):
        monkeypatch.setattr(Path, way, refusing(getattr(Path, way)))
    run = harmless(command("mix", folder, "--format", "json"))
    said = {Path(problem["path"]).name: problem["message"] for problem in run.json["problems"]}
    assert run.status == 0 and len(run.json["inputs"]) == 1
    assert "the folder cannot be read: Permission denied" in said["closed"]
    assert "cannot be read: Permission denied" in said["closed.sass"]
    assert harmless(command("mix", folder / "closed.sass")).status == 2


def test_a_file_that_goes_away_is_said(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(path: Path) -> str:
        path.unlink()
        return "0" * 64

    monkeypatch.setattr("sassmix.readers._digest", gone)
    run = harmless(command("mix", folder / "good.sass"))
    assert run.status == 2 and "cannot be read: No such file or directory" in run.err


def test_a_folder_of_many_files(command: Command, folder: Path) -> None:
    for number in range(20_000 if LARGE else 500):
        (folder / f"note{number}").write_text("no input")
    run = harmless(command("mix", folder, "--format", "json"))
    assert run.status == 0 and len(run.json["inputs"]) == 1


NAMES = ("-o", "--format=json", "a\nb", "\x1b[2J.sass", "=1+1.sass", "*.sass", "[k].sass", "<b>.sass", "\udcff.sass")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["listing", "trace", "histogram"])
def test_names_of_files_are_names(command: Command, tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(KINDS[kind][1])
    assert harmless(command("mix", path, "--format", "json")).json["inputs"][0]["path"] == str(path)
    for form in ("text", "csv", "markdown", "html"):
        run = harmless(command("mix", tmp_path, "--format", form))
        assert run.status == 0 and not STEERS.search(run.out)
        assert form != "html" or "<b>.sass" not in run.out
    assert [item.name for item in tmp_path.iterdir()] == [name]


# Binaries that lie


def sections(count: int, *, names: bytes, kind: int = 1, offset: int = 64, size: int = 64) -> bytes:
    """A cubin with many sections of one name; the first holds the names."""
    table, row = 64, struct.Struct("<IIQQQQIIQQ")
    head = b"\x7fELF\x02\x01\x01\x33\x07" + bytes(7) + struct.pack("<HHI", 2, 190, 1)
    head += struct.pack("<QQQIHHHHHH", 0, 0, table, 0x5A055A, 64, 56, 0, row.size, count, 0)
    first = row.pack(0, 3, 0, 0, table + row.size * count, len(names), 0, 0, 0, 0)
    return head + first + row.pack(0, kind, 0, 0, offset, size, 0, 0, 0, 0) * (count - 1) + names


@pytest.mark.parametrize("value", [0, 1, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("at", range(0, 64, 4))
def test_sizes_and_offsets_that_lie(tmp_path: Path, at: int, value: int) -> None:
    """In the header, and in the section headers of a real cubin: an error or a table, never another exception."""
    cubin = bytearray(KINDS["cubin"][1])
    table = int.from_bytes(cubin[40:48], "little")
    path = tmp_path / "k.cubin"
    for place in (at, table + at, table + 64 + at, table + 5 * 64 + at):
        for width in (4, 8):
            lied = cubin.copy()
            lied[place : place + width] = value.to_bytes(8, "little")[:width]
            path.write_bytes(lied)
            try:
                open_elf(path, "k")
            except SassmixError as error:
                assert "cut off" in str(error)


@pytest.mark.parametrize("names", [b"a" * 2_000_000, b".note.nv.tkinfo\0" + bytes(2_000_000)], ids=["name", "note"])
def test_many_sections_with_one_endless_name_take_no_time(tmp_path: Path, names: bytes) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(sections(60_000, names=names, size=3_000_000))
    start = time.process_time()
    open_elf(path, "k")
    assert time.process_time() - start < 5


TOOLS = {
    "garbage": "sys.stdout.buffer.write(bytes(range(256)) * 4000)",
    "escapes": "print('\\x1b[2J' * 1000)",
    "a listing with endless names": f"print({LISTING!r}.replace('.k:', '.' + 'k' * 200_000 + ':'))",
    "messages without end": "sys.stderr.write('nvdisasm warning : x\\n' * 20_000); sys.exit(1)",
    "a crash behind a listing": f"print({LISTING!r}, flush=True); os.kill(os.getpid(), signal.SIGSEGV)",
    "nothing in time": "time.sleep(60)",
}


@pytest.mark.parametrize("script", TOOLS.values(), ids=TOOLS)
def test_a_tool_that_goes_wrong_is_said_by_every_command(
    command: Command, no_packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    fake(no_packages, script)
    monkeypatch.setenv("SASSMIX_TOOL_TIMEOUT", "2" if "sleep" in script else "30")
    path = tmp_path / "k.cubin"
    path.write_bytes(KINDS["cubin"][1])
    for name in ("mix", "check"):
        run = harmless(command(name, path, "--format", "json"))
        assert run.status in {1, 2} or run.json["problems"] or "endless" in script or "k" * 1000 in run.out


@pytest.mark.parametrize("member", ["x" * 300, "../x", "/x", "a,b", "é" * 200, "."])
def test_a_member_with_a_name_that_is_none_is_refused(
    command: Command, no_packages: Path, tmp_path: Path, member: str
) -> None:
    fake(no_packages, "", "nvdisasm")
    fake(no_packages, f"print('ELF file    1: ' + {member!r})", "cuobjdump")
    path = tmp_path / "k.fatbin"
    path.write_bytes(KINDS["fat binary"][1])
    run = harmless(command("mix", path))
    assert run.status == 2 and "gives a member a name that is none" in run.err


# Time and memory, in a process of its own


#: A small process in between: the kernel counts the memory of the one that starts another to the other's peak.
LAUNCHER = """
import os, sys
pid = os.posix_spawn(sys.executable, [sys.executable, "-m", "sassmix.cli", *sys.argv[2:]], os.environ)
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss, file=file)
"""


def measured(tmp_path: Path, *arguments: str | Path) -> tuple[Run, float, int]:
    """What a command did, its seconds of processor time, and its memory at most in MB."""
    told = tmp_path / "used"
    command = [sys.executable, "-c", LAUNCHER, str(told), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
    status, seconds, peak = told.read_text().split()
    run = Run(int(status), done.stdout, done.stderr)
    return run, float(seconds), int(peak) // (1 << 20 if sys.platform == "darwin" else 1 << 10)


def listed(middle: str) -> bytes:
    """A listing with something in the middle, and a function behind it."""
    start = LISTING.replace("EXIT", "MOV R1, R2", 1)
    return (
        start + middle + "        /*0010*/                   EXIT ;\n" + LISTING.replace(".k:", ".behind:")
    ).encode()


def bomb(line: bytes, megabytes: int) -> bytes:
    """A small file that unpacks to many megabytes of a line, behind a record."""
    pack = zstandard.ZstdCompressor(level=9).compressobj()
    block = line * (1_000_000 // len(line))
    return pack.compress(TRACE) + b"".join(pack.compress(block) for _ in range(megabytes)) + pack.flush()


MANY = 10 if LARGE else 1


class Grown(NamedTuple):
    """A large input: its kind, what it holds, seconds of processor time and megabytes at most, instructions read.

    The bounds are those of the full size: at least five times the seconds and twice the megabytes of docs/limits.md.
    """

    kind: str
    made: Callable[[], bytes]
    seconds: int
    megabytes: int
    total: int


def repeated(text: str, number: int = 10_000_000) -> str:
    """So many characters, or ten times as many."""
    return text * (number * MANY // len(text))


def instruction(text: str) -> bytes:
    """A listing with one more instruction."""
    return listed(f"        /*0020*/                   {text} ;\n")


def functions(number: int) -> bytes:
    """A listing of so many."""
    return "".join(LISTING.replace(".k:", f".k{n}:") for n in range(number)).encode() + listed("")


def opcodes(number: int) -> bytes:
    """A listing with so many different ones."""
    return listed("".join(f"        /*{16 * n + 32:04x}*/                   OP{n} R1, R2 ;\n" for n in range(number)))


def warps(number: int) -> bytes:
    """A histogram of so many."""
    return HIST + b"".join(b"%d,0,EXIT,1\n" % n for n in range(1, number + 1))


def traced_warps(number: int) -> bytes:
    """A trace of so many, with three records each."""
    return b"".join(TRACE.replace(b'"warp":0', b'"warp":%d' % n) for n in range(number))


GROWN = {
    "listing: a line": Grown("listing", lambda: listed(repeated("x") + "\n"), 20, 1000, 3),
    "listing: labels": Grown(
        "listing", lambda: listed("".join(f".L_x_{n}:\n" for n in range(100_000 * MANY))), 30, 900, 3
    ),
    "listing: lines that are none": Grown("listing", lambda: listed("%%% x\n" * (30_000 * MANY)), 60, 700, 3),
    "listing: an operand": Grown("listing", lambda: instruction(f"MOV R1, {repeated('R')}"), 40, 3000, 4),
    "listing: operands": Grown("listing", lambda: instruction(f"MOV R1{repeated(', R1')}"), 40, 6000, 4),
    "listing: brackets": Grown("listing", lambda: instruction(f"MOV {repeated('[')}"), 40, 3000, 4),
    "listing: brackets in pairs": Grown(
        "listing", lambda: instruction(f"MOV {repeated('[', 5_000_000)}R1{repeated(']', 5_000_000)}"), 40, 3000, 4
    ),
    "listing: modifiers": Grown("listing", lambda: instruction(f"MOV{repeated('.X', 500_000)} R1"), 20, 1000, 4),
    "listing: functions": Grown("listing", lambda: functions(2_000 * MANY), 60, 400, 2_000 * MANY + 3),
    "listing: opcodes": Grown("listing", lambda: opcodes(10_000 * MANY), 60, 350, 10_000 * MANY + 3),
    "histogram: a line": Grown(
        "histogram", lambda: HIST + b"0,0," + repeated("x").encode() + b"\n" + HIST, 20, 1000, 28
    ),
    "histogram: warps": Grown("histogram", lambda: warps(50_000 * MANY), 40, 700, 50_000 * MANY + 14),
    "trace: a line": Grown(
        "trace", lambda: TRACE + b'{"x":"' + repeated("x", 18_000_000).encode() + b'"}\n' + TRACE, 25, 700, 6
    ),
    "trace: nesting": Grown(
        "trace", lambda: TRACE + b'{"type":"kernel_metadata","x":' + b"[" * 1_000_000 + b"\n" + TRACE, 20, 600, 6
    ),
    "trace: warps": Grown("trace", lambda: traced_warps(30_000 * MANY), 40, 1000, 90_000 * MANY),
    "source page: blanks in a header": Grown(
        "source page", lambda: b"x,source" + b" " * 200_000 + b"x,y\n" + SOURCE, 15, 300, 9
    ),
    "source page: brackets in a header": Grown(
        "source page", lambda: b"x,source" + b"[" * 200_000 + b"x,y\n" + SOURCE, 15, 300, 9
    ),
    "source page: a line": Grown("source page", lambda: SOURCE + repeated("x").encode() + b"\n", 20, 800, 9),
    "raw page: a line": Grown("raw page", lambda: RAW + repeated("x").encode() + b"\n", 20, 800, 640),
    "raw page: instances": Grown(
        "raw page", lambda: RAW.replace(b"LDC: 160", b"LDC: 1; " * (20_000 * MANY)), 25, 600, 20_000 * MANY + 480
    ),
    "nvbit: dashes": Grown("nvbit", lambda: NVBIT + repeated("-", 5_000_000).encode() + b"\n" + NVBIT, 20, 700, 80),
    "nvbit: a line": Grown("nvbit", lambda: NVBIT + repeated("x").encode() + b"\n" + NVBIT, 20, 1500, 80),
    "json: nesting": Grown("json", lambda: JSON.replace(b'"R1,R2"', b"[" * 1_000_000), 15, 200, 0),
    "blank lines": Grown("trace", lambda: b"\n" * 200_000, 15, 300, 0),
    "bomb of records": Grown("packed trace", lambda: bomb(TRACE, 1000), 15, 300, 0),
    "bomb of blanks": Grown("packed trace", lambda: bomb(b" ", 1000), 15, 300, 0),
    "bomb of lines": Grown("packed trace", lambda: bomb(b"{}\n", 1000), 15, 300, 0),
}


@pytest.mark.parametrize("grown", GROWN.values(), ids=GROWN)
def test_size_is_bounded_in_time_and_memory_and_takes_nothing_else_along(tmp_path: Path, grown: Grown) -> None:
    path = tmp_path / KINDS[grown.kind][0]
    path.write_bytes(grown.made())
    run, took, used = measured(tmp_path, "mix", path, "--format", "json")
    harmless(run)
    print(f"{path.stat().st_size / 1e6:.1f} MB: {took:.1f} s, {used} MB")  # for docs/limits.md: make hostile, with -rP
    assert took < grown.seconds and used < grown.megabytes, (took, used)
    report = json.loads(run.out)
    assert sum(kernel["counts"]["total"] for kernel in report["kernels"]) == grown.total
    assert run.status == (0 if grown.total else 2 if "trace" in grown.kind else 3)
    if grown.kind == "packed trace":
        assert "packed too well for a trace" in run.err


def test_a_trace_that_is_packed_well_is_read(tmp_path: Path) -> None:
    """The bound is far from what real traces come to."""
    lines = "".join(RECORD.format(number % 40) for number in range(20_000)).encode()
    path = tmp_path / KINDS["packed trace"][0]
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(lines))
    assert sum(kernel.tally.total for kernel in sassmix.mix([path]).kernels) == 20_000


def test_sums_past_a_counter_are_exact_in_every_output(command: Command, tmp_path: Path) -> None:
    largest = (1 << 63) - 1
    path = tmp_path / KINDS["histogram"][0]
    path.write_bytes(HIST + b"0,0,EXIT,%d\n" % largest * 3)
    report = sassmix.mix([path])
    assert report.to_frame()["count"].sum() == report.kernels[0].tally.total == 3 * largest + 14
    for form in FORMATS:
        assert harmless(command("mix", path, "--format", form)).status == 0
