"""Text to model: every dialect gives back what was written, and what is no line is said and moves nothing."""

from __future__ import annotations

import ast
import itertools
import re
import time
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import codelines
from sassmix.listing import Listing
from sassmix.parsing import parse
from sassmix.testing import MODES, ListingModel, listings, render

Code = list[tuple[str, list[tuple[int | None, str, str, str]]]]


def read_back(listing: Listing) -> Code:
    return [(f.name, [(i.offset, i.guard, i.mnemonic, i.operand_text) for i in f]) for f in listing.functions]


@pytest.mark.parametrize("mode", MODES)
@given(model=listings())
def test_what_is_written_is_read_back(mode: str, model: ListingModel) -> None:
    listing = parse(render(model, mode=mode))
    assert listing.problems == []
    assert read_back(listing) == model.read_back()
    assert {f.arch for f in listing} == {model.arch}
    assert all(f.missing == 0 and not f.damage and f.role == "kernel" for f in listing)


@given(model=listings(arch="sm_90a"), mode=st.sampled_from(sorted(MODES)))
def test_every_line_is_accounted_for(model: ListingModel, mode: str) -> None:
    text = render(model, mode=mode)
    total = text.replace("\r\n", "\n").count("\n")
    second_words = text.count("\n" + " " * 70 + "/*")
    assert sum(parse(text).lines.values()) == total - second_words


@given(model=listings(), data=st.data())
def test_a_strange_line_is_said_and_moves_nothing(model: ListingModel, data: st.DataObject) -> None:
    text = render(model)
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    strange = data.draw(
        st.sampled_from(["%%% garbage", "EXIT and more", "HELLO", "((((", "a b c", "\x00\x01", "é", ")"])
    )
    lines.insert(at, strange)
    listing = parse("\n".join(lines), path="k.sass")
    assert read_back(listing) == model.read_back()
    assert [(p.line, p.path, p.severity) for p in listing.problems] == [(at + 1, "k.sass", "warning")]
    assert listing.problems[0].column is not None


@given(model=listings(arch="sm_90a", max_functions=1), data=st.data())
def test_an_unreadable_instruction_keeps_its_place_and_its_count(model: ListingModel, data: st.DataObject) -> None:
    text = render(model)
    code = [m.start() for m in re.finditer(r"^        /\*", text, re.MULTILINE)]
    at = data.draw(st.sampled_from(code))
    broken = data.draw(st.sampled_from(["hm", "%%", "lower.case R1 ;", "???", "R1, R2 ;;"]))
    end = text.index("\n", at)
    number = text.count("\n", 0, at) + 1
    listing = parse(f"{text[: text.index('*/', at) + 2]}  {broken}{text[end:]}")
    function = listing.functions[0]
    assert len(function) == len(model.functions[0].instructions)
    assert function.missing == 0
    assert sum(function.counts(include_padding=True).values()) + sum(
        function.unread(include_padding=True).values()
    ) == len(function)
    assert [p.line for p in listing.problems] == [number]
    assert function.damage


def code_lines(text: str) -> list[re.Match[str]]:
    return list(re.finditer(r"^        /\*(....)\*/[^\n]*\n", text, re.MULTILINE))


@given(model=listings(arch="sm_90a", max_functions=2), data=st.data())
def test_a_hidden_address_is_missed_and_shifts_nothing(model: ListingModel, data: st.DataObject) -> None:
    text = render(model)
    found = code_lines(text)
    inner = [m for m, following in itertools.pairwise(found) if m[1] != "0000" and following[1] != "0000"]
    if not inner:
        return
    gone = data.draw(st.sampled_from(inner))
    listing = parse(text[: gone.start()] + text[gone.end() :])
    assert sum(f.missing for f in listing) == 1
    assert [i.offset for f in listing for i in f] == [int(m[1], 16) for m in found if m is not gone]


@given(model=listings(arch="sm_90a", max_functions=2), cut=st.floats(0, 1))
def test_a_cut_listing_never_looks_whole(model: ListingModel, cut: float) -> None:
    """Wherever the text ends early, the function at the cut is damaged and no instruction is invented."""
    text = render(model)
    stop = text.rindex(".L_x_")
    part = text[: int(stop * cut)]
    listing = parse(part)
    complete = [f for f in listing.functions if not f.damage]
    whole = dict(model.read_back())
    for function in complete:
        if len(function):
            assert dict(read_back(listing))[function.name] == whole[function.name]
    if listing.functions and len(listing.functions) == len(model.functions):
        assert listing.functions[-1].damage


