"""The picture of a terminal in the tutorial: ``python -m tests.picture`` draws it anew."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

import sassmix
from sassmix.render import render
from tests.conftest import FIXTURES

PATH = Path(__file__).parent.parent / "docs" / "images" / "terminal.svg"
_INPUTS = ("counts/h200/micro.source.csv", "counts/h200/micro.sass")
_KERNEL = "k_div"
WIDTH = 80


def report() -> str:
    """What the terminal shows, the lines on the inputs left out, with escapes for its colours."""
    found = sassmix.mix([FIXTURES / name for name in _INPUTS], kernels=[_KERNEL])
    found.inputs.clear()
    with_colours = render(found, "text", width=WIDTH).rstrip()
    return f"$ sassmix mix {' '.join(Path(name).name for name in _INPUTS)} --kernel {_KERNEL}\n{with_colours}"


def draw() -> str:
    """The picture, without the fonts that it would fetch."""
    console = Console(file=io.StringIO(), width=WIDTH, record=True, force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(report()))
    picture = console.export_svg(title="sassmix", unique_id="mix")
    return re.sub(r"\s*@font-face \{.*?\}\n", "", picture, flags=re.DOTALL).replace("Fira Code, ", "")


def words(picture: str) -> str:
    """The text of a picture without its blanks, in which versions of rich may differ."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture.partition('class="mix-matrix"')[2])
    return "".join("".join(map(html.unescape, texts)).split())


if __name__ == "__main__":
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(draw(), encoding="utf-8")
