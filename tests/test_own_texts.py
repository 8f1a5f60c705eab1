"""What a source says of its own instructions: read from any tool's text, and held against itself."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.listing import Columns, Function
from sassmix.own_texts import contradictions, guard_of, mnemonic_of, named, opcode_of, other_tables, shared_numbers

GUARDS = st.sampled_from(["", "@P0 ", "@!P6 ", "@!PT ", "@UP2 ", "@!UPT\t"])
MNEMONICS = st.sampled_from(["EXIT", "HMMA.16816.F32", "LDG.E.64", "IMAD.MOV.U32", "F2FP.BF16.F32.PACK_AB", "_X"])
OPERANDS = st.sampled_from(["", " R1, R2", "\tR1", " [R2.64+0x10]", " `(.L_1)"])


@given(GUARDS, MNEMONICS, OPERANDS, st.sampled_from(["", ";", " ;", " ;\n"]), st.sampled_from(["", "  ", "\t"]))
def test_any_tools_text_has_a_mnemonic_and_a_guard(guard: str, name: str, operands: str, end: str, start: str) -> None:
    text = f"{start}{guard}{name}{operands}{end}"
    assert (mnemonic_of(text), guard_of(text)) == (name, guard.strip())
    assert opcode_of(name.lower()) == opcode_of(name) == name.split(".", maxsplit=1)[0]


@pytest.mark.parametrize("text", ["", "???", "0x1234", "@P0", "@P0 ;", "EXIT ; EXIT", "EXIT\nEXIT", "mov R1", "R1, R2"])
def test_what_is_not_one_instruction_has_neither(text: str) -> None:
    assert (mnemonic_of(text), guard_of(text)) == (None, "")


def source(rows: list[CountRow], **said: Any) -> Counts:
    return Counts(path="k", kind="cutracer-trace", names=KernelNames(), rows=rows, **said)


@pytest.mark.parametrize(
    ("row", "name", "by_number"),
    [
        (CountRow(1, mnemonic="EXIT", sass="MOV R1, R2", index=0), "EXIT", False),
        (CountRow(1, sass="@P0 MOV R1, R2 ;", index=0), "MOV", False),
        (CountRow(1, sass="???", index=0), None, False),
        (CountRow(1, index=0), "FADD", True),
        (CountRow(1, index=1), None, True),
        (CountRow(1, index=2), None, True),
        (CountRow(1), None, True),
    ],
)
def test_the_nearest_word_on_a_row_counts(row: CountRow, name: str | None, by_number: bool) -> None:
    """Its own, then its text's, then that of the table."""
    assert named(source([row], table={0: "FADD R1, R2, R3", 1: "???"}), row) == (name, by_number)


def callee(length: int) -> Function:
    columns = Columns(["0000"] * length, [""] * length, ["NOP"] * length, [""] * length)
    return Function(name="f", arch=None, role="device", section=None, columns=columns, start=0, stop=length)


FIRST = [CountRow(3, index=0), CountRow(1, index=0)]


@pytest.mark.parametrize("at_number", [True, False])
@pytest.mark.parametrize(
    ("said", "transfer", "shared"),
    [
        ({}, "CALL.ABS.NOINC", True),
        ({}, "CAL", True),
        ({}, "jcal", True),
        ({}, "JMP", False),
        ({}, "BRA", False),
        ({"root_only": True}, "CALL", False),
        ({"entered": 4}, "CALL", False),  # what is called was never counted at number 0
        ({"entered": 4, "lost": ["cut"]}, "CALL", True),
        ({"entered": 3}, "CALL", True),
        ({"entered": 5}, "CALL", True),
        ({"entered": 3}, "JMP.ABS", True),
        ({"entered": 3}, "JMX", True),
        ({"entered": 3}, "JMXU", True),
        ({"entered": 3}, "BRA", False),
        ({"entered": 5}, "JMP", False),
        ({"entered": 4, "lost": ["cut"]}, "JMP", False),
    ],
)
def test_when_a_called_function_may_have_the_numbers_too(
    said: dict[str, Any], transfer: str, shared: bool, at_number: bool
) -> None:
    for issued in (5, 0):
        moved = [(transfer, CountRow(issued, index=1))]
        by_number, others = (moved, []) if at_number else ([], moved)
        counts = source([*FIRST, moved[0][1]], **said)
        found = [
            shared_numbers(counts, by_number, others, callees) for callees in ([callee(3), callee(2)], None, (), [])
        ]
        assert found == ([3, sys.maxsize, 0, 0] if shared and issued else [0] * 4)


@pytest.mark.parametrize("shared", range(5))
def test_a_number_with_two_texts_is_a_contradiction_unless_it_may_be_two(shared: int) -> None:
    rows = [
        CountRow(1, index=3, sass="MUFU.RCP R1, R2"),
        CountRow(1, index=1, sass="FMUL R1, R2, R3"),
        CountRow(1, index=1, sass="IMAD R1, R2, R3"),
        CountRow(1, index=0, sass="@P0 FADD.FTZ R1, R2, R3"),
        CountRow(1, index=2, sass="???"),
        CountRow(1, index=5),
        CountRow(1, sass="EXIT"),
        CountRow(1, index=4, sass="EXIT"),
    ]
    table = {4: "EXIT", 3: "MUFU.RSQ R1, R2", 2: "FADD R1", 1: "FADD.RN R1, R2, R3", 0: "FADD R1, R2, R3"}
    found = contradictions(source(rows, table=table), shared)
    assert found == ["the source itself calls instruction 1 FADD.RN and FMUL and IMAD"][shared > 1 :]
    table[3] = "HMMA R1"
    both = contradictions(source(rows, table=table), shared)
    assert both == [*found, "the source itself calls instruction 3 HMMA and MUFU.RCP"][: len(found) + (shared <= 3)]


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ([], []),
        ([("a", {0: "MOV R1, R2"})], []),
        ([("a", {0: "MOV R1, R2"}), ("b", {0: "@P0 MOV R8, R9 ;", 1: "EXIT"})], []),
        ([("a", {0: "???"}), ("b", {0: "EXIT"}), ("c", {0: "???"})], []),
        ([("a", {0: "???"}), ("b", {0: "EXIT"}), ("c", {0: "MOV R1"})], [(0, "EXIT", "b", "MOV", "c")]),
        ([("a", {}), ("b", {2: "EXIT"}), ("c", {1: "EXIT"}), ("d", {2: "MOV R1"})], [(2, "EXIT", "b", "MOV", "d")]),
        ([("a", {2: "FADD", 1: "FMUL.FTZ"}), ("b", {2: "MOV", 1: "FMUL"})], [(1, "FMUL.FTZ", "a", "FMUL", "b")]),
    ],
)
def test_captures_of_different_code_are_told_once(
    tables: list[tuple[str, dict[int, str]]], told: list[tuple[int, str, str, str, str]]
) -> None:
    assert other_tables(tables) == [
        f"instruction {number} is {before} in {where} and {after} in {there}: different code"
        for number, before, where, after, there in told
    ]
