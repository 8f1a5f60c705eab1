"""Do the sources agree? Each kind of difference is a conflict, a doubt, or has its explanation; none goes by unsaid."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix.agreement import Side, compare
from sassmix.check import check
from sassmix.counts import CountRow, Counts, KernelNames
from sassmix.dynamic import kernel_report
from sassmix.filters import filter_problems
from sassmix.launches import compared, executed, gather
from sassmix.matching import match
from sassmix.parsing import parse
from sassmix.plugins import default_plugins
from sassmix.render.check import render_check, side_by_side
from sassmix.report import KernelReport
from tests.conftest import Body, written

FIXTURES = Path(__file__).parent.parent / "fixtures"
NCU = FIXTURES / "counts" / "ncu"
UNIT = "warp instructions issued"


def side(source: str, launches: int | None = 1, unresolved: int = 0, **opcodes: int) -> Side:
    return Side(source=source, unit=UNIT, launches=launches, opcodes=Counter(opcodes), unresolved=unresolved)


def test_equal_counts_agree() -> None:
    found = compare([side("a", FADD=2, EXIT=1), side("b", EXIT=1, FADD=2)])
    assert found.agreed == ["b"]
    assert not found.differences


def test_launch_by_launch() -> None:
    assert compare([side("a", 2, FADD=4), side("b", 1, FADD=2)]).agreed == ["b, launch by launch"]
    other = compare([side("a", 2, FADD=4), side("b", 1, FADD=3)])
    assert not other.agreed
    assert other.explained == ["a has 2 launches, b 1 launch: their counts are of other runs and are not compared"]


def test_an_unknown_number_of_launches_compares_in_proportion() -> None:
    assert compare([side("a", None, FADD=4, EXIT=2), side("b", 1, FADD=2, EXIT=1)]).agreed == ["b, in proportion"]
    assert compare([side("a", None, FADD=4, EXIT=2), side("b", 1, FADD=2, EXIT=2)]).conflicts == [
        "FADD: 4 by a, 2 by b"
    ]


@pytest.mark.parametrize("first", [True, False])
def test_called_functions_explain_a_difference(first: bool) -> None:
    full, part = side("a", FADD=5, RET=1), side("b", FADD=2)
    full.called = Counter(FADD=3, RET=1)
    found = compare([full, part] if first else [part, full])
    assert found.explained == ["a counts the functions that the kernel calls (4 instructions), b does not"]
    assert not found.conflicts


@pytest.mark.parametrize("first", [True, False])
def test_predication_explains_a_difference(first: bool) -> None:
    full, part = side("a", FADD=5, BRA=2), side("b", FADD=5, BRA=1)
    full.active = Counter(FADD=5, BRA=1)
    found = compare([full, part] if first else [part, full])
    assert found.explained == ["b leaves out what a false guard turned off in all lanes (1 instruction)"]


def test_totals_are_compared_where_names_are_missing() -> None:
    assert compare([side("a", FADD=3), side("b", unresolved=3)]).agreed == ["the total of b"]
    other = compare([side("a", FADD=3), side("b", unresolved=4)])
    assert other.doubts and not other.agreed and not other.conflicts


@pytest.mark.parametrize(
    ("change", "said"), [({"whole": False}, "not known to be whole"), ({"unit": "x"}, "the other x")]
)
def test_what_cannot_be_compared_says_why(change: dict[str, object], said: str) -> None:
    other = side("b", FADD=2)
    for name, value in change.items():
        setattr(other, name, value)
    found = compare([side("a", FADD=3), other])
    assert said in found.explained[0]
    assert not found.agreed + found.conflicts


def test_the_hardware_total() -> None:
    equal, unequal = side("a", FADD=3), side("a", FADD=3)
    equal.hardware, unequal.hardware = 3, 4
    assert compare([equal]).agreed == ["the hardware's instruction counter"]
    assert "a run of its own" in compare([unequal]).explained[0]


def test_the_code_and_its_padding() -> None:
    found = compare([side("a", FADD=3)], side("listing", None, FADD=1, BRA=1), padding=7)
    assert found.explained == [
        "in the code, but not counted: BRA (1)",
        "7 instructions of padding behind the code are left out of the listing",
    ]


opcodes = st.dictionaries(st.sampled_from(["FADD", "EXIT", "HMMA", "BRA"]), st.integers(1, 99), max_size=4)


@given(opcodes, opcodes, st.sampled_from([0, 0, 3]), st.sampled_from([0, 0, 3]), st.sampled_from([None, 1, 1, 2]))
def test_no_difference_goes_by_unsaid(
    ours: dict[str, int], theirs: dict[str, int], lost: int, other_lost: int, launches: int | None
) -> None:
    """Two sources either agree, or something is said."""
    main, other = side("a", 1, lost, **ours), side("b", launches, other_lost, **theirs)
    found = compare([main, other])
    assert found.agreed or found.differences
    if found.conflicts:
        assert ours != theirs


def test_check_shows_the_sources_side_by_side() -> None:
    files = [NCU / "vecadd.cubin", NCU / "vecadd.source.csv", NCU / "vecadd_op.raw.csv"]
    found = check(sassmix.mix(files))
    kernel = found["kernels"][0]
    assert [source["source"] for source in kernel["sources"]] == ["ncu-source", "ncu-raw", "listing"]
    rows = {row["opcode"]: row for row in side_by_side(kernel)}
    assert rows["LDC"] == {"opcode": "LDC", "ncu-source": "320", "ncu-raw": "", "listing": "5"}
    assert rows["hardware total"]["ncu-raw"] == "1,280"
    for form in ("text", "markdown"):
        text = render_check(found, form)
        assert "1,280" in text and "padding" in text


TWO_SECTIONS = """\t.target\tsm_90a
\t.section\t.text.k,"ax",@progbits
        .type           k,@function
        .size           k,(.L_x_1 - k)
        .other          k,@"STO_CUDA_ENTRY STV_DEFAULT"
