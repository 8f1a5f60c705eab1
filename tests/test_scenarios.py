"""The measurements that sassmix was made for: each must give the right report, and no answer that the data lacks.

A kernel whose instructions are named, one whose instructions are numbers, a small trace that is whole, a matrix kernel
of which 0.64 % is matrix work, and a filter that let nothing through. Numbers and origin: ``fixtures/counts/seed``.
"""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from sassmix import mix
from tests.conftest import FIXTURES, Command

SEED = FIXTURES / "counts" / "seed"
BUILD = runpy.run_path(str(SEED / "build.py"))
LISTINGS = FIXTURES / "listings"
ADD, GEMM, LISTED = SEED / "h100-add", SEED / "h100-gemm", SEED / "h100-listed"
VEC_ADD, UMMA = SEED / "b200-add", SEED / "b200-gemm"
WGMMA, SAXPY, TCGEN05 = (LISTINGS / f"{name}.sass" for name in ("wgmma.sm_90a", "saxpy.sm_100a", "tcgen05.sm_100a"))
HEADER = "warp_id,region_id,instruction,count\n"
Kernel = dict[str, Any]


def kernel(*inputs: Path, **options: Any) -> Kernel:
    (found,) = mix(list(inputs), **options).to_dict()["kernels"]
    assert isinstance(found, dict)
    return found


def counted(found: Kernel, key: str = "opcodes") -> dict[str, int]:
    name = "opcode" if key == "opcodes" else "category"
    return {row[name]: row["count"] for row in found[key] if row["count"]}


def status(found: Kernel, check: str) -> str:
    (entry,) = (item for item in found["evidence"] if item["check"] == check)
    return str(entry["status"])


def only(folder: Path, pattern: str = "*") -> Path:
    (path,) = folder.glob(pattern)
    return path


def traces() -> list[tuple[str, list[Kernel]]]:
    """The two launches of the vector add, as records."""
    return [(BUILD["ADD"].rpartition("/")[2] % launch, BUILD["add_trace"](launch)) for launch in (0, 1)]


def test_the_files_are_what_their_script_writes() -> None:
    def plain(name: str, data: bytes) -> bytes:
        return zstandard.ZstdDecompressor().decompressobj().decompress(data) if name.endswith(".zst") else data

    stored = {str(p.relative_to(SEED)): p.read_bytes() for p in SEED.rglob("kernel_*")}
    made: dict[str, bytes] = BUILD["files"]()
    assert {name: plain(name, data) for name, data in stored.items()} == {n: plain(n, d) for n, d in made.items()}


@pytest.mark.parametrize("form", ["text", "json", "markdown", "csv"])
@pytest.mark.parametrize("folder", sorted({p.parent.name for p in SEED.glob("*/kernel_*")}))
def test_no_report_says_where_time_goes(command: Command, folder: str, form: str) -> None:
    said = command("mix", SEED / folder, "--format", form).out
    assert said
    assert not re.search(r"bottleneck|\bbound\b|balanced|\btime\b|stall|\bother\b", said, re.IGNORECASE)


# an elementwise add, summed over launches and warps, every instruction named


def test_named_sums_give_the_mix_and_nothing_else() -> None:
    found = kernel(ADD)
    share = {row["opcode"]: 100 * row["share"] for row in found["opcodes"]}
    pairs = {"IMAD": 31.0, "PRMT SHF": 22.4, "FFMA": 13.8, "LDC ULDC": 12.1, "F2FP": 6.9, "LDG STG": 5.2}
    assert {names: round(sum(share.pop(n) for n in names.split()), 1) for names in pairs} == pairs
    assert round(sum(share.values()), 1) == 8.6
    assert found["counts"] == {"total": 72_500_000, "resolved": 72_500_000, "unresolved": 0, "unclassified": 0}
    assert {"conversion", "movement", "integer.arithmetic", "integer.logic", "memory.global"} <= set(
        counted(found, "mix")
    )
    assert (found["warps"], found["launches"]) == (None, None)


