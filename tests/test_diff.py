"""What changed between two inputs: which kernel is which, what counts as a change, and what does not compare."""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.analysis import mix
from sassmix.classify import Classifier
from sassmix.diff import diff
from sassmix.evidence import Evidence
from sassmix.pairing import Pair, pairs
from sassmix.plugins import default_plugins
from sassmix.reaching import Callees
from sassmix.report import STATIC_UNIT, UNITS, KernelReport
from sassmix.tally import tally
from sassmix.tensor import TensorVerdict
from tests.conftest import FIXTURES, LISTINGS, Body, Command, written

Save = Callable[..., Path]
COUNTED = FIXTURES / "counts" / "ncu"
FORMATS = ("json", "text", "csv", "markdown", "html")


def kernel(name: str, arch: str | None = "sm_90a", basis: str = "static", **counts: Any) -> KernelReport:
    """An entry of a report that is whole and certain; counts by opcode."""
    classifier: Classifier = default_plugins().classifier
    return KernelReport(
        name=name,
        demangled=None,
        arch=arch,
        role="kernel",
        calls=[],
        listing={},
        basis=basis,
        unit=STATIC_UNIT if basis == "static" else UNITS["issued"],
        launches=None,
        warps=None,
        tally=tally(classifier, arch, counts or {"EXIT": 1}),
        tensor=TensorVerdict(None, None, ""),
        evidence=[Evidence("captured", "pass", "")],
    )


def paired(before: Sequence[KernelReport], after: Sequence[KernelReport]) -> list[tuple[int | None, int | None, str]]:
    """The pairs by their places in the two lists."""
    places = [{id(one): place for place, one in enumerate(side)} for side in (before, after)]
    found = pairs(before, after)
    return [(places[0].get(id(pair.before)), places[1].get(id(pair.after)), pair.how) for pair in found]


HASHED = "_ZN41_GLOBAL__N__{}_10_general_cu_{}6hiddenEPi"
HIDDEN = [HASHED.format("0bff35ba", "0123abcd"), HASHED.format("11111111", "deadbeef")]
STATIC = "_ZN36_INTERNAL_{}_4_a_cu_{}1fEv"
SAME_KERNEL = {
    "one name": ("k", "k", "exact"),
    "another hash of the build": (HIDDEN[0], HIDDEN[1], "ignoring-build-hash"),
    "a static of a file": (
        STATIC.format("0bff35ba", "01234567"),
        STATIC.format("f" * 8, "e" * 8),
        "ignoring-build-hash",
    ),
    "a demangled one": ("_Z6vecAddPKdPdi", "vecAdd(const double *, double *, int)", "demangled"),
    "a template": ("_Z1fIfLi4EEvPKT_", "void f<float, (int)4>(const float *)", "demangled"),
    "an argument that is T1": ("_Z1fIfEvPKT_", "void f<float>(const T1 *)", "demangled"),
}


@pytest.mark.parametrize(("one", "other", "how"), SAME_KERNEL.values(), ids=SAME_KERNEL)
def test_a_kernel_is_found_by_its_name(one: str, other: str, how: str) -> None:
    others = [kernel("z"), kernel("y", EXIT=3)]
    assert paired([*others, kernel(one)], [kernel(other), *others])[2] == (2, 0, how)
    assert paired([kernel(other)], [kernel(one)]) == [(0, 0, how)]


OTHER_KERNEL = {
    "another case": ("scale", "Scale"),
    "a part of the name": ("scale", "scale2"),
    "another template argument": ("_Z1fILi4EEvv", "_Z1fILi8EEvv"),
    "other parameters": ("_Z1fPi", "_Z1fPf"),
    "another namespace": ("_ZN1a1fEv", "_ZN1b1fEv"),
    "a parameter more": ("_Z1fPi", "_Z1fPii"),
}


