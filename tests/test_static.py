"""Listings written by hand: what a static report says of tensor cores, of the architecture, and of its own damage."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix.plugins import default_plugins
from tests.conftest import LISTINGS, Body, written

Save = Callable[..., Path]
PADDING = [".L_trap:", "BRA `(.L_trap)", "NOP", "NOP"]
HMMA = "HMMA.16816.F32 R4, R8, R12, R4"
CALL = "CALL.REL.NOINC `({})"
RETURN = "RET.REL.NODEC R20 `(k)"
CODE_LINE = re.compile(r"^\s*(?:\{\s*)?/\*[0-9a-f]{4,}\*/(?!\s*\.)", re.MULTILINE)


@pytest.fixture
def kernels(save: Save) -> Callable[..., dict[str, Any]]:
    """Write a listing, report it, and give the kernels by name."""

    def run(text: str, **options: Any) -> dict[str, Any]:
        report = sassmix.mix(save(text), **options).to_dict()
        return {kernel["name"]: kernel for kernel in report["kernels"]}

    return run


Kernels = Callable[..., dict[str, Any]]


def check(kernel: dict[str, Any], name: str) -> tuple[str, str]:
    """Status and detail of one check."""
    (found,) = [item for item in kernel["evidence"] if item["check"] == name]
    return found["status"], found["detail"]


def k(*code: str, helpers: tuple[Body, ...] = ()) -> Body:
    """A kernel of this code that ends and is padded."""
    return Body("k", [*code, "EXIT", *PADDING] if not helpers else [*code, "EXIT"], helpers=helpers)


def device(name: str, *code: str) -> Body:
    return Body(name, [*code, RETURN], kernel=False)


def indirect(helper: str) -> Body:
    return k("MOV R2, 32@lo(x)", "CALL.REL.NOINC R2 `(k)", helpers=(device("$k$h", helper),))


#: Listing, what is said of the kernel `k`, a word of the reason.
VERDICTS: dict[str, tuple[str, bool | None, str]] = {
    "in the kernel": (written(k(HMMA)), True, "HMMA (1)"),
    "under a guard that is never true": (written(k(f"@!PT {HMMA}")), True, "HMMA"),
    "in a called function": (written(k(CALL.format("f")), device("f", HMMA)), True, "f that it reaches"),
    "two calls away": (
        written(k(CALL.format("f")), device("f", CALL.format("g")), device("g", HMMA)),
        True,
        "g that it reaches",
    ),
    "in a function that calls back": (
        written(k(CALL.format("f")), device("f", CALL.format("g"), CALL.format("f")), device("g", CALL.format("f"))),
        False,
        "what it calls",
    ),
    "in a helper": (written(k(CALL.format("$k$h"), helpers=(device("$k$h", HMMA),))), True, "$k$h"),
    "in a helper that is called through a register": (written(indirect(HMMA)), True, "$k$h"),
    "behind a call through a register": (written(indirect("MOV R2, R3")), None, "does not name"),
    "in a function that is not called": (written(k("MOV R2, R3"), device("f", HMMA)), False, "no matrix opcode"),
    "nowhere": (written(k("MOV R2, R3")), False, "no matrix opcode"),
    "behind a call to what is missing": (
        written(k(CALL.format("gone"))),
        None,
        "calls gone, which is not in the input",
    ),
    "behind a jump to what is missing": (written(Body("k", ["BRA `(gone)"])), None, "gone"),
    "HFMA2.MMA only": (written(k("HFMA2.MMA R2, R3, R4, R5")), False, "no matrix opcode"),
    "an opcode that is not classified": (written(k("QQQQ R1, R2")), None, "QQQQ"),
    "an opcode that is not classified in a callee": (
        written(k(CALL.format("f")), device("f", "QQQQ R1, R2")),
        None,
        "f has opcodes",
    ),
    "an architecture without a matrix unit": (written(k("MOV R2, R3"), arch="sm_61"), False, "sm_61 has no matrix"),
    "a matrix opcode where there is no matrix unit": (written(k(HMMA), arch="sm_61"), None, "HMMA"),
    "an unknown architecture": (written(k(HMMA), arch="sm_130"), None, "sm_130"),
    "no architecture and no matrix opcode": (written(k("MOV R2, R3"), arch=None), None, "no input names"),
    "no architecture and a matrix opcode": (written(k(HMMA), arch=None), True, "HMMA"),
    "a damaged line": (written(k("MOV R2, R3")).replace("MOV", "M\x01V"), None, "not an instruction"),
    "a damaged line in a callee": (
        written(k(CALL.format("f")), device("f", "MOV R2, R3")).replace("MOV", "M%V"),
        None,
        "f: ",
    ),
    "a line that is no instruction": (written(k("MOV R2, R3", "0x12345")), None, "line"),
    "a listing that is cut": (written(k("MOV R2, R3")).partition("EXIT")[0] + "EX", None, "cut"),
    "a listing that is cut between lines": (written(k("MOV R2, R3")).partition("EXIT")[0], None, "cut"),
    "a missing address": (re.sub(r".*MOV R9.*\n", "", written(k("MOV R2, R3", "MOV R9, R3"))), None, "address"),
    "a missing end": (written(Body("k", ["MOV R2, R3"])).partition(".L_end_k:\n")[0], None, "end"),
}


@pytest.mark.parametrize(("text", "present", "reason"), VERDICTS.values(), ids=VERDICTS)
def test_tensor_cores_have_three_answers_each_with_its_reason(
    kernels: Kernels, text: str, present: bool | None, reason: str
) -> None:
    kernel = kernels(text)["k"]
    assert kernel["tensor_core_present"] is present, kernel["tensor_core_reason"]
    assert reason in kernel["tensor_core_reason"]
    no_unit = "has no matrix" in kernel["tensor_core_reason"]
    assert kernel["tensor_core_active"] is (False if no_unit else None)


@pytest.mark.parametrize(("text", "present", "reason"), VERDICTS.values(), ids=VERDICTS)
def test_a_doubt_is_never_of_high_confidence(kernels: Kernels, text: str, present: bool | None, reason: str) -> None:
    """Whatever stands in the kernel itself; a callee's damage is the callee's."""
    for kernel in kernels(text).values():
        statuses = {item["status"] for item in kernel["evidence"]}
        expected = "low" if "fail" in statuses else "medium" if "warn" in statuses else "high"
        assert kernel["confidence"] == expected
        assert [item["check"] for item in kernel["evidence"]] == [
            *("captured", "complete", "resolved", "architecture", "mapping", "consistent")
        ]


def targets(matrix: bool) -> list[str]:
    """The targets that have a matrix opcode, or have none."""
    return [target for target, table in default_plugins().registry if bool(table.matrix_opcodes) == matrix]


@pytest.mark.parametrize("target", targets(matrix=False))
def test_without_a_matrix_unit_both_are_false(kernels: Kernels, target: str) -> None:
    kernel = kernels(written(k("MOV R2, R3"), arch=target))["k"]
    assert (kernel["tensor_core_present"], kernel["tensor_core_active"]) == (False, False)


@pytest.mark.parametrize("target", targets(matrix=True))
def test_every_matrix_opcode_of_a_target_is_seen(kernels: Kernels, target: str) -> None:
    for opcode in default_plugins().registry.require(target).matrix_opcodes:
        kernel = kernels(written(k(f"{opcode}.X R4, R8, R12, R4"), arch=target))["k"]
        assert (kernel["tensor_core_present"], kernel["tensor_core_active"]) == (True, None), opcode
        assert opcode in kernel["tensor_core_reason"] and check(kernel, "architecture")[0] == "pass"


def test_the_callee_of_another_file_is_seen(save: Save) -> None:
    paths = [save(written(k(CALL.format("f"))), "a.sass"), save(written(device("f", HMMA)), "b.sass")]
    report = sassmix.mix(paths).to_dict()
    assert {kernel["name"]: kernel["tensor_core_present"] for kernel in report["kernels"]} == {"k": True, "f": True}
    assert report["kernels"][0]["calls"] == ["f"]


def test_the_callee_of_another_architecture_is_not(save: Save) -> None:
    other = written(device("f", HMMA), arch="sm_80")
    report = sassmix.mix([save(written(k(CALL.format("f"))), "a.sass"), save(other, "b.sass")]).to_dict()
    assert report["kernels"][0]["tensor_core_present"] is None


@pytest.mark.parametrize(
    ("text", "arch", "status", "words"),
    [
        (written(k("MOV R2, R3")), None, "pass", "sm_90a, by plugin nvidia-hopper"),
        (written(k("MOV R2, R3")), "sm_90a", "pass", "sm_90a"),
        (written(k("MOV R2, R3")), "90A", "pass", "sm_90a"),
        (written(k("MOV R2, R3")), "sm_80", "warn", "--arch says sm_80, the input says sm_90a"),
        (written(k("MOV R2, R3"), arch=None), "sm_80", "pass", "sm_80"),
        (written(k("MOV R2, R3"), arch=None), None, "warn", "no input names"),
        (written(k("HGMMA.64x8x16.F32 R4, gdesc[UR4]"), arch=None), None, "warn", "inferred from HGMMA"),
        (written(k("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8]")), None, "fail", "sm_90a does not have UTCHMMA"),
        (written(k("HGMMA.64x8x16.F32 R4, gdesc[UR4]")), "sm_100a", "fail", "sm_100a does not have HGMMA"),
        (written(k("QQQQ R2")), None, "pass", "sm_90a"),
        (written(k("MOV R2, R3"), arch="sm_130"), None, "fail", "no plugin registers sm_130"),
        (written(k("MOV R2, R3"), arch="sm_130"), "sm_120", "warn", "--arch says sm_120"),
    ],
)
def test_the_evidence_for_the_architecture(
    kernels: Kernels, text: str, arch: str | None, status: str, words: str
) -> None:
    found = check(kernels(text, arch=arch)["k"], "architecture")
    assert found[0] == status and words in found[1]


def test_the_users_word_decides_what_opcodes_are(kernels: Kernels) -> None:
    text = written(k("RED.E.ADD R2, R3"), arch="sm_90a")
    assert kernels(text)["k"]["counts"]["unclassified"] == 1
    kernel = kernels(text, arch="sm_80")["k"]
    assert (kernel["arch"], kernel["counts"]["unclassified"]) == ("sm_80", 0)


def test_an_unknown_architecture_counts_everything_and_classifies_nothing(kernels: Kernels) -> None:
    kernel = kernels(written(k("MOV R2, R3", HMMA), arch="sm_130"))["k"]
    assert kernel["arch"] == "sm_130" and kernel["confidence"] == "low"
    assert kernel["counts"] == {"total": 3, "resolved": 3, "unresolved": 0, "unclassified": 3}
    assert kernel["mix"] == [{"category": "unclassified", "count": 3, "share": 1.0}]


def test_a_damaged_line_is_counted_as_unresolved(kernels: Kernels) -> None:
    kernel = kernels(written(k("MOV R2, R3", "MOV R4, R5")).replace("MOV R4", "M%V R4"))["k"]
    assert kernel["counts"] == {"total": 3, "resolved": 2, "unresolved": 1, "unclassified": 0}
    assert {"category": "unresolved", "count": 1, "share": 0.3333} in kernel["mix"]
    assert (check(kernel, "resolved")[0], check(kernel, "complete")[0]) == ("fail", "warn")


@given(code=st.integers(1, 9), nops=st.integers(0, 9), dead=st.integers(0, 4), inner=st.integers(0, 3))
def test_padding_and_dead_code_are_told_apart(
    tmp_path_factory: pytest.TempPathFactory, code: int, nops: int, dead: int, inner: int
) -> None:
    """NOPs between the code are code; those behind the branch to itself are not."""
    lines = ["MOV R2, R3"] * code + ["NOP"] * inner + ["@!PT LDS RZ, [RZ]"] * dead + ["EXIT"]
    path = tmp_path_factory.getbasetemp() / "padding.sass"
    path.write_text(written(Body("k", [*lines, *PADDING[:2], *["NOP"] * nops])))
    for include in (False, True):
        report = sassmix.mix(path, include_padding=include).to_dict()
        (function,), (kernel,) = report["inputs"][0]["functions"], report["kernels"]
        assert (function["instructions"], function["padding"], function["dead"]) == (
            len(lines) + 1 + nops,
            nops + 1,
            dead,
        )
        assert kernel["counts"]["total"] == len(lines) + (nops + 1) * include


@pytest.mark.parametrize("arch", ["sm_61", "sm_75", "sm_90a", "sm_100a"])
def test_roles_sections_and_calls(save: Save, arch: str) -> None:
    text = written(
        k(CALL.format("$k$h"), CALL.format("f"), CALL.format("f"), helpers=(device("$k$h", "MOV R2, R3"),)),
        device("f", "MOV R2, R3"),
        arch=arch,
    )
    report = sassmix.mix(save(text)).to_dict()
    found = [(f["name"], f["role"], f["section"], f["instructions"]) for f in report["inputs"][0]["functions"]]
    assert found == [("k", "kernel", ".text.k", 4), ("$k$h", "helper", ".text.k", 2), ("f", "device", ".text.f", 2)]
    assert [kernel["calls"] for kernel in report["kernels"]] == [["$k$h", "f"], [], []]
    assert all(check(kernel, "consistent")[0] == "pass" for kernel in report["kernels"])


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("include", [False, True])
def test_the_entries_add_up_to_the_listing(path: Path, include: bool) -> None:
    report = sassmix.mix(path, include_padding=include).to_dict()
    (given_,) = report["inputs"]
    lines = len(CODE_LINE.findall(path.read_text(encoding="utf-8")))
    assert lines == sum(function["instructions"] for function in given_["functions"]) > 0
    padding = 0 if include else sum(function["padding"] for function in given_["functions"])
    assert sum(kernel["counts"]["total"] for kernel in report["kernels"]) == lines - padding
    names = [function["name"] for function in given_["functions"]]
    assert [kernel["name"] for kernel in report["kernels"]] == names
    assert all(kernel["basis"] == "static" and kernel["unit"].endswith("listing") for kernel in report["kernels"])


@pytest.mark.parametrize("path", LISTINGS, ids=lambda path: path.stem)
def test_the_own_fixtures_are_read_whole(path: Path) -> None:
    """Nothing in a listing that the tool printed is unresolved, unclassified or foreign, and nothing is a problem."""
    report = sassmix.mix(path)
    assert [problem for problem in report.problems if problem.severity != "info"] == []
    for kernel in report.kernels:
        assert (kernel.tally.unresolved, kernel.tally.unclassified) == (0, 0)
        assert {e.check: e.status for e in kernel.evidence}["architecture"] == "pass"
        assert kernel.arch == path.suffixes[-2].removeprefix(".")


def test_a_frame_has_one_row_per_kernel_and_class() -> None:
    found = sassmix.mix(next(path for path in LISTINGS if path.name == "saxpy.sm_90a.sass"))
    for by in (None, "opcode", "pipe"):
        frame = found.to_frame(by)
        assert list(frame.columns) == ["kernel", "arch", "basis", by or "category", "count", "share", "inputs"]
        assert set(frame["inputs"]) == {found.inputs[0].path}
        assert frame.groupby("kernel")["count"].sum().to_dict() == {k.name: k.tally.total for k in found.kernels}
        assert len(frame) == sum(len(kernel.tally.mix(by or "category")) for kernel in found.kernels)


@pytest.mark.parametrize("addresses", [(0, 0x80, 0x20), (0, 0x20, 0x10), (0x10, 0x10, 0x20), (0, 0x10000, 0xFFF0)])
def test_addresses_out_of_order_prove_nothing(addresses: tuple[int, ...], tmp_path: Path) -> None:
    """The first and the last may be right all the same."""
    codes = ("LDC R1, c[0x0][0x28]", "FADD R2, R3, R4", "EXIT")
    rows = "".join(
        f"        /*{at:04x}*/                   {code} ;\n" for at, code in zip(addresses, codes, strict=True)
    )
    path = tmp_path / "k.sass"
    path.write_text(f"\t.target\tsm_90a\n.text.k:\n{rows}.L_x_0:\n")
    (kernel,) = sassmix.mix(path).kernels
    assert kernel.tensor.present is None
    assert "not in order" in " ".join(item.detail for item in kernel.evidence)


@pytest.mark.parametrize(
    ("own", "other", "present"),
    [(HMMA, "FADD R2, R3, R4", True), ("FADD R2, R3, R4", HMMA, False)],
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_call_leads_into_its_own_listing(save: Save, own: str, other: str, present: bool, turned: bool) -> None:
    call = CALL.format("dev")
    paths = [
        save(written(k(call), device("dev", own)), "a.sass"),
        save(written(Body("k2", [call, "EXIT", *PADDING]), device("dev", other)), "b.sass"),
    ]
    report = sassmix.mix(paths[::-1] if turned else paths)
    found = {kernel.name: kernel.tensor.present for kernel in report.kernels if kernel.role == "kernel"}
    assert found == {"k": present, "k2": not present}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("second", "present"), [("FADD R2, R3, R4", None), (HMMA, True)])
def test_a_call_that_may_lead_to_several_proves_nothing(save: Save, second: str, present: bool, turned: bool) -> None:
    """Unless they are copies of one another."""
    paths = [save(written(device("dev", code)), f"{n}.sass") for n, code in enumerate((HMMA, second))]
    report = sassmix.mix([save(written(k(CALL.format("dev")))), *(paths[::-1] if turned else paths)])
    assert report.kernels[0].tensor.present is present, report.kernels[0].tensor.reason
    assert present or "2 functions have this name" in report.kernels[0].tensor.reason