@pytest.mark.parametrize(
    ("arch", "known", "active"),
    [(None, "warn", None), ("sm_90", "pass", False), ("sm_60", "fail", None)],  # sm_60 has no ULDC, so it is none
)
def test_no_matrix_opcode_among_named_sums(arch: str | None, known: str, active: bool | None) -> None:
    """Only where the architecture is known, no matrix opcode can hide behind a name that means something else there."""
    found = kernel(ADD, arch=arch)
    assert (status(found, "architecture"), found["tensor_core_active"]) == (known, active)
    assert found["tensor_core_reason"]


def test_cycles_of_zero_are_reported_as_not_measured() -> None:
    report = mix(ADD).to_dict()
    assert [p["message"] for p in report["problems"]] == ["the column cycles is all zero: not measured"]
    assert '"cycles"' not in json.dumps(report)


# a matrix kernel of which only the numbers of its instructions were written


@pytest.mark.parametrize("arch", [None, "sm_90", "sm_90a"])
def test_numbers_without_names_stay_what_they_are(arch: str | None) -> None:
    found = kernel(GEMM, arch=arch)
    rows = dict(line.split(",")[2:4] for line in only(GEMM).read_text().splitlines()[1:])
    assert counted(found) == {name: int(count) for name, count in rows.items()}
    assert len(rows) == 826
    assert found["counts"] == {"total": 80_999_864, "resolved": 0, "unresolved": 80_999_864, "unclassified": 0}
    assert counted(found, "mix") == {"unresolved": 80_999_864}
    assert {row["confidence"] for row in found["opcodes"]} == {"low"}
    assert (found["tensor_core_present"], found["tensor_core_active"], found["confidence"]) == (None, None, "low")
    assert "not resolved" in found["tensor_core_reason"]


def test_numbers_without_names_do_not_pass_the_check(command: Command) -> None:
    assert command("check", GEMM).status == 1


def test_the_listing_names_the_numbers() -> None:
    alone, found = kernel(LISTED), kernel(LISTED, WGMMA)
    assert (alone["counts"]["unresolved"], alone["tensor_core_active"]) == (alone["counts"]["total"], None)
    assert found["counts"]["total"] == found["counts"]["resolved"] == alone["counts"]["total"]
    assert (counted(found)["HGMMA"], counted(found)["EXIT"]) == (4 * 79_200 + 10_560, 7_920)
    assert (found["tensor_core_active"], found["confidence"], found["warps"]) == (True, "high", None)


@pytest.mark.parametrize("shift", [-2, -1, 1, 2, 40])
def test_numbers_that_are_off_name_nothing(shift: int, tmp_path: Path) -> None:
    """Some other instruction stands at every number; a mix of these would look as good as the right one."""
    path = only(LISTED)
    moved = re.sub(r"OPCODE_(\d+)", lambda m: f"OPCODE_{max(0, int(m[1]) + shift)}", path.read_text())
    (tmp_path / path.name).write_text(moved)
    found = kernel(tmp_path, WGMMA)
    assert (found["counts"]["resolved"], found["tensor_core_active"]) == (0, None)
    assert (status(found, "consistent"), found["counts"]["total"]) == ("fail", kernel(LISTED)["counts"]["total"])


@pytest.mark.parametrize("name", ["HGMMA_PIPELINED", "hgmma", "hgmma_pipelined_v2", "gmma_pipelined"])
def test_a_name_that_is_not_the_functions_names_nothing(name: str, tmp_path: Path) -> None:
    (tmp_path / only(LISTED).name.replace("hgmma_pipelined", name)).write_bytes(only(LISTED).read_bytes())
    found = kernel(tmp_path, WGMMA)
    assert (found["listing"]["how"], found["counts"]["resolved"], found["tensor_core_active"]) == ("none", 0, None)


# a vector add, traced whole

PER_LAUNCH = {"LDC": 160, "IMAD": 128, "LDCU": 64, "LDG": 64} | dict.fromkeys(
    ("S2R", "S2UR", "ISETP", "DADD", "STG", "EXIT"), 32
)


