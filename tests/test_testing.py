"""The suite that others use: the contract fails for each kind of fault, in words; strategies draw what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import sassmix
from sassmix import testing
from sassmix.arch import FACETS, ModifierRule, Opcode, OpcodeInfo, load_opcodes
from sassmix.errors import SassmixError, ToolError
from sassmix.listing import Function
from sassmix.plugins import Plugins, default_plugins
from sassmix.readers import cutracer_hist, cutracer_trace
from sassmix.registry import Registry
from sassmix.tally import Tally
from sassmix.tensor import TensorVerdict
from sassmix.testing import (
    CHECKS,
    Finding,
    FunctionModel,
    HistogramModel,
    TraceModel,
    architectures,
    check_architecture,
    described,
    differential,
    functions,
    histograms,
    instructions,
    listings,
    oracles,
    render,
    sample_checks,
    subject,
    table_text,
    traces,
)
from sassmix.testing.comparison import KINDS
from tests.conftest import (
    FIXTURES,
    LISTINGS,
    ROOT,
    Body,
    Distribution,
    architecture,
    candidate,
    loaded,
    origin,
    plugin,
    row,
    rule,
    with_architectures,
    written,
)
from tests.test_docs import blocks, named_block

REGISTRY = default_plugins().registry
CUBINS = [FIXTURES / "cubins" / f"saxpy.{target}.cubin" for target in ("sm_86", "sm_87", "sm_88", "sm_103a", "sm_110a")]
#: No current tool prints their code, so that there is no sample.
WITHOUT_SAMPLE = {"sm_30", "sm_32", "sm_35", "sm_37"}


def samples(target: str) -> list[Path]:
    """The fixtures of a target or of another one with the same table."""
    table = REGISTRY.require(target)
    return [path for path in (*LISTINGS, *CUBINS) if REGISTRY.get(path.name.split(".")[-2]) is table]


@pytest.mark.parametrize("target", [target for target, _ in REGISTRY])
def test_every_registered_architecture_keeps_the_contract(target: str) -> None:
    names = CHECKS if target not in WITHOUT_SAMPLE else [name for name in CHECKS if not name.startswith("sample")]
    assert bool(samples(target)) == (target not in WITHOUT_SAMPLE)
    assert check_architecture(target, samples(target), checks=names) == []


ROWS = [row("EXIT"), row("HMMA", "tensor"), row("MOV", "movement")]
BASE = with_architectures("base", architecture("base", 70, rows=ROWS, rules=[rule("MOV", "X", dtype="f16")]))
CODE = ["HMMA.16816.F32 R1, R2, R3, R4", "MOV R1, R2", "EXIT"]


def nova(
    rows: Iterable[Opcode] = (),
    *,
    rules: Iterable[ModifierRule] = (),
    remove: Iterable[str] = (),
    hook: Callable[[str, str], Any] | None = None,
    others: Iterable[Any] = (),
) -> Plugins:
    """A plugin for sm_130 that differs from a small base."""
    made = architecture("nova", 130, extends="base", rows=rows, rules=rules, remove=remove)
    hooks: dict[str, Callable[..., Any]] = {"sassmix_architectures": lambda: [made]}
    if hook:
        asked = hook

        def sassmix_classify(mnemonic: str, arch: str) -> Any:
            return asked(mnemonic, arch)

        hooks["sassmix_classify"] = sassmix_classify
    return loaded(BASE, candidate("nova", plugin(**hooks)), *others)


def answer(wanted: str, **facets: Any) -> Callable[[str, str], OpcodeInfo | None]:
    """A hook that answers for one mnemonic."""
    facets = {"known": True, "source": "a test", "knowledge": "observed", "plugin": "nova", **facets}

    def hook(mnemonic: str, arch: str) -> OpcodeInfo | None:
        made = OpcodeInfo(opcode=mnemonic.partition(".")[0], mnemonic=mnemonic, arch=arch, **facets)
        return made if mnemonic == wanted else None

    return hook


def boom(mnemonic: str, arch: str) -> None:
    raise KeyError(mnemonic)


#: The check that must fail, the plugin that makes it fail, and words of the fault.
BROKEN_TABLES: list[tuple[str, Plugins, list[str]]] = [
    ("registered", loaded(BASE), ["no plugin registers sm_130", "entry point"]),
    ("registered", nova([row("MOV", "movement")]), ["no plugin registers sm_130", "row MOV unchanged"]),
    (
        "registered",
        nova(remove=["MVO"]),
        ["no plugin registers sm_130", "removes MVO, which base lacks; did you mean MOV?"],
    ),
    (
        "registered",
        nova(others=[with_architectures("late", architecture("late", 130, rows=[row("A")]))]),
        ["late", "sm_130", "claimed by plugin nova already"],
    ),
    ("sorted_table", nova([row("B"), row("A")]), ["row A: stands behind B; sort the rows"]),
    ("spelling", nova([row("A", dtype="fp16")]), ["row A: dtype 'fp16'", "did you mean f16"]),
    ("spelling", nova(rules=[rule("MOV", "H", dtype="half")]), ["rule MOV.H: dtype 'half'", "there are f64"]),
    ("sources", nova([row("A", source="TODO")]), ["row A: source 'TODO' is none; name the manual"]),
    ("sources", nova([row("A", source="?")]), ["row A: source '?' is none"]),
    ("knowledge", nova([row("A", knowledge="documented")]), ["row A: documented, but without a group"]),
    ("knowledge", nova([row("A", knowledge="inferred", pipe="alu")]), ["row A: the pipe alu", "only inferred"]),
    ("matrix_opcodes", nova([row("XMMA", "movement")]), ["row XMMA: the name says matrix multiply", "say tensor"]),
    ("agreement", nova([row("MOV", "sync")]), ["row MOV: category 'sync', but 'movement' on sm_70"]),
    ("rules", nova(rules=[rule("MVO", "X", dtype="f16")]), ["rule MVO.X: no opcode matches", "did you mean MOV"]),
    (
        "rules",
        nova(rules=[rule("M*", "X*", dtype="f32"), rule("MOV", "XY", dtype="f16")]),
        ["rule MOV.XY: never decides, since rule M*.X* stands before it"],
    ),
    ("explained", nova(hook=answer("MOV", known=False)), ["row MOV: sassmix_classify says that it is not known"]),
    ("explained", nova(hook=answer("MOV", category="movement", source=None)), ["row MOV: the answer", "lacks source"]),
    ("explained", nova(hook=answer("HMMA", category="sync")), ["row HMMA: the row says tensor, the answer sync"]),
    ("explained", nova(hook=boom), ["plugin error: nova", "sassmix_classify fails for"]),
]


def faults(check: str, plugins: Plugins, *files: Path) -> str:
    return "\n".join(check_architecture("sm_130", files, plugins=plugins, checks=[check]))


@pytest.mark.parametrize(
    ("check", "plugins", "words"),
    BROKEN_TABLES,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_table_fails_with_its_words(check: str, plugins: Plugins, words: list[str]) -> None:
    said = faults(check, plugins)
    assert all(word in said for word in words), said
    assert said.count("\n") + 1 <= len(words)


GOOD = nova(
    [row("A", dtype="bf16"), row("B", knowledge="documented", group="Control")],
    rules=[
        rule("MOV", "X", dtype="f16"),
        rule("MOV", "X", dtype="f32", space="shared"),
        rule("MOV", "Y*", dtype="f16"),
        rule("MOV", "YZ", intent="sync"),
        rule("M*", dtype="s8"),
        rule("A", "X", dtype="f32"),
    ],
)


def test_a_sound_table_has_no_fault(save: Callable[..., Path]) -> None:
    sample = save(written(Body("k", CODE), arch="sm_130"))
    assert check_architecture("130", [sample], plugins=GOOD) == []


#: What must fail, the code of the sample or a text of its own, its architecture, and words of the fault.
BROKEN_SAMPLES = [
    ("sample_present", None, "sm_130", ["sm_130 has no listing; compile a kernel"]),
    ("sample_present", "nothing of the kind", "sm_130", ["k.sass: cannot be read"]),
    ("sample_present", CODE, "sm_70", ["k.sass: is a listing of sm_70, not of sm_130"]),
    ("sample_present", [], "sm_130", ["k.sass: holds no instruction"]),
    ("sample_opcodes", ["QQ.X R1", "QQ R2", "EXIT"], "sm_130", ["QQ is not known", "2 times, first as QQ", "add its"]),
    ("sample_lines", [*CODE[:-1], "%% R1", "EXIT"], "sm_130", ["k.sass, line", "print it anew"]),
    ("sample_verdicts", ["HMMA.BAD R1", "EXIT"], "sm_130", ["HMMA.BAD is movement, its row says otherwise"]),
]


@pytest.mark.parametrize(
    ("check", "code", "arch", "words"), BROKEN_SAMPLES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_broken_sample_fails_with_its_words(
    save: Callable[..., Path], check: str, code: Any, arch: str, words: list[str]
) -> None:
    plugins = nova(hook=answer("HMMA.BAD", category="movement"))
    text = code if isinstance(code, str) else written(Body("k", code or []), arch=arch)
    said = faults(check, plugins, *([] if code is None else [save(text)]))
    assert all(word in said for word in words), said


def test_a_missing_sample_and_a_removed_opcode_are_named(save: Callable[..., Path], tmp_path: Path) -> None:
    assert "not-there.sass: cannot be read" in faults("sample_present", nova(), tmp_path / "not-there.sass")
    sample = save(written(Body("k", CODE), arch="sm_130"))
    said = faults("sample_opcodes", nova(remove=["MOV"]), sample)
    assert "MOV is not known on sm_130 (1 time," in said and "sm_70 has it, and take it out of `remove`" in said


def test_faults_of_the_engine_are_found(save: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lost lines, lost counts and a hasty verdict: nothing of a plugin makes them, so the engine is broken here."""
    sample = save(written(Body("k", CODE), arch="sm_130"))
    with monkeypatch.context() as patch:
        patch.setattr(subject, "read", lambda path: replace(sassmix.read(path), lines=Counter(code=1)))
        assert "lines, of which 1 are accounted for" in faults("sample_lines", nova(), sample)
    with monkeypatch.context() as patch:
        patch.setattr(Function, "counts", lambda self, **_: Counter(EXIT=1))
        assert "1 counted of 3 instructions" in faults("sample_counts", nova(), sample)
    with monkeypatch.context() as patch:
        patch.setattr(sample_checks, "static_verdict", hasty)
        assert faults("sample_verdicts", nova(), sample).startswith("k.sass, k: without HMMA the verdict")