.text.k:
k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   CALL.ABS.NOINC `(f) ;
        /*0020*/                   HGMMA.64x8x16.F32 R24, gdesc[UR4], R24 ;
        /*0030*/                   EXIT ;
.L_x_1:
\t.section\t.text.f,"ax",@progbits
        .type           f,@function
        .size           f,(.L_x_2 - f)
.text.f:
f:
        /*0000*/                   FADD R2, R3, R4 ;
        /*0010*/                   FADD R2, R2, R4 ;
        /*0020*/                   RET.REL.NODEC R20 `(f) ;
.L_x_2:
"""


def counted(numbers: dict[int, int], *, root_only: bool = False) -> Counts:
    rows = [CountRow(name=f"OPCODE_{i}", index=i, issued=n) for i, n in numbers.items()]
    names = KernelNames(mangled="k")
    return Counts(path="k", kind="cutracer-trace", names=names, rows=rows, launches=1, root_only=root_only)


@pytest.mark.parametrize(
    ("listing", "numbers", "root_only", "unresolved"),
    [
        (TWO_SECTIONS, {0: 4, 1: 4, 2: 4, 3: 4}, False, 12),  # f has three instructions
        (TWO_SECTIONS, {0: 4, 1: 4, 2: 4, 3: 4}, True, 0),  # they were left out
        (TWO_SECTIONS.partition("\t.section\t.text.f")[0], {0: 4, 1: 4, 2: 4, 3: 4}, False, 16),  # f is not here
        (TWO_SECTIONS.replace("CALL.ABS.NOINC `(f)", "NOP"), {0: 4, 1: 4, 2: 4, 3: 4}, False, 0),
    ],
)
def test_numbers_that_a_called_function_has_too_stay_unresolved(
    listing: str, numbers: dict[int, int], root_only: bool, unresolved: int
) -> None:
    [[launches]] = gather([counted(numbers, root_only=root_only)], parse(listing).functions, None)
    resolved, open_rows = launches.counted("issued")
    assert open_rows.total() == unresolved
    assert resolved.total() + open_rows.total() == sum(numbers.values())


@pytest.mark.parametrize("root", ["_Z1kf", "k(float)"])
def test_the_function_that_the_tracer_names(root: str) -> None:
    functions = parse(TWO_SECTIONS.replace("k", "_Z1kf")).functions
    found = match(KernelNames(root=root, file="something_else"), None, functions)
    assert found.how == "metadata"
    assert found.function is functions[0]


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("export KERNEL_FILTERS=vecadd\n", 1),
        ('#!/bin/sh\nKERNEL_FILTERS="gemm,vecadd" ./run\n', 2),
        ("cutracer trace --kernel-filters=vecadd -- ./run", 1),
        ("KERNEL_FILTERS: VECADD", 1),
    ],
)
def test_a_filter_in_another_case_is_pointed_out(tmp_path: Path, script: str, line: int) -> None:
    file = tmp_path / "run.sh"
    file.write_text(script)
    (problem,) = filter_problems([str(file)], ["_Z6vecAddPKdS0_Pdi"])
    assert (problem.path, problem.line, problem.severity) == (str(file), line, "warning")
    assert "vecAdd(double const*" in problem.message


@pytest.mark.parametrize("script", ["KERNEL_FILTERS=vecAdd", "KERNEL_FILTERS=other", "", "filters = vecadd", "\0\xff"])
def test_a_filter_that_fits_or_has_nothing_alike_is_not(tmp_path: Path, script: str) -> None:
    (tmp_path / "log").write_text(script)
    assert not list(filter_problems([str(tmp_path / "log"), str(tmp_path / "gone")], ["_Z6vecAddPKdS0_Pdi"]))


def test_a_folder_without_data_says_what_it_was_for(tmp_path: Path) -> None:
    (tmp_path / "vecadd.cubin").write_bytes((NCU / "vecadd.cubin").read_bytes())
    (tmp_path / "kernel_1f_iter0_vecadd_hist.csv").write_text("warp_id,region_id,instruction,count\n")
    found = check(sassmix.mix(tmp_path))
    assert found["verdict"] == "fail"
    (empty,) = [p["message"] for p in found["problems"] if "nothing was captured" in p["message"]]
    assert "no function is called 'vecadd'; there is _Z6vecAddPKdS0_Pdi" in empty
    assert any("give the listings alone" in problem["message"] for problem in found["problems"])


def test_a_part_has_no_more_than_the_whole() -> None:
    part, whole = side("a", FADD=4), side("b", FADD=3, EXIT=1)
    part.whole = False
    assert compare([whole, part]).conflicts == ["FADD: 4 by a, only 3 by b"]
    assert compare([part, whole]).conflicts == ["FADD: 4 by a, only 3 by b"]


def test_what_no_warp_executed_no_thread_has() -> None:
    warps, threads = side("a", FADD=3), side("b", FADD=90, HMMA=32)
    threads.unit = "thread instructions executed"
    assert compare([warps, threads]).conflicts == ["HMMA: none by a, executed by b"]
    assert compare([threads, warps]).conflicts == ["HMMA: none by a, executed by b"]


@pytest.mark.parametrize("launches", [None, 2])
def test_a_part_of_other_launches_is_a_doubt(launches: int | None) -> None:
    part = side("b", launches, FADD=1)
    part.whole = False
    found = compare([side("a", 1, FADD=3), part])
    assert found.doubts and not found.conflicts


NAMES = KernelNames(mangled="k")


def source(kind: str, launches: int | None = 1, gaps: list[str] | None = None, **rows: int) -> Counts:
    counted_rows = [CountRow(mnemonic=name, issued=number) for name, number in rows.items()]
    return Counts(
        path=kind, kind=kind, names=NAMES, arch="sm_90", rows=counted_rows, launches=launches, gaps=gaps or []
    )


def entry(*sources: Counts) -> KernelReport:
    ((first, *more),) = gather(sources, [], None)
    classifier = default_plugins().classifier
    return kernel_report([first, *more], classifier=classifier, rules=[], arch=None, what="issued", static=None)


@pytest.mark.parametrize(
    ("other", "active"),
    [
        (source("ncu-source", 2, LDC=2, HMMA=4, EXIT=2), True),  # another launch did
        (source("ncu-source", 1, LDC=1, HMMA=4, EXIT=1), None),  # the same launch: one of them is wrong
        (source("ncu-source", 1, ["cut"], LDC=1, HMMA=4), None),
        (source("ncu-source", None, ["cut"], LDC=1), None),  # of launches that are not known
        (source("ncu-source", 1, ["cut"], LDC=1), False),  # a part of what the trace has as a whole
        (source("ncu-source", 1, LDC=1, EXIT=1), False),
    ],
)
def test_every_source_has_a_say_in_the_verdict(other: Counts, active: bool | None) -> None:
    found = entry(source("cutracer-trace", LDC=1, EXIT=1), other)
    assert found.tensor.active is active
    if active is True:
        assert "ncu-source" in found.tensor.reason


@pytest.mark.parametrize(("lost", "status"), [(["10 records were dropped"], "fail"), ([], "warn")])
@pytest.mark.parametrize("kind", ["cutracer-trace", "cutracer-hist"])
def test_a_capture_of_nothing_is_a_part_of_its_kernel(lost: list[str], status: str, kind: str) -> None:
    empty = source(kind, None)
    empty.lost = empty.gaps = lost
    for order in ((source("cutracer-trace", LDC=1, EXIT=1), empty), (empty, source("cutracer-trace", LDC=1, EXIT=1))):
        found = entry(*order)
        evidence = {item.check: item.status for item in found.evidence}
        assert evidence["complete"] == status
        assert found.tensor.active is None
        assert found.launches == 1


def test_a_busy_tensor_pipe_may_be_packed_arithmetic() -> None:
    packed = source("ncu-raw", EXIT=64)
    packed.rows.append(CountRow(mnemonic="HFMA2.MMA", issued=32))
    packed.hardware = {"tensor": 32.0}
    assert next(item for item in entry(packed).evidence if item.check == "consistent").status == "pass"
    packed.hardware["tensor_hfma2"] = 0.0
    assert next(item for item in entry(packed).evidence if item.check == "consistent").status == "fail"


def test_a_table_without_instructions_agrees_with_nothing() -> None:
    counts = counted({0: 1, 1: 1, 2: 1, 3: 1}, root_only=True)
    counts.table = {0: "???", 1: "???"}
    [[launches]] = gather([counts], parse(TWO_SECTIONS).functions, None)
    assert all("table" not in text for _, resolution in launches.parts for text in resolution.checked)


def test_totals_of_another_tool_are_not_added_to_opcodes() -> None:
    """One tool counts opcodes, another of the same kind only how many instructions there were."""
    named, total = source("nvbit-hist", LDC=1, EXIT=1), source("nvbit-hist")
    total.rows = [CountRow(name="all instructions", issued=2)]
    for order in ((named, total), (total, named)):
        found = entry(*order)
        assert (found.tally.total, found.tally.unresolved) == (2, 0)
        assert [side.source for side in found.agreement.sides] == ["nvbit-hist", "nvbit-hist (totals)"]
        assert "the total of nvbit-hist (totals)" in found.agreement.agreed


@pytest.mark.parametrize("name", ["all instructions", "no-mnemonic"])
def test_a_launch_without_opcodes_is_a_launch_beside_those_of_its_file(name: str) -> None:
    """Each row of a raw page is another launch: what the nameless one executed may be a matrix opcode."""
    named, total = source("ncu-raw", LDC=1, EXIT=1), source("ncu-raw")
    total.rows = [CountRow(name=name, issued=2)]
    for order in ((named, total), (total, named)):
        found = entry(*order)
        assert (found.tally.total, found.tally.unresolved, found.launches) == (4, 2, 2)
        assert found.tensor.active is None and [side.source for side in found.agreement.sides] == ["ncu-raw"]
    total.path = "another export"
    assert entry(named, total).tally.total == 2


@st.composite
def sides(draw: st.DrawFn, source: str) -> Side:
    """A source of any kind: whole or not, with names or not, of threads or warps."""
    made = side(source, draw(st.sampled_from([None, 1, 1, 2])), draw(st.sampled_from([0, 0, 2])), **draw(opcodes))
    made.whole = draw(st.booleans())
    made.unit = draw(st.sampled_from([UNIT, UNIT, "thread instructions executed"]))
    made.active = draw(st.none() | st.builds(Counter, opcodes))
    return made


@given(sides("main"), sides("b"), sides("c"))
def test_what_one_source_says_is_not_lost_behind_another(main: Side, other: Side, third: Side) -> None:
    """Each of the others is compared with the first, whatever was found before."""
    alone = [compare([main, one]) for one in (other, third)]
    together = compare([main, other, third])
    for kind in ("agreed", "conflicts", "doubts", "explained"):
        assert getattr(together, kind) == [text for found in alone for text in getattr(found, kind)]


@given(sides("main"), sides("b"))
def test_each_conflict_or_doubt_names_the_two_that_differ(main: Side, other: Side) -> None:
    found = compare([main, other])
    for text in (*found.conflicts, *found.doubts):
        assert "main" in text and re.search(r"\bb\b", text)


def test_totals_that_differ_are_told_with_the_numbers() -> None:
    for nameless, other in (
        (side("a", unresolved=4000), side("b", FADD=3)),
        (side("a", FADD=3), side("b", unresolved=4000)),
    ):
        (doubt,) = compare([nameless, other]).doubts
        assert "4,000" in doubt and " 3" in doubt
        assert ("a" if nameless.unresolved else "b") + " does not name its opcodes" in doubt


@pytest.mark.parametrize("number", [1, 8, 9, 10, 20])
def test_idle_opcodes_are_named_up_to_eight_and_the_others_counted(number: int) -> None:
    names = [f"OP{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:number]]
    (idle,) = compare([side("a", EXIT=1)], side("listing", None, EXIT=1, **dict.fromkeys(names, 2))).explained
    assert [f"{name} (2)" in idle for name in names] == [place < 8 for place in range(number)]
    assert (f" and {number - 8} more" in idle) == (number > 8) == ("more" in idle)


@given(sides("a"), st.none() | st.integers(0, 99))
def test_an_entry_of_the_sources_has_every_number_of_the_side(one: Side, hardware: int | None) -> None:
    one.hardware = hardware
    found = one.to_dict()
    ordered = list(found.pop("opcodes").items())
    assert ordered == sorted(one.opcodes.items(), key=lambda item: (-item[1], item[0]))
    assert found == {
        "source": "a",
        "unit": one.unit,
        "launches": one.launches,
        "total": sum(one.opcodes.values()) + one.unresolved,
        "unresolved": one.unresolved,
        "hardware_total": hardware,
    }


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_conflicts_of_every_kind_stand_side_by_side(order: tuple[int, ...]) -> None:
    """Another number, a part that has more than the whole, and threads where no warp was."""
    number, part, threads = side("number", FADD=4), side("part", FADD=4), side("threads", HMMA=32)
    part.whole, threads.unit = False, "thread instructions executed"
    others = [(number, part, threads)[place] for place in order]
    found = compare([side("a", FADD=3), *others]).conflicts
    assert len(found) == 3
    assert all(other.source in text for other, text in zip(others, found, strict=True))


@pytest.mark.parametrize(("arch", "unresolved"), [("sm_90a", 12), ("sm_90", 12), ("sm_80", 16)])
def test_a_call_leads_to_no_function_of_another_chip(arch: str, unresolved: int) -> None:
    """The function has a listing of its own; of another chip it is another one, and the length of ours is not known."""
    head, _, callee = TWO_SECTIONS.partition("\t.section\t.text.f")
    other = f"\t.target\t{arch}\n\t.section\t.text.f{callee}"
    functions = [*parse(head).functions, *parse(other).functions]
    [[launches]] = gather([counted({0: 4, 1: 4, 2: 4, 3: 4})], functions, None)
    assert launches.counted("issued")[1].total() == unresolved


ONE_SECTION = TWO_SECTIONS.partition("\t.section\t.text.f")[0].replace("CALL.ABS.NOINC `(f)", "FMUL R2, R2, R3")


@pytest.mark.parametrize("what", ["issued", "active", "threads"])
def test_executions_by_place_are_those_of_all_launches(what: str) -> None:
    functions = parse(ONE_SECTION).functions
    several = [counted({0: n, 1: n, 2: n, 3: n}) for n in (4, 5)]
    for number, row in enumerate(several[1].rows):
        row.active, row.threads = 5 - number % 2, 100 + number
    [[launches]] = gather(several, functions, None)
    start = functions[0].start
    wanted = {"issued": [9, 9, 9, 9], "active": [5, 4, 5, 4], "threads": [100, 101, 102, 103]}[what]
    assert executed(launches, what) == ({start + place: n for place, n in enumerate(wanted)}, "")


def test_executions_without_a_place_or_in_contradiction_are_none() -> None:
    functions = parse(ONE_SECTION).functions
    placeless = Counts(path="k", kind="cutracer-trace", names=NAMES, rows=[CountRow(4, mnemonic="FMUL")], launches=1)
    wrong = counted({0: 4, 1: 4, 2: 4, 3: 4})
    wrong.table = {0: "EXIT"}
    right = counted({0: 4, 1: 4, 2: 4, 3: 4})
    for other, reason in ((placeless, "do not say for certain"), (wrong, "contradict")):
        for order in ((right, other), (other, right)):
            [[launches]] = gather(list(order), functions, None)
            total, why = executed(launches, "issued")
            assert total is None and reason in why


@pytest.mark.parametrize("first", [None, 3])
@pytest.mark.parametrize("second", [None, 3])
def test_active_counts_are_those_of_every_row_or_none(first: int | None, second: int | None) -> None:
    """Of a part alone they would look like executions that a guard turned off."""
    one, other = source("ncu-source", FADD=4), source("ncu-source", FADD=4)
    one.rows[0].active, other.rows[0].active = first, second
    [[launches]] = gather([one, other], [], None)
    [found] = compared([launches]).sides
    assert found.active == (Counter(FADD=6) if first and second else None)


@pytest.mark.parametrize(
    ("listed", "elsewhere"),
    [
        ([("k", "sm_80")], ()),
        ([("k", "sm_90a")], ("sm_90a",)),
        ([("k", "sm_90a"), ("k", "sm_100a")], ("sm_100a", "sm_90a")),
        ([("k", "sm_90a"), ("other", "sm_100a")], ("sm_90a",)),
        ([("k", "sm_90a"), ("k", "sm_90a")], ()),  # another code each: which of them is not told by the architecture
        ([("_Z1ki", "sm_90a"), ("_Z1kd", "sm_100a")], ()),  # two kernels
        ([("other", "sm_90a")], ()),
    ],
)
def test_a_kernel_that_is_listed_for_other_architectures_only(
    listed: list[tuple[str, str]], elsewhere: tuple[str, ...]
) -> None:
    functions = [
        function
        for number, (name, arch) in enumerate(listed)
        for function in parse(written(Body(name, [*["FADD R1, R2, R3"] * (number + 1), "EXIT"]), arch=arch)).functions
    ]
    counts = Counts(path="k", kind="nvbit-hist", names=KernelNames(file="k"), arch="sm_80", rows=[CountRow(4, index=0)])
    [[launches]] = gather([counts], functions, None)
    assert launches.elsewhere == elsewhere
    assert (launches.match.function is not None) == (listed[0] == ("k", "sm_80"))


@pytest.mark.parametrize(
    ("name", "tensor", "hfma2", "status"),
    [
        ("HFMA2.MMA", 96, None, "fail"),  # 64 of the pipe's are unexplained
        ("HFMA2.MMA", 32, None, "pass"),
        ("HFMA2.MMA", 0, None, "pass"),
        ("HFMA2", 32, None, "pass"),  # a name without modifiers may be HFMA2.MMA
        ("HFMA2.BF16_V2", 32, None, "fail"),
        ("HMMA", 0, None, "fail"),
        ("HMMA", 32, 0, "pass"),
        ("HFMA2.MMA", 64, 32, "fail"),
    ],
)
def test_the_tensor_pipe_has_no_more_than_packed_arithmetic_explains(
    name: str, tensor: int, hfma2: int | None, status: str
) -> None:
    counts = source("ncu-raw", EXIT=64)
    counts.rows.append(CountRow(mnemonic=name, issued=32))
    counts.hardware = {"tensor": float(tensor), **({} if hfma2 is None else {"tensor_hfma2": float(hfma2)})}
    assert next(item for item in entry(counts).evidence if item.check == "consistent").status == status


@pytest.mark.parametrize(
    ("kind", "status"), [("cutracer-launches", "pass"), ("ncu-raw", "pass"), ("ncu-source", "warn")]
)
def test_a_file_that_holds_other_things_misses_no_counts(kind: str, status: str) -> None:
    found = entry(source("cutracer-trace", LDC=1, EXIT=1), source(kind, None))
    assert next(item for item in found.evidence if item.check == "complete").status == status


ENTRY = """\t.target\tsm_90a
        .type           k,@function
        .size           k,(.L_x_1 - k)
        .other          k,@"STO_CUDA_ENTRY STV_DEFAULT"
