"""CUTracer's histograms and traces: every count arrives, and whatever is odd is said."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sassmix
from sassmix.counts import CLOCK_READ, GUARDED_END, NO_EXIT, UNKNOWN_END, CountRow, Counts, KernelNames
from sassmix.errors import InputError
from sassmix.own_texts import guard_of, mnemonic_of, shared_numbers
from sassmix.readers import _trace_lines, _zstd, cutracer_hist, cutracer_trace
from sassmix.readers._cutracer_names import names_of
from sassmix.readers.cutracer_trace import read_together
from sassmix.resolution import resolve

FIXTURES = Path(__file__).parents[1] / "fixtures" / "counts" / "cutracer"
HEADER = "warp_id,region_id,instruction,count\n"
STEM = "kernel_1a2b3c4d5e6f7081_iter0_k"
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def hist(tmp_path: Path) -> Callable[..., Counts]:
    def read(text: str | bytes, name: str = f"{STEM}_hist.csv") -> Counts:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        (counts,) = cutracer_hist.READER.read(path)
        assert isinstance(counts, Counts)
        return counts

    return read


@pytest.fixture
def trace(tmp_path: Path) -> Callable[..., Counts]:
    def read(data: bytes | list[dict[str, Any]], name: str = f"{STEM}.ndjson") -> Counts:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else ndjson(data))
        (counts,) = cutracer_trace.READER.read(path)
        assert isinstance(counts, Counts)
        return counts

    return read


def ndjson(records: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


def record(index: int | None, opcode: int, *, warp: int | None = 0, launch: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "type": "opcode_only",
        "ctx": "0x7f",
        "trace_index": index,
        "timestamp": index,
        "grid_launch_id": launch,
        "cta": [(warp or 0) // 2, 0, 0],
        "warp": warp,
        "opcode_id": opcode,
        "pc": hex(16 * opcode),
        **more,
    }


def metadata(**more: Any) -> dict[str, Any]:
    texts = ("MOV R1, c[0x0][0x28] ;", "FADD R2, R3, R4 ;", "EXIT ;")
    table = {str(number): {"sass": text} for number, text in enumerate(texts)}
    return {"type": "kernel_metadata", "mangled_name": "_Z1kPf", "sm_family": 100, "instructions": table, **more}


def completion(written: int, *, launch: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "type": "capture_completion",
        "version": 1,
        "grid_launch_id": launch,
        "status": "complete",
        "kernel_completed": True,
        "channel_drained": True,
        "trace_records_written": written,
        "dropped_records": 0,
        "errors": [],
        **more,
    }


WHOLE = [metadata(), record(0, 0), record(1, 1), record(2, 2)]


def messages(counts: Counts) -> str:
    return " | ".join(problem.message for problem in counts.problems)


def by_index(counts: Counts) -> dict[int | None, int]:
    found: dict[int | None, int] = {}
    for row in counts.rows:
        found[row.index] = found.get(row.index, 0) + row.issued
    return found


# names of files


@pytest.mark.parametrize(
    ("name", "kernel", "checksum"),
    [
        ("kernel_7fa21c3_iter0_vecAdd_hist.csv", "vecAdd", "7fa21c3"),
        ("KERNEL_90AB12CD34EF5678_iter3_Softmax_hist.csv", "Softmax", "90ab12cd34ef5678"),
        ("kernel_90ab12cd34ef5678_iter0_deadbeef_kernel_hist.csv", "deadbeef_kernel", "90ab12cd34ef5678"),
        ("kernel_90ab12cd34ef5678_iter12__Z4iter3PfS_i_hist.csv", "_Z4iter3PfS_i", "90ab12cd34ef5678"),
        ("kernel_vecAdd_90ab12cd34ef5678_hist.csv", "vecAdd", "90ab12cd34ef5678"),
        ("kernel_1_iter0_my_hist.ndjson.zst", "my_hist", "1"),
        ("kernel_1_iter0_k.ndjson.zstd", "k", "1"),
        # a word or a type is the beginning of a kernel's own name, though it could be a number
        ("kernel_add_iter0_k_hist.csv", "add_iter0_k", None),
        ("kernel_f32_iter0_k.ndjson", "f32_iter0_k", None),
        ("kernel_add_iter0_k_90ab12cd34ef5678_hist.csv", "add_iter0_k", "90ab12cd34ef5678"),
        ("kernel_90ab12cd34ef5678_iter0_k_deadbeef_hist.csv", "k_deadbeef", "90ab12cd34ef5678"),
        ("kernel_feedfacefeedface_iter0_k_hist.csv", "k", "feedfacefeedface"),
        ("kernel_90ab12cd34ef5678_deadbeef.csv", "deadbeef", "90ab12cd34ef5678"),
        ("kernel_fade12cd34ef5678_deadbeef.csv", "deadbeef", "fade12cd34ef5678"),
        ("trace.ndjson", None, None),
        ("kernel_.csv", None, None),
        ("half.csv", None, None),
    ],
)
def test_names_of_files(name: str, kernel: str | None, checksum: str | None) -> None:
    names, iteration = names_of(Path(name))
    assert (names.file, names.checksum, names.cut) == (kernel, checksum, False)
    assert iteration == ("_iter" in name and "_iter" not in (names.file or ""))


def test_a_name_of_150_characters_may_be_cut() -> None:
    assert names_of(Path(f"kernel_1_iter0_{'n' * 150}.ndjson"))[0].cut


# histograms


def test_histogram_adds_up_over_warps_and_regions(hist: Callable[..., Counts]) -> None:
    counts = hist(HEADER + "0,0,FADD,3\n1,0,FADD,4\n1,1,HMMA.16816.F32,2\n0,0,EXIT,1\n1,0,EXIT,1\n")
    assert {row.mnemonic: row.issued for row in counts.rows} == {"FADD": 7, "HMMA.16816.F32": 2, "EXIT": 2}
    assert (counts.kind, counts.launches, counts.warps, counts.total) == ("cutracer-hist", 1, 2, 11)
    assert counts.gaps == ["2 regions were counted, and what lies between regions was not"]


@pytest.mark.parametrize(
    "text",
    [
        "count,instruction,region_id,warp_id,extra\n5,hmma.16816.f16,0,0,x\n1,EXIT,0,0,y\n",
        'warp_id,region_id,instruction,count\r\n0,0,"hmma.16816.f16",5\r\n0,0,EXIT,"1"\r\n',
        "\ufeffWarp_ID, Region_ID, Instruction, Count\n0, 0, hmma.16816.f16, 5\n\n0, 0, EXIT, 1\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_histogram_columns_by_name(hist: Callable[..., Counts], text: str, encoding: str) -> None:
    data = text.lstrip("\ufeff").encode(encoding) if encoding == "utf-16" else text.encode()
    assert cutracer_hist.READER.sniff(data)
    counts = hist(data)
    assert [(row.mnemonic, row.issued) for row in counts.rows] == [("HMMA.16816.f16", 5), ("EXIT", 1)]
    assert (counts.warps, counts.problems, counts.gaps) == (1, [], [])


def test_histogram_rows_without_a_mnemonic(hist: Callable[..., Counts]) -> None:
    counts = hist(
        HEADER + "0,0,OPCODE_138,7\n0,0,OPCODE_0x1f,2\n0,0,???,1\n0,0,@P0 BRA `(.L_x),4\n0,0,LDTM.16dp128bit,1\n"
    )
    assert [(row.name, row.index, row.mnemonic) for row in counts.rows] == [
        ("OPCODE_138", 138, None),
        ("OPCODE_0x1f", 31, None),
        ("???", None, None),
        (None, None, "BRA"),
        (None, None, "LDTM.16dp128bit"),
    ]
    assert counts.warps is None
    assert counts.gaps == [NO_EXIT]


def test_sums_over_warps_hide_the_number_of_warps(hist: Callable[..., Counts]) -> None:
    assert hist(HEADER + "0,0,FADD,3200\n0,0,EXIT,32\n").warps is None
    assert hist(HEADER + "0,0,FADD,3\n0,0,EXIT,1\n", "h.csv").launches is None


def test_cycles_of_zero_are_no_measurement(hist: Callable[..., Counts]) -> None:
    counts = hist("warp_id,region_id,instruction,count,cycles\n0,0,EXIT,1,0\n")
    assert counts.missing == ("cycles",)
    assert [(p.severity, p.message) for p in counts.problems] == [
        ("info", "the column cycles is all zero: not measured")
    ]
    assert hist("warp_id,region_id,instruction,count,cycles\n0,0,EXIT,1,9\n").missing == ()


def test_clock_reads_are_told(hist: Callable[..., Counts]) -> None:
    assert CLOCK_READ in hist(HEADER + "0,0,CS2R.32,2\n0,0,EXIT,1\n").gaps


@pytest.mark.parametrize("count", ["-1", "NaN", "", "1e3", "1.5", "x", str(1 << 63), "9" * 400, '"1,000"'])
def test_counts_that_are_none(hist: Callable[..., Counts], count: str) -> None:
    counts = hist(HEADER + f"0,0,FADD,2\n0,0,FMUL,{count}\n0,0,EXIT,1\n")
    assert {row.mnemonic: row.issued for row in counts.rows} == {"FADD": 2, "EXIT": 1}
    assert [problem.line for problem in counts.problems] == [3]
    assert counts.lost == ["1 row of the histogram cannot be read"]


def test_an_open_quote_swallows_nothing(hist: Callable[..., Counts]) -> None:
    counts = hist(HEADER + '0,0,"FMUL,1\n0,0,FADD,2\n0,0,EXIT,1\n')
    assert counts.total == 3
    assert counts.problems[0].line == 2


def test_histograms_one_behind_the_other(hist: Callable[..., Counts]) -> None:
    counts = hist(HEADER + "0,0,EXIT,1\n" + "count,instruction,warp_id\n5,EXIT,0\n")
    assert (counts.total, counts.launches) == (6, None)
    assert "2 histograms" in counts.gaps[0]


@pytest.mark.parametrize(
    ("row", "told"),
    [("0,0,MOV,5", [3]), ("0,1,MOV,3", []), ("1,0,MOV,3", []), ("0,0,EXIT,3", []), ("0,0,MOV.U32,3", [])],
)
def test_a_row_twice_is_told(hist: Callable[..., Counts], row: str, told: list[int]) -> None:
    """Both are counted: nothing tells which of them is right."""
    counts = hist(f"warp_id,region_id,instruction,count\n0,0,MOV,3\n{row}\n")
    assert counts.total == 3 + int(row.rpartition(",")[2])
    assert [problem.line for problem in counts.problems] == told


@pytest.mark.parametrize(
    ("text", "mnemonic"), [("EXIT ;", "EXIT"), ("@P0 MOV R1;", "MOV"), ("MOV R1 ; HMMA R1", None), ("MOV;HMMA", None)]
)
def test_a_row_of_two_instructions_is_none(hist: Callable[..., Counts], text: str, mnemonic: str | None) -> None:
    [row] = hist(f"warp_id,region_id,instruction,count\n0,0,{text},3\n").rows
    assert (row.mnemonic, row.name) == (mnemonic, None if mnemonic else text)


def test_a_header_alone_has_no_rows(hist: Callable[..., Counts]) -> None:
    counts = hist(HEADER)
    assert (counts.rows, counts.gaps, counts.launches) == ([], ["the histogram holds no counts"], 1)


@pytest.mark.parametrize("row", ["0,0,IMAD,x", "0,0,IMAD", "0,0,IMAD,1,024", "0,0,IMAD,1,024,55", "0,0,IM"])
@pytest.mark.parametrize("others", ["", "0,0,EXIT,1\n"])
def test_a_row_that_cannot_be_read_is_lost(hist: Callable[..., Counts], row: str, others: str) -> None:
    """More cells than the header: a separator within a number; fewer: cut off."""
    counts = hist(f"{HEADER}{row}\n{others}")
    assert counts.lost == ["1 row of the histogram cannot be read"]
    assert (counts.total, counts.names.file) == (bool(others), "k")
    assert counts.lost[0] in counts.gaps


def test_empty_cells_behind_a_row_say_nothing(hist: Callable[..., Counts]) -> None:
    assert hist(HEADER + "0,0,FADD,2,,\n0,0,EXIT,1, \n").gaps == []


@pytest.mark.parametrize(
    ("rows", "gaps"),
    [
        ("0,0,FADD,9\n0,0,EXIT,1\n", 0),
        ("0,0,EXIT,1\n0,0,FADD,9", 1),
        ("0,0,EXIT,1\r\n0,0,FADD,9\r", 0),
        ('0,0,EXIT,1\n0,0,FADD,"9"', 0),
        ("0,0,EXIT,1\n0,,FADD,9\n", 1),
        ("0,,EXIT,1\n0,,FADD,9\n", 0),
        ("0,0,EXIT,1\n,0,FADD,9\n", 1),
        (",0,EXIT,1\n,0,FADD,9\n", 0),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_a_histogram_leaves_open(hist: Callable[..., Counts], rows: str, gaps: int, encoding: str) -> None:
    """A last line without an end may be cut within its number; cells that are blank in some rows only hide a place."""
    counts = hist((HEADER + rows).encode(encoding))
    assert (len(counts.gaps), counts.total) == (gaps, 10)


@SLOW
@given(rows=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["FADD", "EXIT", "OPCODE_7"]), st.integers(0, 99))))
def test_splitting_a_histogram_adds_up(hist: Callable[..., Counts], rows: list[tuple[int, str, int]]) -> None:
    lines = [f"{warp},0,{name},{count}\n" for warp, name, count in rows]
    whole = hist(HEADER + "".join(lines)).total
    half = len(lines) // 2
    assert whole == sum(count for _, _, count in rows)
    assert whole == hist(HEADER + "".join(lines[:half])).total + hist(HEADER + "".join(lines[half:])).total
    assert whole == hist(HEADER + "".join(reversed(lines))).total


# traces


def test_a_complete_trace(trace: Callable[..., Counts]) -> None:
    executed = [record(number, number, active_mask=mask) for number, mask in enumerate(("0x3", "0x0", "0x3"))]
    counts = trace([metadata(), *executed, completion(3)])
    assert [(r.index, r.offset, r.issued, r.active, r.threads) for r in counts.rows] == [
        (0, 0, 1, 1, 2),
        (1, 16, 1, 0, 0),
        (2, 32, 1, 1, 2),
    ]
    assert (counts.arch, counts.launches, counts.warps, counts.kind) == ("sm_100", 1, 1, "cutracer-trace")
    assert (counts.names.mangled, counts.names.file, counts.names.checksum) == ("_Z1kPf", "k", "1a2b3c4d5e6f7081")
    assert counts.table[1] == "FADD R2, R3, R4 ;"
    assert (counts.gaps, counts.problems) == ([], [])


def test_launches_and_warps(trace: Callable[..., Counts]) -> None:
    counts = trace(
        [metadata(), *(record(w, 0, warp=w) for w in range(4)), record(4, 0, launch=1), record(5, 2, launch=1)]
    )
    assert (counts.launches, counts.warps, counts.launch_ids) == (2, 4, frozenset({0, 1}))
    assert counts.gaps == ["no completion record, and not every warp reached EXIT"]


@pytest.mark.parametrize(
    ("records", "gaps"),
    [
        (WHOLE, []),
        (WHOLE[1:], [UNKNOWN_END]),
        (WHOLE[:-1], ["no completion record, and not every warp reached EXIT"]),
        ([WHOLE[0], *WHOLE[2:]], ["no completion record, and not every warp begins with the first instruction"]),
        ([*WHOLE, completion(4)], ["launch 0: 4 records were written, 3 read"]),
        ([*WHOLE, completion(3, dropped_records=12, status="incomplete")], ["launch 0: records dropped: 12"]),
        ([*WHOLE, completion(3, errors=["size limit"])], ["launch 0: the tracer reports: size limit"]),
        ([*WHOLE, completion(3, kernel_completed=False)], ["launch 0: the kernel did not end while it was traced"]),
        ([*WHOLE, completion(3, status="incomplete")], ["launch 0: the completion record says 'incomplete'"]),
        (
            [metadata(instr_categories=["tma", "sync"]), *WHOLE[1:]],
            ["only instructions of the categories tma, sync were traced (instr_categories)"],
        ),
        ([metadata(instr_categories=[]), *WHOLE[1:]], []),
        (
            [metadata(capture_config={"instr_begin": 1, "instr_end": 2, "root_instruction_count": 3}), *WHOLE[1:]],
            ["only instructions 1 to 2 were traced (instruction window)"],
        ),
        ([metadata(capture_config={"instr_begin": 0, "instr_end": 0xFFFFFFFF}), *WHOLE[1:]], []),
    ],
)
def test_what_makes_a_trace_incomplete(
    trace: Callable[..., Counts], records: list[dict[str, Any]], gaps: list[str]
) -> None:
    counts = trace(records)
    assert counts.gaps == gaps
    assert counts.total == sum(r["type"] == "opcode_only" for r in records)


def test_the_size_that_the_tracer_names(trace: Callable[..., Counts]) -> None:
    assert trace([metadata(capture_config={"root_instruction_count": 40}), *WHOLE[1:]]).size == 40


def test_a_nop_behind_the_exit_ends_a_warp(trace: Callable[..., Counts]) -> None:
    table = {"0": {"sass": "MOV R1, R2 ;"}, "1": {"sass": "EXIT ;"}, "2": {"sass": "NOP;"}}
    assert trace([metadata(instructions=table), record(0, 0), record(1, 1), record(2, 2)]).gaps == []


def test_an_instruction_in_two_modes_is_counted_once(trace: Callable[..., Counts]) -> None:
    both = [record(n, n, type=kind) for n in range(3) for kind in ("reg_trace", "mem_addr_trace")]
    counts = trace([metadata(), *both, record(9, 7, type="tma_trace"), completion(7)])
    assert by_index(counts) == {0: 1, 1: 1, 2: 1, 7: 1}
    assert "mem_addr_trace, reg_trace: each execution is counted once" in messages(counts)
    assert "does not trace every instruction" in counts.lost[0]


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"opcode_only","opcode_id":2,"pc":"0x2',
        b'{"type":"opcode_only","opcode_id":1,"pc":"\xff"}',
        b"[" * 100_000,
        b"7",
        b"\x00\x01",
        b'{"opcode_id":1}',
    ],
)
def test_lines_that_are_no_records(trace: Callable[..., Counts], line: bytes) -> None:
    good = [ndjson([r]) for r in WHOLE]
    counts = trace(good[0] + line + b"\n" + b"".join(good[1:]))
    assert by_index(counts) == {0: 1, 1: 1, 2: 1}
    assert [problem.line for problem in counts.problems] == [2]
    assert counts.lost == ["1 line cannot be read"]


@pytest.mark.parametrize("value", [-2, 1.5, 1 << 70, "x", None, [1], float("nan"), float("inf")])
def test_an_opcode_id_that_is_none_is_kept_apart(trace: Callable[..., Counts], value: object) -> None:
    counts = trace([*WHOLE, record(3, 1, opcode_id=value)])
    assert counts.total == 4
    assert by_index(counts) == {0: 1, 1: 1, 2: 1, None: 1}
    assert [problem.line for problem in counts.problems] == [5]
    assert counts.lost


def test_a_cut_line_at_each_end(trace: Callable[..., Counts]) -> None:
    data = ndjson(WHOLE[1:])
    counts = trace(b'"pc":"0x0"}\n' + data + data[:30])
    assert counts.total == 3
    assert [problem.line for problem in counts.problems] == [1, 5]


def test_unknown_records_are_told(trace: Callable[..., Counts]) -> None:
    counts = trace([*WHOLE, record(3, 1, type="new_trace")])
    assert counts.total == 3
    assert "not counted: 1 record of the unknown type 'new_trace'" in messages(counts)
    assert counts.gaps


def test_contradicting_metadata(trace: Callable[..., Counts]) -> None:
    counts = trace([metadata(), metadata(mangled_name="_Z1jPf", sm_family=90), *WHOLE[1:]])
    assert (counts.names.mangled, counts.arch) == (None, None)
    assert "contradict one another in sm_family" in messages(counts)


def test_samples_of_a_debugger_are_no_counts(trace: Callable[..., Counts]) -> None:
    sample = {
        "type": "opcode_only",
        "trace_index": 0,
        "cta": [0, 0, 0],
        "warp": 0,
        "pc": "0x10",
        "sass": "FADD R1, R2, R3",
    }
    counts = trace([sample])
    assert [(r.index, r.offset, r.sass, r.name) for r in counts.rows] == [(None, 16, "FADD R1, R2, R3", None)]
    assert any("samples of a debugger" in gap for gap in counts.gaps)


def test_a_list_of_launches(tmp_path: Path) -> None:
    path = tmp_path / "kernel_events.ndjson"
    launch = {"type": "kernel_launch", "kernel_launch_id": 0, "kernel_name": "k(float*)"}
    path.write_bytes(ndjson([launch, {**launch, "kernel_launch_id": 1}, {**launch, "kernel_name": "j()"}]))
    assert cutracer_trace.READER.sniff(path.read_bytes())
    found = [c for c in cutracer_trace.READER.read(path) if isinstance(c, Counts)]
    assert [(c.kind, c.names.demangled, c.launches, c.rows) for c in found] == [
        ("cutracer-launches", "k(float*)", 2, []),
        ("cutracer-launches", "j()", 1, []),
    ]


@pytest.mark.parametrize(
    ("name", "first", "captured"),
    [
        ("kernel_1a2b3c4d5e6f7081_iter1_k.ndjson", [], True),
        ("kernel_1a2b3c4d5e6f7081_iter1__Z1kPf.ndjson", [], True),
        ("kernel_1a2b3c4d5e6f7081_iter1_k.ndjson", [metadata()], True),
        ("second.ndjson", [metadata()], True),
        ("second.ndjson", [metadata(mangled_name=None)], False),
        ("second.ndjson", [metadata(), metadata(mangled_name="_Z1jPf")], False),
        ("kernel_events.ndjson", [], False),
    ],
)
def test_a_capture_of_nothing_is_one_of_its_kernel(
    tmp_path: Path, name: str, first: list[dict[str, Any]], captured: bool
) -> None:
    (tmp_path / f"{STEM}.ndjson").write_bytes(ndjson([*WHOLE, completion(3)]))
    launch = {"type": "kernel_launch", "kernel_launch_id": 1, "mangled_name": "_Z1kPf", "grid_launch_id": 1}
    (tmp_path / name).write_bytes(ndjson([*first, launch]))
    (counts,) = (found for found in cutracer_trace.READER.read(tmp_path / name) if isinstance(found, Counts))
    assert counts.kind == ("cutracer-trace" if captured else "cutracer-launches")
    assert ("no record of an instruction is in it" in counts.gaps) == captured
    (kernel,) = sassmix.mix([tmp_path]).kernels
    status = {item.check: item.status for item in kernel.evidence}["complete"]
    assert (kernel.tally.total, status == "pass") == (3, not captured)


# what a trace proves by itself: its ends, its warps, its own texts

TABLE = ("LDC R1, c[0x0][0x28] ;", "@P0 EXIT ;", "HMMA.16816.F32 R4, R8, R10, R4 ;", "EXIT ;")


def table_of(*texts: str, **more: Any) -> dict[str, Any]:
    return metadata(instructions={str(number): {"sass": text} for number, text in enumerate(texts)}, **more)


def run_of(*ids: int, **more: Any) -> list[dict[str, Any]]:
    return [record(number, opcode, **more) for number, opcode in enumerate(ids)]


@pytest.mark.parametrize(
    ("guard", "masks", "open_end"),
    [
        ("", [None, None], False),
        ("@PT ", [None, None], False),
        ("@P0 ", [None, None], True),
        ("@!UP3 ", [None, None], True),
        ("@P0 ", ["0xff", "0xff"], False),
        ("@P0 ", ["0xff", "0xf"], True),
        ("@P0 ", ["0xff", None], True),
        ("@P0 ", ["0x1ffffffff", "0x1ffffffff"], True),
    ],
)
def test_an_exit_under_a_guard_is_an_end_if_the_masks_prove_it(
    trace: Callable[..., Counts], guard: str, masks: list[str | None], open_end: bool
) -> None:
    records = [{**record(n, n), "active_mask": mask} for n, mask in enumerate(masks)]
    table = table_of(TABLE[0], f"{guard}EXIT ;", *TABLE[2:])
    assert trace([table, *records]).gaps == ([GUARDED_END] if open_end else [])
    assert trace([table, *records, completion(2)]).gaps == []


@pytest.mark.parametrize("guard", ["", "@P0 "])
def test_the_listing_says_whether_the_last_exit_has_a_guard(guard: str) -> None:
    (function,) = sassmix.parse(f"MOV R1, R2 ;\n{guard}EXIT ;\nFADD R1, R2, R3 ;\nEXIT ;\n").functions
    rows = [CountRow(index=n, issued=1) for n in range(2)]
    counts = Counts(path="t", kind="cutracer-trace", names=KernelNames(), rows=rows, last=frozenset({1}))
    counts.gaps = [UNKNOWN_END]
    assert resolve(counts, function).gaps == ([GUARDED_END] if guard else [])


@pytest.mark.parametrize(
    ("records", "gap"),
    [
        ([*run_of(0, 0, 1, 2), *run_of(1, 2, warp=1)], "not every warp begins with the first instruction"),
        ([*run_of(0, 1, 2), *run_of(1, 2, warp=None)], "of 2 records the warp is not known"),
        ([*run_of(0, 1, 2), *run_of(0, 1, 2, cta=None)], "of 3 records the warp is not known"),
        ([*run_of(0, 1, 2), record(None, 1)], UNKNOWN_END),
    ],
)
def test_no_warp_hides_another(trace: Callable[..., Counts], records: list[dict[str, Any]], gap: str) -> None:
    assert any(gap in found for found in trace([metadata(), *records]).gaps)
    assert trace([metadata(), *records, completion(len(records))]).gaps == []


@pytest.mark.parametrize(
    ("grid", "block", "whole"),
    [
        ([1, 1, 1], [64, 1, 1], True),
        ([2, 1, 1], [32, 1, 1], True),
        ([1, 1, 1], [33, 1, 1], True),
        ([1, 1, 1], [32, 1, 1], True),
        ([2, 1, 1], [64, 1, 1], False),
        ([1, 1, 1], [8, 4, 3], False),
        ([1, 3, 1], [1, 1, 1], False),
        ("x", [99, 1, 1], True),
        ([-3, 1, 1], None, True),
    ],
)
def test_every_warp_of_the_grid_is_there(trace: Callable[..., Counts], grid: Any, block: Any, whole: bool) -> None:
    two = [*run_of(0, 1, 2), *run_of(0, 1, 2, warp=1)]
    for end in ([], [completion(6)]):
        gaps = trace([metadata(grid=grid, block=block), *two, *end]).gaps
        assert [("has 2 of the" in gap) for gap in gaps] == ([] if whole else [True])


@pytest.mark.parametrize(
    ("more", "lost"),
    [
        ({"instrument_modes": ["opcode_only"]}, ""),
        ({"instrument_modes": ["opcode_only", "mem_trace"]}, ""),
        ({"instrument_modes": ["mem_trace"]}, "mem_trace does not trace every instruction"),
        ({"instrument_modes": "tma_trace"}, "tma_trace does not trace every instruction"),
        ({"capture_config": {"instr_begin": "0", "instr_end": "0xffffffff"}}, ""),
        ({"capture_config": {"instr_begin": "1", "instr_end": "9"}}, "only instructions 1 to 9"),
        ({"capture_config": {"instr_begin": 0, "instr_end": "0x1"}}, "only instructions 0 to 1"),
        ({"capture_config": {"instr_begin": "some"}}, "the instruction window 'some to None'"),
        ({"capture_config": {"instr_end": [3]}}, "the instruction window 'None to [3]'"),
    ],
)
def test_what_the_metadata_says_was_left_out(trace: Callable[..., Counts], more: dict[str, Any], lost: str) -> None:
    found = trace([metadata(**more), *WHOLE[1:], completion(3)]).lost
    assert [entry[: len(lost)] for entry in found] == ([lost] if lost else [])


@pytest.mark.parametrize(
    ("end", "lost"),
    [
        ([], False),
        ([completion(0)], False),
        ([completion(7)], True),
        ([completion(0, dropped_records=9)], True),
        ([completion(0, status="incomplete", errors=["size limit"])], True),
    ],
)
def test_a_trace_without_a_record_is_not_whole(
    trace: Callable[..., Counts], end: list[dict[str, Any]], lost: bool
) -> None:
    counts = trace([metadata(), *end])
    assert (counts.rows, bool(counts.lost)) == ([], lost)
    assert "no record of an instruction is in it" in counts.gaps


@pytest.mark.parametrize(
    ("texts", "ids", "unresolved"),
    [
        (("FADD R1 ;", "CALL.ABS.NOINC R2 ;", "EXIT ;"), (0, 1, 0, 1, 2), 5),
        (("FADD R1 ;", "JMP R2 ;", "EXIT ;"), (0, 1, 0, 1, 2), 5),
        (("FADD R1 ;", "CALL.REL.NOINC R2 ;", "EXIT ;"), (0, 1, 2), 0),  # the callee goes on in the same numbers
        (("FADD R1 ;", "BRA R2 ;", "EXIT ;"), (0, 1, 1, 2), 0),
    ],
)
def test_numbers_that_a_called_function_may_share_name_nothing(
    trace: Callable[..., Counts], texts: tuple[str, ...], ids: tuple[int, ...], unresolved: int
) -> None:
    found = resolve(trace([table_of(*texts), *run_of(*ids), completion(len(ids))]), None)
    assert sum(row.issued for _, row in found.unresolved) == unresolved
    assert bool(found.doubts) == bool(unresolved)
    alone = {"capture_config": {"pc_namespace": "root_without_executed_calls"}}
    assert resolve(trace([table_of(*texts, **alone), *run_of(*ids)]), None).unresolved == []


@pytest.mark.parametrize(
    ("texts", "conflict"),
    [
        ({1: "FADD R2, R3, R4"}, False),
        ({1: "FADD.FTZ R2, R3, R4 ;"}, False),
        ({1: "HMMA.16816.F32 R4, R8, R10, R4"}, True),
        ({0: "S2R R1, SR_TID.X", 2: "EXIT"}, True),
    ],
)
def test_a_source_that_contradicts_itself(trace: Callable[..., Counts], texts: dict[int, str], conflict: bool) -> None:
    records = [{**record(n, n), "sass": texts.get(n)} for n in range(3)]
    assert bool(resolve(trace([metadata(), *records, completion(3)]), None).conflicts) == conflict


@pytest.mark.parametrize("second", [("FADD R9, R9, R9 ;", True), ("IMAD R1, R2, R3, R4 ;", False)])
def test_launches_of_different_code_are_told(tmp_path: Path, second: tuple[str, bool]) -> None:
    text, same = second
    for number, middle in enumerate(("FADD R2, R3, R4 ;", text)):
        table = table_of("MOV R1, R2 ;", middle, "EXIT ;")
        data = ndjson([table, *run_of(0, 1, 2, launch=number), completion(3, launch=number)])
        (tmp_path / f"kernel_1f_iter{number}_k.ndjson").write_bytes(data)
    (kernel,) = sassmix.mix([tmp_path]).kernels
    status = {item.check: item.status for item in kernel.evidence}["consistent"]
    assert (kernel.tally.total, status) == (6, "pass" if same else "warn")


@pytest.mark.parametrize(
    ("text", "mnemonic"),
    [
        ("HMMA.16816.F32 R1, R2 ;", "HMMA.16816.F32"),
        ("  @!UP0  EXIT;", "EXIT"),
        ("BRA `(.L_x_1) ;  ", "BRA"),
        ("EXIT", "EXIT"),
        ("MOV R1, R2 ; HMMA.16816.F32 R1 ;", None),
        ("MOV R1, R2 ;; ", None),
        ("MOV R1, R2\nHMMA R1", None),
        ("MOV\nHMMA", None),
        ("@P0\nMOV R1", None),
        ("MOV@ R1", None),
        ("/*0010*/ MOV R1, R2 ;", None),
        ("", None),
    ],
)
def test_a_text_is_one_instruction_or_none(text: str, mnemonic: str | None) -> None:
    assert mnemonic_of(text) == mnemonic


@pytest.mark.parametrize("mask", ["0x100000000", "0xffffffffffffffff", "255", "all", ""])
def test_a_mask_has_32_lanes(trace: Callable[..., Counts], mask: str) -> None:
    counts = trace([metadata(), *run_of(0, 1, active_mask="0xffffffff"), record(2, 2, active_mask=mask), completion(3)])
    assert [row.threads for row in counts.rows] == [32, 32, None]
    assert "the active_mask of 1 record is no mask of 32 lanes" in messages(counts)


# several types of records


def test_types_in_different_warps_are_all_counted(trace: Callable[..., Counts]) -> None:
    parts = [("opcode_only", 0, 0), ("reg_trace", 1, 0), ("mem_trace", 0, 1), ("reg_trace", 0, 1)]
    records = [record(n, n, warp=w, launch=i, type=t) for t, w, i in parts for n in range(3)]
    counts = trace([metadata(), *records])
    assert by_index(counts) == {0: 3, 1: 3, 2: 3}
    assert "reg_trace does not trace every instruction (instrument_modes)" in counts.lost
    only = trace([metadata(), *records[:6]])
    assert by_index(only) == {0: 2, 1: 2, 2: 2}
    assert only.problems == []


@pytest.mark.parametrize("more", [{"sass": "FADD R1, R2, R3"}, {"pc": None}, {"active_mask": "0x1"}])
@pytest.mark.parametrize("richer", ["opcode_only", "reg_trace"])
def test_what_a_type_tells_more_makes_no_further_execution(
    trace: Callable[..., Counts], more: dict[str, Any], richer: str
) -> None:
    kinds = ("opcode_only", "reg_trace")
    records = [record(n, n, type=kind, **(more if kind == richer else {})) for n in range(3) for kind in kinds]
    counts = trace([metadata(), *records, completion(6)])
    assert by_index(counts) == {0: 1, 1: 1, 2: 1}
    assert "sass" not in more or all(row.sass for row in counts.rows)
    assert counts.gaps == []


def test_a_type_of_every_instruction_has_them_all(trace: Callable[..., Counts]) -> None:
    twice = [record(5, 1, type="mem_trace"), record(6, 1, type="mem_trace")]
    counts = trace([*WHOLE, *twice, completion(5)])
    assert counts.gaps == ["opcode_only has fewer records of some instructions than another type"]


# copies


@pytest.mark.parametrize("pack", [bytes, zstandard.compress, lambda data: b"".join(frames(data))])
@pytest.mark.parametrize("gap", [False, True])
def test_a_copy_is_no_further_launch(tmp_path: Path, pack: Callable[[bytes], bytes], gap: bool) -> None:
    data = ndjson([metadata(), *run_of(0, 1, 2), *([] if gap else [completion(3)])][: 3 if gap else 5])
    (tmp_path / f"{STEM}.ndjson").write_bytes(data)
    (tmp_path / f"{STEM}.copy.ndjson").write_bytes(pack(data))
    report = sassmix.mix([tmp_path])
    assert [(kernel.tally.total, kernel.launches) for kernel in report.kernels] == [(2 if gap else 3, 1)]
    assert any("the same trace as" in problem.message for problem in report.problems)


@pytest.mark.parametrize("change", [lambda d: d.replace(b"\n", b"\r\n"), lambda d: d[:-1], lambda d: d + b"\r\n\n"])
@pytest.mark.parametrize("size", [3, 30_000])
def test_how_lines_end_makes_no_other_trace(tmp_path: Path, change: Callable[[bytes], bytes], size: int) -> None:
    """The longer one is read in several pieces."""
    data = ndjson([metadata(), *run_of(0, *[1] * (size - 2), 2), completion(size)])
    for number, written in enumerate((data, change(data), data.replace(b"0x10", b"0x11", 1))):
        (tmp_path / f"{number}.ndjson").write_bytes(written)
    first, alike, other = (_zstd.content_digest(tmp_path / f"{number}.ndjson") for number in range(3))
    assert first == alike != other


@pytest.mark.parametrize("end", [[], [completion(4)]])
@pytest.mark.parametrize("warps", [1, 2])
@pytest.mark.parametrize("spread", [1, 7])
@pytest.mark.parametrize("copied", [0, 1, 99])
def test_a_record_that_stands_there_twice_is_lost(
    trace: Callable[..., Counts], end: list[dict[str, Any]], warps: int, spread: int, copied: int
) -> None:
    """Also where the launch has fewer records than its places: it then begins or ends twice."""
    ids = [(number, warp) for number in range(3) for warp in range(warps)]
    records = [record(place * spread, opcode, warp=warp) for place, (opcode, warp) in enumerate(ids)]
    end = [{**closed, "trace_records_written": len(records)} for closed in end]
    lines = [metadata(), *records, *end]
    counts = trace([*lines, *lines[: 1 + copied]] if copied else lines)
    twice = min(copied, len(records))
    again = "1 record stands" if twice == 1 else f"{twice} records stand"
    assert counts.total == len(records) + twice
    assert [gap for gap in counts.lost if "more than once" in gap] == (
        [f"{again} in the files more than once; give each part of a trace once"] if twice else []
    )


def test_files_that_overlap_are_no_parts(tmp_path: Path) -> None:
    lines = LONG.splitlines(keepends=True)
    parts = [tmp_path / f"{STEM}.{number}.ndjson" for number in range(2)]
    parts[0].write_bytes(b"".join(lines[:2000]))
    parts[1].write_bytes(b"".join(lines[1990:]))
    (joined,) = read_together(parts)
    assert isinstance(joined, Counts)
    assert any("10 records stand in the files more than once" in entry for entry in joined.lost)


# compressed traces


def frames(data: bytes, sizes: int = 3) -> list[bytes]:
    step = len(data) // sizes + 1
    return [zstandard.compress(data[at : at + step]) for at in range(0, len(data), step)]


SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
LONG = ndjson([metadata(), *(record(n, n % 3, warp=n % 7) for n in range(4000)), completion(4000)])


@pytest.mark.parametrize("name", ["t.ndjson.zst", "t.zstd", "t.ndjson"])
@pytest.mark.parametrize(
    "packed", [b"".join(frames(LONG)), b"".join(frames(LONG, 9)), SKIPPABLE + SKIPPABLE.join(frames(LONG))]
)
def test_frames_are_read_as_one(trace: Callable[..., Counts], packed: bytes, name: str) -> None:
    assert cutracer_trace.READER.sniff(packed)
    counts = trace(packed, name)
    assert (counts.total, counts.warps, counts.gaps, counts.problems) == (4000, 7, [], [])


@pytest.mark.parametrize("kept", [0.3, 0.5, 0.9, 0.999])
def test_a_cut_tail_keeps_what_was_read(trace: Callable[..., Counts], kept: float) -> None:
    packed = b"".join(frames(LONG))
    counts = trace(packed[: int(len(packed) * kept)])
    assert "zstd frame" in messages(counts)
    assert counts.lost
    assert counts.total < 4000
    assert all(p.severity == "error" for p in counts.problems if "zstd" in p.message)


@pytest.mark.parametrize("tail", [b"garbage" * 9, b"\x28\xb5", b"\n"])
def test_what_is_no_frame(trace: Callable[..., Counts], tail: bytes) -> None:
    data = b"".join(frames(LONG)) + tail
    assert cutracer_trace.READER.sniff(data)
    counts = trace(data)
    assert counts.total == 4000
    assert "zstd frame 4" in counts.lost[0]
    small = trace(zstandard.compress(ndjson(WHOLE)) + tail)
    assert (small.total, cutracer_trace.READER.sniff(Path(small.path).read_bytes())) == (3, True)
    assert "zstd frame 2" in small.lost[0]


def test_damage_within_a_frame(trace: Callable[..., Counts]) -> None:
    packed = [bytearray(frame) for frame in frames(LONG)]
    packed[1][len(packed[1]) // 2] ^= 0xFF
    packed[1][len(packed[1]) // 2 + 1] ^= 0xFF
    counts = trace(b"".join(bytes(frame) for frame in packed))
    assert counts.gaps
    assert counts.problems


def test_a_line_too_long_loses_only_itself(trace: Callable[..., Counts]) -> None:
    counts = trace(ndjson(WHOLE[:2]) + b'{"q":"' + b"a" * 40_000_000 + b'"}\n' + ndjson(WHOLE[2:]))
    assert by_index(counts) == {0: 1, 1: 1, 2: 1}
    assert [problem.line for problem in counts.problems] == [3]
    assert counts.lost == ["1 line is too long"]


# several files, hostile names, hostile bytes


def test_parts_of_a_trace_are_read_as_one(tmp_path: Path, trace: Callable[..., Counts]) -> None:
    lines = LONG.splitlines(keepends=True)
    parts = [tmp_path / f"{STEM}.{number}.ndjson" for number in range(2)]
    parts[0].write_bytes(b"".join(lines[:1500]))
    parts[1].write_bytes(b"".join(frames(b"".join(lines[1500:]))))
    (joined,) = read_together(parts)
    whole = trace(LONG)
    assert isinstance(joined, Counts)
    assert (joined.rows, joined.warps, joined.launches, joined.gaps) == (whole.rows, 7, 1, [])


@pytest.mark.parametrize(
    "name", ["a'b.ndjson", 'a"b;--.ndjson', "a*b.ndjson", "a[b]?.ndjson", "{a,b}.ndjson", "ä %s $1"]
)
def test_hostile_names(trace: Callable[..., Counts], tmp_path: Path, name: str) -> None:
    (tmp_path / "axb.ndjson").write_bytes(ndjson(WHOLE))
    (tmp_path / "abx.ndjson").write_bytes(ndjson(WHOLE))
    assert trace(WHOLE, name).total == 3


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for reader in (cutracer_hist.READER, cutracer_trace.READER):
        with pytest.raises(InputError):
            list(reader.read(tmp_path / "none"))


@SLOW
@given(seed=st.integers(0, 1 << 30))
def test_order_changes_nothing(trace: Callable[..., Counts], seed: int) -> None:
    records = [metadata(), *(record(n, n % 3, warp=n // 3) for n in range(30))]
    straight = trace(records)
    random.Random(seed).shuffle(records)
    shuffled = trace(records)
    assert (shuffled.rows, shuffled.warps, shuffled.gaps) == (straight.rows, straight.warps, [])


@SLOW
@given(data=st.data())
def test_hostile_bytes_never_raise(trace: Callable[..., Counts], data: st.DataObject) -> None:
    base = data.draw(
        st.sampled_from([ndjson(WHOLE), b"".join(frames(ndjson(WHOLE))), HEADER.encode() + b"0,0,EXIT,1\n"])
    )
    at = data.draw(st.integers(0, len(base)))
    mutated = base[:at] + data.draw(st.binary(max_size=20)) + base[at + data.draw(st.integers(0, 10)) :]
    for reader in (cutracer_trace.READER, cutracer_hist.READER):
        reader.sniff(mutated)
    counts = trace(mutated)
    assert counts.total >= 0
    assert counts.total >= 3 or counts.gaps or counts.problems or not mutated.strip()


ANYTHING = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.none(),
    st.booleans(),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)
FIELDS = (
    "mangled_name unmangled_name kernel_checksum sm_family instructions instr_categories capture_config grid_launch_id"
    " status trace_records_written dropped_records errors kernel_completed kernel_name"
).split()


@SLOW
@given(fields=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6), config=ANYTHING)
def test_hostile_fields_never_raise(trace: Callable[..., Counts], fields: dict[str, Any], config: object) -> None:
    keys = ("instr_begin", "instr_end", "root_instruction_count", "instrumentation_errors")
    odd = metadata(**{"capture_config": dict.fromkeys(keys, config), **fields})
    assert trace([odd, *WHOLE, completion(3, **fields)]).total == 3
    launches = ndjson([{"type": "kernel_launch", **fields}] * 2)
    path = Path(trace(WHOLE).path).with_name("launches.ndjson")
    path.write_bytes(launches)
    found = [counts.launches for counts in cutracer_trace.READER.read(path) if isinstance(counts, Counts)]
    assert found == [2]


@SLOW
@given(values=st.lists(ANYTHING, max_size=8))
def test_counts_are_conserved(trace: Callable[..., Counts], values: list[object]) -> None:
    counts = trace([*WHOLE, *(record(n, 1, opcode_id=value) for n, value in enumerate(values, 3))])
    lost = sum(1 for problem in counts.problems if "no record" in problem.message)
    assert counts.total + lost == 3 + len(values)


# real counts


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ndjson*")), ids=lambda path: path.name[31:])
def test_real_counts(path: Path) -> None:
    (counts,) = cutracer_trace.READER.read(path)
    histogram = path.with_name(f"{path.name.partition('.')[0]}_hist.csv")
    (summed,) = cutracer_hist.READER.read(histogram)
    assert isinstance(counts, Counts)
    assert isinstance(summed, Counts)
    assert (counts.gaps, counts.problems, counts.arch, counts.warps) == ([], [], "sm_90", 4)
    assert counts.names.mangled == counts.names.file == summed.names.file
    by_mnemonic: dict[str, int] = {}
    for row in counts.rows:
        assert row.index is not None
        assert row.offset == 16 * row.index
        words = [word for word in counts.table[row.index].split() if not word.startswith("@")]
        by_mnemonic[words[0]] = by_mnemonic.get(words[0], 0) + row.issued
    assert by_mnemonic == {row.mnemonic: row.issued for row in summed.rows}


def test_the_fixtures_have_what_the_schema_requires() -> None:
    """Also where CUTracer's own validator (``test_cutracer_validator.py``) is not installed."""
    needed = {"type", "ctx", "trace_index", "timestamp", "grid_launch_id", "cta", "warp", "opcode_id", "pc"}
    for path in FIXTURES.glob("*.ndjson*"):
        data = b"".join(_zstd.pieces(path))
        first, *rest, last = (_trace_lines.parse_line(line) for line in data.splitlines())
        assert first is not None
        assert last is not None
        assert first["type"] == "kernel_metadata"
        assert last["trace_records_written"] == len(rest)
        assert all(entry is not None and needed <= set(entry) for entry in rest)


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("@P0 EXIT ;", "@P0"),
        ("  @!UP3  BRA `(.L_1) ;", "@!UP3"),
        ("@PT EXIT", "@PT"),
        ("EXIT ;", ""),
        ("@P0 EXIT ; EXIT ;", ""),
        ("???", ""),
        ("", ""),
    ],
)
def test_the_guard_of_a_text_that_is_one_instruction(text: str, guard: str) -> None:
    assert guard_of(text) == guard