def hasty(own: Tally, *_: Any, **__: Any) -> TensorVerdict:
    """A verdict that takes what it does not see for proof."""
    return TensorVerdict(bool(own.matrix()), None, "")


def test_every_check_has_a_case_that_fails_it() -> None:
    assert {case[0] for case in (*BROKEN_TABLES, *BROKEN_SAMPLES)} | {"sample_counts"} == set(CHECKS)


def test_a_fault_names_file_and_row(distribution: Distribution) -> None:
    distribution.add("nova", "nova", NOVA)
    rows = [
        row("AAA"),
        replace(row("BBB", dtype="fp16"), description="two\nlines"),
        row("CCC", source="todo"),
        row("AB"),
    ]
    (distribution.folder / "nova.csv").write_text(table_text(rows), encoding="utf-8")
    (distribution.folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    said = check_architecture("sm_130", checks=["sorted_table", "spelling", "sources", "sample_opcodes"])
    assert [fault.partition(":")[0] for fault in said] == [
        "nova.csv, row 6 (AB)",
        "nova.csv, row 3 (BBB)",
        "nova.csv, row 5 (CCC)",
    ]


NOVA = """
import sassmix
from sassmix import Architecture, load_opcodes, sm

@sassmix.hookimpl
def sassmix_architectures():
    return [Architecture(name="nova", sm=sm(130), extends="hopper", opcodes=load_opcodes(__file__))]
"""


def run_pytest(path: Path) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent).stdout


