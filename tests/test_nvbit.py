"""NVBit's texts: opcode_hist and instr_count, whatever the program prints between."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import mix
from sassmix.counts import Counts
from sassmix.errors import InputError
from sassmix.readers import ncu_source, nvbit
from tests.conftest import FIXTURES

NVBIT = FIXTURES / "counts" / "nvbit"
KERNEL = "kernel 0 - _Z1kv - #thread-blocks 4,  kernel instructions 40, total instructions 40\n"


def read(path: Path) -> list[Counts]:
    assert nvbit.READER.sniff(path.read_bytes())
    return [item for item in nvbit.READER.read(path) if isinstance(item, Counts)]


def text(tmp_path: Path, content: str) -> list[Counts]:
    path = tmp_path / "out.txt"
    path.write_text(content)
    return read(path)


def opcodes(counts: Counts) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in counts.rows:
        if row.issued:
            found[row.mnemonic or row.name or ""] += row.issued
    return dict(found)


def test_histogram_is_the_profilers() -> None:
    found = read(NVBIT / "opcode_hist.txt")
    profiled = [c for c in ncu_source.READER.read(FIXTURES / "counts/ncu/vecadd.source.csv") if isinstance(c, Counts)]
    assert [opcodes(counts) for counts in found] == [opcodes(profiled[number]) for number in (0, 1, 4)]
    assert [counts.names.mangled for counts in found] == ["_Z6vecAddPKdS0_Pdi"] * 2 + ["_Z12reduceKernelPKfPfi"]
    assert not any(counts.gaps or counts.problems for counts in found)
    assert {(counts.launches, counts.tool, counts.kind) for counts in found} == {(1, "NVBit 1.7.5", "nvbit-hist")}


def test_threads_are_said_to_be_threads() -> None:
    for counts in read(NVBIT / "opcode_hist.threads.txt"):
        assert all(row.threads == row.issued for row in counts.rows)
        assert counts.missing == ("warp instructions",)
        assert "thread instructions" in counts.problems[0].message
        assert counts.names.mangled is None and counts.names.demangled


def test_totals_alone_stay_unresolved() -> None:
    found = read(NVBIT / "instr_count.txt")
    assert [opcodes(counts) for counts in found] == [{"all instructions": 640}] * 2 + [{"all instructions": 238464}]
    assert all(row.mnemonic is None for counts in found for row in counts.rows)


@pytest.mark.parametrize(
    ("body", "wanted", "gaps"),
    [
        ("  EXIT = 8\n  FADD = 32\n", {"EXIT": 8, "FADD": 32}, 0),
        ("  EXIT = 8\nstep 1\n  FADD = 32\n > N = 100\n", {"EXIT": 8, "FADD": 32}, 0),
        ("  EXIT = 8\n  FADD = 30\n", {"EXIT": 8, "FADD": 30, "not among the opcodes": 2}, 2),
        ("  EXIT = 8\n  FADD = 33\n", {"EXIT": 8, "not among the opcodes": 32}, 3),
        ("  FADD = 40\n", {"FADD": 40}, 1),
        ("  EXIT = 8\n  FADD = -32\n", {"EXIT": 8, "not among the opcodes": 32}, 3),
        ("  EXIT = 8\n  FADD = 99999999999999999999999\n", {"EXIT": 8, "not among the opcodes": 32}, 3),
        ("", {"all instructions": 40}, 0),
    ],
)
def test_bodies(tmp_path: Path, body: str, wanted: dict[str, int], gaps: int) -> None:
    [counts] = text(tmp_path, KERNEL + body)
    assert (opcodes(counts), len(counts.gaps)) == (wanted, gaps)
    assert counts.problems, "at least that the settings are not there"


@given(st.permutations([("EXIT", 8), ("FADD", 32), ("HMMA.16816.F32", 64)]))
def test_what_the_total_has_no_room_for_is_not_the_launchs(
    tmp_path_factory: pytest.TempPathFactory, body: list[tuple[str, int]]
) -> None:
    """Behind opcodes that make up the total it is another launch's, whose line is not there; else it is damaged."""
    lines = "".join(f"  {name} = {number}\n" for name, number in body)
    first, *others = text(tmp_path_factory.mktemp("sum"), KERNEL + lines)
    assert opcodes(first) == {"EXIT": 8, "FADD": 32}
    assert [opcodes(counts) for counts in others] == ([{"HMMA.16816.F32": 64}] if body[2][1] == 64 else [])
    told = [
        p for counts in (first, *others) for p in counts.problems if p.line == 2 + body.index(("HMMA.16816.F32", 64))
    ]
    assert told and first.gaps
    assert not any(counts.names.known for counts in others)