@pytest.mark.parametrize("mode", ["c", "cuobjdump"])
@given(first=listings(max_functions=2), second=listings(max_functions=2))
def test_listings_behind_one_another_are_all_read(mode: str, first: ListingModel, second: ListingModel) -> None:
    listing = parse(render(first, mode=mode) + render(second, mode=mode))
    assert read_back(listing) == first.read_back() + second.read_back()


MAXWELL = """
\tcode for sm_61
\t\tFunction : k
\t.headerflags    @"EF_CUDA_SM61 EF_CUDA_PTX_SM(EF_CUDA_SM61)"
                                                         /* 0x001c4400fe0007f6 */
        /*0008*/                   MOV R1, c[0x0][0x20] ;        /* 0x4c98078000870001 */
        /*0010*/         {         IADD32I R2, R0, 0x1 ;         /* 0x1c00000000170002 */
        /*0018*/                   S2R R0, SR_TID.X         }    /* 0xf0c8000002170000 */
                                                         /* 0x001fb400fe8007f1 */
        /*0028*/         { @!P0    XMAD.MRG R3, R0, R2.H1, RZ ;  /* 0x5b007fa800270003 */
        /*0030*/                   LDG.E R4, [R2]           }    /* 0xeed4200000070204 */
        /*0038*/                   EXIT ;                        /* 0xe30000000007000f */
\t\t..........
"""


def test_dual_issue_and_control_words_of_old_encodings() -> None:
    function = parse(MAXWELL).functions[0]
    assert [i.mnemonic for i in function] == ["MOV", "IADD32I", "S2R", "XMAD.MRG", "LDG.E", "EXIT"]
    assert [i.guard for i in function] == ["", "", "", "@!P0", "", ""]
    assert function.missing == 0


@pytest.mark.parametrize(
    ("trap", "nops", "padding"),
    [
        ("BRA `(.L_x_0);", 3, 4),
        ("BRA 0x20;", 3, 4),
        ("EXIT ;", 2, 2),
        ("BRA `(.L_x_9);", 2, 2),
        ("@P0 BRA `(.L_x_0);", 2, 0),
    ],
)
def test_padding_is_the_branch_to_itself_and_what_fills_up_behind_an_end(trap: str, nops: int, padding: int) -> None:
    body = [
        "k:",
        "        /*0000*/                   MOV R1, R2 ;",
        "        /*0010*/                   EXIT ;",
        ".L_x_0:",
    ]
    body.append(f"        /*0020*/                   {trap}")
    body += [f"        /*{0x30 + 16 * n:04x}*/                   NOP;" for n in range(nops)]
    function = parse("\n".join(body) + "\n").functions[0]
    assert function.padding == padding
    assert sum(function.counts().values()) == len(function) - padding
    assert sum(function.counts(include_padding=True).values()) == len(function)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("R2, desc[UR4][R2.64+-0x4], !PT", ["register", "descriptor", "predicate"]),
        ("-|R4|.H0_H0, c[0x0] [0x160].H0_H0, +INF , 1.5e-06", ["register", "constant", "immediate", "immediate"]),
        ("gdesc[UR8].tnspA, tmem[UR4+0x3], idesc[UR5]", ["descriptor", "descriptor", "descriptor"]),
        ("SB0, 0x1, {4,3,2}", ["barrier", "immediate", "set"]),
        ("R2 -0xe0", ["register"]),
        ("`(.L_x_3), 32@lo((f + .L_x_1@srel)), ARRAY_2D, SR_TID.X", ["label", "relocation", "word", "special"]),
        ("", []),
    ],
)
def test_operands_are_parsed_on_demand(text: str, kinds: list[str]) -> None:
    listing = parse(f"        /*0000*/                   OPCODE {text} ;\n")
    operands = listing.functions[0].instructions[0].operands
    assert [o.kind for o in operands] == kinds
    assert [o.text.strip() for o in operands] == [part.strip() for part in text.split(", ") if part]


def test_bare_instructions_have_no_offsets() -> None:
    listing = parse("LDG.E R2, [R4.64] ;\n@P0   EXIT\n1  0x7efa317a0010  EXIT\n")
    assert [(i.offset, i.guard, i.mnemonic) for i in listing.functions[0]] == [
        (None, "", "LDG.E"),
        (None, "@P0", "EXIT"),
        (0x7EFA317A0010, "", "EXIT"),
    ]


