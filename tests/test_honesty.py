"""A text that does not show everything proves nothing: cut, shortened or mended by hand, it is never a plain no."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sassmix
from sassmix.listing import Listing
from sassmix.parsing import parse
from sassmix.plugins import default_plugins
from sassmix.readers.nvdisasm_json import parse_json
from sassmix.report import KernelReport
from sassmix.static import kernels_of, summarise

LISTINGS = Path(__file__).parent.parent / "fixtures" / "listings"
WITH_MATRIX = ("mma.sm_75", "wgmma.sm_90a", "blockscale.sm_120a", "tcgen05.sm_100a")
CUOBJDUMP = """
\tcode for sm_75
\t\tFunction : k
\t.headerflags\t@"EF_CUDA_SM75 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM75)"
        /*0000*/                   MOV R1, R2 ;                     /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
        /*0010*/               @P0 BRA 0x40 ;                       /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
        /*0020*/                   MOV R1, R2 ;                     /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
        /*0030*/                   EXIT ;                           /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
        /*0040*/                   HMMA.1688.F32 R12, R6, R6, RZ ;  /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
        /*0050*/                   EXIT ;                           /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
        /*0060*/                   BRA 0x60;                        /* 0x0000000000000000 */
                                                                    /* 0x0000000000000000 */
\t\t..........
"""
NVDISASM = """\t.target\tsm_75
.text.k:
        /*0000*/                   MOV R1, R2 ;
        /*0010*/               @P0 BRA `(.L_x_1) ;
        /*0020*/                   EXIT ;
.L_x_1:
        /*0030*/                   HMMA.1688.F32 R12, R6, R6, RZ ;
        /*0040*/                   EXIT ;
.L_x_0:
        /*0050*/                   BRA `(.L_x_0);
