"""The harnesses of the fuzzer over what it has kept: each input keeps every promise, in a moment."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz.harnesses import HARNESSES
from fuzz.invariants import Broken
from fuzz.seeds import CORPUS, SEEDS
from sassmix.readers import BUILTIN
from tests.conftest import ROOT


@pytest.mark.parametrize("name", HARNESSES)
def test_every_input_of_the_corpus_keeps_the_promises(name: str) -> None:
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        start = time.process_time()
        HARNESSES[name](path.read_bytes())
        assert time.process_time() - start < 10, path  # a second at most on an idle machine


def test_every_harness_has_seeds_and_the_corpus_is_small() -> None:
    assert set(HARNESSES) == set(SEEDS) == {path.name for path in CORPUS.iterdir()}
    assert sum(path.stat().st_size for path in CORPUS.rglob("*")) < 300_000


def test_every_reader_is_in_a_harness() -> None:
    source = "".join((ROOT / "fuzz" / name).read_text() for name in ("harnesses.py", "printed.py"))
    assert [name for name in BUILTIN if f"{name}.READER" not in source] == []


#: A fault put into the reader of each harness, which the harness must find.
FAULTS = {
    "listing": "import sassmix.listing as m; m.Function.counts = lambda s, **k: __import__('collections').Counter()",
    "hist": "import sassmix.readers.cutracer_hist as m; m._number = lambda c: 1 / 0",
    "trace": "import sassmix.readers.cutracer_trace as m; m._rows = lambda x: []",
    "elf": "import sassmix.readers.elf as m; m._inside = lambda *a: None",
    "zstd": "import sassmix.readers._zstd as m; m._SIZES = (0, 0, 0, 0); m._BLOCK = 1",
    "listing-json": "import sassmix.readers.nvdisasm_json as m; f = m._function\n"
    "m._function = lambda i, *a: f({**i, 'sass-instructions': i['sass-instructions'][1:]}, *a)",
    "tool-output": "import sassmix.readers.disassembly as m; f = m.parse; m.parse = lambda t, **k: f(t[:1500], **k)",
    "source-page": "import sassmix.readers._csv_section as m; f = m._rows\n"
    "m._rows = lambda texts, issued, *a: f(texts, [0, *issued[1:]], *a)",
    "raw-page": "import sassmix.launches as m; m._BY_LAUNCH = frozenset()",
    "nvbit": "import sassmix.readers._nvbit_settings as m; m.Unit.row = lambda s, n, c: m.CountRow(name=n, issued=0)",
}


def test_every_harness_has_a_fault_to_find() -> None:
    assert set(FAULTS) == set(HARNESSES)


@pytest.mark.parametrize("name", FAULTS)
def test_a_harness_finds_a_fault(name: str) -> None:
    run = f"from fuzz.harnesses import HARNESSES, open_elf\n{FAULTS[name]}\nfrom fuzz.seeds import CORPUS\n"
    run += f"for p in sorted((CORPUS / {name!r}).iterdir()):\n    d = p.read_bytes()\n"
    run += f"    HARNESSES[{name!r}](d)\n    HARNESSES[{name!r}](d[:len(d) // 2])\n"
    done = subprocess.run([sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and ("Broken" in done.stderr or "rror:" in done.stderr), done.stderr


def test_a_broken_promise_names_its_facts() -> None:
    from fuzz.invariants import hold

    hold(True, "x")
    with pytest.raises(Broken, match="counts add up: 3, 4"):
        hold(False, "counts add up", 3, 4)


def test_the_fuzzer_says_what_it_takes() -> None:
    done = subprocess.run([sys.executable, "-m", "fuzz", "--help"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0 and b"--seconds" in done.stdout and Path(ROOT, "fuzz", "words.dict").is_file()
