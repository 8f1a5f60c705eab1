"""Hypothesis strategies for listings: the model first, then its text in the columns of each tool."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

FIXTURES = Path(__file__).parent.parent / "fixtures"


@cache
def printed_opcodes() -> tuple[str, ...]:
    """Every opcode that a disassembler prints for sm_75 and later."""
    with (FIXTURES / "opcodes" / "printed.tsv").open(encoding="utf-8") as handle:
        rows = csv.DictReader(handle, delimiter="\t")
        return tuple(sorted({row["opcode"] for row in rows if int("".join(filter(str.isdigit, row["sm"]))) >= 75}))


@dataclass(frozen=True)
class Line:
    """One instruction of a model: what must come back."""

    guard: str
    mnemonic: str
    operands: tuple[str, ...]


@dataclass(frozen=True)
class Body:
    """One function of a model."""

    name: str
    lines: tuple[Line, ...]


_registers = st.builds(
    lambda u, n: f"{u}R{n}", st.sampled_from(["", "U"]), st.one_of(st.integers(0, 255), st.just("Z"))
)
_predicates = st.builds(lambda u, n: f"{u}P{n}", st.sampled_from(["", "U"]), st.one_of(st.integers(0, 7), st.just("T")))
_hex = st.integers(0, 2**40).map(hex)
_signed = st.builds(lambda sign, value: sign + value, st.sampled_from(["", "-"]), _hex)
_floats = st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.20e}")
_suffix = st.sampled_from(["", ".reuse", ".H0_H0", ".64", ".F32x2.HI_LO", ".COL", ".B1", ".reuse.H1_H1"])
_names = st.from_regex(r"[A-Za-z_$][A-Za-z0-9_$]{0,20}", fullmatch=True)
_addresses = st.builds(
    lambda base, more: "+".join([base, *more]),
    st.one_of(_registers, st.builds(lambda r: f"{r}.64", _registers), _hex),
    st.lists(st.one_of(_registers, _signed), max_size=2),
)


def operands() -> st.SearchStrategy[str]:
    """One operand of any kind that the disassembler prints."""
    return st.one_of(
        st.builds(lambda sign, reg, suffix: sign + reg + suffix, st.sampled_from(["", "-", "~"]), _registers, _suffix),
        st.builds(lambda sign, reg: f"{sign}|{reg}|", st.sampled_from(["", "-"]), _registers),
        st.builds(lambda no, pred: no + pred, st.sampled_from(["", "!"]), _predicates),
        _signed,
        _floats,
        st.sampled_from(
            ["+INF ", "-QNAN ", "+SNAN ", "SR_TID.X", "SRZ", "SR_CgaCtaId", "B6", "SB0", "gsb0", "PR", "2D"]
        ),
        st.builds(lambda bank, at: f"c[{bank}][{at}]", _hex, st.one_of(_hex, _addresses)),
        st.builds(lambda bank, at: f"c[{bank}] [{at}].H0_H0", _hex, _hex),
        st.builds(lambda at: f"[{at}]", _addresses),
        st.builds(lambda ur, at: f"desc[UR{ur}][{at}]", st.integers(0, 63), _addresses),
        st.builds(lambda kind, ur: f"{kind}[UR{ur}]", st.sampled_from(["gdesc", "idesc", "tmem"]), st.integers(0, 63)),
        st.builds(lambda name: f"`({name})", _names),
        st.builds(lambda name, n: f"`((({name} + .L_x_{n}@srel)))", _names, st.integers(0, 99999)),
        st.builds(lambda name: f"32@lo({name})", _names),
        st.builds(lambda ns: "{" + ",".join(map(str, ns)) + "}", st.lists(st.integers(0, 5), min_size=1, max_size=6)),
        st.builds(lambda reg, by: f"{reg} {by}", _registers, _signed),
    )


def mnemonics() -> st.SearchStrategy[str]:
    """A real opcode with any modifiers."""
    modifier = st.from_regex(r"[A-Za-z0-9_]{1,8}", fullmatch=True)
    return st.builds(
        lambda opcode, modifiers: ".".join([opcode, *modifiers]),
        st.sampled_from(printed_opcodes()),
        st.lists(modifier, max_size=4),
    )


def lines() -> st.SearchStrategy[Line]:
    """One instruction."""
    guard = st.one_of(st.just(""), st.builds(lambda no, pred: f"@{no}{pred}", st.sampled_from(["", "!"]), _predicates))
    return st.builds(Line, guard, mnemonics(), st.lists(operands(), max_size=5).map(tuple))


def bodies(*, max_functions: int = 4) -> st.SearchStrategy[list[Body]]:
    """Functions with names of their own; each ends in EXIT, as compiled code does."""
    name = st.from_regex(r"(_Z[a-z0-9]{3,12}|[A-Za-z][A-Za-z0-9_]{0,12}|L_x_[0-9])", fullmatch=True)
    end = Line("", "EXIT", ())
    body = st.builds(lambda n, ls: Body(n, (*ls, end)), name, st.lists(lines(), max_size=8))
    return st.lists(body, min_size=1, max_size=max_functions, unique_by=lambda b: b.name)


Render = Callable[[list[Body]], str]


def _code(offset: int, line: Line, end: str = " ;") -> str:
    guard = f"{line.guard} " if line.guard else ""
    operands_text = f" {', '.join(line.operands)}" if line.operands else ""
    return f"        /*{offset:04x}*/ {guard:>18}{line.mnemonic}{operands_text}{end}"


def nvdisasm(bodies: list[Body], *, decorate: Callable[[str], str] = lambda code: code, comment: str = "") -> str:
    """The columns of ``nvdisasm -c``."""
    out = ["\t.target\tsm_90a", "", '\t.elftype\t@"ET_EXEC"', ""]
    for number, body in enumerate(bodies):
        out += [
            f"//--------------------- .text.{body.name} --------------------------",
            f'\t.section\t.text.{body.name},"ax",@progbits',
            "\t.align\t128",
            f"        .global         {body.name}",
            f"        .type           {body.name},@function",
            f"        .size           {body.name},(.L_x_{number} - {body.name})",
            f'        .other          {body.name},@"STO_CUDA_ENTRY STV_DEFAULT"',
            f"{body.name}:{comment}",
            f".text.{body.name}:{comment}",
        ]
        out += [decorate(_code(16 * i, line)) for i, line in enumerate(body.lines)]
        out += [f".L_x_{number}:{comment}", ""]
    return "\n".join(out) + "\n"


def nvdisasm_hex(bodies: list[Body]) -> str:
    """``nvdisasm -hex``: the encoding behind the instruction and on a line of its own."""
    words = f"  /* 0x{7:016x} */\n{' ' * 80}/* 0x{9:016x} */"
    return nvdisasm(bodies, decorate=lambda code: code + words)


def nvdisasm_plr(bodies: list[Body]) -> str:
    """``nvdisasm -plr``: live ranges behind every line."""
    table = "   // |  3 ^ :  |    |"
    return nvdisasm(bodies, decorate=lambda code: code + table, comment=table)


def nvdisasm_gi(bodies: list[Body]) -> str:
    """``nvdisasm -gi``: source lines between the instructions."""
    note = '\t//## File "a; b/k.cu", line 12 inlined at "x.cu", line 3\n'
    return nvdisasm(bodies, decorate=lambda code: note + code)


def cuobjdump(bodies: list[Body]) -> str:
    """``cuobjdump -sass``."""
    out = ["", "Fatbin elf code:", "================", "arch = sm_90a", "code version = [1,8]", "host = linux", ""]
    out += ["\tcode for sm_90a", "\t.target\tsm_90a", ""]
    for body in bodies:
        out += [f"\t\tFunction : {body.name}", '\t.headerflags\t@"EF_CUDA_SM90 EF_CUDA_ACCELERATORS"']
        for i, line in enumerate(body.lines):
            out += [f"{_code(16 * i, line)}   /* 0x{i:016x} */", f"{' ' * 70}/* 0x{5:016x} */"]
        out += ["\t\t..........", ""]
    return "\n".join(out) + "\n"


def profiler(bodies: list[Body]) -> str:
    """Nsight Compute's spelling: more blanks behind the guard and no semicolon."""

    def bare(code: str) -> str:
        return re.sub(r"(@!?U?P[0-9T]) ", r"\1   ", code.removesuffix(" ;"), count=1)

    return nvdisasm(bodies, decorate=bare)


def annotated(bodies: list[Body]) -> str:
    """Control fields in front, as other assemblers write them."""
    return nvdisasm(bodies, decorate=lambda code: f"      [B------:R-:W0:Y:S02] {code}")


def windows(bodies: list[Body]) -> str:
    """Saved by an editor of another system: byte order mark, CRLF."""
    return "\ufeff" + nvdisasm(bodies).replace("\n", "\r\n")


def retabbed(bodies: list[Body]) -> str:
    """Columns made of tabs by an editor."""
    return nvdisasm(bodies).replace("        /*", "\t/*").replace("    ", "\t")


RENDERERS: dict[str, Render] = {
    "nvdisasm": nvdisasm,
    "hex": nvdisasm_hex,
    "plr": nvdisasm_plr,
    "gi": nvdisasm_gi,
    "cuobjdump": cuobjdump,
    "profiler": profiler,
    "annotated": annotated,
    "windows": windows,
    "retabbed": retabbed,
}
