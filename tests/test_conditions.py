"""Conditions: read as a person writes them, met by proof only, and never by what was not seen."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sassmix.arch import CATEGORIES, FACETS
from sassmix.conditions import KINDS, condition, share
from sassmix.errors import SassmixError
from sassmix.evidence import Evidence
from sassmix.pairing import Pair
from sassmix.plugins import default_plugins
from sassmix.report import KernelReport, Report
from sassmix.tally import tally
from sassmix.tensor import TensorVerdict
from tests.conftest import FIXTURES, Body, Command, written

Save = Callable[..., Path]
FORMATS = ("text", "json", "csv", "markdown", "html")
COUNTED = [FIXTURES / "counts" / "ncu" / "vecadd.source.csv", FIXTURES / "counts" / "ncu" / "vecadd.cubin"]
HGMMA = "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24"
PLAIN = ["MOV R2, R3", "FADD R2, R2, R3", "EXIT"]
SPILLS = ["MOV R2, R3", "STL [R1], R2", "LDL R2, [R1]", "EXIT"]
TENSOR = ["MOV R2, R3", HGMMA, "EXIT"]


@pytest.mark.parametrize(
    ("text", "facet", "value"),
    [
        *((name, "category", name) for name in sorted(CATEGORIES)),
        ("memory", "category", "memory"),
        ("HGMMA", "opcode", "HGMMA"),
        ("ldl", "opcode", "LDL"),
        ("pipe=tensor", "pipe", "tensor"),
        ("group=Load/Store", "group", "Load/Store"),
        ("space=local", "space", "local"),
        ("dtype=bf16", "dtype", "bf16"),
        ("intent=memory", "intent", "memory"),
        ("opcode=HGMMA", "opcode", "HGMMA"),
    ],
)
def test_a_name_means_what_it_says(text: str, facet: str, value: str) -> None:
    for kind in KINDS[:2]:
        assert condition(kind, text).subject.facet == facet and condition(kind, text).subject.value == value
    for limit, number, relative in (("0", 0, False), ("12", 12, False), ("5%", 0.05, True), ("0.5%", 0.005, True)):
        found = condition("max-increase", f"{text}={limit}")
        assert (found.subject.facet, found.subject.value) == (facet, value)
        assert found.limit == pytest.approx(number) and found.relative == relative


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("memory.locl", "memory.local"),
        ("local", "memory.local or space=local"),
        ("fp64", "float.fp64 or pipe=fp64"),
        ("HGMA", "HGMMA"),
        ("pipe=tesnor", "tensor"),
        ("pip=tensor", "pipe"),
        ("group=Integr", "Integer"),
        ("Tensor", "tensor"),
        ("memory.", "memory"),
        ("mem", "memory"),
        ("q", "memory.local, LDL"),
        ("", "memory.local, LDL"),
        ("=", "there are category"),
        ("datapath=", "there are uniform, vector"),
        ("unresolved", "memory.local"),
        ("LDL.64", "LDL"),
    ],
)
def test_a_name_that_nothing_has_is_wrong_usage_with_a_hint(command: Command, save: Save, text: str, hint: str) -> None:
    with pytest.raises(SassmixError) as error:
        condition("forbid", text)
    assert hint in str(error.value) or text == "unresolved"
    path = save(written(Body("k", PLAIN)))
    for arguments in (("check", path), ("diff", path, path)):
        run = command(*arguments, f"--require={text}", "--format", "json")
        assert run.status == 2 and run.out == "" and run.err.startswith("sassmix: error: no ")


@pytest.mark.parametrize(
    "text", ["memory.local", "LDL=", "LDL=-1", "LDL=1.5", "LDL=5 %", "LDL==3%%", "LDL=1e3", "LDL=x"]
)
def test_a_limit_is_a_number_or_a_share(text: str) -> None:
    with pytest.raises(SassmixError, match=r"write it as memory\.local=0 "):
        condition("max-increase", text)


@given(st.text())
def test_any_text_is_a_condition_or_an_error(text: str) -> None:
    for kind in KINDS:
        try:
            found = condition(kind, text)
        except SassmixError:
            continue
        assert found.subject.facet in (*FACETS, "opcode")


@pytest.mark.parametrize("text", ["1", "-1%", "101%", "", "%", "0.01", "1 %", "nan%"])
def test_a_tolerance_is_a_share(text: str) -> None:
    with pytest.raises(SassmixError, match="write it as 1%"):
        share(text)


def failed(run: Any) -> dict[str, tuple[str | None, bool]]:
    """Kernel and kind of failure by condition; one kernel each."""
    return {one["condition"]: (one["kernel"], one["cannot_be_told"]) for one in run.json["failed"]}


CHECKED: list[tuple[list[str], str, int]] = [
    (PLAIN, "--forbid=memory.local", 0),
    (SPILLS, "--forbid=memory.local", 1),
    (SPILLS, "--forbid=memory", 1),
    (SPILLS, "--forbid=memory.global", 0),
    (SPILLS, "--forbid=LDL", 1),
    (SPILLS, "--forbid=space=local", 1),
    (SPILLS, "--require=memory.local", 0),
    (PLAIN, "--require=memory.local", 1),
    (TENSOR, "--require=tensor", 0),
    (PLAIN, "--require=tensor", 1),
    (TENSOR, "--forbid=tensor", 1),
    (PLAIN, "--forbid=tensor", 0),
    (TENSOR, "--require=pipe=tensor", 0),
    (PLAIN, "--forbid=pipe=tensor", 0),
    (PLAIN, "--require=FADD", 0),
    (PLAIN, "--require=dtype=f64", 1),
]


@pytest.mark.parametrize(("code", "option", "status"), CHECKED)
def test_a_condition_is_met_or_not(command: Command, save: Save, code: list[str], option: str, status: int) -> None:
    path = save(written(Body("k", code)))
    for arguments in (("check", path), ("diff", path, path)):
        run = command(*arguments, option, "--format", "json")
        assert run.status == status
        assert failed(run) == ({option[2:].replace("=", " ", 1): ("k", False)} if status else {})
        assert run.json["conditions"] == [option[2:].replace("=", " ", 1)]
    assert command("check", path, option, "--format", "json").json["verdict"] == ("fail" if status else "pass")


#: What makes it impossible to say that something is not there, and a part of the reason.
UNSEEN: dict[str, tuple[str, str, str]] = {
    "a line that cannot be read": (written(Body("k", ["MOV R2, R3", "%% ??? %%", "EXIT"])), "", "cannot be read|not"),
    "a gap in the addresses": (written(Body("k", PLAIN)).replace("/*0020*/", "/*0080*/"), "", "addresses"),
    "no beginning": (
        written(Body("k", ["FADD R2, R2, R3", "MOV R2, R3", "EXIT"])).replace("/*0000*/                   FADD", "//"),
        *("", "begins|not"),
    ),
    "no end": (written(Body("k", ["MOV R2, R3", "FADD R2, R2, R3"])), "", ""),
    "an opcode that no plugin has": (written(Body("k", ["MOV R2, R3", "XYZZY R2", "EXIT"])), "", "XYZZY"),
    "an opcode of another architecture": (
        written(Body("k", ["MOV R2, R3", "UTCBAR [UR4], URZ", "EXIT"])),
        "classes",
        "UTCBAR",
    ),
    "no architecture": (written(Body("k", PLAIN), arch=None), "classes", "architecture"),
    "an architecture that no plugin has": (written(Body("k", PLAIN), arch="sm_999"), "classes", "sm_999"),
    "a call through a register": (written(Body("k", ["MOV R2, R3", "CALL.REL.NOINC R4 0x0", "EXIT"])), "", "calls"),
    "a call out of the listing": (written(Body("k", ["MOV R2, R3", "CALL.ABS.NOINC `(printf)", "EXIT"])), "", "printf"),
}


@pytest.mark.parametrize(("text", "only", "reason"), UNSEEN.values(), ids=UNSEEN)
def test_what_is_forbidden_cannot_be_absent_from_what_was_not_seen(
    command: Command, save: Save, text: str, only: str, reason: str
) -> None:
    path = save(text)
    for what in ("memory.local", "space=local", "LDL"):
        run = command("check", path, "--forbid", what, "--format", "json")
        if what == "LDL" and only == "classes":  # an opcode has its name on any architecture
            assert run.json["failed"] == []
            continue
        (one,) = run.json["failed"]
        assert run.status == 1 and one["cannot_be_told"] and one["found"].startswith("cannot be told: ")
        assert re.search(reason, one["found"])
    assert command("check", path, "--require=memory.local", "--format", "json").json["failed"][0]["cannot_be_told"]


def test_what_is_required_passes_when_it_is_seen_whatever_else_is_not(command: Command, save: Save) -> None:
    for text, _, _ in UNSEEN.values():
        path = save(text.replace("MOV R2, R3", "LDL R2, [R1]"))
        run = command("check", path, "--require", "LDL", "--format", "json")
        assert run.json["failed"] == []


def test_a_pipe_that_was_not_measured_is_not_known_to_be_idle(command: Command, save: Save) -> None:
    for arch, unknown in (("sm_90a", False), ("sm_80", True)):
        path = save(written(Body("k", PLAIN), arch=arch))
        found = command("check", path, "--forbid", "pipe=fp64", "--format", "json").json["failed"]
        assert [one["cannot_be_told"] for one in found] == ([True] if unknown else [])


@pytest.mark.parametrize(("called", "status"), [(SPILLS, 1), (PLAIN, 0)])
def test_calls_are_followed_beyond_the_kernels_chosen(
    command: Command, save: Save, called: list[str], status: int
) -> None:
    middle = Body("middle", ["CALL.ABS.NOINC `(callee)", "RET.ABS.NODEC R4 0x0"], kernel=False)
    callee = Body("callee", [*called[:-1], "RET.ABS.NODEC R4 0x0"], kernel=False)
    path = save(written(Body("k", ["CALL.ABS.NOINC `(middle)", "EXIT"]), middle, callee))
    forbidden = command("check", path, "--kernel=k", "--forbid=memory.local", "--format", "json")
    assert forbidden.status == status
    assert [one["found"] for one in forbidden.json["failed"]] == (
        ["LDL (1); STL (1) in callee, which it calls"] if status else []
    )
    assert command("check", path, "--kernel=k", "--require=memory.local").status == 1 - status


def test_each_kernel_must_hold_what_is_required_and_no_function_that_is_none(command: Command, save: Save) -> None:
    helper = Body("helper", ["MOV R2, R3", "RET.ABS.NODEC R4 0x0"], kernel=False)
    path = save(written(Body("a", TENSOR), Body("b", PLAIN), helper))
    run = command("check", path, "--require=tensor", "--format", "json")
    assert failed(run) == {"require tensor": ("b", False)}
    assert command("check", path, "--require=tensor", "--kernel=a").status == 0
    assert command("check", path, "--require=tensor", "--kernel=helper").status == 1
    assert command("check", path, "--forbid=MOV", "--kernel=helper").status == 1


def test_conditions_on_counts_are_about_what_was_executed(command: Command) -> None:
    arguments = ("check", *COUNTED, "--kernel", "_Z6vecAddPKdS0_Pdi", "--format", "json")
    assert command(*arguments, "--require=float.fp64", "--forbid=tensor", "--forbid=memory.local").json["failed"] == []
    assert failed(command(*arguments, "--forbid=DADD")) == {"forbid DADD": ("_Z6vecAddPKdS0_Pdi", False)}


def test_counts_that_are_not_whole_do_not_prove_that_something_was_not_executed(command: Command, save: Save) -> None:
    whole = (FIXTURES / "counts" / "cutracer" / "kernel_5a55000000000003_iter0__Z6k_faddPfffi_hist.csv").read_text()
    part = save("\n".join(line for line in whole.splitlines() if "EXIT" not in line) + "\n", "k_hist.csv")
    for what in ("memory.local", "tensor"):
        (one,) = command("check", part, "--arch=90", f"--forbid={what}", "--format", "json").json["failed"]
        assert one["cannot_be_told"] and "EXIT" in one["found"]


def changed(command: Command, save: Save, before: Sequence[Body], after: Sequence[Body], *options: str) -> Any:
    one, other = save(written(*before), "a.sass"), save(written(*after), "b.sass")
    return command("diff", one, other, "--format", "json", *options)


@pytest.mark.parametrize(
    ("before", "after", "limit", "met"),
    [
        *((0, 0, "0", True), (0, 1, "0", False), (4, 4, "0", True), (4, 2, "0", True), (4, 7, "3", True)),
        *((4, 8, "3", False), (100, 105, "5%", True), (100, 106, "5%", False), (0, 1, "100%", False)),
        (0, 0, "0%", True),
    ],
)
def test_what_may_grow_grows_no_further(
    command: Command, save: Save, before: int, after: int, limit: str, met: bool
) -> None:
    sides = [[Body("k", [*["LDL R2, [R1]"] * number, "EXIT"])] for number in (before, after)]
    run = changed(command, save, sides[0], sides[1], f"--max-increase=memory.local={limit}")
    assert run.status == (0 if met else 1)
    assert [one["found"] for one in run.json["failed"]] == ([] if met else [f"{before} before, {after} after"])


@pytest.mark.parametrize(
    ("option", "clean", "spilling"),
    [("--max-increase=memory.local=0", 0, 1), ("--max-increase=memory.local=2", 0, 0), ("--forbid=memory.local", 0, 1)],
)
def test_a_new_kernel_meets_what_it_meets_whatever_it_was_before(
    command: Command, save: Save, option: str, clean: int, spilling: int
) -> None:
    old = [Body("k", PLAIN)]
    assert changed(command, save, old, [*old, Body("new", PLAIN)], option).status == clean
    assert changed(command, save, old, [*old, Body("new", SPILLS)], option).status == spilling


@pytest.mark.parametrize("option", ["--max-increase=memory.local=0", "--forbid=memory.local", "--require=MOV"])
def test_a_kernel_that_is_gone_meets_nothing_but_a_helper_may_go(command: Command, save: Save, option: str) -> None:
    kept, helper = [Body("k", PLAIN)], Body("h", ["RET.ABS.NODEC R4 0x0"], kernel=False)
    run = changed(command, save, [*kept, Body("old", PLAIN)], kept, option)
    assert run.status == 1 and [one["kernel"] for one in run.json["failed"]] == ["old"]
    assert run.json["failed"][0]["cannot_be_told"] and "gone" in run.json["failed"][0]["found"]
    assert changed(command, save, [*kept, helper], kept, option).status == 0
    assert changed(command, save, [*kept, Body("old", PLAIN)], kept, option, "--kernel=k").status == 0


def test_with_conditions_they_decide_and_without_them_the_difference(command: Command, save: Save) -> None:
    before, after = [Body("k", PLAIN)], [Body("k", [*PLAIN[:-1], "MOV R2, R3", "EXIT"])]
    assert changed(command, save, before, after).status == 1
    run = changed(command, save, before, after, "--forbid=memory.local", "--require=FADD")
    assert run.status == 0 and not run.json["same"]
    assert changed(command, save, before, before, "--require=tensor").status == 1


def test_counts_of_different_units_cannot_be_said_to_have_grown(command: Command) -> None:
    run = command("diff", COUNTED[1], COUNTED[0], "--arch=90a", "--max-increase=memory.local=0", "--format", "json")
    assert run.status == 1 and all("different units" in one["found"] for one in run.json["failed"])


def test_an_input_that_cannot_be_read_may_hold_what_is_forbidden(command: Command, save: Save) -> None:
    good = save(written(Body("k", PLAIN)))
    run = command("check", good, save(b"\x00nothing", "bad.sass"), "--forbid=memory.local", "--format", "json")
    assert run.status == 1 and failed(run) == {"forbid memory.local": (None, True)}


def test_a_kernel_that_stands_on_several_architectures_is_named_with_its_own(command: Command, save: Save) -> None:
    path = save(written(Body("k", PLAIN), arch="sm_80") + written(Body("k", SPILLS)))
    run = command("check", path, "--forbid=memory.local")
    assert "not met: forbid memory.local: k (sm_90a): LDL (1); STL (1)\n" in run.out
    assert "forbid memory.local: k: " in command("check", save(written(Body("k", SPILLS))), "--forbid=memory.local").out


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["check", "diff"])
def test_every_format_names_what_is_not_met(command: Command, save: Save, name: str, form: str) -> None:
    path = save(written(Body("k", SPILLS)))
    sides = (path,) if name == "check" else (path, path)
    run = command(name, *sides, "--forbid=memory.local", "--require=FADD", "--require=LDL", "--format", form)
    text = run.out.replace("\\", "")
    assert run.status == 1 and "forbid memory.local" in text and "STL (1)" in text and "require FADD" in text
    assert "require LDL" not in text or form == "json"
    if form == "csv":
        rows = list(csv.reader(io.StringIO(run.out), strict=True))
        assert len({len(row) for row in rows}) == 1
    good = command(name, *sides, "--require=LDL", "--format", form)
    assert good.status == 0 and "forbid" not in good.out


def damaged(text: str, draw: Any) -> str:
    """A listing with some of its instructions lost: left out, cut off, not readable, or of an unknown opcode."""
    lines = text.split("\n")
    code = [place for place, line in enumerate(lines) if "/*0" in line]
    for place in draw(st.sets(st.sampled_from(code), min_size=1, max_size=3)):
        line = lines[place]
        start = line.index("*/") + 2
        unknown = f"{line[:start]}                   XYZZY R2 ;"
        lines[place] = draw(st.sampled_from([unknown, line[:start] + " %%%", line[: start + 20], "\0", ""]))
    if draw(st.booleans()):
        lines = lines[: draw(st.sampled_from(code))]
    return "\n".join(lines)


CONDITIONS = [
    "--forbid=memory.local",
    "--forbid=space=local",
    "--forbid=LDL",
    "--forbid=tensor",
    "--forbid=pipe=tensor",
]
CONDITIONS += ["--require=tensor", "--require=FADD", "--require=DADD"]
pieces = st.sampled_from(["MOV R2, R3", "FADD R2, R2, R3", "STL [R1], R2", "LDL R2, [R1]", HGMMA, "DADD R2, R4, R6"])
codes = st.lists(pieces, min_size=1, max_size=6).map(lambda lines: [*lines, "EXIT", ".L_x_1:", "BRA `(.L_x_1)"])


@settings(max_examples=60)
@given(data=st.data(), code=codes, other=codes, option=st.sampled_from(CONDITIONS))
def test_losing_information_never_makes_a_condition_met(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, code: list[str], other: list[str], option: str
) -> None:
    from sassmix.analysis import NothingRead, mix
    from sassmix.check import check
    from sassmix.diff import diff

    folder = tmp_path_factory.getbasetemp()
    text = written(Body("k", code), Body("other", other))
    whole, part = folder / "whole.sass", folder / "part.sass"
    whole.write_text(text)
    kind, _, what = option[2:].partition("=")
    asked = [condition(kind, what)]  # type: ignore[arg-type]
    part.write_text(damaged(text, data.draw))
    grown = [condition("max-increase", "memory.local=0")]
    reports = [mix(whole)]
    try:
        reports.append(mix(part))
    except NothingRead:
        return
    if check(reports[0], asked)["failed"]:
        lost = len(reports[1].kernels) < 2  # a function that is not there at all, only a comparison can miss
        assert lost or check(reports[1], asked)["failed"]
        assert diff(reports[0], reports[1], conditions=asked)["failed"]
    baseline = mix(save_baseline(folder, data.draw(codes)))
    if diff(baseline, reports[0], conditions=grown)["failed"]:
        assert diff(baseline, reports[1], conditions=grown)["failed"]


def save_baseline(folder: Path, code: list[str]) -> Path:
    """A listing from before the change."""
    path = folder / "baseline.sass"
    path.write_text(written(Body("k", code), Body("other", code)))
    return path


def test_the_condition_on_tensor_is_the_verdict_of_the_report(command: Command, save: Save) -> None:
    old = save(written(Body("k", ["MOV R2, R3", "XYZZY R2", "EXIT"]), arch="sm_61"))
    assert "sm_61" in [target for target, _ in default_plugins().registry]
    report = command("mix", old, "--format", "json").json["kernels"][0]
    run = command("check", old, "--forbid=tensor", "--format", "json")
    assert report["tensor_core_present"] is False and run.json["failed"] == []


@pytest.mark.parametrize("what", ["tensor", "HGMMA", "pipe=tensor"])
@pytest.mark.parametrize("called", [False, True])
def test_what_never_runs_is_forbidden_and_does_not_do_what_is_required(
    command: Command, save: Save, what: str, called: bool
) -> None:
    dead, end = f"@!PT {HGMMA}", "RET.ABS.NODEC R4 0x0"
    bodies = (
        [Body("k", ["CALL.ABS.NOINC `(f)", "EXIT"]), Body("f", [dead, end], kernel=False)]
        if called
        else [Body("k", [dead, "EXIT"])]
    )
    path = save(written(*bodies))
    (one,) = command("check", path, f"--require={what}", "--format", "json").json["failed"]
    assert "never true" in one["found"] and not one["cannot_be_told"]
    assert command("check", path, f"--forbid={what}").status == 1
    live = save(written(Body("k", [dead, HGMMA, "EXIT"])))
    assert command("check", live, f"--require={what}").status == 0


@pytest.mark.parametrize(
    ("before", "after", "met"), [("@!PT ", "", False), ("", "@!PT ", True), ("@!PT ", "@!PT ", True)]
)
def test_what_comes_alive_is_more(command: Command, save: Save, before: str, after: str, met: bool) -> None:
    sides = [[Body("k", [f"{guard}LDL R2, [R1]", "EXIT"])] for guard in (before, after)]
    run = changed(command, save, sides[0], sides[1], "--max-increase=memory.local=0")
    assert run.status == (0 if met else 1)
    assert met or "never true" in run.json["failed"][0]["found"]


@pytest.mark.parametrize(
    ("before", "after", "limit", "met"),
    [
        *(((64, 2), (64, 1), "0", False), ((64, 2), (32, 1), "0", True), ((32, 1), (64, 2), "0", True)),
        *(((32, 1), (32, None), "0", None), ((32, None), (1, 1), "0", None), ((32, None), (0, 1), "0", True)),
        *(((64, 2), (33, 1), "1", True), ((64, 2), (34, 1), "1", False), ((200, 2), (105, 1), "5%", True)),
    ],
)
def test_counts_of_launches_are_compared_per_launch(
    before: tuple[int, int | None], after: tuple[int, int | None], limit: str, met: bool | None
) -> None:
    from sassmix.judging import judge_change
    from sassmix.report import UNITS

    sides = [executed(UNITS["issued"], launches, LDL=number, EXIT=32) for number, launches in (before, after)]
    reports = [Report(inputs=[], kernels=[side], problems=[]) for side in sides]
    asked = [condition("max-increase", f"memory.local={limit}")]
    failures = judge_change(asked, [Pair(sides[0], sides[1], "exact")], *reports)
    assert [failure.unknown for failure in failures] == ([] if met else [met is None])


def executed(unit: str, launches: int | None, idle: dict[str, int] | None = None, **counts: int) -> KernelReport:
    """A counted kernel that is whole and certain."""
    asked = default_plugins().classifier
    return KernelReport(
        name="k",
        demangled=None,
        arch="sm_90a",
        role="kernel",
        calls=[],
        listing={},
        basis="dynamic",
        unit=unit,
        launches=launches,
        warps=None,
        tally=tally(asked, "sm_90a", counts),
        idle=tally(asked, "sm_90a", idle or {}),
        tensor=TensorVerdict(None, None, ""),
        evidence=[Evidence("captured", "pass", "")],
    )


@pytest.mark.parametrize("what", ["LDL", "memory.local", "space=local"])
@pytest.mark.parametrize(("idle", "met"), [(32, False), (31, True), (0, True)])
def test_what_was_issued_with_no_lane_on_does_not_do_what_is_required(
    save: Save, what: str, idle: int, met: bool
) -> None:
    from sassmix.analysis import mix
    from sassmix.judging import judge

    head = (
        '"Kernel Name","k"\n"Address","Source","Instructions Executed","Predicated-On Thread Instructions Executed"\n'
    )
    lanes = 0 if not met else 32 * (32 - idle)
    load = "LDL R2, [R1]" if lanes else "@P0 LDL R2, [R1]"
    rows = [("MOV R1, c[0x0][0x28]", 32, 1024), (load, 32, lanes), ("EXIT", 32, 1024)]
    text = "".join(f'"{0x100 + 16 * n:#x}","{code}","{i}","{p}"\n' for n, (code, i, p) in enumerate(rows))
    report = mix(save(head + text, "k.csv"), arch="sm_90a")
    failures = judge([condition("require", what)], report)
    assert bool(failures) != met
    assert met or "no lane on" in failures[0].found


@pytest.mark.parametrize(("option", "status"), [("--forbid=tensor", 1), ("--forbid=memory.local", 1), ("--forbid=LDL", 0), ("--require=float.fp16", 0)])  # fmt: skip  # noqa: E501
def test_a_guess_proves_no_absence(command: Command, save: Save, option: str, status: int) -> None:
    """What an opcode does is only inferred: it is what it is guessed to be, and may be something else too."""
    path = save(written(Body("k", ["QFMA4 R1, R2, R3, R4", "EXIT"]), arch="sm_100a"), "k.sass")
    run = command("check", path, option, "--format", "json")
    assert run.status == status
    assert all("inferred" in str(item) or "not known" in str(item) for item in run.json["failed"])