@pytest.mark.parametrize(("one", "other"), OTHER_KERNEL.values(), ids=OTHER_KERNEL)
def test_a_likeness_is_a_hint_and_no_match(one: str, other: str) -> None:
    found = pairs([kernel(one)], [kernel(other)])
    assert [(pair.before is None, pair.after is None, pair.how) for pair in found] == [
        (False, True, "none"),
        (True, False, "none"),
    ]
    hinted = one != "scale" or other != "scale2"
    assert [list(pair.candidates) for pair in found] == ([[other], [one]] if hinted else [[], []])


def test_equal_instructions_hint_at_a_new_name_if_they_are_many() -> None:
    for number, hints in ((16, [["b"], ["a"]]), (15, [[], []])):
        found = pairs([kernel("a", IADD3=number)], [kernel("b", IADD3=number)])
        assert [list(pair.candidates) for pair in found] == hints
        assert all(pair.how == "none" for pair in found)


Archs = list[str | None]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["sm_90"], ["sm_90"], [(0, 0)]),
        (["sm_90"], ["sm_90a"], [(0, 0)]),
        (["sm_90"], ["sm_100"], [(0, 0)]),
        ([None], ["sm_100"], [(0, 0)]),
        (["sm_90"], ["sm_100", "sm_90"], [(0, 1)]),
        (["sm_90", "sm_100"], ["sm_100", "sm_90"], [(0, 1), (1, 0)]),
        (["sm_90", "sm_90a"], ["sm_90a", "sm_90"], [(0, 1), (1, 0)]),
        (["sm_90", "sm_100"], ["sm_100a", "sm_90a"], [(0, 1), (1, 0)]),
        (["sm_90"], ["sm_100", "sm_103"], []),
        ([None], ["sm_100", "sm_103"], []),
        (["sm_80", "sm_90"], ["sm_90", "sm_100"], [(1, 0)]),
    ],
)
def test_a_name_on_several_architectures_is_one_kernel_on_each(
    before: Archs, after: Archs, expected: list[tuple[int, int]]
) -> None:
    sides = [[kernel("k", arch, EXIT=place + 1) for place, arch in enumerate(side)] for side in (before, after)]
    found = paired(*sides)
    assert [(old, new) for old, new, _ in found if old is not None and new is not None] == expected
    alone = [pair for pair in pairs(*sides) if not (pair.before and pair.after)]
    assert all(pair.candidates == {"k": "this name on another architecture"} for pair in alone) or expected
    assert len(found) == len(before) + len(after) - len(expected)


def test_a_name_that_stands_twice_is_told_apart_by_instructions_or_not_at_all() -> None:
    x, y, z, w = ({"EXIT": number} for number in range(1, 5))

    def sides(*contents: dict[str, Any]) -> list[KernelReport]:
        return [kernel("k", **one) for one in contents]

    assert {(a, b) for a, b, _ in paired(sides(x, y), sides(y, x))} == {(0, 1), (1, 0)}
    assert {(a, b) for a, b, _ in paired(sides(x, y), sides(z, x))} == {(0, 1), (1, 0)}
    assert {(a, b) for a, b, _ in paired(sides(x, y), sides(x))} == {(0, 0), (1, None)}
    assert {(a, b) for a, b, _ in paired(sides(x, y), sides(z, w))} == {(0, None), (1, None), (None, 0), (None, 1)}
    assert all(pair.candidates == {"k": "several have this name"} for pair in pairs(sides(x, y), sides(z, w)))


names = st.sampled_from(["k", "K", "q", "_Z1fPi", "f(int*)", *HIDDEN])
reports = st.lists(
    st.builds(kernel, names, st.sampled_from(["sm_90", "sm_90a", "sm_100", None]), EXIT=st.integers(1, 2)), max_size=6
)


@given(before=reports, after=reports)
def test_every_kernel_is_in_one_pair_whichever_side_comes_first(
    before: list[KernelReport], after: list[KernelReport]
) -> None:
    found = pairs(before, after)
    assert Counter(id(pair.before) for pair in found if pair.before) == Counter(map(id, before))
    assert Counter(id(pair.after) for pair in found if pair.after) == Counter(map(id, after))
    back = [Pair(pair.after, pair.before, pair.how, pair.candidates) for pair in pairs(after, before)]
    numbers = [sum(1 for pair in one if pair.before and pair.after) for one in (found, back)]
    assert numbers[0] == numbers[1]


