"""The Lark grammars: loading them, and parsing one line or one instruction with them.

The grammar alone decides what is a listing. :mod:`sassmix.forms` asks it once for each form, not for each line.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import lark
from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from lark.grammar import Rule
from lark.lexer import TerminalDef

from sassmix.errors import ListingSyntaxError

#: The prepared tables beside the grammars.
TABLES = "tables.json"


def grammar_folder() -> Path:
    """Where the ``.lark`` files lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "grammars"
    return inside if inside.is_dir() else package.parent / "grammars"


@cache
def parser() -> Lark:
    """The parser for single lines (start ``line``) and instructions (start ``instruction``)."""
    return _prepared() or _built()


def _built(**options: Any) -> Lark:
    path = str(grammar_folder() / "nvdisasm.lark")
    return Lark.open(path, parser="lalr", start=["line", "instruction"], maybe_placeholders=False, **options)


def fingerprint() -> str:
    """Tells whether prepared tables belong to the grammars and to the version of lark at hand."""
    digest = hashlib.sha256(lark.__version__.encode())
    for path in sorted(grammar_folder().glob("*.lark")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def prepare() -> str:
    """The parser's tables as JSON, for :data:`TABLES`; ``make grammar`` writes them."""
    data, memo = _built().memo_serialize([TerminalDef, Rule])
    return json.dumps({"fingerprint": fingerprint(), "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def _prepared() -> Lark | None:
    """The parser from its prepared tables: ten times as fast as building it, and no pickle is read.

    Tables of another grammar or another lark are no error: the parser is built from the grammar then.
    """
    try:
        tables = json.loads((grammar_folder() / TABLES).read_text(encoding="utf-8"), object_pairs_hook=_numbered)
        if tables["fingerprint"] == fingerprint():
            # What lark's own stand-alone parsers call.
            return cast(Lark, Lark._load_from_dict(tables["data"], tables["memo"]))  # type: ignore[no-untyped-call]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass
    return None


def _numbered(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """JSON has no numbers as keys; the tables have."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


def kind_of(line: str) -> str | None:
    """The kind of a line by the grammar: ``code``, ``bare``, ``label``, ``directive`` ...; None if it is no line."""
    try:
        tree = parser().parse(line, start="line")
    except UnexpectedInput:
        return None
    return _innermost_kind(tree)


def _innermost_kind(tree: Tree[Token]) -> str:
    child = tree.children[0]
    name = _name(child) if isinstance(child, Tree) else ""
    return _innermost_kind(child) if name == "member_line" and isinstance(child, Tree) else name


def _name(tree: Tree[Token]) -> str:
    """The rule of a tree without the file that it was imported from."""
    return str(tree.data).rpartition("__")[2]


def is_line(text: str) -> bool:
    """Whether the grammar accepts a whole line."""
    return kind_of(text) is not None


@cache
def _mnemonic() -> re.Pattern[str]:
    (terminal,) = (t for t in parser().terminals if t.name.rpartition("__")[2] == "MNEMONIC")
    return re.compile(terminal.pattern.to_regexp())


def is_mnemonic(text: str) -> bool:
    """Whether the whole text is one mnemonic by the grammar's terminal."""
    return bool(_mnemonic().fullmatch(text))


def syntax_error(line: str, *, path: str | None, number: int) -> ListingSyntaxError:
    """Why the grammar rejects a line, with the column of the first character that does not fit."""
    column = 1
    try:
        parser().parse(line, start="line")
    except UnexpectedInput as error:
        column = error.column if isinstance(error.column, int) and error.column > 0 else len(line.rstrip()) + 1
    return ListingSyntaxError("not a line of a listing", path=path, line=number, column=column, text=line)


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an instruction.

    ``kind`` is ``register``, ``predicate``, ``barrier``, ``special``, ``immediate``, ``constant``, ``memory``,
    ``descriptor``, ``attribute``, ``label``, ``relocation``, ``set``, ``word`` or ``undefined``; ``text`` is the
    operand as printed, sign and suffixes included; ``names`` are the registers, predicates and numbers in it.
    """

    kind: str
    text: str
    names: tuple[str, ...] = ()


def operands_of(text: str) -> tuple[Operand, ...]:
    """Parse the operands of an instruction.

    :param text: what stands between the mnemonic and the semicolon.
    :raises ListingSyntaxError: where the grammar does not know them.
    """
    prefix = "NOP "
    whole = prefix + text
    try:
        tree = _with_positions().parse(whole, start="instruction")
    except UnexpectedInput as error:
        column = max(1, (error.column if isinstance(error.column, int) else len(whole)) - len(prefix))
        raise ListingSyntaxError(
            "not the operands of an instruction", path=None, line=1, column=column, text=text
        ) from None
    trees = [child for child in tree.children if isinstance(child, Tree) and _name(child) == "operand"]
    bounds = [child.meta for child in trees]
    return tuple(
        _operand(child, whole, meta.start_pos, meta.end_pos) for child, meta in zip(trees, bounds, strict=True)
    )


@cache
def _with_positions() -> Lark:
    return _built(propagate_positions=True, keep_all_tokens=True)


def _operand(tree: Tree[Token], whole: str, start: int, end: int) -> Operand:
    value = next(child for child in tree.children if isinstance(child, Tree))
    named = ("REGISTER", "PREDICATE", "HEX", "INTEGER", "FLOAT", "SPECIAL", "BARRIER", "WORD")
    names = tuple(
        str(t) for t in tree.scan_values(lambda t: isinstance(t, Token) and t.type.rpartition("__")[2] in named)
    )
    return Operand(_name(value), whole[start:end], names)


if __name__ == "__main__":
    (grammar_folder() / TABLES).write_text(prepare(), encoding="utf-8")