@pytest.mark.parametrize("listings", [[], [SAXPY]])
def test_a_whole_trace_proves_that_no_matrix_opcode_ran(listings: list[Path], command: Command) -> None:
    found = kernel(VEC_ADD, *listings)
    assert counted(found) == {opcode: 2 * count for opcode, count in PER_LAUNCH.items()}
    assert (found["counts"]["total"], found["launches"], found["warps"]) == (1_216, 2, 32)
    assert found["arch"] == ("sm_100a" if listings else "sm_100")
    assert (found["tensor_core_active"], found["confidence"]) == (False, "high")
    assert command("check", VEC_ADD, *listings).status == 0


def completion(change: Kernel) -> Callable[[Kernel], Kernel]:
    return lambda record: record | change if record["type"] == "capture_completion" else record


def metadata(change: Kernel) -> Callable[[Kernel], Kernel]:
    return lambda record: record | change if record["type"] == "kernel_metadata" else record


def every(record: Kernel) -> Kernel:
    return record | ({"warp": record["warp"] % 8} if record["type"] == "opcode_only" else {})


@pytest.mark.parametrize(
    ("change", "active"),
    [
        (every, False),  # warps numbered in each CTA, not over the grid
        (metadata({"instr_categories": []}), False),
        (metadata({"instr_categories": ["mma"]}), None),
        (metadata({"instr_categories": ["tma", "sync"]}), None),
        (completion({"status": "incomplete", "kernel_completed": False}), None),
        (completion({"trace_records_written": 609}), None),
        (completion({"dropped_records": 1}), None),
        (metadata({"instructions": {}}), None),
        (metadata({"sm_family": 90}), None),  # LDCU is none of its opcodes
    ],
)
def test_what_takes_the_proof_away(change: Callable[[Kernel], Kernel], active: bool | None, tmp_path: Path) -> None:
    for name, records in traces():
        (tmp_path / name).write_bytes(BUILD["ndjson"]([change(record) for record in records]))
    found = kernel(tmp_path)
    assert (found["counts"]["total"], found["launches"], found["warps"]) == (1_216, 2, 32)
    assert found["tensor_core_active"] is active
    assert found["tensor_core_reason"]
    assert (found["confidence"] == "high") == (active is False)


# a matrix kernel: 4,096 of 641,834


@pytest.fixture(scope="module")
def gemm_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same launch as a trace."""
    path = tmp_path_factory.mktemp("trace") / only(UMMA).name.replace("_hist.csv", ".ndjson.zst")
    path.write_bytes(zstandard.compress(BUILD["ndjson"](BUILD["gemm_trace"]()), 1))
    return path


def check_gemm(found: Kernel) -> None:
    rows = {row["opcode"]: row for row in found["opcodes"]}
    assert (found["counts"]["total"], found["counts"]["resolved"], found["warps"]) == (641_834, 641_834, 1_024)
    assert (rows["UTCHMMA"]["count"], round(100 * rows["UTCHMMA"]["share"], 2)) == (4_096, 0.64)
    assert {rows[opcode]["category"] for opcode in ("UTMALDG", "UTMASTG")} == {"memory.bulk"}
    assert (found["tensor_core_present"], found["tensor_core_active"]) == (True, True)


@pytest.mark.parametrize("listings", [[], [TCGEN05]], ids=["alone", "beside a listing without its function"])
def test_a_small_share_of_matrix_work_is_matrix_work(listings: list[Path], gemm_trace: Path) -> None:
    for source in (UMMA, gemm_trace):
        check_gemm(kernel(source, *listings))


def test_histogram_and_trace_of_one_launch_agree(gemm_trace: Path) -> None:
    found = kernel(UMMA, gemm_trace)
    check_gemm(found)
    assert (status(found, "consistent"), found["launches"]) == ("pass", 1)


def test_no_function_of_that_name_is_neither_false_nor_other(gemm_trace: Path, tmp_path: Path) -> None:
    """Numbers only, and no label of the listing fits the kernel's name."""
    lines = zstandard.ZstdDecompressor().decompressobj().decompress(gemm_trace.read_bytes())
    head = json.dumps(next(BUILD["gemm_trace"](table=False))).encode()
    (tmp_path / gemm_trace.name).write_bytes(zstandard.compress(head + b"\n" + lines.partition(b"\n")[2], 1))
    found = kernel(tmp_path, TCGEN05)
    assert (found["listing"]["how"], counted(found, "mix")) == ("none", {"unresolved": 641_834})
    assert (found["tensor_core_present"], found["tensor_core_active"], found["confidence"]) == (None, None, "low")
    assert status(found, "mapping") == "fail"