@pytest.mark.parametrize(
    ("names", "said", "shared"),
    [
        (("FADD", "CALL.ABS.NOINC", "EXIT"), {}, sys.maxsize),
        (("FADD", "CALL.ABS.NOINC", "EXIT"), {"root_only": True}, 0),
        (("FADD", "CALL.ABS.NOINC", "EXIT"), {"entered": 4}, 0),  # it began as often as it was entered
        (("FADD", "CALL.ABS.NOINC", "EXIT"), {"entered": 4, "lost": ["cut"]}, sys.maxsize),
        (("FADD", "CALL.ABS.NOINC", "EXIT"), {"entered": 3}, sys.maxsize),
        (("FADD", "IADD3", "EXIT"), {}, 0),
        (("FADD", "IADD3", "EXIT"), {"entered": 3}, 0),
        (("FADD", "JMP", "EXIT"), {}, 0),
        (("FADD", "JMP", "EXIT"), {"entered": 5}, 0),
        (("FADD", "JMP", "EXIT"), {"entered": 4, "lost": ["cut"]}, 0),
        (("FADD", "JMP", "EXIT"), {"entered": 3}, sys.maxsize),
    ],
)
@pytest.mark.parametrize("numbered", [True, False])
def test_numbers_are_shared_only_where_a_call_was_executed(
    names: tuple[str, ...], said: dict[str, Any], shared: int, numbered: bool
) -> None:
    rows = [(name, CountRow(4, index=index)) for index, name in enumerate(names)]
    counts = Counts(path="k", kind="cutracer-trace", names=KernelNames(), rows=[row for _, row in rows], **said)
    known, others = (rows, []) if numbered else ([], rows)
    assert shared_numbers(counts, known, others, None) == shared
    assert shared_numbers(counts, known, others, ()) == 0
    for _, row in rows[1:]:
        row.issued = 0
    assert shared_numbers(counts, known, others, None) == 0