@pytest.mark.parametrize("head", [KERNEL, "kernel 0 - _Z1kv...\n"], ids=["total", "no total"])
@pytest.mark.parametrize("odd", ["", "  HMMA.16816.F32 = 64 (x)\n", "  HMMA = 64 - x\n", "  HMMA =\n", " HMMA= 6\n"])
def test_nothing_that_looks_like_an_opcode_goes_unsaid(tmp_path: Path, head: str, odd: str) -> None:
    """Without a total nothing proves that all opcodes are here. A total cannot prove that an opcode is not one."""
    [counts] = text(tmp_path, f"{head}  FADD = 32\n{odd}  EXIT = 8\n")
    assert (opcodes(counts), len(counts.gaps)) == ({"FADD": 32, "EXIT": 8}, bool(odd) + (head != KERNEL))
    assert [p.line for p in counts.problems if p.severity == "warning"] == ([3] if odd else [])


@pytest.mark.parametrize("line", ["\tGPU = H200", "  A = 3.5", "  T = 5 s", "  N = -1"])
@pytest.mark.parametrize("fadd", [31, 32])
def test_a_line_of_the_programs_is_no_gap_where_the_total_proves_it(tmp_path: Path, line: str, fadd: int) -> None:
    [counts] = text(tmp_path, f"{KERNEL}  FADD = {fadd}\n  EXIT = 8\n{line}\n")
    assert bool(counts.gaps) == (fadd != 32)
    assert [p.line for p in counts.problems if "left out" in p.message] == [4]


BODY = "  FADD = 32\n  EXIT = 8\n"
OTHER = KERNEL.replace("_Z1kv", "_Z1lv").replace("kernel 0", "kernel 1")


@pytest.mark.parametrize("bodies", [(BODY, BODY), (BODY, ""), ("", BODY), ("", "")])
def test_a_launch_without_opcodes_among_others_is_cut(tmp_path: Path, bodies: tuple[str, str]) -> None:
    """If it is the last one, launches of any kernel may be missing behind it."""
    found = text(tmp_path, KERNEL + bodies[0] + OTHER + bodies[1])
    cut = bool(bodies[0] and not bodies[1])
    assert [bool(counts.gaps) for counts in found] == [cut or (any(bodies) and not body) for body in bodies]


@pytest.mark.parametrize(
    ("kept", "name"), [(len("kernel 1 - "), None), (14, None), (17, None), (22, "_Z1lv"), (len(OTHER) - 30, "_Z1lv")]
)
def test_a_last_line_cut_off_is_a_launch_lost(tmp_path: Path, kept: int, name: str | None) -> None:
    """And the launches of any kernel behind it."""
    first, last = text(tmp_path, KERNEL + BODY + OTHER[:kept])
    assert (last.names.best, last.total, bool(last.lost)) == (name, 0, True)
    assert first.gaps


@pytest.mark.parametrize("front", ["step 1...", "kernel 7 - ", "kernel 7 - done ", "> ", "x"])
def test_a_launch_behind_output_without_an_end(tmp_path: Path, front: str) -> None:
    found = text(tmp_path, KERNEL + BODY + front + OTHER + BODY)
    assert [(counts.names.best, counts.total, counts.gaps) for counts in found] == [
        ("_Z1kv", 40, []),
        ("_Z1lv", 40, []),
    ]


@pytest.mark.parametrize("line", ["starts kernel 3 - k...", "> kernel 3 - done"])
def test_a_program_that_speaks_of_kernels_starts_none(tmp_path: Path, line: str) -> None:
    [counts] = text(tmp_path, f"{KERNEL}{line}\n{BODY}{line}")
    assert (opcodes(counts), counts.gaps) == ({"FADD": 32, "EXIT": 8}, [])


