"""A part of a kernel that was not counted proves no absence, whoever left it out."""

from __future__ import annotations

from pathlib import Path

import pytest

import sassmix

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
