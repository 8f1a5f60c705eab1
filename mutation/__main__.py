"""Changes the engine in thousands of small ways, in a copy, and counts how many of them the tests notice.

``make mutation``, or ``make mutation MODULES="tensor flow"``; ``build/mutation/MODULE.diff`` shows what survived.
"""

from __future__ import annotations

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
    "agreement": "agreement dynamic",
    "classify": "classify registry plugins tables",
    "discovery": "plugins plugin_errors inventory",
    "evidence": "static dynamic classify agreement cli",
    "flow": "flow dynamic",
    "guard": "plugins plugin_errors",
    "labels": "labels matching",
    "launches": "agreement dynamic scenarios",
    "matching": "matching dynamic nvbit",
    "plugins": "plugins plugin_errors inventory",
    "registry": "registry load_opcodes plugin_errors",
    "resolution": "flow dynamic agreement nvbit cutracer",
    "tensor": "static dynamic",
}
_CONFIG = """
[tool.mutmut]
source_paths = ["sassmix"]
only_mutate = ["sassmix/{module}.py"]
also_copy = ["arch_plugins", "benchmarks", "docs", "examples", "fixtures", "grammars", "README.md"]
pytest_add_cli_args = ["-p", "no:xdist", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = {tests}
"""
#: What mutmut's exit statuses of a mutant mean; -24 is the signal of a process that used up its time.
_MEANING = {0: "survived", 33: "survived", 5: "survived", 36: "killed", 24: "killed", -24: "killed", None: "not run"}


def copied() -> None:
    """The checkout without what is made from it; the changes are made there."""
    shutil.rmtree(COPY, ignore_errors=True)
    made = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "mutants")
    shutil.copytree(ROOT, COPY, ignore=made)


def mutate(module: str) -> None:
    """Run mutmut on one module."""
    tests = [f"tests/test_{name}.py" for name in TESTS[module].split()]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (COPY / "pyproject.toml").write_text(project + _CONFIG.format(module=module, tests=tests), encoding="utf-8")
    shutil.rmtree(COPY / "mutants", ignore_errors=True)
    # The profile of CI draws the same examples each time: else a mutant would be killed in one run and not in the next.
    environment = {**os.environ, "CI": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    children = str(max(1, (os.cpu_count() or 2) // 2))
    with (WORK / f"{module}.log").open("w", encoding="utf-8") as log:
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", children]
        subprocess.run(command, cwd=COPY, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)


def results(module: str) -> dict[str, str]:
    """What became of each mutant, by its name."""
    meta = COPY / "mutants" / "sassmix" / f"{module}.py.meta"
    if not meta.exists():
        raise SystemExit(f"{module}: mutmut made no mutants; {WORK / f'{module}.log'} says why")
    codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    return {name: _MEANING.get(code, "killed") for name, code in codes.items()}


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


def row(module: str) -> str:
    """Mutate a module; the row of its score."""
    start = monotonic()
    mutate(module)
    found = results(module)
    counts = Counter(found.values())
    left = list(survivors(module, [name for name, what in found.items() if what == "survived"]))
    words = sum(worded for worded, _ in left)
    text = "\n\n".join(difference for worded, difference in left if not worded)
    (WORK / f"{module}.diff").write_text(text + "\n", encoding="utf-8")
    run = counts["killed"] + counts["survived"]
    score = counts["killed"] / (run - words) if run > words else 0
    cells = [module, run, counts["killed"], words, len(left) - words, f"{score:.1%}", counts["not run"]]
    return f"| {' | '.join(map(str, cells))} | {monotonic() - start:.0f} s |"


def main(modules: Sequence[str]) -> None:
    """Print a table of scores."""
    WORK.mkdir(parents=True, exist_ok=True)
    copied()
    print(f"mutmut {metadata.version('mutmut')}, Python {sys.version.split()[0]}")
    print("| module | mutants | killed | wording survived | others survived | score | not run | time |")
    for module in modules or list(TESTS):
        print(row(module), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
