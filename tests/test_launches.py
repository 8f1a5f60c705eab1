"""All counts of one kernel put together: what belongs to it, in which order, and what its functions call."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.launches import Launches, by_thread, compared, gather, launch_count
from sassmix.listing import Function
from sassmix.parsing import parse
from tests.conftest import Body, written

FILL, RETURN = "FADD R2, R2, R3", "RET.REL.NODEC R20 `(k)"


def source(kind: str = "cutracer-trace", name: str | None = "k", **said: Any) -> Counts:
    rows = said.pop("rows", [CountRow(4, mnemonic="FADD"), CountRow(4, mnemonic="EXIT")])
    return Counts(**{"path": kind, "kind": kind, "names": KernelNames(file=name), "rows": rows, "launches": 1, **said})


def functions(*texts: str) -> list[Function]:
    return [function for text in texts for function in parse(text).functions]


def kernel(*code: str, name: str = "k", helpers: list[Body] | None = None) -> Body:
    return Body(name, [*code, "EXIT"], helpers=helpers or [])


def device(name: str, length: int, *code: str) -> Body:
    return Body(name, [*code, *[FILL] * (length - len(code) - 1), RETURN], kernel=False)


HELPERS = [device("$k$a", 2), device("$k$b", 3)]


@pytest.mark.parametrize(
    ("name", "behind"), [("k", ["$k$a", "$k$b"]), ("$k$a", ["$k$b"]), ("$k$b", []), ("other", ["$other$a"]), ("f", [])]
)
def test_the_helpers_of_a_function_stand_behind_it_in_its_section(name: str, behind: list[str]) -> None:
    listing = written(
        kernel(FILL, helpers=HELPERS), device("f", 2), kernel(FILL, name="other", helpers=[device("$other$a", 2)])
    )
    copy = written(kernel(FILL, helpers=[device("$k$c", 2)]), arch="sm_80")
    [[found]] = gather([source(name=name, arch="sm_90a")], functions(copy, listing), None)
    assert [function.name for function in found.helpers] == behind
    assert set(found.listed) == {"k", "$k$a", "$k$b", "$k$c", "f", "other", "$other$a"}


CALL, REGISTER = "CALL.ABS.NOINC `({})", "CALL.REL.NOINC R2 `(k)"
LENGTH = 9


@pytest.mark.parametrize(
    ("first", "bodies", "shared"),
    [
        (FILL, [device("f", 3)], 0),
        (CALL.format("f"), [device("f", 3)], 3),
        (CALL.format("f"), [device("f", 2, CALL.format("g")), device("g", 5)], 5),
        (CALL.format("f"), [device("f", 6, CALL.format("g")), device("g", 5, CALL.format("f"))], 6),
        (CALL.format("f"), [device("f", 3, CALL.format("k"))], 3),
        (CALL.format("f"), [device("f", 3, CALL.format("gone"))], LENGTH),
        (CALL.format("f"), [device("f", 3, REGISTER)], LENGTH),
        (CALL.format("f"), [], LENGTH),
        (REGISTER, [device("f", 3)], LENGTH),
    ],
)
@pytest.mark.parametrize("apart", [True, False])
def test_how_many_numbers_the_called_functions_have_too(
    first: str, bodies: list[Body], shared: int, apart: bool
) -> None:
    """As many as the longest of them, however many calls away; in whichever listing it stands."""
    main = kernel(first, *[FILL] * (LENGTH - 2))
    texts = [written(main), *(written(body) for body in bodies)] if apart else [written(main, *bodies)]
    counts = source(rows=[CountRow(4, index=index) for index in range(LENGTH)])
    [[found]] = gather([counts], functions(*texts), None)
    assert sum(found.counted("issued")[1].values()) == 4 * shared


@pytest.mark.parametrize(
    ("others", "shared"),
    [
        ([written(device("f", 3))], 3),
        ([written(device("f", 3)), written(device("f", 3))], 3),  # a copy
        ([written(device("f", 3)), written(device("f", 4))], LENGTH),
        ([written(device("f", 3)), written(device("f", 4), arch="sm_80")], 3),
        ([written(device("f", 3), arch="sm_80")], LENGTH),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_a_call_leads_to_the_function_of_its_own_listing_first(others: list[str], shared: int, inside: bool) -> None:
    main = kernel(CALL.format("f"), *[FILL] * (LENGTH - 2))
    text = written(main, device("f", 2)) if inside else written(main)
    counts = source(rows=[CountRow(4, index=index) for index in range(LENGTH)])
    for listings in ([text, *others], [*others, text]):
        [[found]] = gather([counts], functions(*listings), None)
        assert sum(found.counted("issued")[1].values()) == 4 * (2 if inside else shared)


def test_a_call_through_a_register_leads_to_the_helpers() -> None:
    main = kernel(REGISTER, *[FILL] * (LENGTH - 2), helpers=[device("$k$a", 3, CALL.format("f"))])
    counts = source(rows=[CountRow(4, index=index) for index in range(LENGTH + 3)])
    [[found]] = gather([counts], functions(written(main, device("f", 5))), None)
    assert sum(found.counted("issued")[1].values()) == 4 * 5


def threads(kind: str) -> Counts:
    return source(kind, missing=("warp instructions",))


def totals(kind: str) -> Counts:
    return source(kind, rows=[CountRow(8, name="all")])


IN_ORDER = [
    source("cutracer-trace"),
    source("ncu-source"),
    source("cutracer-hist"),
    source("ncu-raw"),
    source("nvbit-hist"),
    threads("nvbit-hist"),
    totals("nvbit-hist"),
    source("another"),
]


@pytest.mark.parametrize("order", [*itertools.islice(itertools.permutations(range(8)), 0, 40320, 4001)])
def test_the_most_exact_source_is_reported_first(order: tuple[int, ...]) -> None:
    [sources] = gather([IN_ORDER[place] for place in order], [], None)
    assert [launches.first for launches in sources] == IN_ORDER
    words = ["", "", "", "", "", " (threads)", " (totals)", ""]
    assert [side.source for side in compared(sources).sides] == [
        counts.kind + word for counts, word in zip(IN_ORDER, words, strict=True)
    ]
    assert [by_thread(launches) for launches in sources] == [word == " (threads)" for word in words]


def test_a_source_of_threads_without_opcodes_is_called_so() -> None:
    both = totals("nvbit-hist")
    both.missing = ("warp instructions",)
    [sources] = gather([source("nvbit-hist"), both], [], None)
    assert [side.source for side in compared(sources).sides] == ["nvbit-hist", "nvbit-hist (threads, totals)"]
    assert [side.unit for side in compared(sources).sides] == [
        "warp instructions issued",
        "thread instructions executed",
    ]


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (CountRow(1, mnemonic="EXIT"), True),
        (CountRow(1, sass="EXIT ;"), True),
        (CountRow(1, index=0), True),
        (CountRow(1, offset=0), True),
        (CountRow(1, name="all"), False),
    ],
)
def test_a_total_is_what_names_no_instruction(row: CountRow, named: bool) -> None:
    [sources] = gather([source(rows=[row]), totals("cutracer-trace")], [], None)
    assert len(sources) == 1 + named


@pytest.mark.parametrize("several", [[1], [1, 2], [None, 1], [2, None], [3, 4, 5]])
def test_the_numbers_of_all_launches_together(several: list[int | None]) -> None:
    given = [
        source(
            launches=number,
            hardware={} if number is None else {"inst_executed": 10.0 * number, "tensor": 1.0},
            gaps=["cut"] if number == 2 else [],
            lost=["cut"] if number == 5 else [],
            rows=[
                CountRow(6, mnemonic="FADD.FTZ", active=number),
                CountRow(3, mnemonic="FADD", active=1),
                CountRow(0, mnemonic="EXIT", active=0),
                CountRow(2, name="?", active=2),
            ],
        )
        for number in several
    ]
    [[launches]] = gather(given, [], None)
    known = [number for number in several if number is not None]
    all_known = len(known) == len(several)
    assert launch_count(launches) == (sum(known) if all_known else None)
    [side] = compared([launches]).sides
    assert (side.launches, side.unresolved) == (launch_count(launches), 2 * len(several))
    assert dict(side.opcodes) == {"FADD": 9 * len(several)}
    assert side.hardware == (10 * sum(known) if all_known else None)
    assert side.active == (Counter(FADD=sum(known) + len(known), EXIT=0) if all_known else None)
    assert side.whole == (not {2, 5} & set(known))


def test_the_code_is_that_of_the_kernel_and_its_helpers_without_padding() -> None:
    padding = ["BRA `(.L_z)", *["NOP"] * 3]
    main = Body(
        "k", ["FADD.FTZ R1, R2, R3", FILL, "EXIT"], helpers=[Body("$k$a", [FILL, RETURN, ".L_z:", *padding], False)]
    )
    [[launches]] = gather([source()], functions(written(main, kernel("MUFU.RCP R1, R2", name="other"))), None)
    found = compared([launches])
    assert [side.source for side in found.sides] == ["cutracer-trace", "listing"]
    assert found.sides[1].opcodes == Counter(FADD=3, EXIT=1, RET=1)
    assert found.sides[1].launches is None and "4 instructions of padding" in found.explained[-1]


@pytest.mark.parametrize(
    ("several", "number"),
    [
        ([("k", None), ("k", None)], 1),
        ([("k", "sm_90"), ("k", None)], 1),  # the only one of the name
        ([("k", "sm_90"), ("k", "sm_80")], 2),
        ([("k", "sm_90"), ("k", "sm_80"), ("k", None)], 3),
        ([("k", "sm_90"), ("f", None)], 2),
        ([(None, None), (None, None)], 1),
        ([(None, "sm_90"), ("k", "sm_90")], 2),
    ],
)
def test_sources_of_one_name_and_architecture_speak_of_one_kernel(
    several: list[tuple[str | None, str | None]], number: int
) -> None:
    for order in (several, several[::-1]):
        assert len(gather([source(name=name, arch=arch) for name, arch in order], [], None)) == number


def test_sources_that_name_one_function_differently_speak_of_one_kernel() -> None:
    listing = functions(written(kernel(FILL, name="_Z1kPf")), written(kernel(FILL, name="_Z1kPf"), arch="sm_80"))
    given = [
        source(name="_Z1kPf", arch="sm_90"),
        source("ncu-source", names=KernelNames(demangled="k(float *)"), arch="sm_90"),
        source(name="_Z1kPf", arch="sm_80"),
    ]
    found = gather(given, listing, None)
    assert [[launches.first for launches in sources] for sources in found] == [given[:2], given[2:]]
    assert len(gather(given, listing, "sm_80")) == 1, "the user's word counts"


def test_a_capture_of_nothing_is_kept_with_its_kernel_and_makes_none() -> None:
    nothing = [source(rows=[]), source("ncu-raw", rows=[]), source(name="f", rows=[])]
    found = gather([nothing[0], source(), *nothing[1:], source("ncu-source")], [], None)
    assert [[launches.empty for launches in sources] for sources in found] == [[nothing[:2], nothing[:2]]]
    assert gather(nothing, [], None) == []


def test_captures_of_different_code_are_doubted() -> None:
    given = [source(path=path, table={0: text}) for path, text in (("a", "FADD R1"), ("b", "FADD R2"), ("c", "EXIT"))]
    [[launches]] = gather(given, [], None)
    doubts = [resolution.doubts for _, resolution in launches.parts]
    assert doubts == [["instruction 0 is FADD in a and EXIT in c: different code"], [], []]
    assert isinstance(launches, Launches) and [counts for counts, _ in launches.parts] == given


def test_what_ran_outside_of_the_kernel_is_told_apart() -> None:
    """Of rows with their places, those without one ran in functions that it calls."""
    numbered = [CountRow(4, mnemonic=name, index=index) for index, name in enumerate(["FADD", "EXIT"])]
    given = [source(rows=[*numbered, CountRow(number, mnemonic="MUFU.RCP")]) for number in (5, 6)]
    [[launches]] = gather(given, functions(written(kernel(FILL))), None)
    assert compared([launches]).sides[0].called == Counter(MUFU=11)


def test_captures_of_different_code_are_doubted_beside_other_doubts() -> None:
    uneven = [CountRow(issued, index=index) for index, issued in enumerate((4, 3, 4))]
    given = [source(rows=uneven, table={9: text}) for text in ("FADD R1", "FMUL R1")]
    [[launches]] = gather(given, functions(written(kernel(FILL, FILL))), None)
    first, second = (resolution.doubts for _, resolution in launches.parts)
    assert first[:-1] == second and "neighbours in the code" in second[0] and "different code" in first[-1]