# a filter that let nothing through: the tracer ended with 0 all the same

HIST, TRACE = "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv", "kernel_1a2b3c4d5e6f7081_iter0_k.ndjson"
NOTHING = [
    ({}, 2, "the folder holds no file"),
    ({TRACE: b""}, 2, "zero bytes"),
    ({TRACE: b"", HIST: b"", "k.cubin": b""}, 2, "zero bytes"),
    ({TRACE: b"\n \n"}, 2, "blanks"),
    ({"cutracer_main.log": b"kernel filter: vecadd\n"}, 2, "no file of a known kind"),
    ({HIST: HEADER.encode()}, 3, "nothing was captured"),
    ({TRACE: b'{"type":"kernel_metadata","mangled_name":"k","sm_family":100}\n'}, 3, "nothing was captured"),
]


@pytest.mark.parametrize("verb", ["check", "mix"])
@pytest.mark.parametrize(("files", "expected", "message"), NOTHING)
def test_a_capture_of_nothing_is_told(
    verb: str, files: dict[str, bytes], expected: int, message: str, tmp_path: Path, command: Command
) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    told = command(verb, tmp_path)
    assert (told.status, message in told.err, "Traceback" in told.err) == (expected, True, False)
    machine = command(verb, tmp_path, "--format", "json")
    assert (machine.status, machine.json["kernels"], bool(machine.json["problems"])) == (expected, [], True)


def test_one_empty_file_beside_a_whole_one_fails_the_check(tmp_path: Path, command: Command) -> None:
    name, records = traces()[0]
    (tmp_path / name).write_bytes(BUILD["ndjson"](records))
    assert command("check", tmp_path).status == 0
    (tmp_path / name.replace("iter0", "iter1")).write_bytes(b"")
    assert command("check", tmp_path).status == 1


# the same histogram in other clothes


def columns(text: str, *names: str) -> str:
    """The columns in another order; one that is new holds an x."""
    head, *rows = (line.split(",") for line in text.splitlines())
    places = [head.index(name) if name in head else None for name in names]
    lines = [[row[place] if place is not None else "x" for place in places] for row in rows]
    return "".join(",".join(line) + "\n" for line in [list(names), *lines])


CLOTHES: dict[str, Callable[[str], str | bytes]] = {
    "as it is": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: "\ufeff" + text,
    "UTF-16": lambda text: text.encode("utf-16"),
    "upper-case header": lambda text: text.replace("warp_id,region_id", "WARP_ID,Region_Id").replace("count", "COUNT"),
    "lower-case opcodes": lambda text: text.lower(),
    "other order": lambda text: columns(text, "count", "cycles", "instruction", "warp_id", "region_id"),
    "one column more": lambda text: columns(text, "gpu", "warp_id", "region_id", "instruction", "kernel", "count"),
    "no cycles": lambda text: columns(text, "warp_id", "region_id", "instruction", "count"),
    "no region": lambda text: columns(text, "warp_id", "instruction", "count"),
    "no warp": lambda text: columns(text, "region_id", "instruction", "count"),
    "quoted": lambda text: re.sub(r"[^,\n]+", r'"\g<0>"', text),
    "blank lines": lambda text: "\n" + text.replace("\n", "\n\n"),
    "blanks in cells": lambda text: text.replace(",", " , "),
    "decimal zeros": lambda text: re.sub(r",(\d+),(\d+)$", r",\1.0,\2.0", text, flags=re.MULTILINE),
    "other order of rows": lambda text: "\n".join([text.splitlines()[0], *reversed(text.splitlines()[1:]), ""]),
    "every row twice, half the count": lambda text: "".join(
        [text.splitlines()[0] + "\n"]
        + 2 * [re.sub(r"(\d+),(\d+)$", lambda m: f"{int(m[1]) // 2},{m[2]}\n", row) for row in text.splitlines()[1:]]
    ),
}


