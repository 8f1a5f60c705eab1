"""The fixtures as a corpus: what they show is written down and complete, and their mixes are golden."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from sassmix.plugins import default_plugins

FIXTURES = Path(__file__).parent.parent / "fixtures"
REMEDY = "run `make goldens`, and read what it says has changed"


def module(name: str) -> ModuleType:
    """A module of the fixtures' folder, under a name that hides no package."""
    spec = importlib.util.spec_from_file_location(f"fixtures_{name}", FIXTURES / f"{name}.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


covered, mixes = module("covered"), module("mixes")


@pytest.fixture(scope="module")
def made() -> dict[tuple[str, str, str], tuple[int, Counter[str]]]:
    found: dict[tuple[str, str, str], tuple[int, Counter[str]]] = mixes.made()
    return found


def test_mixes_are_golden(made: dict[tuple[str, str, str], tuple[int, Counter[str]]]) -> None:
    assert mixes.differences(mixes.stored(), made) == [], REMEDY
    assert mixes.text_of(made) == mixes.GOLDEN.read_text(encoding="utf-8"), REMEDY


def test_every_listing_has_a_mix() -> None:
    listings = {str(p.relative_to(FIXTURES / "listings")) for p in (FIXTURES / "listings").rglob("*.sass")}
    assert {listing for listing, _, _ in mixes.stored()} == listings


def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A corpus of one listing."""
    (tmp_path / "listings").mkdir()
    (tmp_path / "listings" / "saxpy.sm_90a.sass").write_text(text, encoding="utf-8")
    monkeypatch.setattr(mixes, "HERE", tmp_path)
    monkeypatch.setattr(mixes, "GOLDEN", tmp_path / "mixes.csv")


@pytest.mark.parametrize(("put", "words"), [("QFMA9 R", "unclassified on sm_90a"), ("%%%% R", "unresolved")])
def test_what_does_not_add_up_is_not_golden(
    put: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FIXTURES / "listings" / "saxpy.sm_90a.sass").read_text(encoding="utf-8")
    copied(tmp_path, monkeypatch, text)
    assert not mixes.update(), "everything is new"
    golden = mixes.GOLDEN.read_text(encoding="utf-8")
    (tmp_path / "listings" / "saxpy.sm_90a.sass").write_text(text.replace("FFMA R", put, 1), encoding="utf-8")
    with pytest.raises(mixes.DoesNotAddUp, match=words):
        mixes.update()
    assert mixes.GOLDEN.read_text(encoding="utf-8") == golden


@pytest.mark.parametrize("error", [-1, 1])
def test_lines_are_counted_without_the_parser(error: int) -> None:
    path = FIXTURES / "listings" / "saxpy.sm_90a.sass"
    rows = {key: row for key, row in mixes.stored().items() if key[0] == path.name}
    text = path.read_text(encoding="utf-8")
    assert list(mixes._faults(rows, text)) == []
    padding, counts = rows.popitem()[1]
    wrong = {
        **rows,
        ("", "", ""): (padding, counts + Counter({"control": 1}) if error > 0 else counts - Counter({"control": 1})),
    }
    assert any("lines hold code" in fault for fault in mixes._faults(wrong, text))


def test_a_change_is_told_by_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (FIXTURES / "listings" / "saxpy.sm_90a.sass").read_text(encoding="utf-8")
    copied(tmp_path, monkeypatch, text)
    mixes.update()
    assert mixes.update(), "nothing changed"
    capsys.readouterr()
    (tmp_path / "listings" / "saxpy.sm_90a.sass").write_text(text.replace(" FFMA ", " DFMA ", 1), encoding="utf-8")
    assert not mixes.update(write=False)
    told = capsys.readouterr().out
    assert "float.fp64 0 to 1" in told and "mixes: float.fp32 -1, float.fp64 +1" in told
    assert not mixes.update(), "writing nothing left the golden file as it was"
    (tmp_path / "listings" / "saxpy.sm_90a.sass").rename(tmp_path / "listings" / "other.sass")
    mixes.update()
    told = capsys.readouterr().out
    assert "gone     saxpy.sm_90a.sass: 3 functions" in told and "new      other.sass: 3 functions" in told


def test_coverage_is_up_to_date() -> None:
    assert covered.TABLE.read_text(encoding="utf-8") == covered.text(), REMEDY


@pytest.mark.parametrize("subject", covered.SUBJECTS)
def test_a_subject_is_shown_on_every_sm_that_has_it(subject: str) -> None:
    sms = covered.with_feature(covered.SUBJECTS[subject][1])
    assert sms and [sm for sm in sms if not covered.shown(subject, sm)] == []


def test_every_registered_architecture_is_looked_at() -> None:
    known = {target.removeprefix("sm_").rstrip("af") for target, _ in default_plugins().registry}
    assert known == {*covered.SMS.split(), *covered.WITHOUT.split()}


def test_every_sm_has_a_listing_of_its_own() -> None:
    assert set(covered.SMS.split()) == covered.seen().keys() - {""}


def test_every_matrix_opcode_is_shown_where_a_compiler_emits_it() -> None:
    """`UTCMXQMMA` and `MXQMMA` are known from the disassembler alone."""
    missing = set()
    for target, table in default_plugins().registry:
        sm = target.removeprefix("sm_").rstrip("af")
        if sm in covered.SMS.split():
            missing |= {row.opcode for row in table.opcodes.values() if row.tensor} - covered._opcodes_of(sm)
    assert missing == {"UTCMXQMMA", "MXQMMA"}


def test_no_tool_is_needed_for_the_mixes() -> None:
    """Without nvcc the command still checks mixes and coverage, and says that it compiles nothing."""
    command = [sys.executable, str(FIXTURES / "build.py"), "--nvcc", "no-such-compiler", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("nothing is compiled")


def test_each_source_says_why_it_is_there() -> None:
    for path in sorted((FIXTURES / "src").iterdir()):
        first = path.read_text(encoding="utf-8").split("\n", 1)[0]
        assert first.startswith("// Why: ") and len(first) > 40, path.name