@given(side=reports)
def test_a_report_is_the_same_as_itself(side: list[KernelReport]) -> None:
    found = pairs(side, list(reversed(side)))
    assert all(pair.before and pair.after and pair.before.tally == pair.after.tally for pair in found)


@pytest.mark.parametrize("path", LISTINGS[::6], ids=lambda path: path.name)
def test_a_listing_is_the_same_as_itself(path: Path) -> None:
    found = diff(mix(path), mix(path))
    assert found["same"] and found["kernels"] and {one["matched"] for one in found["kernels"]} == {"exact"}


BODY = ["MOV R2, R3", "LDC.64 R4, c[0x4][0x288]", ".L_x_3:", "FFMA R4, R2, R3, R4", "@P0 BRA `(.L_x_3)", "EXIT"]
registers = st.permutations(["R2", "R3", "R4", "R5", "R6", "R7"])


@given(
    new=registers, label=st.integers(0, 99), bank=st.integers(0, 0x3FF), padding=st.integers(0, 5), flip=st.booleans()
)
def test_registers_labels_banks_padding_and_order_are_noise(
    new: list[str], label: int, bank: int, padding: int, flip: bool
) -> None:
    from sassmix.parsing import parse

    renamed = [re.sub(r"\bR([2-7])\b", lambda m: new[int(m[1]) - 2], line) for line in BODY]
    renamed = [line.replace("_x_3", f"_x_{label}").replace("0x288", hex(bank)) for line in renamed]
    filled = [*renamed, ".L_x_100:", "BRA `(.L_x_100)", *["NOP"] * padding] if padding else renamed
    bodies = [Body("k", filled), Body("other", ["EXIT"])]
    sides = [parse(written(Body("k", BODY), Body("other", ["EXIT"]))), parse(written(*bodies[:: -1 if flip else 1]))]
    counts = [Counter({(f.name, m): n for f in side.functions for m, n in f.counts().items()}) for side in sides]
    assert counts[0] == counts[1]


def compared(command: Command, save: Save, before: Sequence[Body], after: Sequence[Body], *options: str) -> Any:
    one, other = save(written(*before), "a.sass"), save(written(*after), "b.sass")
    return command("diff", one, other, "--format", "json", *options).json


def test_all_levels_say_what_changed(command: Command, save: Save) -> None:
    after = ["MOV R2, R3", "LDC R4, c[0x4][0x288]", "FFMA R4, R2, R3, R4", "STL [R1], R4", "STL [R1+0x4], R4", "EXIT"]
    (found,) = compared(command, save, [Body("k", BODY)], [Body("k", after)])["kernels"]
    assert found["mix"][0] == {"category": "memory.local", "before": 0, "after": 2}
    assert {row["category"] for row in found["mix"]} == {"memory.local", "control"}
    assert [(row["opcode"], row["before"], row["after"]) for row in found["opcodes"]] == [("STL", 0, 2), ("BRA", 1, 0)]
    assert {row["form"] for row in found["forms"]} == {"STL", "BRA", "LDC", "LDC.64"}
    assert found["summary"] == "memory.local +2, control -1: STL new; BRA gone"


@pytest.mark.parametrize(
    ("changed", "summary"),
    [
        ("LDC R4, c[0x4][0x288]", "the same by opcode; LDC +1, LDC.64 -1"),
        ("ULDC.64 UR4, c[0x4][0x288]", "the same by category: ULDC new; LDC gone"),
        ("LDC.64 R8, c[0x4][0x2]", "same"),
    ],
)
def test_a_line_says_at_which_level_it_changed(command: Command, save: Save, changed: str, summary: str) -> None:
    after = [BODY[0], changed, *BODY[2:]]
    (found,) = compared(command, save, [Body("k", BODY)], [Body("k", after)])["kernels"]
    assert found["summary"] == summary and (found["status"] == "same") == (summary == "same")


