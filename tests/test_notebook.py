"""The cells of the notebook run, and show what the notebook shows. Plain Python runs them: no Jupyter is needed."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tests.conftest import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
#: What of an output is compared; an image of the same bars differs from one version of matplotlib to the next.
KINDS = {"text/html": "_repr_html_", "text/plain": "__repr__"}


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as Jupyter does; the value of its last line, None where that is no expression or ends in ``;``."""
    *rest, last = ast.parse(source).body
    silent = source.rstrip().endswith(";") or not isinstance(last, ast.Expr)
    exec(compile(ast.Module([*rest, *([last] if silent else [])], []), "cell", "exec"), names)
    return None if silent or not isinstance(last, ast.Expr) else eval(ast.unparse(last.value), names)


def test_the_cells_run_and_show_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    monkeypatch.chdir(NOTEBOOK.parent)
    names: dict[str, Any] = {}
    compared = []
    for cell in CELLS:
        value = shown("".join(cell["source"]), names)
        results = [output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result"]
        assert (value is None) == (not results)
        for kind, method in KINDS.items():
            for kept in (data[kind] for data in results if kind in data):
                assert getattr(value, method)() == "".join(kept), "the notebook shows something else: make notebook"
                compared.append(kind)
    assert {"text/html", "text/plain"} <= set(compared)
    matplotlib.pyplot.close("all")


def test_it_was_executed_from_top_to_bottom_without_errors() -> None:
    assert [cell["execution_count"] for cell in CELLS] == list(range(1, len(CELLS) + 1))
    kinds = {output["output_type"] for cell in CELLS for output in cell["outputs"]}
    assert kinds == {"execute_result", "display_data"}
    images = [o["data"] for cell in CELLS for o in cell["outputs"] if "image/png" in o.get("data", {})]
    assert len(images) == 1


def test_it_is_small_and_names_no_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert str(ROOT) not in text
