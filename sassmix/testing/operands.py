"""Hypothesis strategies for the parts of an instruction, as a disassembler prints them; the simplest form first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

Text = st.SearchStrategy[str]

_registers = st.builds(
    lambda u, n: f"{u}R{n}", st.sampled_from(["", "U"]), st.one_of(st.integers(0, 255), st.just("Z"))
)
_predicates = st.builds(lambda u, n: f"{u}P{n}", st.sampled_from(["", "U"]), st.one_of(st.integers(0, 7), st.just("T")))
_hex = st.integers(0, 2**40).map(hex)
_signed = st.builds(lambda sign, value: sign + value, st.sampled_from(["", "-"]), _hex)
_floats = st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.20e}")
_suffix = st.sampled_from(["", ".reuse", ".H0_H0", ".64", ".F32x2.HI_LO", ".COL", ".B1", ".reuse.H1_H1"])
_names = st.one_of(
    st.integers(0, 99).map("k{}".format), st.sampled_from(["_Z3addii", "$k$_Z3mixii", "__internal_0_$x", "EXIT", "R1"])
)
_addresses = st.builds(
    lambda base, more: "+".join([base, *more]),
    st.one_of(_registers, st.builds(lambda r: f"{r}.64", _registers), _hex),
    st.lists(st.one_of(_registers, _signed), max_size=2),
)
#: Modifiers as they are, then any; drawn whole, since text that is drawn letter by letter makes examples slow.
_modifiers = st.one_of(
    st.sampled_from("E 64 128 F32 F16 BF16 U32 S8 MOV WIDE GE AND SYS STRONG GPU 16816 2CTA 16dp128bit H0_H0".split()),
    st.text("ABXYabx019_", min_size=1, max_size=3),
)


@cache
def operands() -> Text:
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


@cache
def guards() -> Text:
    """``@P0``, ``@!UPT`` and the like, or none."""
    return st.one_of(st.just(""), st.builds(lambda no, pred: f"@{no}{pred}", st.sampled_from(["", "!"]), _predicates))


def mnemonics(opcodes: Sequence[str]) -> Text:
    """One of the opcodes with any modifiers."""
    return st.builds(
        lambda opcode, modifiers: ".".join([opcode, *modifiers]),
        st.sampled_from(opcodes),
        st.lists(_modifiers, max_size=3),
    )