def test_what_is_the_same_only_as_far_as_can_be_told_is_said_so(command: Command, save: Save) -> None:
    whole, part = written(Body("k", ["EXIT"])), written(Body("k", ["EXIT"]), arch=None)
    for text, words in (
        (whole, "1 same\n"),
        (part, "1 same; confidence is not high for 1: `sassmix check` says why\n"),
    ):
        path = save(text)
        assert command("diff", path, path).out == words
    run = command("diff", save(whole, "a.sass"), save(part, "b.sass"))
    assert "same; confidence high before, medium after" in run.out


@pytest.mark.parametrize("by", ["group", "pipe", "opcode", "intent"])
def test_the_mix_is_by_any_facet(command: Command, save: Save, by: str) -> None:
    after = [*BODY[:-1], "STL [R1], R4", "EXIT"]
    found = compared(command, save, [Body("k", BODY)], [Body("k", after)], "--by", by)
    (row,) = found["kernels"][0]["mix"]
    assert found["by"] == by and set(row) == {by, "before", "after"} and row["after"] - row["before"] == 1


@given(
    before=st.dictionaries(st.sampled_from(["IADD3", "LDL", "HGMMA", "IMAD.WIDE", "IMAD"]), st.integers(1, 300)),
    after=st.dictionaries(st.sampled_from(["IADD3", "LDL", "HGMMA", "IMAD.WIDE", "IMAD"]), st.integers(1, 300)),
    percent=st.integers(0, 100),
)
def test_the_tolerance_is_a_share_of_the_larger_count_and_hides_nothing(
    before: dict[str, Any], after: dict[str, Any], percent: int
) -> None:
    from sassmix.analysis import empty_report

    sides = []
    for counts in (before, after):
        report = empty_report([])
        report.inputs, report.kernels = ["one"], [kernel("k", **counts)]  # type: ignore[list-item]
        sides.append(report)
    (found,) = diff(*sides, tolerance=percent / 100)["kernels"]
    (exact,) = diff(*sides)["kernels"]
    kept, tolerated = [*found["mix"], *found["opcodes"], *found["forms"]], found["tolerated"]
    assert len(kept) + len(tolerated) == len(exact["mix"]) + len(exact["opcodes"]) + len(exact["forms"])
    for rows, inside in ((kept, False), (tolerated, True)):
        for row in rows:
            change, larger = abs(row["after"] - row["before"]), max(row["before"], row["after"])
            assert (change * 100 <= percent * larger) == inside or change * 100 == percent * larger
    assert percent == 100 or all(min(row["before"], row["after"]) for row in tolerated), (
        "what is new is never tolerated"
    )


LISTED, RAN = COUNTED / "vecadd.cubin", COUNTED / "vecadd.source.csv"


def test_a_listing_and_its_counts_compare_by_opcode_and_never_by_number(command: Command) -> None:
    for sides in ((LISTED, RAN), (RAN, LISTED)):
        run = command("diff", *sides, "--arch", "90a", "--format", "json")
        assert run.status == 0 and run.json["same"] and "numbers do not" in run.json["summary"]
        assert {one["same_unit"] for one in run.json["kernels"]} == {False}
        assert not any(one["mix"] or one["opcodes"] for one in run.json["kernels"])
        assert "the same opcodes on both sides" in run.json["kernels"][0]["summary"]


@pytest.mark.parametrize("swap", [False, True])
def test_what_never_ran_and_what_is_not_in_the_code_is_named(swap: bool) -> None:
    from sassmix.presence import presence

    code, ran = kernel("k", EXIT=1, LDL=2, IMAD=5), kernel("k", basis="dynamic", EXIT=32, IMAD=900, STL=32)
    found = presence(*((ran, code) if swap else (code, ran)), (Callees(), Callees()))
    assert (found["never_ran"], found["not_in_code"], found["mix"]) == (["LDL"], ["STL"], [])
    numbers = {row["opcode"]: (row["before"], row["after"]) for row in found["opcodes"]}
    assert numbers == ({"LDL": (0, 2), "STL": (32, 0)} if swap else {"LDL": (2, 0), "STL": (0, 32)})


