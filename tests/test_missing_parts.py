"""A part of a kernel that was not counted proves no absence, whoever left it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sassmix
from sassmix.own_texts import may_multiply
from sassmix.plugins import default_plugins
from tests.conftest import Body, written

HEAD = "warp_id,region_id,instruction,count\n"
NAMED = "kernel 0 - k - #thread-blocks 1,  kernel instructions 8, total instructions 8\n  EXIT = 4\n  LDC = 4\n"
BARE = "kernel {} - k - #thread-blocks 1,  kernel instructions {}, total instructions {}\n"
BANNER = "------------- NVBit (NVidia Binary Instrumentation Tool v1.7) Loaded --------------\n"


def active(path: Path, arch: str | None = None) -> bool | None:
    (kernel,) = sassmix.mix(path, arch=arch).to_dict()["kernels"]
    found = kernel["tensor_core_active"]
    assert found is None or isinstance(found, bool)
    return found


@pytest.mark.parametrize("call", ["CALL.REL.NOINC", "CALL.ABS.NOINC", "CALL"])
def test_what_was_called_and_did_not_return_is_missing(call: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv"
    rows = f"0,0,IADD3,4\n0,0,{call},4\n0,0,EXIT,4\n"
    path.write_text(HEAD + rows + "0,0,RET.REL.NODEC,4\n")
    assert active(path, arch="sm_90a") is False
    path.write_text(HEAD + rows)
    assert active(path, arch="sm_90a") is None
    path.write_text(HEAD + rows.replace(f"{call},4", f"{call},0"))
    assert active(path, arch="sm_90a") is False


def test_another_architecture_than_the_inputs_proves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k.ndjson"
    path.write_text(
        '{"type":"kernel_metadata","mangled_name":"k","sm_family":90}\n'
        '{"type":"opcode_only","grid_launch_id":0,"cta":[0,0,0],"warp":0,"trace_index":0,"opcode_id":0,"sass":"NOP"}\n'
    )
    assert active(path, arch="sm_61") is None
    path.write_text(path.read_text().replace('"sm_family":90', '"sm_family":61'))
    assert active(path) is False  # it has no matrix opcode, whatever was counted


@pytest.mark.parametrize("total", [8, 12])
def test_a_launch_of_nvbit_without_its_opcodes_is_missing(total: int, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(BANNER + NAMED)
    assert active(path, arch="sm_90a") is False
    path.write_text(BANNER + NAMED + BARE.format(1, total, 8 + total))
    assert active(path, arch="sm_90a") is None
    path.write_text(BANNER + NAMED + BANNER + BARE.format(0, 8, 8))  # two tools, one after the other
    assert active(path, arch="sm_90a") is False


CALLING = ["S2R R0, SR_TID.X", "FADD R2, R2, R3", "CALL.REL.NOINC `(f)", "IADD3 R2, R2, R3, RZ", "EXIT"]
CALLEE = ["FADD R2, R2, R3", "FADD R2, R2, R3", "FMUL R2, R2, R3", "RET.REL.NODEC R20 `(k)"]
#: All that four warps execute, each of which calls once.
EXECUTED = {"S2R": 4, "FADD": 12, "CALL.REL.NOINC": 4, "FMUL": 4, "IMAD": 0, "RET.REL.NODEC": 4, "IADD3": 4, "EXIT": 4}


def with_code(
    folder: Path, executed: dict[str, int], kernel: list[str] = CALLING, callee: list[str] = CALLEE, **options: Any
) -> bool | None:
    """The verdict on a histogram beside the code of a kernel, and of a function that it calls in another section."""
    listing, counts = folder / "k.sass", folder / "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv"
    listing.write_text(written(Body("k", kernel), Body("f", callee, kernel=False), **options))
    counts.write_text(HEAD + "".join(f"0,0,{name},{count}\n" for name, count in executed.items() if count))
    (found,) = (k for k in sassmix.mix([counts, listing]).to_dict()["kernels"] if k["basis"] == "dynamic")
    verdict = found["tensor_core_active"]
    assert verdict is None or isinstance(verdict, bool)
    return verdict


@pytest.mark.parametrize("lost", [{}, {"FADD": 4}, {"FMUL": 1}, {"FMUL": 4}, {"RET.REL.NODEC": 1}])
def test_of_a_function_in_another_section_nothing_that_begins_it_may_be_missing(
    lost: dict[str, int], tmp_path: Path
) -> None:
    """How often it was counted does not matter, but for what returns."""
    executed = {name: count - lost.get(name, 0) for name, count in EXECUTED.items()}
    assert with_code(tmp_path, executed) is (None if "RET.REL.NODEC" in lost or not executed["FMUL"] else False)


@pytest.mark.parametrize(
    ("kernel", "callee"),
    [
        # Under a guard, nothing tells how often the call was made.
        ([*CALLING[:2], "@P0 CALL.REL.NOINC `(f)", *CALLING[3:]], CALLEE),
        # Through a register, it leads anywhere.
        ([*CALLING[:3], "CALL.ABS.NOINC R2", *CALLING[3:]], CALLEE),
        # What stands behind a jump, or where the parts of a warp come together, may run less often.
        (CALLING, ["@P0 BRA `(.L_1)", *CALLEE[:3], ".L_1:", CALLEE[3]]),
        (CALLING, ["WARPSYNC.ALL", *CALLEE]),
    ],
)
def test_what_need_not_run_for_each_call_is_not_missed(kernel: list[str], callee: list[str], tmp_path: Path) -> None:
    also = {"BRA": 4} if "@P0 BRA `(.L_1)" in callee else {"WARPSYNC.ALL": 4} if callee != CALLEE else {}
    assert with_code(tmp_path, {**EXECUTED, "FADD": 5, **also}, kernel, callee) is False


@pytest.mark.parametrize("callees", [["f"], ["f", "g"]])
def test_of_several_called_functions_only_what_all_begin_with_is_missed(callees: list[str], tmp_path: Path) -> None:
    listing, counts = tmp_path / "k.sass", tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv"
    kernel = [*CALLING[:2], *(f"CALL.REL.NOINC `({name})" for name in callees), *CALLING[3:]]
    codes = {"f": ["IMAD R2, R2, R3, R4", "FMUL R2, R2, R3", CALLEE[3]], "g": ["FMUL R2, R2, R3", CALLEE[3]]}
    listing.write_text(written(Body("k", kernel), *(Body(name, codes[name], kernel=False) for name in callees)))
    calls = 4 * len(callees)
    rows = {**EXECUTED, "CALL.REL.NOINC": calls, "RET.REL.NODEC": calls, "FMUL": calls}
    del rows["IMAD"]
    counts.write_text(HEAD + "".join(f"0,0,{name},{count}\n" for name, count in rows.items()))
    (found,) = (k for k in sassmix.mix([counts, listing]).to_dict()["kernels"] if k["basis"] == "dynamic")
    assert found["tensor_core_active"] is (None if callees == ["f"] else False)


@pytest.mark.parametrize(("returned", "active_is"), [(4, False), (6, False), (3, None), (0, None)])
def test_what_is_called_returns_as_often(returned: int, active_is: bool | None, tmp_path: Path) -> None:
    """Parts of a warp may return one after the other, so more returns are right."""
    path = tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv"
    path.write_text(f"{HEAD}0,0,CALL,4\n0,0,EXIT,4\n0,0,RET,{returned}\n")
    assert active(path, arch="sm_90a") is active_is


HMMA = "HMMA.16816.F32 R4, R8, R10, R4"
ROW = ["S2R R0, SR_TID.X", "@P0 BRA `(.L_1)", HMMA, "FADD R2, R2, R3", "FADD R2, R2, R3", ".L_1:", "EXIT"]
PLAIN = [line.replace(HMMA, "IADD3 R2, R2, R3, RZ") for line in ROW]


@pytest.mark.parametrize(
    ("executed", "code", "verdict"),
    [
        ({"HMMA": 3, "FADD": 6}, ROW, True),
        ({"HMMA": 3}, ROW, True),
        ({}, ROW, False),
        ({"FADD": 6}, ROW, None),  # all of a row runs, or nothing
        ({"FADD": 1}, ROW, None),  # however often
        ({"FADD": 6}, PLAIN, False),  # what is missing multiplies nothing
        ({"FADD": 6}, [*ROW[:2], f"@P1 {HMMA}", *ROW[3:]], False),  # its guard may have turned it off
        ({"FADD": 6}, [*ROW[:5], "@P0 BRA `(.L_1)", *ROW[3:]], None),  # no way leads to the second row but by the first
        ({"FADD": 6}, [*ROW[:5], "@P0 BRA `(.L_1)", ".L_2:", *ROW[3:]], False),
        ({"FADD": 4}, [*ROW[:2], "FADD R2, R2, R3", "@P2 BRA `(.L_1)", *ROW[2:]], False),  # it stands alone, too
        ({"FADD": 6}, [*ROW[:2], HMMA, ".L_2:", *ROW[3:]], False),  # a jump leads behind it
        ({"FADD": 6}, [*ROW[:2], "CALL.REL.NOINC `(f)", *ROW[2:]], False),  # more may have run than stands here
    ],
)
def test_beside_what_was_counted_no_matrix_multiply_may_be_missing(
    executed: dict[str, int], code: list[str], verdict: bool | None, tmp_path: Path
) -> None:
    always = {"S2R": 4, "BRA": 4, "EXIT": 4}
    assert with_code(tmp_path, {**always, **executed}, code, arch="sm_90a") is verdict


PAGE = "Kernel Name,k\nAddress,Source,Instructions Executed\n"


@pytest.mark.parametrize(
    ("texts", "verdict"),
    [
        ({"LDC R1, c[0x0][0x28]": 1024, "FFMA R2, R3, R4, R5": 65536, "EXIT": 1024}, False),
        ({"LDC R1, c[0x0][0x28]": 1024, HMMA: 65536, "EXIT": 1024}, True),
        ({"LDC R1, c[0x0][0x28]": 1024, HMMA: 0, "EXIT": 1024}, None),
        ({"LDC R1, c[0x0][0x28]": 1024, "@P0 EXIT": 1024, HMMA: 0, "EXIT": 0}, False),
    ],
)
def test_counts_that_do_not_flow_matter_where_a_matrix_multiply_was_not_counted(
    texts: dict[str, int], verdict: bool | None, tmp_path: Path
) -> None:
    """People round and scale counts, and make them up."""
    path = tmp_path / "k.csv"
    rows = enumerate(texts.items())
    path.write_text(PAGE + "".join(f'{0x1000 + 16 * n:#x},"{text}",{count}\n' for n, (text, count) in rows))
    (found,) = sassmix.mix(path, arch="sm_90a").kernels
    assert found.tensor.active is verdict
    assert (found.confidence == "high") == (verdict is not None)


def test_every_matrix_multiply_is_called_so() -> None:
    opcodes = {opcode for table in default_plugins().registry.tables() for opcode in table.matrix_opcodes}
    assert opcodes and all(map(may_multiply, opcodes))


def test_what_has_places_is_not_asked_by_sums(tmp_path: Path) -> None:
    """Numbers say where each count belongs, which tells more."""
    listing, counts = tmp_path / "k.sass", tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv"
    listing.write_text(written(Body("k", ROW)))
    counts.write_text(HEAD + "".join(f"0,0,OPCODE_{n},{4 if n in (0, 1, 5) else 3}\n" for n in range(6) if n != 2))
    (found,) = (k for k in sassmix.mix([counts, listing]).to_dict()["kernels"] if k["basis"] == "dynamic")
    status = {item["check"]: item["status"] for item in found["evidence"]}
    assert (found["tensor_core_active"], status["complete"], status["consistent"]) == (None, "pass", "warn")


@pytest.mark.parametrize(("call", "missed"), [("CALL.REL.NOINC `($k$h)", True), ("CALL.ABS.NOINC R2", False)])
def test_of_a_call_through_a_register_nothing_is_missed(call: str, missed: bool, tmp_path: Path) -> None:
    listing, counts = tmp_path / "k.sass", tmp_path / "kernel_1a2b3c4d5e6f7081_iter0_k_hist.csv"
    helper = Body("$k$h", ["FADD R2, R2, R3", "IMAD R2, R2, R3, R4", "RET.REL.NODEC R20 `(k)"], kernel=False)
    kernel = ["S2R R0, SR_TID.X", "CALL.REL.NOINC `($k$h)", call, "EXIT"]
    listing.write_text(written(Body("k", kernel, helpers=[helper])))
    rows = {"S2R": 4, call.split(maxsplit=1)[0]: 8, "RET.REL.NODEC": 8, "FADD": 7, "EXIT": 4}
    counts.write_text(HEAD + "".join(f"0,0,{name},{count}\n" for name, count in rows.items()))
    (found,) = (k for k in sassmix.mix([counts, listing]).to_dict()["kernels"] if k["basis"] == "dynamic")
    assert (found["tensor_core_active"] is None) == missed


@pytest.mark.parametrize("guard", ["", "@P0 "])
def test_what_was_called_and_never_returned_is_missed_under_a_guard_too(guard: str, tmp_path: Path) -> None:
    kernel = [*CALLING[:2], f"{guard}CALL.REL.NOINC `(f)", *CALLING[3:]]
    executed = {"S2R": 4, "FADD": 4, "CALL.REL.NOINC": 4, "IADD3": 4, "EXIT": 4}
    assert with_code(tmp_path, executed, kernel, ["@P0 BRA `(.L_1)", "FADD R2, R2, R3", ".L_1:", CALLEE[3]]) is None
    assert with_code(tmp_path, {**executed, "CALL.REL.NOINC": 0}, kernel) is (None if not guard else False)


def test_a_matrix_multiply_that_stands_in_the_code_that_a_capture_carries_is_present(tmp_path: Path) -> None:
    path = tmp_path / "k.csv"
    path.write_text(PAGE + f'0x1000,"@P0 BRA 0x1020",8\n0x1010,"{HMMA}",0\n0x1020,EXIT,8\n'.replace("@P0 BRA", "BRA"))
    (found,) = sassmix.mix(path, arch="sm_90a").kernels
    assert (found.tensor.present, found.tensor.active) == (True, False)


@pytest.mark.parametrize("name", ["OPCODE_138", "opcode_138"])
def test_an_opcode_number_is_unresolved_whoever_writes_it(name: str, tmp_path: Path) -> None:
    nvbit, page = tmp_path / "k.txt", tmp_path / "k.csv"
    nvbit.write_text(BANNER + NAMED.replace("LDC", name.upper()))
    page.write_text(PAGE + f"0x1000,LDC R1,8\n0x1010,{name},8\n0x1020,EXIT,8\n")
    for path in (nvbit, page):
        (found,) = sassmix.mix(path, arch="sm_90a").to_dict()["kernels"]
        assert found["counts"]["unresolved"] == (4 if path == nvbit else 8) and found["tensor_core_active"] is None


def test_equal_traces_of_two_iterations_are_two_launches(tmp_path: Path) -> None:
    text = "".join(
        f'{{"type":"opcode_only","grid_launch_id":0,"cta":[0,0,0],"warp":0,"opcode_id":{n},"sass":"{sass}"}}\n'
        for n, sass in enumerate(["MOV R1, RZ ;", "EXIT ;"])
    )
    files = [tmp_path / f"kernel_1a2b3c4d5e6f7081_{name}_k.ndjson" for name in ("iter0", "iter1")]
    for path in files:
        path.write_text(text)
    (found,) = sassmix.mix(files).kernels
    assert (found.launches, found.tally.counts()["total"]) == (2, 4)


@pytest.mark.parametrize(
    ("texts", "steps", "whole"),
    [
        (["CALL.REL.NOINC 0x2000", "EXIT", "RET.REL.NODEC R20"], [0, 16, 0x1000], True),
        (["CALL.REL.NOINC 0x2000", "EXIT", "RET.REL.NODEC R20", "EXIT"], [0, 16, 0x1000, 0x3000], False),
        (["CALL.ABS.NOINC R2", "EXIT", "RET.REL.NODEC R20", "EXIT"], [0, 16, 0x1000, 0x3000], True),
        (["CALL.REL.NOINC 0x2000", "EXIT", "RET.REL.NODEC R20", "EXIT"], [0, 16, 0x1000, -0x800], False),
        (["MOV R1, RZ", "EXIT", "EXIT"], [0, 16, 16], False),
    ],
    ids=["called", "nothing leads to the last piece", "a call that leads anywhere", "nor in front", "an address twice"],
)
def test_rows_that_stand_apart_are_the_kernels_if_something_leads_there(
    texts: list[str], steps: list[int], whole: bool, tmp_path: Path
) -> None:
    path = tmp_path / "k.csv"
    path.write_text(PAGE + "".join(f"{0x1000 + s:#x},{text},8\n" for s, text in zip(steps, texts, strict=True)))
    (found,) = sassmix.mix(path, arch="sm_90a").kernels
    assert (found.tensor.active is False) == whole