LINE = "        /*%05x*/               @P0 FFMA.FTZ R1, R2, R3, R4 ;  /* 0x0123456789abcdef */"
ODD = [LINE[:cut] for cut in (14, 41, 47, 59, 64)] + [LINE.replace("FFMA", "F!A"), LINE.replace("R4", "R4?")]


@pytest.mark.parametrize("line", ODD)
def test_odd_lines_take_time_in_proportion(line: str) -> None:
    def seconds(number: int) -> float:
        text = "".join(line % (16 * place) + "\n" for place in range(number))
        start = time.process_time()
        assert sum(parse(text).lines.values()) >= number
        return time.process_time() - start

    assert seconds(16_000) < 8 * seconds(4_000) + 0.5  # sixteen times, if each looks at all others


@pytest.mark.parametrize("blank", [" ", "  ", "\t", " \t"])
@pytest.mark.parametrize("guard", ["", "@P0 ", "@!UPT\t"])
def test_any_blanks_may_stand_around_a_mnemonic(guard: str, blank: str) -> None:
    lines = [f"        /*{16 * n:04x}*/                   {guard}FFMA.FTZ{blank}R1, R2, R3, R{n} ;\n" for n in range(9)]
    listing = parse(".text.k:\n" + "".join(lines) + f"        /*0090*/{blank}EXIT{blank};\n")
    assert listing.problems == []
    ((_, code),) = read_back(listing)
    assert [c[0] for c in code] == list(range(0, 160, 16))
    assert {c[1:3] for c in code[:-1]} == {(guard.strip(), "FFMA.FTZ")}
    assert code[-1][2] == "EXIT"


CUT = "        /*0010*/                   MOV R1, c[0x0]["


@pytest.mark.parametrize(
    "before",
    [
        CUT + "0x28] ;",
        CUT.replace("0010", "0020") + ";",
        f"        /*0000*/  NOP ; // {CUT} ;",
        f"// {CUT}",
        CUT + ";",
    ],
    ids=["same address", "other address", "comment behind code", "comment", "the same twice"],
)
def test_a_cut_instruction_is_told_whatever_looks_like_it(before: str) -> None:
    listing = parse(f"a:\n{before}\nb:\n        /*0000*/                   NOP ;\n{CUT};\n")
    assert 5 in [problem.line for problem in listing.problems]
    assert "line 5 has operands that the grammar does not know" in listing.functions[-1].damage


def test_many_decoys_in_a_long_line_take_time_in_proportion() -> None:
    text = "k:\n// " + "F! " * 300_000 + "\n" + "".join(f"/*{16 * n:04x}*/ F! ;\n" for n in range(200))
    start = time.process_time()
    assert len(parse(text).problems) == 200
    assert time.process_time() - start < 5


TEXTS = (
    "FADD R1, R2 ;", "P; ;", "NOP;", "EXIT ;", "FOO", "R2;", "FADD R1, " + "R2, " * 600 + "R3 ;", "A;B ;", "@P0;X ;",
    "FADD\tR1 ;", ";", "; ;", "FADD R1 ;;", "BRA `(.L_x) ; // c", "IADD R1 ;  /* 0x0123456789abcdef */",
    "IADD R1 ;  /* 0x0123456789abcdef */\n" + " " * 81 + "/* 0x0123456789abcdef */",
)  # fmt: skip
OTHERS = ("garbage", "\t.x 1", ".L_x_1:", "", "# c", "  odd", "        /*", "x;", "/*0000*/ NOP ;")
MIXED = st.lists(st.sampled_from([f"        /*0040*/                   {text}" for text in TEXTS] + list(OTHERS)))


@given(lines=MIXED, cut=st.integers(0, 5))
def test_problems_name_their_line_however_the_text_is_cut_in_pieces(lines: list[str], cut: int) -> None:
    text = "".join(line + "\n" for line in lines)
    text = text[: len(text) - cut]
    found = []
    for piece in (1, 200, 1 << 17):
        with mock.patch.object(codelines, "_PIECE", piece):
            listing = parse(text)
        found.append((listing.problems, read_back(listing), listing.lines))
    assert found[0] == found[1] == found[2]
    for problem in found[0][0]:
        if problem.line is not None and (quoted := re.search(r": ('.*'|\".*\")\Z", problem.message, re.DOTALL)):
            assert text.split("\n")[problem.line - 1].strip()[:100] == ast.literal_eval(quoted[1])