def test_what_is_not_resolved_is_no_opcode_that_is_new_or_was_not_in_the_code(command: Command) -> None:
    unnamed = COUNTED / "vecadd_op.raw.csv"
    for before, after in ((LISTED, unnamed), (RAN, unnamed), (unnamed, LISTED), (unnamed, RAN)):
        for one in command("diff", before, after, "--arch", "90a", "--format", "json").json["kernels"]:
            assert one["same_unit"] == (LISTED not in (before, after)) and "low" in one["confidence"].values()
            assert "instance" not in one["summary"].partition("cannot be told")[0]
            assert not re.search(r"\b(gone|new|never)\b", one["summary"])
            if not one["same_unit"]:
                assert one["not_in_code"] == [] and one["opcodes"][-1]["opcode"] == "unresolved"


def test_what_was_not_seen_to_run_is_not_said_to_be_never_run(command: Command, save: Save) -> None:
    counted = (FIXTURES / "counts" / "cutracer" / "kernel_5a55000000000003_iter0__Z6k_faddPfffi_hist.csv").read_text()
    listing = save(written(Body("_Z6k_faddPfffi", ["LDL R2, [R1]", "FADD R2, R2, R3", "EXIT"])))
    less = save("\n".join(line for line in counted.splitlines() if "EXIT" not in line) + "\n", "x_hist.csv")
    named = less.rename(less.with_name("kernel_5a55000000000003_iter0__Z6k_faddPfffi_hist.csv"))
    run = command("diff", listing, named, "--format", "json")
    (found,) = [one for one in run.json["kernels"] if one["basis"] == {"before": "static", "after": "dynamic"}]
    assert found["doubts"] and "LDL" in found["never_ran"] and "cannot be told for certain" in found["summary"]
    assert "never ran" not in found["summary"] and "not seen to run" in found["summary"]


def test_other_architectures_compare_by_what_opcodes_do(command: Command, save: Save) -> None:
    blackwell = "UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UPT"
    bodies = (["HGMMA.64x8x16.F32 R24, gdesc[UR4], R24", "EXIT"], [blackwell, "EXIT"])
    sides = [
        save(written(Body("k", body), arch=arch), f"{arch}.sass")
        for body, arch in zip(bodies, ("sm_90a", "sm_100a"), strict=True)
    ]
    found = command("diff", *sides, "--format", "json").json
    (one,) = found["kernels"]
    assert one["mix"] == [] and not one["same_architecture"] and "different architectures" in found["summary"]
    assert one["summary"] == "sm_90a against sm_100a: the same by category: tensor HGMMA -> UTCHMMA"


def test_a_kernel_on_one_side_only_can_be_chosen_and_an_unknown_one_cannot(command: Command, save: Save) -> None:
    before, after = [Body("old", ["EXIT"]), Body("k", ["EXIT"])], [Body("new", ["EXIT"]), Body("k", ["EXIT"])]
    for name, status in (("old", "gone"), ("new", "new"), ("k", "same")):
        found = compared(command, save, before, after, "--kernel", name)
        assert [(one["name"], one["status"]) for one in found["kernels"]] == [(name, status)]
    one, other = save(written(*before), "a.sass"), save(written(*after), "b.sass")
    run = command("diff", one, other, "--kernel", "ols")
    assert run.status == 2 and "did you mean old" in run.err


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_what_changed(command: Command, save: Save, form: str) -> None:
    a = save(written(Body("k", BODY), Body("old", ["EXIT"])), "a.sass")
    b = save(written(Body("k", [*BODY, "STL [R1], R4"]), Body("young", ["EXIT"])), "b.sass")
    run = command("diff", a, b, "--format", form)
    text = re.sub(r"\\(?=[\\`*_{}\[\]<>()#+!|~&$-])", "", run.out)
    assert run.status == 1 and all(word in text for word in ("memory.local", "STL", "old", "gone", "young", "new"))
    if form == "csv":
        table = list(csv.DictReader(io.StringIO(run.out), strict=True))
        assert {(row["level"], row["name"]) for row in table if row["kernel"] == "k"} == {
            ("category", "memory.local"),
            ("opcode", "STL"),
            ("form", "STL"),
        }