def test_the_class_of_the_docs_is_a_test(save: Callable[..., Path]) -> None:
    listing = FIXTURES / "listings" / "saxpy.sm_90a.sass"
    contract = (
        named_block("docs/testing.md", "test_nova.py")
        .replace("sm_130", "sm_90a")
        .replace("nova.", f"{listing.stem[:5]}.")
    )
    save(listing.read_text(encoding="utf-8"), listing.name)
    assert f"{len(CHECKS)} passed" in run_pytest(save(contract, "test_good.py"))
    bad = run_pytest(save(re.sub(r"listings = .*", "", contract), "test_bad.py"))
    assert f"1 failed, {len(CHECKS) - 1} passed" in bad
    assert "sm_90a has no listing" in bad and "Traceback" not in bad and "contract.py" not in bad


def test_the_other_examples_of_the_docs_run() -> None:
    others = [body for body in blocks("docs/testing.md", "python") if "__file__" not in body]
    assert len(others) == 3
    for body in others:
        done = subprocess.run([sys.executable, "-c", body], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_class_without_an_architecture_is_an_error_in_words() -> None:
    class Forgotten(testing.ArchitectureContract):
        pass

    with pytest.raises(TypeError, match='Forgotten names no architecture; write arch = "sm_130" in it'):
        Forgotten().test_registered()  # type: ignore[attr-defined]


def test_nothing_of_the_suite_is_loaded_by_the_library_and_no_hypothesis_by_the_contract() -> None:
    source = """
import sys, sassmix
seen = lambda: [name for name in ("sassmix.testing", "hypothesis", "pytest") if name in sys.modules]
sassmix.mix
assert seen() == [], seen()
sassmix.testing.check_architecture("sm_90a")
assert seen() == ["sassmix.testing"], seen()
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_public_name_is_there_and_documented() -> None:
    document = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert all(getattr(testing, name) is not None for name in testing.__all__)
    names = (*testing.__all__, *(f"test_{check}" for check in CHECKS), *testing.MODES)
    assert not [name for name in names if f"`{name}" not in document]
    assert not [kind for kind in KINDS if f"`{kind}`" not in document]
    assert dir(testing) == sorted(testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        testing.nothing  # noqa: B018


# the differential check


def ours(mnemonic: str, arch: str) -> OpcodeInfo:
    return default_plugins().classifier.info(mnemonic, arch)


@pytest.mark.parametrize(
    "classify",
    [
        lambda mnemonic, arch: ours(mnemonic, arch).category,
        lambda mnemonic, arch: ours(mnemonic, arch).tensor,
        lambda mnemonic, arch: {name: getattr(ours(mnemonic, arch), name) for name in (*FACETS, "tensor")},
    ],
    ids=["category", "tensor", "facets"],
)
def test_the_tables_agree_with_themselves(classify: Callable[[str, str], Any]) -> None:
    assert differential(classify, listings=[LISTINGS[0]]) == []


#: What is said of one opcode of sm_90a instead, the kind that is found, and the facet.
WRONG: list[tuple[str, Any, str, str]] = [
    ("HGMMA", "sync", "matrix opcode missed", "category"),
    ("HGMMA", None, "matrix opcode missed", "category"),
    ("HGMMA", False, "matrix opcode missed", "tensor"),
    ("HGMMA", {"tensor": None}, "matrix opcode missed", "tensor"),
    ("MOV", "tensor", "matrix opcode invented", "category"),
    ("MOV", True, "matrix opcode invented", "tensor"),
    ("MOV", "sync", "differs", "category"),
    ("MOV", None, "not known to it", "category"),
    ("MOV", {"group": "Control"}, "differs", "group"),
    ("MOV", {"space": "shared"}, "not known here", "space"),
    ("MOV", {"space": None}, "", ""),
]


@pytest.mark.parametrize(("opcode", "said", "kind", "facet"), WRONG)
def test_one_wrong_answer_is_one_finding(opcode: str, said: Any, kind: str, facet: str) -> None:
    found = differential(lambda m, a: said if (m, a) == (opcode, "sm_90a") else ours(m, a).category)
    info = ours(opcode, "sm_90a")
    own = getattr(info, facet) if facet else None
    theirs = said.get(facet) if isinstance(said, dict) else said
    own, theirs = (None if value is None else str(value) for value in (own, theirs))
    wanted = Finding(kind, opcode, "sm_90a", facet, own, theirs, info.knowledge, info.source)
    assert found == ([wanted] if kind else [])


def test_a_classifier_that_fails_or_knows_what_no_table_has_is_said(save: Callable[..., Path]) -> None:
    (failed,) = differential(lambda m, a: 1 / 0 if (m, a) == ("MOV", "sm_90a") else ours(m, a).category)
    assert (failed.kind, failed.theirs) == ("fails", "ZeroDivisionError: division by zero")
    sample = save(written(Body("k", ["QQ.X R1", "IMAD.MOV.U32 R1, R2", "EXIT"]), arch="sm_90a"))
    found = differential(lambda m, a: "sync" if "." in m else ours(m, a).category, listings=[sample], archs=["90A"])
    assert [(f.kind, f.opcode, f.arch) for f in found] == [
        ("differs", "IMAD.MOV.U32", "sm_90a"),
        ("not known here", "QQ.X", "sm_90a"),
    ]


def test_foreign_names_are_translated_and_the_worst_comes_first() -> None:
    names = {"math": ("float.*", "integer.*"), "mma": "tensor", "other": None}
    said = {"HGMMA": "math", "EXIT": "math", "FADD": "math", "HMMA": "mma", "MOV": "mma", "NOP": "other"}
    found = differential(lambda m, a: said.get(m, "other"), names=names, archs=["sm_90", "sm_90a"])
    assert [f.kind for f in found] == sorted((f.kind for f in found), key=KINDS.index)
    lines = described(found)
    assert lines[0].startswith("matrix opcode missed: BGMMA: category tensor, it says other (sm_90")
    told = {line.split(": ")[1] for line in lines}
    assert {"HGMMA", "EXIT", "MOV", "NOP"} <= told and not {"FADD", "HMMA"} & told
    assert len(found) == 2 * len(lines)
    assert "ours" in str(found[0]) and str(found[0].source) in str(found[0])


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("maths", "'maths' is not in `names`.*did you mean math"),
        (7, "the classifier gives int; give a text"),
        ({"categry": "sync"}, "a facet 'categry', which there is not; did you mean category"),
    ],
)
def test_answers_that_cannot_be_compared_are_errors(said: Any, words: str) -> None:
    with pytest.raises(SassmixError, match=words):
        differential(lambda *_: said, names={"math": "integer.*"})


def test_the_disassembler_is_its_own_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    cubin = FIXTURES / "cubins" / "calls.sm_90a.cubin"
    assert testing.disassembly_faults(cubin) == []
    parse = sassmix.parse
    monkeypatch.setattr(oracles, "parse", lambda text: parse(text.replace("EXIT", "NOP", 1).replace("MOV", "SEL", 1)))
    (fault, *_) = testing.disassembly_faults(cubin)
    assert "calls.sm_90a.cubin, " in fault and "in the JSON" in fault
    monkeypatch.setattr("sassmix.tools.find_tools", lambda name: [])
    with pytest.raises(ToolError, match=r"needs nvdisasm"):
        testing.disassembly_faults(cubin)


# strategies


FAST = settings(
    deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def test_examples_shrink_to_the_simplest() -> None:
    model = find(listings(max_functions=2, max_instructions=2), lambda m: True, settings=FAST)
    assert (len(model.functions), len(model.functions[0].instructions)) == (1, 1)
    kernel = find(functions(opcodes=["FADD", "HMMA"], max_instructions=3), holds_matrix_work, settings=FAST)
    assert [line.text for line in kernel.instructions] == ["HMMA ;", "EXIT ;"]


def holds_matrix_work(kernel: FunctionModel) -> bool:
    return any(ours(line.mnemonic, "sm_90a").tensor for line in kernel.instructions)


@FAST
@given(data=st.data(), arch=st.sampled_from(["sm_61", "sm_90a", "sm_120"]))
def test_options_are_kept(data: st.DataObject, arch: str) -> None:
    table = REGISTRY.require(arch).opcodes
    assert data.draw(instructions(arch=arch)).mnemonic.partition(".")[0] in table
    assert data.draw(instructions(opcodes=["QQ"])).mnemonic.partition(".")[0] == "QQ"
    one = data.draw(functions(arch=arch, name="k", max_instructions=3))
    assert one.name == "k" and 1 <= len(one.instructions) <= 3
    model = data.draw(listings(arch=arch, min_functions=2, max_functions=2, max_instructions=2))
    assert (model.arch, len(model.functions)) == (arch, 2)


def read_counts(reader: Any, path: Path, model: HistogramModel | TraceModel) -> Any:
    file = path / model.file_name
    file.write_text(render(model), encoding="utf-8")
    (counts,) = reader.READER.read(file)
    file.unlink()
    assert counts.problems == []
    return counts


@FAST
@given(data=st.data(), resolved=st.sampled_from([True, False, None]))
def test_a_histogram_is_read_back(tmp_path: Path, data: st.DataObject, resolved: bool | None) -> None:
    kernel = data.draw(functions(arch="sm_90a"))
    model = data.draw(histograms(kernel=kernel, resolved=resolved))
    counts = read_counts(cutracer_hist, tmp_path, model)
    found: Counter[str] = Counter()
    for counted in counts.rows:
        found[counted.mnemonic or f"OPCODE_{counted.index}"] += counted.issued
    assert found == model.counts and counts.names.file == kernel.name
    if resolved is not None:
        assert all(row.name.startswith("OPCODE_") != resolved for row in model.rows)
        wanted = {line.mnemonic for line in kernel.instructions} if resolved else set()
        assert not resolved or set(model.counts) == wanted


@settings(FAST, max_examples=25)
@given(data=st.data())
def test_a_trace_is_read_back(tmp_path: Path, data: st.DataObject) -> None:
    model = data.draw(traces(complete=None))
    counts = read_counts(cutracer_trace, tmp_path, model)
    assert Counter({r.index: r.issued for r in counts.rows}) == model.counts
    assert (counts.launches, bool(counts.gaps)) == (len({launch for launch, _, _ in model.records}), not model.complete)
    assert counts.table == {n: line.text for n, line in enumerate(model.function.instructions)}


@FAST
@given(rows=testing.opcode_tables())
def test_a_table_is_read_back(tmp_path: Path, rows: tuple[Opcode, ...]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(table_text(rows), encoding="utf-8", newline="")
    assert load_opcodes(path) == rows


@FAST
@given(data=st.data(), extends=st.sampled_from([None, "hopper", "nvidia", "kepler"]))
def test_a_drawn_architecture_is_accepted(data: st.DataObject, extends: str | None) -> None:
    drawn = data.draw(architectures(extends=extends, name="d", targets=(999, "999a")))
    registry = Registry()
    known = [(table.origin, [table.architecture]) for table in REGISTRY.tables()]
    assert registry.register([*known, (origin("d"), [drawn])]) == []
    assert registry.require("sm_999a").architecture is drawn


@pytest.mark.parametrize(("mode", "words"), [("hxe", "did you mean hex"), ("?", "there are c, plain, raw")])
def test_an_unknown_mode_has_near_names(mode: str, words: str) -> None:
    with pytest.raises(SassmixError, match=words):
        render(testing.ListingModel("sm_90a", ()), mode=mode)
    with pytest.raises(SassmixError, match="str is not a model"):
        render("text")  # type: ignore[arg-type]
