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
    ],
)
def test_traps_of_folding(line: str) -> None:
    assert kind_of(line) is None
    assert not read_as_code(line)