def test_csv_names_kernels_that_are_the_same_too(command: Command, save: Save) -> None:
    path = save(written(Body("k", BODY)))
    assert command("diff", path, path, "--format", "csv").out == "kernel,status,level,name,before,after\nk,same,,,,\n"


@pytest.mark.parametrize("pair", [(0, 1), (3, 9), (10, 30)])
def test_a_comparison_the_other_way_round_says_the_same(command: Command, pair: tuple[int, int]) -> None:
    sides = [LISTINGS[place] for place in pair]
    there, back = (command("diff", *order, "--format", "json").json for order in (sides, sides[::-1]))
    turned = {"new": "gone", "gone": "new"}
    assert sorted((one["name"], one["status"]) for one in there["kernels"]) == sorted(
        (one["name"], turned.get(one["status"], one["status"])) for one in back["kernels"]
    )
    for one in there["kernels"]:
        rows = [(row["form"], row["before"], row["after"]) for row in one["forms"]]
        found = [other for other in back["kernels"] if other["names"] == {k: one["names"][v] for k, v in SWAP.items()}]
        assert rows in [[(row["form"], row["after"], row["before"]) for row in other["forms"]] for other in found]


SWAP = {"before": "after", "after": "before"}
CODE = [f"        /*00{place}0*/                   {line} ;\n" for place, line in enumerate(("MOV R2, R3", "EXIT"))]


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "</summary>@someone", "a#12", "![x](http://a.b)", "a`b|c"]
)
def test_a_hostile_name_is_plain_text_in_the_details_of_markdown(command: Command, save: Save, name: str) -> None:
    sides = [
        save(f"\tcode for sm_90a\n\t\tFunction : {name}\n" + "".join(lines), f"{place}.sass")
        for place, lines in enumerate((CODE[1:], CODE))
    ]
    out = command("diff", *sides, "--format", "markdown").out
    (summary,) = re.findall(r"<summary>(.*)</summary>", out)
    assert html.unescape(summary.replace("<!-- -->", "")) == name
    assert not re.search(r"(?<!\\)<(script|/summary>@)", out)
    assert not re.search(r"@\w|#\d|://\w", summary)


@pytest.mark.parametrize("guard", ["@!PT", "@!UPT"])
@pytest.mark.parametrize("code", ["HGMMA.64x8x16.F32 R24, gdesc[UR4], R24", "LDL R2, [R1]"])
def test_what_becomes_dead_is_a_change(command: Command, save: Save, guard: str, code: str) -> None:
    live, dead = [Body("k", [code, "EXIT"])], [Body("k", [f"{guard} {code}", "EXIT"])]
    (found,) = compared(command, save, live, dead)["kernels"]
    name = code.split(maxsplit=1)[0]
    assert found["status"] == "changed" and found["mix"] == found["opcodes"] == []
    assert {row["form"]: (row["before"], row["after"]) for row in found["forms"]} == {
        name: (1, 0),
        f"@!PT {name}": (0, 1),
    }
    assert len({row["category"] for row in found["forms"]}) == 1
    assert compared(command, save, dead, dead)["same"]


def test_a_call_never_leads_to_the_other_side(save: Save) -> None:
    """What is missing before is not what stands there after."""
    call = Body("k", ["CALL.ABS.NOINC `(f)", "EXIT"])
    callee = Body("f", ["LDL R2, [R1]", "RET.ABS.NODEC R4 0x0"], kernel=False)
    report = [mix(save(written(*bodies), f"{n}.sass")) for n, bodies in enumerate(([call], [call, callee]))]
    from sassmix.diff import _callees
    from sassmix.reaching import reached_from

    found = [reached_from(one.kernels[0], _callees(one)) for one in report]
    assert [([k.name for k in reached], bool(ends)) for reached, ends in found] == [([], True), (["f"], False)]
