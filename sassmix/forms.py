"""The fast path: prove each *form* once by the grammar instead of each line.

A form is what is left of a text when numbers are folded: digits become ``1``, hexadecimal numbers ``0x1``, mangled
names ``_Zx1``. Every terminal of the grammar that holds a digit accepts any digits there, so a form that is accepted
stands for all its texts. A form that is rejected proves nothing: the text itself is then asked.

Splitting an instruction into guard, mnemonic and operands and proving each piece in its own place is sound because the
grammar is ``guard? MNEMONIC operand ("," operand)*`` and no piece holds ``", "`` or ``(*``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import cast

from sassmix.grammar import FORMS, is_line, is_mnemonic, kind_of, prepared

# Literal beginnings and nothing to look behind for: that is what makes a search fast.
_HEX = re.compile(r"0x[0-9a-f]+")
_MANGLED = re.compile(r"_Z[A-Za-z0-9_]+")  # no `$`, which a word may not hold and a symbol may
_RUN = re.compile("11+")
_QUOTED = re.compile(r'"[^";\n]*"')
_NOTE = re.compile(r'"[^"();`\n]*"')  # what may stand in an annotation and in a symbol
_BLANKS = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"//[^\n]*")
_DIGITS = str.maketrans("023456789", "111111111")
_HALF = str.maketrans("23456789", "11111111")
_STAND_IN = "\x01"  # for 0x1 while digits are folded; a text that holds it is never folded
_MOST_FORMS = 200_000


def fold(text: str) -> str:
    """The forms of many texts at once, one on each line."""
    return _RUN.sub("1", _without_numbers(_MANGLED.sub("_Zx1", text))).replace(_STAND_IN, "0x1")


def _without_numbers(text: str) -> str:
    """As many digits as before, and one character for each hexadecimal number."""
    return _HEX.sub(_STAND_IN, text).translate(_DIGITS)


class Memo:
    """Answers of the grammar by form, kept between listings, forgotten when they grow past a bound.

    The first answers are those that were proved when the package was made.
    """

    def __init__(self, name: str, ask: Callable[[str], object]) -> None:
        self.name = name
        self._ask = ask
        self._answers: dict[str, object] | None = None

    def __call__(self, form: str) -> object:
        if self._answers is None:
            known = (prepared(FORMS) or {}).get(self.name)
            self._answers = dict(known) if isinstance(known, dict) else {}
        answer = self._answers.get(form, self)
        if answer is self:
            if len(self._answers) >= _MOST_FORMS:
                self._answers.clear()
            answer = self._answers[form] = self._ask(form)
        return answer

    def accepted(self) -> dict[str, object]:
        """The forms that the grammar knows so far, each with its answer."""
        return {form: answer for form, answer in (self._answers or {}).items() if answer}


_is_guard = Memo("guard", lambda text: len(text.split()) == 1 and is_line(f"/*0000*/ {text}NOP;"))
_is_operand = Memo("operand", lambda form: is_line(f"/*0000*/ NOP RZ, {form}, RZ;"))
_is_tail = Memo("tail", lambda form: is_line(f"/*0000*/ NOP{form};"))
_kind = Memo("line", kind_of)


def accepted() -> dict[str, object]:
    """Everything that the grammar has accepted so far, by the name of the question."""
    return {memo.name: memo.accepted() for memo in (_is_guard, _is_operand, _is_tail, _kind)}


def rejected_guards(guards: Collection[str]) -> set[str]:
    """The guards (blanks behind them included, empty for none) that the grammar does not know."""
    return {guard for guard in guards if guard and not _is_guard(guard)}


def rejected_mnemonics(mnemonics: Collection[str]) -> set[str]:
    """The mnemonics that the grammar does not know."""
    return {mnemonic for mnemonic in mnemonics if not is_mnemonic(mnemonic)}


def half_folded(joined: str) -> set[str]:
    """What is left of texts, one on each line, once most digits are folded: few texts for the costly rest."""
    return set(joined.translate(_HALF).split("\n"))


def rejected_tails(tails: Sequence[str], half: set[str]) -> set[str]:
    """The texts between mnemonic and semicolon (the blank in front included) that the grammar does not know.

    :param half: the same as :func:`half_folded` leaves them; nearly always all are proved by these.
    """
    if not _rejected(half):
        return set()
    return _rejected(set(tails))


def _rejected(tails: set[str]) -> set[str]:
    plain, odd = list(tails - {"", " "}), list[str]()
    joined = "\n".join(plain)
    if "(*" in joined or _STAND_IN in joined:
        odd = [tail for tail in plain if "(*" in tail or _STAND_IN in tail]
        plain = list(set(plain).difference(odd))
        joined = "\n".join(plain)
    shapes = _without_numbers(joined).split("\n") if plain else []
    operands = set(_as_operands(", ".join(set(shapes)))) if plain else set()  # of few shapes: most tails share one
    bad = rejected_pieces(list(operands)) if operands else set()
    pairs = zip(plain, shapes, strict=True) if bad else ()
    suspects = [tail for tail, shape in pairs if not bad.isdisjoint(_as_operands(shape))]
    return {tail for tail in suspects if tail.strip(" \t") and not _is_tail(tail)} | _rejected_whole(odd)


def _as_operands(shapes: str) -> list[str]:
    return shapes.replace(_STAND_IN, "0x1").split(", ")


def _rejected_whole(tails: list[str]) -> set[str]:
    """Texts that cannot be proved piece by piece: annotations behind the operands, and what folding would spoil."""
    plain = [tail for tail in tails if _STAND_IN not in tail]
    forms = fold(_BLANKS.sub(" ", _NOTE.sub('""', "\n".join(plain)))).split("\n") if plain else []
    proved = {tail for tail, form in zip(plain, forms, strict=True) if _is_tail(form)}
    return {tail for tail in tails if tail not in proved and not _is_tail(tail)}


def rejected_pieces(pieces: list[str]) -> set[str]:
    """The operands that the grammar does not know, in the middle of others."""
    forms = fold("\n".join(pieces)).split("\n")
    bad = {form for form in set(forms) if not _is_operand(form)}
    return {p for p, form in zip(pieces, forms, strict=True) if form in bad and not _is_operand(p)} if bad else set()


def line_kinds(lines: Sequence[str]) -> list[str | None]:
    """The kind of each line by the grammar, None for a line that it does not know."""
    joined = "\n".join(lines)
    if _STAND_IN in joined:  # folding would spoil these lines
        plain = line_kinds(["" if _STAND_IN in line else line for line in lines])
        return [kind_of(line) if _STAND_IN in line else kind for line, kind in zip(lines, plain, strict=True)]
    forms = fold(_QUOTED.sub('""', _COMMENT.sub("//", joined))).split("\n")
    by_form = {form: _kind(form) for form in set(forms)}
    kinds = [cast("str | None", by_form[form]) for form in forms]
    if None in by_form.values():
        odd = {line: kind_of(line) for line in {line for line, kind in zip(lines, kinds, strict=True) if kind is None}}
        kinds = [kind or odd[line] for kind, line in zip(kinds, lines, strict=True)]
    return kinds
