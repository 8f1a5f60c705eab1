"""The Lark grammars: loading them, and parsing one line or one instruction with them.

The grammar alone decides what is a listing. :mod:`sassmix.forms` asks it once for each form, not for each line, and
not even once for forms that were proved when the package was made: lark is imported only for what is new.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sassmix.errors import ListingSyntaxError

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

#: Characters of a line that the grammar is asked about (folded lines of real listings have hundreds): it takes some
#: microseconds for each, and a line of megabytes must not hang.
LONGEST = 50_000
#: Beside the grammars, written by ``make grammar``: the parser's tables, and the forms that were proved.
TABLES, FORMS = "tables.json", "forms.json"


def grammar_folder() -> Path:
    """Where the ``.lark`` files lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "grammars"
    return inside if inside.is_dir() else package.parent / "grammars"


@cache
def fingerprint() -> str:
    """Tells whether what was prepared belongs to the grammars at hand."""
    digest = hashlib.sha256()
    for path in sorted(grammar_folder().glob("*.lark")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def prepared(name: str) -> dict[str, Any] | None:
    """A prepared file; None if it is missing, malformed, or belongs to another grammar, which is no error."""
    hook = _numbered if name == TABLES else None
    try:
        content = json.loads((grammar_folder() / name).read_text(encoding="utf-8"), object_pairs_hook=hook)
        return content if content["fingerprint"] == fingerprint() else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _numbered(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """JSON has no numbers as keys; the tables have."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


@cache
def parser() -> Lark:
    """The parser for single lines (start ``line``) and instructions (start ``instruction``).

    Made from prepared tables if they belong to this version of lark: ten times as fast, and no pickle is read.
    """
    import lark

    tables = prepared(TABLES)
    if tables and tables.get("lark") == lark.__version__:
        # What lark's own stand-alone parsers call.
        return cast("Lark", lark.Lark._load_from_dict(tables["data"], tables["memo"]))  # type: ignore[no-untyped-call]
    return build()


def build(**options: Any) -> Lark:
    """The parser from the grammars themselves."""
    from lark import Lark

    path = str(grammar_folder() / "nvdisasm.lark")
    return Lark.open(path, parser="lalr", start=["line", "instruction"], maybe_placeholders=False, **options)


def kind_of(line: str) -> str | None:
    """The kind of a line by the grammar: ``code``, ``bare``, ``label``, ``directive`` ...; None if it is no line."""
    from lark.exceptions import UnexpectedInput

    if len(line) > LONGEST:
        return None
    try:
        tree = parser().parse(line, start="line")
    except UnexpectedInput:
        return None
    return _innermost_kind(tree)


def _innermost_kind(tree: Tree[Token]) -> str:
    child = cast("Tree[Token]", tree.children[0])
    return _innermost_kind(child) if _name(child) == "member_line" else _name(child)


def _name(tree: Tree[Token]) -> str:
    """The rule of a tree without the file that it was imported from."""
    return str(tree.data).rpartition("__")[2]


def is_line(text: str) -> bool:
    """Whether the grammar accepts a whole line."""
    return kind_of(text) is not None


@cache
def _mnemonic() -> re.Pattern[str]:
    known = prepared(FORMS)
    return re.compile(known["mnemonic"] if known and "mnemonic" in known else mnemonic_pattern())


def mnemonic_pattern() -> str:
    """The regular expression of the grammar's terminal for mnemonics."""
    (terminal,) = (t for t in parser().terminals if t.name.rpartition("__")[2] == "MNEMONIC")
    return str(terminal.pattern.to_regexp())


def is_mnemonic(text: str) -> bool:
    """Whether the whole text is one mnemonic by the grammar's terminal."""
    return bool(_mnemonic().fullmatch(text))


def syntax_error(line: str, *, path: str | None, number: int) -> ListingSyntaxError:
    """Why the grammar rejects a line, with the column of the first character that does not fit."""
    from lark.exceptions import UnexpectedInput

    column = 1
    try:
        parser().parse(line if len(line) <= LONGEST else "", start="line")
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
    from lark import Tree
    from lark.exceptions import UnexpectedInput

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
    return build(propagate_positions=True, keep_all_tokens=True)


def _operand(tree: Tree[Token], whole: str, start: int, end: int) -> Operand:
    from lark import Token, Tree

    value = next(child for child in tree.children if isinstance(child, Tree))
    tokens = (token for token in tree.scan_values(lambda t: isinstance(t, Token)))
    names = tuple(str(token) for token in tokens if token.type.rpartition("__")[2] in _NAMED)
    return Operand(_name(value), whole[start:end], names)


_NAMED = frozenset({"REGISTER", "PREDICATE", "HEX", "INTEGER", "FLOAT", "SPECIAL", "BARRIER", "WORD"})
