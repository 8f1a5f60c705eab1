"""Prepare what makes the start quick: the parser's tables, and the forms of real listings, proved by the grammar.

``make grammar`` runs this over the fixtures. Nothing depends on it: what is missing or belongs to another grammar is
made or proved when it is needed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from sassmix import forms, grammar
from sassmix.parsing import parse
from sassmix.readers.text import decode


def tables() -> str:
    """The parser's tables as JSON."""
    data, memo = grammar.build().memo_serialize([TerminalDef, Rule])
    return _json({"lark": lark.__version__, "data": data, "memo": memo})


def proved(texts: Iterable[str]) -> str:
    """The forms of some listings that the grammar accepts, as JSON."""
    for text in texts:
        parse(text)
    return _json({"mnemonic": grammar.mnemonic_pattern(), **forms.accepted()})


def _json(content: dict[str, object]) -> str:
    return json.dumps({"fingerprint": grammar.fingerprint(), **content}, indent=0, sort_keys=True) + "\n"


def main(folder: str) -> None:
    """Write both files beside the grammars, from the listings under a folder."""
    target = grammar.grammar_folder()
    for name in (grammar.FORMS, grammar.TABLES):
        (target / name).unlink(missing_ok=True)
    listings = sorted(Path(folder).rglob("*.sass"))
    (target / grammar.FORMS).write_text(proved(decode(path.read_bytes())[0] for path in listings), encoding="utf-8")
    (target / grammar.TABLES).write_text(tables(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
