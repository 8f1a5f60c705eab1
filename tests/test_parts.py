"""A large listing is read in parts: the report is the one of the whole text, and no part outlives its turn."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix import intake
from sassmix.listing import Function, Listing
from sassmix.readers import text as reader
from sassmix.static import FunctionSummary, summarise
from tests.conftest import FIXTURES, LISTINGS

MODES = sorted((FIXTURES / "listings" / "modes").glob("*.sass"))
MATRIX = sorted(path for path in LISTINGS if path.name.startswith(("wgmma.", "mma.", "blockscale.", "calls.")))
SMALL = 300


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_PART", SMALL)


def parts_of(path: Path) -> list[Listing]:
    return list(reader.read_text(path))


@pytest.mark.parametrize("size", [1, SMALL, 5000])
@pytest.mark.parametrize("path", [*MODES[::3], *LISTINGS[::5]], ids=lambda p: p.name if isinstance(p, Path) else "")
def test_the_report_is_that_of_the_whole(path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sassmix.mix(path)
    monkeypatch.setattr(reader, "_PART", size)
    assert sassmix.mix(path).to_dict() == whole.to_dict()
    assert sum(whole.inputs[0].lines.values()) <= path.read_text().count("\n")  # encodings stand on lines of their own


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("kind", ["nvdisasm", "cuobjdump"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_every_section_and_every_function_can_begin_a_part(kind: str, line_end: str, tmp_path: Path) -> None:
    name, begin = {
        "nvdisasm": ("saxpy.sm_90a.13-5.c.sass", ".section\t.text."),
        "cuobjdump": ("saxpy.sm_90a.13-5.cuobjdump-sass.sass", "Function : "),
    }[kind]
    path = tmp_path / name
    whole = (FIXTURES / "listings" / "modes" / name).read_text()
    path.write_bytes(whole.replace("\n", line_end).encode())
    found = [{function.section or function.name for function in part.functions} for part in parts_of(path)]
    assert whole.count(begin) > 1 and max(map(len, found)) == 1
    assert sum(map(len, found)) == whole.count(begin)


SECTION = """\
\t.section\t.text.{0},"ax",@progbits
        .type           {0},@function
        .other          {0},@"{1}"
{0}:
        /*0000*/                   MOV R1, R2 ;
        /*0010*/                   {2} ;
        /*0020*/                   {3} ;
.L_x_{0}:
        /*0030*/                   BRA `(.L_x_{0});
"""
HEAD = "\t.target\tsm_90a\n" + "// so that it is a part\n" * 20


def sections(matrix: bool, behind: str = "") -> str:
    """A kernel and what it calls, in a section of its own; ``behind`` stands between the two."""
    multiply = "HGMMA.64x8x16.F32 R24, gdesc[UR4], !UPT" if matrix else "FADD R1, R1, R1"
    kernel = SECTION.format("k", "STO_CUDA_ENTRY STV_DEFAULT", "CALL.ABS.NOINC `(f)", "EXIT")
    return HEAD + kernel + behind + SECTION.format("f", "STV_DEFAULT", multiply, "RET.ABS.NODEC R20 0x0")


@pytest.mark.usefixtures("small_parts")
def test_a_call_from_one_part_ends_in_another_of_the_same_text(tmp_path: Path) -> None:
    paths = [tmp_path / "a.sass", tmp_path / "b.sass"]
    for path, matrix in zip(paths, (True, False), strict=True):
        path.write_text(sections(matrix))
        assert [[f.name for f in part.functions] for part in parts_of(path)] == [[], ["k"], ["f"]]
    kernels = sassmix.mix(paths).kernels
    assert [kernel.tensor.present for kernel in kernels if kernel.name == "k"] == [True, False]


BARE = "\t.section\t.text.g\n" + ".align 8\n" * SMALL + "        MOV R1, R2 ;\n"  # a part without an address