"""


def kernels(listing: Listing, arch: str | None = None) -> list[KernelReport]:
    plugins = default_plugins()
    return list(kernels_of(list(summarise(listing, plugins, arch=arch)), plugins.registry, []))


def denied(text: str, arch: str | None = None) -> set[str]:
    """Functions of which the report says that they surely hold no matrix opcode."""
    return {kernel.name for kernel in kernels(parse(text), arch) if kernel.tensor.present is False}


@pytest.mark.parametrize("text", [CUOBJDUMP, NVDISASM], ids=["cuobjdump", "nvdisasm"])
def test_wherever_a_text_is_cut_a_matrix_opcode_is_not_denied(text: str) -> None:
    assert kernels(parse(text))[0].tensor.present is True
    for cut in range(len(text)):
        assert "k" not in denied(text[:cut]), text[:cut]
        assert "k" not in denied(text[cut:], "sm_75"), text[cut:]
        assert "(no name)" not in denied(text[cut:], "sm_75"), text[cut:]


@pytest.mark.parametrize("text", [CUOBJDUMP, NVDISASM], ids=["cuobjdump", "nvdisasm"])
def test_whatever_lines_are_taken_out_a_matrix_opcode_is_not_denied(text: str) -> None:
    lines = text.split("\n")
    for start in range(len(lines)):
        for stop in range(start + 1, len(lines) + 1):
            assert "k" not in denied("\n".join(lines[:start] + lines[stop:]), "sm_75"), (start, stop)


@pytest.mark.parametrize("name", WITH_MATRIX)
def test_cut_fixtures(name: str) -> None:
    text = (LISTINGS / f"{name}.sass").read_text()
    sure = {kernel.name for kernel in kernels(parse(text)) if kernel.tensor.present}
    assert sure
    for cut in range(0, len(text), max(1, len(text) // 150)):
        assert not denied(text[:cut]) & sure
        assert not denied(text[cut:]) & sure


@pytest.mark.parametrize(
    "line",
    [
        ".align 128 /*0010*/ HMMA.1688.F32 R1, R2, R3, R4 ;",
        "x = /*0010*/ HMMA.1688.F32 R1, R2, R3, R4 ;",
        "// /*0010*/ HMMA.1688.F32 R1, R2, R3, R4 ;",
        "        /*0010*/ /*0010*/ HMMA.1688.F32 R1, R2, R3, R4 ;",
        "        /*00000000000000000000010*/ HMMA.1688.F32 R1, R2, R3, R4 ;",
    ],
)
def test_an_instruction_within_another_line_is_not_swallowed(line: str) -> None:
    hidden = "        /*0030*/                   HMMA.1688.F32 R12, R6, R6, RZ ;"
    text = NVDISASM.replace(hidden, line)
    listing = parse(text)
    assert listing.problems
    assert "k" not in denied(text)


@pytest.mark.parametrize(
    "change",
    [
        ('"opcode":"HMMA.1688.F32"', '"pcode":"HMMA.1688.F32"'),
        ('{"opcode":"HMMA.1688.F32","operands":"R1,R2,R3,R4"},', ""),
        ('"operands":"R1,R2,R3,R4"', '"operandsopcode":"R1"'),
        ('"opcode":"HMMA.1688.F32"', '"opcode":"MOV","pcode":"HMMA"'),
    ],
)
def test_a_json_listing_that_was_changed_denies_nothing(change: tuple[str, str]) -> None:
    rows = '{"opcode":"MOV","operands":"R1,R2"},{"opcode":"HMMA.1688.F32","operands":"R1,R2,R3,R4"},{"opcode":"EXIT"}'
    function = f'{{"function-name":"k","start":0,"length":48,"sass-instructions":[{rows}]}}'
    whole = f'[{{"SM":{{"version":{{"major":7,"minor":5}}}}}},[{function}]]'
    assert kernels(parse_json(whole))[0].tensor.present is True
    assert all(kernel.tensor.present is not False for kernel in kernels(parse_json(whole.replace(*change))))


@pytest.mark.parametrize("key", ["opcode", "operands", "predicate"])
@pytest.mark.parametrize("odd", ["\n", "\r", "\0", "\x01", "\v", "\f", "\u2028", ";"], ids=ascii)
def test_a_text_of_two_lines_in_json_is_told(key: str, odd: str) -> None:
    """Neither half is at fault."""
    row = {"opcode": "IADD3", "operands": "R1,R2,R3", "predicate": "@P0"}
    two = {"opcode": f"IADD3{odd}FADD", "operands": f"R1,R2{odd}R3,R4", "predicate": f"@P0{odd}@P1"}
    rows = [{**row, key: two[key]}, {"opcode": "EXIT"}]
    function = {"function-name": "k", "start": 0, "length": 32, "sass-instructions": rows}
    listing = parse_json(json.dumps([{"SM": {"version": {"major": 9, "minor": 0}}}, [function]]))
    assert [p.message for p in listing.problems if "instruction 0 of k" in p.message]
    assert listing.functions[0].damage


def json_listing(arch: tuple[int, int], *functions: dict[str, object]) -> str:
    return json.dumps([{"SM": {"version": dict(zip(("major", "minor"), arch, strict=True))}}, list(functions)])


def json_function(name: str, *rows: dict[str, str]) -> dict[str, object]:
    return {"function-name": name, "start": 0, "length": 16 * len(rows), "sass-instructions": rows}


EXIT, CALL = {"opcode": "EXIT"}, {"opcode": "JCAL", "operands": "f"}
MULTIPLY = {"opcode": "HGMMA.64x8x16.F32", "operands": "R24,gdesc[UR4],!UPT"}
OLD = json_listing((6, 1), json_function("o", EXIT))
NEW = json_listing((9, 0), json_function("k", CALL, EXIT), json_function("f", MULTIPLY, EXIT))


@pytest.mark.parametrize("first", [OLD, OLD[:-3], json_listing((9, 0), json_function("o", EXIT))])
@pytest.mark.parametrize("between", ["", "\n", "\n\n"], ids=len)
def test_each_json_listing_of_a_file_is_read_for_its_own_architecture(first: str, between: str, tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text(first + between + NEW)
    found = {kernel.name: (kernel.arch, kernel.tensor.present) for kernel in sassmix.mix(path).kernels}
    assert (found["k"], found["f"]) == (("sm_90", True), ("sm_90", True))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_is_known_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text(NEW, encoding=encoding)
    assert [kernel.tensor.present for kernel in sassmix.mix(path).kernels] == [True, True]


def test_bytes_that_are_no_text_are_told_in_json(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_bytes(NEW.encode().replace(b'"f"', b'"f\xff"'))
    assert ["UTF-8" in problem.message for problem in sassmix.mix(path).problems] == [True]


@pytest.mark.parametrize(
    "change",
    [
        ('"opcode": "NOP"', '"opcode": "HGMMA", "opcode": "NOP"'),
        ('"sass-instructions"', '"sass-instructions": [{"opcode": "HGMMA"}], "sass-instructions"'),
        ('"predicate": "@P0"', '"predicate": "@P0 HGMMA R1,"'),
        ('"predicate": "@P0"', '"predicate": "@P0 HGMMA //"'),
        ('"operands": "R1"', '"operands": "R1 // HGMMA R2"'),
        ('"operands": "R1"', '"operands": "R1 ; // HGMMA R2"'),
        ("]}]]", ']}], [{"function-name": "f"}]]'),
    ],
)
@pytest.mark.parametrize("arch", [(9, 0), (7, 5)])
def test_what_json_has_twice_or_in_the_wrong_place_is_told(change: tuple[str, str], arch: tuple[int, int]) -> None:
    row = {"predicate": "@P0", "opcode": "NOP", "operands": "R1"}
    whole = json_listing(arch, json_function("k", row, EXIT))
    assert whole.count(change[0]) == 1
    assert parse_json(whole).problems == [] == parse_json(whole).functions[0].damage
    listing = parse_json(whole.replace(*change))
    assert listing.problems or listing.functions[0].damage


def test_only_an_empty_opcode_alone_is_a_control_word() -> None:
    rows = [{"opcode": "", "operands": "HMMA"}, EXIT]
    listing = parse_json(json_listing((6, 1), json_function("k", *rows)))
    assert len(listing.functions[0]) == 2 and listing.problems


def test_a_large_call_graph_comes_to_an_end() -> None:
    """A thousand functions of one section that all call through a register, and a chain of two thousand."""
    call, end = "CALL.REL.NOINC", "        /*0010*/ EXIT ;"
    one = "".join(
        f".type f{i},@function\nf{i}:\n        /*{32 * i:04x}*/ {call} R5 0x0 ;\n        /*{32 * i + 16:04x}*/ RET ;\n"
        for i in range(1000)
    )
    chain = "".join(
        f".section .text.k{i}\n.type k{i},@function\nk{i}:\n        /*0000*/ {call} `(k{i + 1}) ;\n{end}\n"
        for i in range(2000)
    )
    assert len(kernels(parse(f".target sm_75\n.section .text.f0\n{one}\n"))) == 1000
    assert len(kernels(parse(f".target sm_75\n{chain}\n"))) == 2000


def test_a_name_of_any_length_ends_nothing() -> None:
    text = NVDISASM.replace("text.k:", f"text._Z1f{'P' * 150_000}v:")
    assert kernels(parse(text))[0].demangled is None


@pytest.mark.parametrize("operands", ["$R0, " * 200_000, "[" + "R1+" * 300_000 + "R1]", "{" + "1," * 300_000 + "1}"])
def test_a_line_of_a_megabyte_is_a_problem_and_no_hang(operands: str) -> None:
    listing = parse(NVDISASM.replace("MOV R1, R2 ;", f"MOV R1, {operands} ;"))
    assert listing.problems
    assert kernels(listing)[0].tensor.present is True