def test_settings_apply_from_where_they_stand_on(tmp_path: Path) -> None:
    body = KERNEL + "  FADD = 32\n  EXIT = 8\n"
    banner = (NVBIT / "instr_count.txt").read_text().partition("\n")[0]
    threads = "    COUNT_WARP_LEVEL = 0 - what it does\n"
    found = text(tmp_path, body + threads + body + banner + "\n" + body)
    assert [counts.missing for counts in found] == [(), ("warp instructions",), ()]
    assert [counts.tool for counts in found] == ["NVBit", "NVBit", "NVBit 1.7.5"]


@pytest.mark.parametrize("settings", [("0", "0"), ("0", "1"), ("1", "0")])
def test_warps_and_threads_are_two_sources(tmp_path: Path, settings: tuple[str, str]) -> None:
    for name, setting in zip("ab", settings, strict=True):
        lines = f"    COUNT_WARP_LEVEL = {setting} - x\n{KERNEL}  FADD = 32\n  EXIT = 8\n"
        (tmp_path / f"{name}.txt").write_text(lines)
    [kernel] = mix(tmp_path, arch="sm_90").kernels
    mixed = settings[0] != settings[1]
    assert kernel.agreement is not None
    assert [side.total for side in kernel.agreement.sides] == ([40, 40] if mixed else [80])
    assert kernel.unit == ("warp instructions issued" if mixed else "thread instructions executed")


@pytest.mark.parametrize(
    ("setting", "lost", "active"),
    [
        ("INSTR_BEGIN = 5", True, False),
        ("INSTR_END = 9", True, False),
        ("EXCLUDE_PRED_OFF = 1", False, True),
        ("KERNEL_BEGIN = 5", False, False),
        ("KERNEL_END = 2", False, False),
        ("START_GRID_NUM = 1", False, False),
        ("ACTIVE_FROM_START = 0", False, False),
    ],
)
def test_settings_that_leave_something_out(tmp_path: Path, setting: str, lost: bool, active: bool) -> None:
    [counts] = text(tmp_path, f"    {setting} - what it does\n{KERNEL}  EXIT = 40\n")
    assert counts.gaps
    assert bool(counts.lost) == lost
    assert (counts.rows[0].active == 40) == active


@pytest.mark.parametrize(
    ("name", "best", "cut"),
    [
        ("_Z1kIfEvv - #thread-blocks 1, kernel instructions 1, total instructions 1", "_Z1kIfEvv", False),
        ("a - b(int) - #thread-blocks 1,  kernel instructions 1, total instructions 1", "a - b(int)", False),
        ("void k<128>...\n  EXIT = 1", "void k<128>", True),
        ("_Z12longer...\n  EXIT = 1", "_Z12longer", True),
    ],
)
def test_names(tmp_path: Path, name: str, best: str, cut: bool) -> None:
    [counts] = text(tmp_path, f"kernel 3 - {name}\n")
    assert (counts.names.best, counts.names.cut, counts.total) == (best, cut, 1)


def test_banner_without_a_kernel(tmp_path: Path) -> None:
    banner = (NVBIT / "instr_count.txt").read_text().partition("\nkernel")[0]
    with pytest.raises(InputError, match="counted nothing"):
        text(tmp_path, banner)


def test_a_program_that_says_kernel_is_no_histogram() -> None:
    assert not nvbit.READER.sniff(b"kernel 1 - done\nkernel 2 - done...\n")


@given(st.lists(st.tuples(st.integers(0, 120), st.text(st.characters(exclude_characters="\0"), max_size=30))))
def test_chatter_changes_nothing(tmp_path_factory: pytest.TempPathFactory, chatter: list[tuple[int, str]]) -> None:
    lines = (NVBIT / "opcode_hist.txt").read_text().splitlines()
    for at, line in chatter:
        lines.insert(at, f"> {line}")
    path = tmp_path_factory.mktemp("nvbit") / "x"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    assert [opcodes(c) for c in read(path)] == [opcodes(c) for c in read(NVBIT / "opcode_hist.txt")]


@given(st.binary(max_size=200), st.integers(0, 3000))
def test_hostile_bytes_never_raise(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    data = (NVBIT / "opcode_hist.txt").read_bytes()
    path = tmp_path_factory.mktemp("junk") / "x"
    path.write_bytes(data[:at] + junk + data[at:])
    nvbit.READER.sniff(path.read_bytes())
    try:
        found = [item for item in nvbit.READER.read(path) if isinstance(item, Counts)]
    except InputError:
        return
    assert all(row.issued >= 0 for counts in found for row in counts.rows)