@pytest.mark.parametrize("clothes", CLOTHES)
def test_the_form_of_a_histogram_changes_nothing(clothes: str, tmp_path: Path) -> None:
    path = only(ADD)
    data = CLOTHES[clothes](path.read_text())
    (tmp_path / path.name).write_bytes(data if isinstance(data, bytes) else data.encode())
    report = mix(tmp_path, arch="sm_90").to_dict()
    (found,), plain = report["kernels"], kernel(ADD, arch="sm_90")
    assert {key: found[key] for key in plain if key != "inputs"} == {k: v for k, v in plain.items() if k != "inputs"}
    told = [p for p in report["problems"] if p["severity"] != "info"]
    assert len(told) == clothes.startswith("every row twice")


ROWS = HEADER + "0,0,LDG.E,10\n0,0,EXIT,1\n"


@pytest.mark.parametrize(
    ("name", "called", "launches"),
    [
        (HIST, "k", 1),
        (HIST.upper(), "K", 1),
        ("kernel_1a2b3c4_iter12__Z4iter3PfS_i_hist.csv", "_Z4iter3PfS_i", 1),
        ("kernel_90ab12cd34ef5678_iter0_a_iter2_b_hist.csv", "a_iter2_b", 1),
        ("kernel_90ab12cd34ef5678_iter0_my_hist_hist.csv", "my_hist", 1),
        ("kernel_vecAdd_90ab12cd34ef5678_hist.csv", "vecAdd", None),
        ("kernel_deadbeef_kernel_90ab12cd34ef5678_hist.csv", "deadbeef_kernel", None),
        ("kernel_vecAdd_0_hist.csv", "vecAdd", None),  # a post-processor that lost the checksum
        ("kernel_90ab12cd34ef5678_vecAdd_hist.csv", "vecAdd", None),  # as dumped cubins are called
        ("kernel_vecAdd_hist.csv", "kernel_vecAdd_hist", None),
    ],
)
def test_the_kernel_in_the_name_of_a_file(name: str, called: str, launches: int | None, tmp_path: Path) -> None:
    (tmp_path / name).write_text(ROWS)
    found = kernel(tmp_path, arch="sm_90")
    assert (found["name"], found["launches"]) == (called, launches)


def test_iterations_are_launches_and_kernels_are_kernels(tmp_path: Path) -> None:
    for name in ("k", "K", "k2"):
        for iteration in range(11):
            (tmp_path / f"kernel_1a2b3c4d5e6f7081_iter{iteration}_{name}_hist.csv").write_text(ROWS)
    found = mix(tmp_path, arch="sm_90").to_dict()["kernels"]
    assert {(k["name"], k["launches"], k["counts"]["total"], k["warps"]) for k in found} == {
        (name, 11, 121, 1) for name in ("k", "K", "k2")
    }


@pytest.mark.parametrize(
    "text", ["OPCODE_", "OPCODE_-1", "OPCODE_9.5", "opcode_x", "OPCODE_99999999999999999999", "138"]
)
def test_what_only_looks_like_a_name_is_not_resolved(text: str, tmp_path: Path) -> None:
    (tmp_path / HIST).write_text(f"{ROWS}0,0,{text},7\n")
    found = kernel(tmp_path, arch="sm_90")
    assert (counted(found)[text], found["counts"]["unresolved"], found["tensor_core_active"]) == (7, 7, None)


@pytest.mark.parametrize(("exits", "active"), [("01", False), ("0", None), ("1", None), ("", None)])
def test_every_warp_of_a_histogram_has_to_end(exits: str, active: bool | None, tmp_path: Path) -> None:
    lines = [*(f"{warp},0,FADD,3" for warp in "01"), *(f"{warp},0,EXIT,1" for warp in exits)]
    (tmp_path / HIST).write_text(HEADER + "".join(f"{line}\n" for line in lines))
    found = kernel(tmp_path, arch="sm_90")
    assert (status(found, "complete"), found["tensor_core_active"]) == ("pass" if active is False else "warn", active)


