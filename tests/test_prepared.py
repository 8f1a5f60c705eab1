"""What was prepared when the package was made says nothing but what the grammar says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sassmix import grammar

FORMS = json.loads((grammar.grammar_folder() / grammar.FORMS).read_text())
TABLES = json.loads((grammar.grammar_folder() / grammar.TABLES).read_text())
REMEDY = "run `make grammar` after a change of grammars/*.lark"
ROOT = Path(__file__).parent.parent
LISTINGS = sorted((ROOT / "fixtures" / "listings").rglob("*.sass"))


def test_prepared_files_belong_to_the_grammar() -> None:
    assert FORMS["fingerprint"] == TABLES["fingerprint"] == grammar.fingerprint(), REMEDY
    assert FORMS["mnemonic"] == grammar.mnemonic_pattern(), REMEDY


def test_every_prepared_form_is_accepted_by_the_grammar_itself() -> None:
    built = grammar.build()
    texts = [f"/*0000*/ {form}NOP;" for form in FORMS["guard"]]
    texts += [f"/*0000*/ NOP RZ, {form}, RZ;" for form in FORMS["operand"]]
    texts += [f"/*0000*/ NOP{form};" for form in FORMS["tail"]]
    for text in [*texts, *FORMS["line"]]:
        built.parse(text, start="line")
    assert {form: grammar.kind_of(form) for form in FORMS["line"]} == FORMS["line"]


def test_prepared_tables_parse_as_the_grammar_does() -> None:
    assert grammar.prepared(grammar.TABLES) is not None, REMEDY
    built, prepared = grammar.build(), grammar.parser()
    for line in LISTINGS[0].read_text().split("\n"):
        assert prepared.parse(line, start="line") == built.parse(line, start="line")


def test_real_code_needs_no_lark_at_all() -> None:
    """The fixtures' forms are prepared, so that a start does without the parser."""
    program = (
        "import sys; from pathlib import Path; from sassmix.parsing import parse\n"
        "for path in sys.argv[1:]: parse(Path(path).read_text())\n"
        "sys.exit('lark was imported' if 'lark' in sys.modules else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *(str(p) for p in LISTINGS if "ptx" not in p.name)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"fingerprint": "another"}', "\ufeff", "null"])
def test_a_damaged_or_foreign_file_is_no_error(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in grammar.grammar_folder().glob("*.lark"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / grammar.FORMS).write_text(content)
    (tmp_path / grammar.TABLES).write_text(content)
    monkeypatch.setattr(grammar, "grammar_folder", lambda: tmp_path)
    for cached in (grammar.prepared, grammar.parser, grammar.fingerprint):
        cached.cache_clear()
    try:
        assert grammar.prepared(grammar.FORMS) is None
        assert grammar.kind_of("/*0000*/ EXIT ;") == "code"
    finally:
        for cached in (grammar.prepared, grammar.parser, grammar.fingerprint):
            cached.cache_clear()


NEW_DIRECTIVE = "\t.brandnew 5"
#: Asks the grammar itself: no form of the line is prepared.
PROGRAM = "import sys; from sassmix.grammar import kind_of; print(kind_of(sys.argv[1]), kind_of('/*0000*/ @P0 EXIT ;'))"


def checkout(folder: Path) -> Path:
    """The engine with grammars of its own."""
    for name in ("sassmix", "grammars"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def asked(folder: Path, home: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home)}
    environment |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", PROGRAM, NEW_DIRECTIVE]
    return subprocess.Popen(command, cwd=home, env=environment, stdout=subprocess.PIPE, text=True)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("changed", [False, True], ids=["the grammar as prepared", "a changed grammar"])
def test_processes_at_once_ask_one_grammar_and_write_nothing(tmp_path: Path, changed: bool) -> None:
    """Nothing is cached outside of the package, so a home that cannot be written and a race are all the same to it."""
    folder, home = checkout(tmp_path / "checkout"), tmp_path / "home"
    home.mkdir()
    grammar_file = folder / "grammars" / "nvdisasm.lark"
    if changed:
        text = grammar_file.read_text(encoding="utf-8")
        assert "(sectionflags|" in text
        grammar_file.write_text(text.replace("(sectionflags|", "(brandnew|sectionflags|"), encoding="utf-8")
    before = files(tmp_path)
    home.chmod(0o500)
    try:
        answers = [process.communicate()[0].split() for process in [asked(folder, home) for _ in range(2)]]
    finally:
        home.chmod(0o700)
    assert answers == [["directive" if changed else "None", "code"]] * 2
    assert files(tmp_path) == before