@pytest.mark.parametrize("behind", ["what is this ;\n", BARE], ids=["strange", "bare"])
def test_what_cannot_be_read_between_parts_is_held_against_both(
    behind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k.sass"
    path.write_text(sections(False, behind))
    for size in (SMALL, reader._PART):
        monkeypatch.setattr(reader, "_PART", size)
        called = next(kernel for kernel in sassmix.mix(path).kernels if kernel.name == "f")
        assert called.tensor.present is None and "cannot be read" in called.tensor.reason
        assert sassmix.mix(path).inputs[0].lines["unknown"] == 1


@pytest.mark.usefixtures("small_parts")
def test_all_parts_are_read_as_one_listing() -> None:
    path = FIXTURES / "listings" / "modes" / "saxpy.sm_90a.13-5.plain.sass"
    found, whole = sassmix.read(path), sassmix.parse(path.read_text())
    assert (found.kind, found.arch, found.toolkit, found.lines) == (whole.kind, whole.arch, whole.toolkit, whole.lines)
    assert found.toolkit and len(parts_of(path)) > 1
    assert [(f.name, f.counts(), f.damage) for f in found] == [(f.name, f.counts(), f.damage) for f in whole]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "odd",
    ["  what is \xff this ;", "        /*0000*/                   MOV R1, R2 R3 \xff, ;"],
    ids=["line", "operands"],
)
def test_problems_name_the_lines_of_the_file_and_bytes_are_told_once(odd: str, tmp_path: Path) -> None:
    lines = (FIXTURES / "listings" / "matrix.sm_100a.sass").read_bytes().splitlines(keepends=True)
    places = [len(lines) * share // 7 for share in range(1, 7)]
    for at in places:
        lines[at] = odd.encode("latin-1") + b"\n"
    path = tmp_path / "odd.sass"
    path.write_bytes(b"".join(lines))
    assert len(parts_of(path)) > 6
    problems = [problem for part in parts_of(path) for problem in part.problems]
    assert [problem.line for problem in problems if problem.line] == [at + 1 for at in places]
    assert [problem.message for problem in problems if "UTF-8" in problem.message] == [
        "some bytes are no UTF-8 text and were replaced"
    ]


@pytest.mark.usefixtures("small_parts")
def test_of_very_many_problems_the_rest_is_counted_once(tmp_path: Path) -> None:
    function = "\t\tFunction : k{}\n" + "what is this ;\n" * 100 + "        /*0000*/                   EXIT ;\n"
    path = tmp_path / "odd.sass"
    path.write_text("\tcode for sm_90\n" + "".join(function.format(number) for number in range(30)))
    problems = [problem for part in parts_of(path) for problem in part.problems]
    told = [problem for problem in problems if problem.line]
    counted = [problem.message for problem in problems if "more lines of this listing" in problem.message]
    assert len(told) == 1000 and [text.split()[0] for text in counted] == ["2000"]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("why", ["no architecture", "UTF-16", "one function"])
def test_what_only_the_whole_tells_stays_whole(why: str, tmp_path: Path) -> None:
    name = "names.sm_100a.sass"
    whole = (FIXTURES / "listings" / name).read_text()
    data = {
        "no architecture": whole.replace("\t.target\tsm_100a\n", "").encode(),
        "UTF-16": whole.encode("utf-16"),
        "one function": b"\t.target\tsm_90\nk:\n" + b"        /*0000*/                   EXIT ;\n" * 100,
    }[why]
    path = tmp_path / name
    path.write_bytes(data)
    assert len(parts_of(path)) == 1


@given(data=st.data())
def test_what_is_damaged_denies_in_parts_no_more_than_as_a_whole(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = data.draw(st.sampled_from(MATRIX))
    lines = path.read_text().splitlines(keepends=True)
    having = {kernel.name for kernel in sassmix.mix(path).kernels if kernel.tensor.present}
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(20, len(lines) - 1))
        lines[at : at + data.draw(st.integers(0, 12))] = data.draw(
            st.sampled_from([[], ["what is this ;\n"], ["\t.section\t.text.k\n"], ["\t\tFunction : k\n"], ["k:\n"]])
        )
    damaged = tmp_path_factory.mktemp("damaged") / "k.sass"
    damaged.write_text("".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_PART", SMALL)
        found = sassmix.mix(damaged)
    assert having.isdisjoint(kernel.name for kernel in found.kernels if kernel.tensor.present is False)


@pytest.mark.usefixtures("small_parts")
def test_mix_holds_few_parts_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[Function]] = []
    most = 0

    def watched(listing: Listing, *arguments: Any, **options: Any) -> Iterator[FunctionSummary]:
        nonlocal most
        seen.extend(map(weakref.ref, listing.functions[:1]))
        gc.collect()
        most = max(most, sum(function() is not None for function in seen))
        return summarise(listing, *arguments, **options)

    monkeypatch.setattr(intake, "summarise", watched)
    sassmix.mix(FIXTURES / "listings" / "matrix.sm_100a.sass")
    assert len(seen) > 6 and most <= 2


SIZES = pytest.mark.parametrize("size", [1, SMALL, 1 << 22])
ELFTYPE = '\t.elftype\t@"ET_EXEC"\n'
PASCAL = (FIXTURES / "listings" / "saxpy.sm_61.sass").read_text()
Verdicts = dict[str, list[tuple[str | None, bool | None]]]


def verdicts(text: str, folder: Path) -> Verdicts:
    """Architecture and verdict of each function, by name."""
    path = folder / "k.sass"
    path.write_text(text)
    found: Verdicts = {}
    for kernel in sassmix.mix(path).kernels:
        found.setdefault(kernel.name, []).append((kernel.arch, kernel.tensor.present))
    return found


@SIZES
@pytest.mark.parametrize(
    "head", ["", "\t.targ%t\tsm_90a\n", "\t.target\n", "\t.target\tsm_\n", "// \t.target\tsm_90a\n"]
)
@pytest.mark.parametrize("elftype", [ELFTYPE, ""], ids=["elftype", "no elftype"])
def test_a_listing_behind_another_is_not_denied_by_its_architecture(
    size: int, head: str, elftype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PART", size)
    first = SECTION.format("x", "STO_CUDA_ENTRY STV_DEFAULT", "NOP", "EXIT")  # damage is held against this one
    rest = sections(True).removeprefix(HEAD).replace("CALL.ABS.NOINC", "JCAL")  # which the other one has, too
    ((arch, present),) = verdicts(PASCAL + head + elftype + first + rest, tmp_path)["k"]
    assert present is not False
    assert arch != "sm_61" or not elftype


@SIZES
def test_what_another_listing_has_does_not_complete_one_that_is_cut(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PART", size)
    begin = f"\t.target\tsm_90a\n{ELFTYPE}\t.section\t.text.k\n.type k,@function\n.size k,(.L_x_1 - k)\n"
    code = "k:\n        /*0000*/ @P0 BRA `(.L_x_0) ;\n        /*0010*/ EXIT ;\n"
    rest = ".L_x_0:\n        /*0020*/ HGMMA R24, gdesc[UR4], !UPT ;\n        /*0030*/ EXIT ;\n.L_x_1:\n"
    whole, cut = begin + code + rest, begin + code
    assert verdicts(whole, tmp_path) == {"k": [("sm_90a", True)]}
    assert verdicts(cut + whole, tmp_path) == {"k": [("sm_90a", None), ("sm_90a", True)]}
    other = verdicts(cut + whole.replace("k,", "j,").replace("k)", "j)").replace("k:", "j:"), tmp_path)
    assert other == {"k": [("sm_90a", None)], "j": [("sm_90a", True)]}


@SIZES
@pytest.mark.parametrize(("first", "second"), [("hex", "cuobjdump-sass"), ("cuobjdump-sass", "plain"), ("c", "c-raw")])
def test_names_and_labels_of_another_listing_are_not_held_against_a_whole_one(
    size: int, first: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PART", size)
    modes = FIXTURES / "listings" / "modes"
    texts = [(modes / f"switch.sm_75.13-5.{mode}.sass").read_text() for mode in (first, second)]
    alone = [verdicts(text, tmp_path) for text in texts]
    both = {name: [one for found in alone for one in found.get(name, [])] for name in {**alone[0], **alone[1]}}
    assert verdicts("".join(texts), tmp_path) == both


@SIZES
@pytest.mark.parametrize("name", ["saxpy.sm_61.12-8.c", "saxpy.sm_90a.13-5.cuobjdump-sass", "saxpy.sm_75.13-5.plain"])
def test_a_listing_behind_a_ptx_member_is_no_ptx(
    size: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PART", size)
    head = "\tcode for sm_52\n\nFatbin ptx code:\n================\narch = sm_52\n"
    ptx = ".version 8.0\n.target sm_52, debug\n\t\tFunction : p\n"
    behind = (FIXTURES / "listings" / "modes" / f"{name}.sass").read_text()
    assert verdicts(head + ptx + behind, tmp_path) == verdicts(behind, tmp_path)
