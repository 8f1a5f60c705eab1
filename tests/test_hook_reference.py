"""The reference of the hooks says what the specifications say: signatures (tests/test_docs.py) and every sentence."""

from __future__ import annotations

import inspect
import re

import pytest

from sassmix import hookspecs
from sassmix.plugins import hook_names
from tests.conftest import ROOT

REFERENCE = (ROOT / "docs/hooks.md").read_text(encoding="utf-8")


def section(hook: str) -> str:
    """What stands in the reference between a hook's signature and the next one."""
    found = REFERENCE.partition(f"```python\ndef {hook}(")[2].partition("```\n")[2]
    return " ".join(re.split(r"^(?:```|## )", found, flags=re.MULTILINE)[0].split())


def sentences(hook: str) -> list[str]:
    """The sentences and parameters of a specification's docstring, in the spelling of markdown."""
    text = inspect.getdoc(getattr(hookspecs, hook)) or ""
    text = re.sub(r"^:param (\w+): ", r"\n\n`\1`: ", text.replace("``", "`"), flags=re.MULTILINE)
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return [sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.]) (?=[A-Z])", paragraph) if sentence]


@pytest.mark.parametrize("hook", hook_names())
def test_every_sentence_of_a_specification_stands_in_the_reference(hook: str) -> None:
    assert sentences(hook)
    assert [sentence for sentence in sentences(hook) if sentence not in section(hook)] == []


@pytest.mark.parametrize("hook", hook_names())
def test_every_argument_is_described_in_both(hook: str) -> None:
    arguments = list(inspect.signature(getattr(hookspecs, hook)).parameters)
    assert re.findall(r"^:param (\w+): ", inspect.getdoc(getattr(hookspecs, hook)) or "", re.MULTILINE) == arguments
    assert re.findall(r"- `(\w+)`: ", section(hook)) == arguments


@pytest.mark.parametrize("name", ["Architecture", "OpcodeInfo", "Reader", "LabelRule"])
def test_what_the_hooks_give_and_take_is_importable(name: str) -> None:
    import sassmix

    assert f"`{name}`" in REFERENCE and hasattr(sassmix, name)
    assert any(name in str(inspect.signature(getattr(hookspecs, hook)).return_annotation) for hook in hook_names())
