"""Names that look alike: hints for a person, never a match. Looked up, so that many names cost little more than one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

_MOST = 10
#: Characters of a name that are looked at for a part of another; more are compared from their beginning only.
_LONGEST = 64
#: Names with the same beginning or end that are compared letter by letter.
_MOST_COMPARED = 40
#: Names in one another that are asked for; of a text such as ``k`` there may be as many as there are names.
_MOST_PARTS = 200
_ENDS = 2
_BETWEEN = "\n"


class Alike:
    """Names by what they are without namespaces, arguments and case.

    :param names: each name with the last part of it, by which it is compared.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._owners: dict[str, dict[str, None]] = {}
        for name, base in names:
            self._owners.setdefault(base.casefold(), {})[name] = None

    def to(self, bases: Sequence[str], part: str | None = None) -> list[str]:
        """At most ten names: of another case or other arguments, in one another, or else nearly spelt the same.

        :param bases: last parts of names.
        :param part: the beginning of a whole name.
        """
        wanted = dict.fromkeys(base.casefold() for base in bases)
        near = chain.from_iterable(chain(self._same(one), self._parts(one), self._wholes(one)) for one in wanted)
        begun = self._beginning(part.casefold()) if part else iter(())
        found = self._named(chain(near, begun))
        return found or self._named(base for one in wanted for base in self._misspelt(one))

    def _named(self, bases: Iterable[str]) -> list[str]:
        names = chain.from_iterable(self._owners[base] for base in dict.fromkeys(bases))
        return list(islice(dict.fromkeys(names), _MOST))

    def _same(self, wanted: str) -> Iterator[str]:
        return iter((wanted,) if wanted in self._owners else ())

    def _parts(self, wanted: str) -> Iterator[str]:
        """Names that stand in the one wanted."""
        short = wanted[:_LONGEST]
        ends = range(1, len(short) + 1)
        parts = dict.fromkeys(short[start:end] for end in ends for start in range(end))
        return (part for part in parts if part in self._owners)

    def _wholes(self, wanted: str) -> Iterator[str]:
        """Names in which the one wanted stands: the places in the text of all of them, sorted by what follows."""
        text, places = self._text, self._places
        short = wanted[:_LONGEST]
        first = bisect_left(places, short, key=lambda place: text[place : place + len(short)])
        for place in places[first : first + _MOST_PARTS]:
            if not text.startswith(short, place):
                return
            if text.startswith(wanted, place):
                yield text[text.rfind(_BETWEEN, 0, place) + 1 : text.find(_BETWEEN, place)]

    def _beginning(self, part: str) -> Iterator[str]:
        first = bisect_left(self._whole_names, (part,))
        return (base for name, base in self._whole_names[first : first + _MOST] if name.startswith(part))

    def _misspelt(self, wanted: str) -> list[str]:
        from difflib import get_close_matches  # only where something is misspelt

        alike = chain(self._by_ends.get(wanted[:_ENDS], ()), self._by_ends.get(wanted[-_ENDS:], ()))
        return get_close_matches(wanted, dict.fromkeys(islice(alike, _MOST_COMPARED)), n=_MOST)

    @cached_property
    def _text(self) -> str:
        clean = (base for base in self._owners if _BETWEEN not in base)
        return _BETWEEN + _BETWEEN.join(clean) + _BETWEEN

    @cached_property
    def _places(self) -> list[int]:
        text = self._text
        return sorted(range(len(text)), key=lambda place: text[place : place + _LONGEST])

    @cached_property
    def _whole_names(self) -> list[tuple[str, str]]:
        return sorted((name.casefold(), base) for base, names in self._owners.items() for name in names)

    @cached_property
    def _by_ends(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for base in self._owners:
            if len(base) <= _LONGEST:
                for end in {base[:_ENDS], base[-_ENDS:]}:
                    found.setdefault(end, []).append(base)
        return found
