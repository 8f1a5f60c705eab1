"""The fast path: prove each *form* once by the grammar instead of each line.

A form is what is left of a text when numbers are folded: digits become ``1``, hexadecimal numbers ``0x1``, mangled
names ``_Zx1``. Every terminal of the grammar that holds a digit accepts any digits there, so a form that is accepted
stands for all its texts. A form that is rejected proves nothing: the text itself is then asked.

Splitting an instruction into guard, mnemonic and operands and proving each piece in its own place is sound because the
grammar is ``guard? MNEMONIC operand ("," operand)*`` and no piece holds ``", "`` or ``(*``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable

from sassmix.grammar import is_line, is_mnemonic, kind_of

_HEX = re.compile(r"(?<![0-9A-Za-z_.@?])0x[0-9a-f]+(?![0-9A-Za-z_.@?])")
_MANGLED = re.compile(r"(?<![0-9A-Za-z_$.?])_Z[A-Za-z0-9_$]+")
_RUN = re.compile("11+")
_QUOTED = re.compile(r'"[^";\n]*"')
_BLANKS = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"//[^\n]*")
_DIGITS = str.maketrans("023456789", "111111111")
_STAND_IN = "\x01"  # for 0x1 while digits are folded; a text that holds it is never folded
_MOST_FORMS = 200_000


def fold(text: str) -> str:
    """The forms of many texts at once, one on each line."""
    folded = _HEX.sub(_STAND_IN, _MANGLED.sub("_Zx1", text)).translate(_DIGITS)
    return _RUN.sub("1", folded).replace(_STAND_IN, "0x1")


class Memo:
    """Answers of the grammar by form, kept between listings, forgotten when they grow past a bound."""

    def __init__(self, ask: Callable[[str], object]) -> None:
        self._ask = ask
        self._answers: dict[str, object] = {}

    def __call__(self, form: str) -> object:
        answer = self._answers.get(form, self)
        if answer is self:
            if len(self._answers) >= _MOST_FORMS:
                self._answers.clear()
            answer = self._answers[form] = self._ask(form)
        return answer


_is_guard = Memo(lambda text: is_line(f"/*0000*/ {text}NOP;"))
_is_operand = Memo(lambda form: is_line(f"/*0000*/ NOP RZ, {form}, RZ;"))
_is_tail = Memo(lambda form: is_line(f"/*0000*/ NOP{form};"))
_kind = Memo(kind_of)


def rejected_guards(guards: Collection[str]) -> set[str]:
    """The guards (blanks behind them included, empty for none) that the grammar does not know."""
    return {guard for guard in guards if guard and not _is_guard(guard)}


def rejected_mnemonics(mnemonics: Collection[str]) -> set[str]:
    """The mnemonics that the grammar does not know."""
    return {mnemonic for mnemonic in mnemonics if not is_mnemonic(mnemonic)}


def rejected_tails(tails: Collection[str]) -> set[str]:
    """The texts between mnemonic and semicolon (the blank in front included) that the grammar does not know."""
    filled = set(tails) - {"", " "}
    joined = "\n".join(filled)
    odd: list[str] = []
    if "(*" in joined or _STAND_IN in joined:
        odd = [tail for tail in filled if "(*" in tail or _STAND_IN in tail]
        filled.difference_update(odd)
        joined = "\n".join(filled)
    bad = rejected_pieces(list(set(joined.replace(", ", "\n").split("\n")))) if filled else set()
    suspects = [tail for tail in filled if not bad.isdisjoint(tail.split(", "))] if bad else []
    return {tail for tail in suspects if tail.strip() and not _is_tail(tail)} | {
        tail for tail in odd if not _proved_whole(tail)
    }


def _proved_whole(tail: str) -> bool:
    if _STAND_IN not in tail and _is_tail(fold(_BLANKS.sub(" ", _QUOTED.sub('""', tail)))):
        return True
    return bool(_is_tail(tail))


def rejected_pieces(pieces: list[str]) -> set[str]:
    """The operands that the grammar does not know, in the middle of others."""
    forms = fold("\n".join(pieces)).split("\n")
    bad = {form for form in set(forms) if not _is_operand(form)}
    return {p for p, form in zip(pieces, forms, strict=True) if form in bad and not _is_operand(p)} if bad else set()


def line_kinds(lines: Iterable[str]) -> dict[str, str | None]:
    """The kind of each distinct line by the grammar, None for a line that it does not know."""
    distinct = [line for line in lines if _STAND_IN not in line]
    joined = _QUOTED.sub('""', _COMMENT.sub("//", "\n".join(distinct)))
    forms = fold(joined).split("\n")
    by_form = {form: _kind(form) for form in set(forms)}
    kinds: dict[str, str | None] = {}
    for line, form in zip(distinct, forms, strict=True):
        kind = by_form[form]
        kinds[line] = str(kind) if kind else kind_of(line)
    kinds.update((line, kind_of(line)) for line in lines if line not in kinds)
    return kinds