k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @P0  FMUL R2, R3, R4 ;
        /*0020*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0030*/              @P1  BRA `(.L_x_0) ;
        /*0040*/                   FADD R2, R3, R4 ;
.L_x_0:
        /*0050*/                   EXIT ;
.L_x_1:
"""


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (["LDC", "HMMA", "EXIT"], []),
        (["LDC", "FADD", "EXIT"], ["HMMA"]),
        (["EXIT"], ["LDC", "HMMA"]),
        (["LDC", "HMMA", "OPCODE_9"], []),  # it may be among what is not resolved
    ],
)
def test_what_every_warp_comes_through_was_counted_or_rows_are_missing(names: list[str], missing: list[str]) -> None:
    counts = source("cutracer-hist")
    counts.rows = [
        CountRow(name=name, issued=1) if name.startswith("OPCODE") else CountRow(mnemonic=name, issued=1)
        for name in names
    ]
    [[launches]] = gather([counts], parse(ENTRY).functions, None)
    gaps = [gap for _, resolution in launches.parts for gap in resolution.gaps if "comes through" in gap]
    assert [gap.partition(" ")[0] for gap in gaps] == missing


THREADS = "thread instructions executed"


@pytest.mark.parametrize(
    ("warps", "threads", "conflict"),
    [
        ({}, {}, True),
        ({"launches": 2}, {"launches": 2}, True),
        ({"launches": 2}, {}, False),
        ({"launches": None}, {"launches": None}, False),
        ({"whole": False}, {}, False),
        ({}, {"whole": False}, True),  # what a part of the threads executed, was executed
        ({"unresolved": 1}, {}, False),
        ({}, {"unresolved": 1}, True),
    ],
)
@pytest.mark.parametrize("turned", [True, False])
def test_threads_prove_warps_wrong_only_where_both_speak_of_the_same(
    warps: dict[str, object], threads: dict[str, object], conflict: bool, turned: bool
) -> None:
    one, other = side("a", FADD=3, HMMA=0), side("b", FADD=90, HMMA=32, EXIT=0, BRA=1)
    other.unit = THREADS
    for changed, said in ((one, warps), (other, threads)):
        for name, value in said.items():
            setattr(changed, name, value)
    main, second = (other, one) if turned else (one, other)
    found = compare([main, second])
    assert found.conflicts == [f"{name}: none by a, executed by b" for name in ("BRA", "HMMA")] * conflict
    assert found.explained == [
        f"the numbers of {second.source} are not compared with those of {main.source}: one counts {main.unit}, the "
        f"other {second.unit}"
    ]
    assert not found.agreed + found.doubts


@pytest.mark.parametrize(
    ("part", "whole", "conflict", "doubt"),
    [
        ({}, {}, True, False),
        ({}, {"whole": False}, False, False),
        ({}, {"unresolved": 1}, False, False),
        ({"unresolved": 1}, {}, True, False),
        ({"launches": 2}, {}, False, True),
        ({"launches": None}, {}, False, True),
        ({"launches": 2}, {"launches": 2}, True, False),
        ({"launches": 2}, {"whole": False}, False, True),
    ],
)
@pytest.mark.parametrize("turned", [True, False])
def test_a_part_proves_the_whole_wrong_only_where_both_speak_of_the_same(
    part: dict[str, object], whole: dict[str, object], conflict: bool, doubt: bool, turned: bool
) -> None:
    """What may be of other launches and is not whole may hide anything; the first source is what is reported anyway."""
    one, other = side("a", FADD=4, EXIT=1, HMMA=2), side("b", FADD=3, EXIT=1, HMMA=1)
    for changed, said in ((one, {"whole": False, **part}), (other, whole)):
        for name, value in said.items():
            setattr(changed, name, value)
    main, second = (one, other) if turned else (other, one)
    found = compare([main, second])
    assert found.conflicts == ["FADD: 4 by a, only 3 by b", "HMMA: 2 by a, only 1 by b"] * conflict
    assert len(found.doubts) == (doubt and not second.whole)
    for text in found.doubts:
        launches = {None: "an unknown number of launches", 1: "1 launch", 2: "2 launches"}
        assert f"{second.source} may be of other launches ({launches[second.launches]})" in text
        assert f"than {main.source} ({launches[main.launches]})" in text
    assert len(found.explained) == 1 and not found.agreed
    unwhole = [one.source for one in (main, second) if not one.whole]
    assert any(f": {name} is not known to be whole" in found.explained[0] for name in unwhole)


@pytest.mark.parametrize(
    ("ours", "theirs", "agreed"),
    [
        ((1, 4, 2), (1, 4, 2), "b"),
        ((2, 4, 2), (1, 2, 1), "b, launch by launch"),
        ((2, 4, 2), (3, 6, 3), "b, launch by launch"),
        ((None, 4, 2), (1, 4, 2), "b"),
        ((1, 4, 2), (None, 2, 1), "b, in proportion"),
        ((None, 4, 2), (None, 2, 1), "b, in proportion"),
        ((1, 4, 2), (1, 2, 1), None),
        ((None, 4, 2), (1, 4, 1), None),
        ((None, 4, 2), (None, 2, 2), None),
        ((2, 4, 2), (1, 2, 2), None),
    ],
)
def test_counts_agree_for_each_launch_or_in_proportion(
    ours: tuple[int | None, int, int], theirs: tuple[int | None, int, int], agreed: str | None
) -> None:
    main, other = side("a", ours[0], FADD=ours[1], EXIT=ours[2]), side("b", theirs[0], FADD=theirs[1], EXIT=theirs[2])
    found = compare([main, other])
    assert found.agreed == ([agreed] if agreed else [])
    assert bool(found.differences) != bool(agreed)
    # Totals alone agree in the same way, but for a proportion, which says nothing there.
    nameless = side("b", theirs[0], unresolved=theirs[1] + theirs[2])
    found = compare([main, nameless])
    same = agreed in {"b", "b, launch by launch"} or sum(ours[1:]) == sum(theirs[1:])
    assert found.agreed == ["the total of b"] * same
    assert len(found.doubts) == (not same) and len(found.explained) == same


@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize(
    ("said", "explained"),
    [
        ({"called": Counter(FADD=3)}, "a counts the functions that the kernel calls (3 instructions), b does not"),
        ({"called": Counter(FADD=2)}, None),
        ({"called": Counter(FADD=3), "launches": 2}, None),
        (
            {"active": Counter(FADD=2, EXIT=1)},
            "b leaves out what a false guard turned off in all lanes (3 instructions)",
        ),
        ({"active": Counter(FADD=2, EXIT=1, BRA=0)}, "b leaves out what a false guard"),
        ({"active": Counter(FADD=3, EXIT=1)}, None),
        ({"active": Counter(FADD=2, EXIT=1), "launches": 2}, None),
    ],
)
def test_what_explains_a_difference_explains_all_of_it(
    said: dict[str, object], explained: str | None, turned: bool
) -> None:
    full, part = side("a", FADD=5, EXIT=1), side("b", FADD=2, EXIT=1)
    for name, value in said.items():
        setattr(full, name, value)
    found = compare([full, part] if turned else [part, full])
    assert not found.agreed and len(found.differences) == 1
    if explained:
        assert explained in found.explained[0]
    else:
        assert found.conflicts or "of other runs" in found.explained[0]


@pytest.mark.parametrize("hardware", [None, 3, 0, 4000])
def test_each_source_is_held_against_the_hardware(hardware: int | None) -> None:
    one, other = side("a", FADD=3), side("b", FADD=3)
    other.hardware = hardware
    found = compare([one, other])
    assert found.agreed == ["b", *(["the hardware's instruction counter"] if hardware == 3 else [])]
    told = [text for text in found.explained if "the hardware's counter has" in text]
    assert len(told) == len(found.explained) == (hardware in {0, 4000})
    assert all(f"{hardware:,} instructions, the counts per opcode 3:" in text for text in told)


@pytest.mark.parametrize("padding", [0, 1, 7])
@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("said", [{}, {"whole": False}, {"unresolved": 1}])
def test_idle_code_is_told_where_all_that_ran_is_known(said: dict[str, object], listed: bool, padding: int) -> None:
    main, code = side("a", FADD=3), side("listing", None, FADD=1, BRA=2, EXIT=1)
    for name, value in said.items():
        setattr(main, name, value)
    found = compare([main], code if listed else None, padding)
    assert found.sides == ([main, code] if listed else [main])
    idle = ["in the code, but not counted: BRA (2), EXIT (1)"] if listed and not said else []
    words = {
        1: "1 instruction of padding behind the code is left",
        7: "7 instructions of padding behind the code are left",
    }
    rest = [f"{words[padding]} out of the listing"] if listed and padding else []
    assert found.explained == idle + rest
