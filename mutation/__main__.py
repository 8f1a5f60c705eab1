"""Changes the engine in thousands of small ways, in a copy, and counts how many of them the tests notice.

``make mutation``, or ``make mutation MODULES="tensor flow"``; ``build/mutation/MODULE.diff`` shows what survived.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from importlib import metadata
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parent.parent
WORK = ROOT / "build" / "mutation"
COPY = WORK / "copy"
#: Each module with the test files that are to notice a change of it.
TESTS = {
    "agreement": "agreement",
    "classify": "classify",
    "discovery": "discovery plugins plugin_errors inventory",
    "evidence": "evidence",
    "flow": "flow",
    "guard": "guard plugins plugin_errors inventory",
    "labels": "labels",
    "launches": "launches agreement",
    "matching": "matching",
    "own_texts": "own_texts",
    "plugins": "plugins plugin_errors inventory",
    "registry": "registry load_opcodes plugin_errors",
    "resolution": "resolution flow",
    "spelling": "spelling matching",
    "tensor": "tensor",
}
_CONFIG = """
[tool.mutmut]
source_paths = ["sassmix"]
only_mutate = ["sassmix/{module}.py"]
also_copy = ["arch_plugins", "benchmarks", "docs", "examples", "fixtures", "grammars", "CONTRIBUTING.md", "README.md"]
pytest_add_cli_args = ["-p", "no:xdist", "-p", "no:cacheprovider", "--hypothesis-profile=faults"]
pytest_add_cli_args_test_selection = {tests}
# Each mutant in a process that has run no test: what the tests before left in caches would hide it.
process_isolation = "forkserver"
forkserver_warmup = "import"
preload_modules_file = "preload.txt"
timeout_constant = 10.0
timeout_multiplier = 3.0
"""
#: Stands at the end of the copy's conftest.py: mutmut's lines between a plugin's and the engine's are not the plugin's.
_BETWEEN = """
from mutmut.mutation import trampoline
from sassmix import guard
guard._BETWEEN += (Path(trampoline.__file__).parent,)
"""
#: What may be loaded before the process of a mutant starts: what is not ours, and not rewritten by pytest.
_PRELOADED = "duckdb jinja2 lark pandas pluggy pydemumble pytest rich zstandard"
#: What mutmut's exit statuses of a mutant mean: those of pytest, 33 without a test, the others used up their time.
_MEANING = {0: "survived", 33: "survived", 5: "survived", 1: "killed", 2: "killed", 3: "killed", None: "not run"}
_MEANING |= dict.fromkeys((36, 24, -24, 152), "slow")


def copied() -> None:
    """The checkout without what is made from it; the changes are made there."""
    shutil.rmtree(COPY, ignore_errors=True)
    made = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "mutants")
    shutil.copytree(ROOT, COPY, ignore=made)
    with (COPY / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(_BETWEEN)


def mutate(module: str, sample: str, children: int) -> None:
    """Run mutmut on one module."""
    tests = [f"tests/test_{name}.py" for name in TESTS[module].split()]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (COPY / "pyproject.toml").write_text(project + _CONFIG.format(module=module, tests=tests), encoding="utf-8")
    (COPY / "preload.txt").write_text("\n".join(_PRELOADED.split()) + "\n", encoding="utf-8")
    shutil.rmtree(COPY / "mutants", ignore_errors=True)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with (WORK / f"{module}.log").open("w", encoding="utf-8") as log:
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(children)]
        command += [f"sassmix.{module}.*__mutmut_*{digit}" for digit in sample]
        subprocess.run(command, cwd=COPY, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)


def results(module: str) -> dict[str, str]:
    """What became of each mutant, by its name."""
    meta = COPY / "mutants" / "sassmix" / f"{module}.py.meta"
    if not meta.exists():
        raise SystemExit(f"{module}: mutmut made no mutants; {WORK / f'{module}.log'} says why")
    codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    return {name: _MEANING.get(code, "odd") for name, code in codes.items()}


def functions(module: str) -> dict[str, ast.FunctionDef]:
    """The functions of a mutated file: each original, and every mutant of it."""
    tree = ast.parse((COPY / "mutants" / "sassmix" / f"{module}.py").read_text(encoding="utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


class _Unworded(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        worded = isinstance(node.value, str) and " " in node.value
        return ast.Constant("words") if worded else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = ""
        return self.generic_visit(node)


def survivors(module: str, names: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Each mutant that survived: whether it only changes the wording of a message, and its difference."""
    found = functions(module)
    for name in names:
        mutant = name.rpartition(".")[2]
        original = found[mutant.rpartition("__mutmut_")[0] + "__mutmut_orig"]
        before, after = (ast.unparse(node).splitlines()[1:] for node in (original, found[mutant]))
        difference = "\n".join(unified_diff(before, after, name, name, lineterm="", n=1))
        yield unworded(original) == unworded(found[mutant]), difference


def unworded(function: ast.FunctionDef) -> str:
    """The code of a function without its name and the words of its messages."""
    return ast.dump(_Unworded().visit(ast.parse(ast.unparse(function))))


def row(module: str, sample: str, children: int) -> str:
    """Mutate a module; the row of its score. A mutant that ran far too long counts as killed."""
    start = monotonic()
    mutate(module, sample, children)
    found = results(module)
    counts = Counter(found.values())
    if odd := [name for name, what in found.items() if what == "odd"]:
        raise SystemExit(f"{module}: mutmut could not run {', '.join(odd)}; see {WORK / f'{module}.log'}")
    if set(counts) == {"not run"}:
        raise SystemExit(f"{module}: mutmut ran no mutant; the tests have to pass first, see {WORK / f'{module}.log'}")
    left = list(survivors(module, [name for name, what in found.items() if what == "survived"]))
    words = sum(worded for worded, _ in left)
    (WORK / f"{module}.diff").write_text(
        "\n\n".join(text for worded, text in left if not worded) + "\n", encoding="utf-8"
    )
    killed = counts["killed"] + counts["slow"]
    score = killed / max(killed + len(left) - words, 1)
    cells = [
        f"`{module}`",
        len(found),
        killed + len(left),
        killed,
        counts["slow"],
        words,
        len(left) - words,
        f"{score:.1%}",
    ]
    return f"| {' | '.join(map(str, cells))} | {monotonic() - start:.0f} s |"


def main() -> None:
    """Print a table of scores."""
    parser = argparse.ArgumentParser(prog="mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*TESTS, []], help="all, if left out")
    parser.add_argument("--sample", default="", help="only mutants whose number ends in one of these digits, 147")
    cores = os.cpu_count() or 1
    parser.add_argument(
        "--children", type=int, default=cores, metavar="N", help="processes at a time; all cores, if left out"
    )
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    copied()
    print(f"mutmut {metadata.version('mutmut')}, Python {sys.version.split()[0]}, sample {arguments.sample or 'all'}")
    print("| module | mutants | run | killed | by time | wording | others | score | time |")
    for module in arguments.modules or TESTS:
        print(row(module, arguments.sample, arguments.children), flush=True)


if __name__ == "__main__":
    main()
