"""The fast path never accepts what the grammar rejects, and agrees with it otherwise, on lines mutated at random."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sassmix import forms
from sassmix.grammar import kind_of
from sassmix.parsing import parse

FIXTURES = Path(__file__).parent.parent / "fixtures" / "listings"
LISTINGS = sorted(FIXTURES.rglob("*.sass"))
ALPHABET = "0123456789abcdefxXRPUTZ.,;:|+-~!@[](){}`*/\\\"' \t?&_=GHIMNS$%é"


def mutated(line: str, rng: random.Random) -> str:
    chars = list(line)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(chars) + 1)
        what = rng.randrange(5)
        if what == 0 or not chars:
            chars.insert(at, rng.choice(ALPHABET))
        elif what == 1:
            del chars[min(at, len(chars) - 1)]
        elif what == 2:
            chars[min(at, len(chars) - 1)] = rng.choice(ALPHABET)
        elif what == 3:
            other = min(rng.randrange(len(chars) + 1), len(chars) - 1)
            at = min(at, len(chars) - 1)
            chars[at], chars[other] = chars[other], chars[at]
        else:
            stop = min(len(chars), at + rng.randrange(1, 6))
            chars[at:at] = chars[at:stop]
    return "".join(chars)


def read_as_code(line: str) -> bool:
    """Whether the parser took a line for an instruction that it can read, without any complaint."""
    listing = parse(f"k:\n{line}\n")
    return sum(map(len, listing.functions)) == 1 and not listing.problems


@pytest.mark.parametrize("seed", range(4))
def test_no_false_accept_and_no_false_reject(seed: int) -> None:
    rng = random.Random(seed)
    pool = [
        line for path in rng.sample(LISTINGS, min(12, len(LISTINGS))) for line in path.read_text().split("\n") if line
    ]
    parse("\n".join(pool))  # the forms of real code are known, as they are in a long run
    wrong = []
    for _ in range(3000):
        line = mutated(rng.choice(pool), rng)
        if "\n" in line or "\r" in line:
            continue
        truth = kind_of(line)
        code = truth == "code" or (truth == "bare" and "/*" not in line)
        if read_as_code(line) != code or forms.line_kinds([line])[0] != truth:
            wrong.append((truth, line))
    assert not wrong, wrong[:5]


def test_forms_of_every_fixture_line_agree_with_the_grammar() -> None:
    lines = {line for path in LISTINGS for line in path.read_text().split("\n")}
    sample = random.Random(7).sample(sorted(lines), min(4000, len(lines)))
    kinds = forms.line_kinds(sample)
    assert [(line, kind) for line, kind in zip(sample, kinds, strict=True) if kind != kind_of(line)] == []


@pytest.mark.parametrize(
    "line",
    [
        "        /*0000*/                   MOV R1, 10x1 ;",
        "        /*0000*/                   MOV R1, 5x0 ;",
        "        /*0000*/                   MOV R1, , R2 ;",
        '        /*0000*/                   MOV (*"X"*), R1 ;',
        "        /*0000*/                   MOV R1, [R2 ;",
        "        /*0000*/                   MOV R1, R2, ;",
        "        /*0000*/                   MOV \x01 ;",
        "        /*0000*/                   MOV R1, _Z3foo$bar ;",
        "        /*0000*/                   MOV R1.x_Z$, R2 ;",
        "        /*0000*/                   MOV [R1+_Z1$] ;",
        '        /*0000*/                   BRA `("(") (*"x"*) ;',
        '        /*0000*/                   BRA `("`"), R1 (*"y"*) ;',
        "  /*0000*/ @P0 NOP \x0b",
        "  /*0000*/ @P0 NOP R1\x85",
        "  /*0000*/ MOV R1, R2 \u2028",
    ],
)
def test_traps_of_folding(line: str) -> None:
    assert kind_of(line) is None
    assert not read_as_code(line)


@pytest.mark.parametrize(
    "line",
    [
        "/*00000000000000000000010*/ .word 5",
        "[B------:R12:W-:-:S04] /*0000*/ NOP ;",
        "[B------:R-:W123:-:S04] NOP ;",
        "/*0000*/ .word _Z1$",
        "sm_1_Z$",
    ],
)
def test_numbers_of_any_length_and_names_fold_as_the_grammar_reads_them(line: str) -> None:
    assert forms.line_kinds([line]) == [kind_of(line)]


PIECES = (
    "R1", "!P3", "0x1f", "0x", "10x1", "1.5", "1e-5", "c[0x0][0x160]", "desc[UR4]", "[R2.64+0x10]", "`(.L_x_1)", "`(",
    "{4,3}", "SR_TID.X", "_Z$", "_Z3foo$bar", "a_Z0xff", "0x1_Z", "1D", "???", "?PM1", "&req={0,1}", '(*"x"*)',
    '(*"a(b"*)', "//", "/* 0x1 */", "}", "{", ",", "|", "-", ".H0_H0", ".0x1", "\x00", "\x0b", "\x85", "\u2028", "\x7f",
    "INVALID0x5",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_operands_put_together_at_random_are_proved_as_the_grammar_would(seed: int) -> None:
    rng = random.Random(seed)
    lines = []
    for place in range(900):
        tail = rng.choice((", ", ",", " ", "")).join(rng.choices(PIECES, k=rng.randrange(1, 6)))
        offset = f"/*{16 * place:04x}*/"
        lines.append(rng.choice((f"        {offset}                   NOP {tail} ;", f"  {offset} @P0 NOP {tail}")))
    told = {problem.line for problem in parse("k:\n" + "\n".join(lines) + "\n").problems}
    assert [line for number, line in enumerate(lines, 2) if (kind_of(line) == "code") == (number in told)] == []