LISTED_K = """\t.target\tsm_90a
        .type           k,@function
        .size           k,(.L_x_1 - k)
        .other          k,@"STO_CUDA_ENTRY STV_DEFAULT"
k:
        /*0000*/                   {first} ;
        /*0010*/                   FADD R2, R3, R4 ;
        /*0020*/                   CS2R R10, SRZ ;
        /*0030*/                   EXIT ;
.L_x_1:
"""


@pytest.mark.parametrize(
    "first", ["CS2R R8, SR_CLOCKLO", "S2R R8, SR_CLOCKLO", "S2UR UR4, SR_CLOCKHI", "S2R R8, SR_TID.X"]
)
@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("named", [True, False], ids=["by the file", "only function"])
def test_code_that_reads_a_clock_may_be_counted_between_the_reads(
    first: str, numbered: bool, named: bool, tmp_path: Path
) -> None:
    """Whatever the histogram calls the instruction, the listing says what it reads."""
    names = [f"OPCODE_{n}" for n in range(4)] if numbered else [first.split(maxsplit=1)[0], "FADD", "CS2R", "EXIT"]
    path = tmp_path / (HIST if named else "x_hist.csv")
    path.write_text(HEADER + "".join(f"{warp},0,{name},1\n" for warp in (0, 1) for name in dict.fromkeys(names)))
    (tmp_path / "k.sass").write_text(LISTED_K.format(first=first))
    found = kernel(tmp_path)
    assert status(found, "complete") == ("warn" if "CLOCK" in first else "pass")


LOSSES = {
    "every row unreadable": (HIST.replace("iter0", "iter1"), HEADER + "0,0,HMMA,x\n", "fail"),
    "every row of another width": (HIST.replace("iter0", "iter1"), HEADER + "0,0,HMMA,1,024\n", "fail"),
    "a header alone": (HIST.replace("iter0", "iter1"), HEADER, "warn"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_launch_whose_counts_are_lost_is_missed(loss: str, tmp_path: Path) -> None:
    name, text, expected = LOSSES[loss]
    (tmp_path / HIST).write_text(ROWS)
    assert status(kernel(tmp_path, arch="sm_90"), "complete") == "pass"
    (tmp_path / name).write_text(text)
    found = kernel(tmp_path, arch="sm_90")
    assert (status(found, "complete"), found["tensor_core_active"]) == (expected, None)


@pytest.mark.parametrize(("second", "told"), [(HIST, 1), (HIST.replace("iter0", "iter1"), 0), (f"other/{HIST}", 0)])
def test_equal_histograms_of_one_iteration_are_told(second: str, told: int, tmp_path: Path) -> None:
    """They are a copy or two runs that did the same. Both count; whether that is right only the user can say."""
    for folder, name in (("a", HIST), ("b", second)):
        path = tmp_path / folder / name
        path.parent.mkdir(parents=True)
        path.write_text(ROWS + ("0,0,FADD,1\n" if name.startswith("other") else ""))
    report = mix(tmp_path, arch="sm_90").to_dict()
    assert report["kernels"][0]["launches"] == 2
    assert len([p for p in report["problems"] if "is it a copy?" in p["message"]]) == told


@pytest.mark.parametrize("text", ["x,0,FADD,1\n", "0,0,,1\n", "0,0,FADD,?\n"])
def test_faults_of_many_rows_are_told_in_few_words(text: str, tmp_path: Path) -> None:
    (tmp_path / HIST).write_text(ROWS + 500 * text)
    problems = mix(tmp_path).to_dict()["problems"]
    assert len(problems) == 21
    assert problems[0]["line"] == 4
    assert problems[-1]["message"].startswith("480 more")


def test_a_packed_histogram_is_not_taken_for_a_plain_one(tmp_path: Path, command: Command) -> None:
    """What is too short to be packed stands in a packed file as it is."""
    (tmp_path / f"{HIST}.zst").write_bytes(zstandard.compress(ROWS.encode()))
    assert ROWS.encode() in only(tmp_path).read_bytes()
    assert command("mix", tmp_path).status == 2
