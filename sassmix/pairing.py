"""Which kernel of one report is which of another? By name only; several possible ones are paired with none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sassmix.labels import bare_names, demangled
from sassmix.matching import without_hash
from sassmix.report import KernelReport
from sassmix.spelling import normalised

#: From this many instructions on, equal ones hint at one kernel with two names.
_TELLING = 16
_MOST_CANDIDATES = 5
_Key = Callable[[KernelReport], Hashable]


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel before and after; one of them is None where nothing fits.

    :param how: ``exact``, ``ignoring-build-hash``, ``demangled`` or ``none``.
    :param candidates: names on the other side that may be meant, each with the reason; never chosen.
    """

    before: KernelReport | None
    after: KernelReport | None
    how: str = "none"
    candidates: dict[str, str] = field(default_factory=dict)

    @property
    def either(self) -> KernelReport:
        """The kernel before, else the one after."""
        found = self.before or self.after
        assert found is not None
        return found

    @property
    def names(self) -> set[str]:
        """The names on both sides."""
        return {kernel.name for kernel in (self.before, self.after) if kernel}


def pairs(before: Sequence[KernelReport], after: Sequence[KernelReport]) -> list[Pair]:
    """Pair the kernels of two reports: those of ``before`` in their order, then what is new.

    On one architecture first. On different ones only where a name stands once on either side: a build that drops one
    architecture and adds another has no pair.
    """
    pairing = _Pairing(before, after)
    for how, name in _NAMES:
        for place in (_arch, _number):
            pairing.join(how, _both(name, place))
        pairing.join_anywhere(how, name)
    return list(pairing.result())


def _both(name: _Key, place: _Key) -> _Key:
    return lambda kernel: (name(kernel), place(kernel))


def _arch(kernel: KernelReport) -> str | None:
    return kernel.arch


def _number(kernel: KernelReport) -> str | None:
    return kernel.arch.rstrip("af") if kernel.arch else None


def _unhashed(kernel: KernelReport) -> str:
    return without_hash(kernel.name)


def _declared(kernel: KernelReport) -> str:
    return normalised(demangled(kernel.name) or kernel.name)


#: The ways of naming that are tried, the most exact first.
_NAMES: tuple[tuple[str, _Key], ...] = (
    ("exact", lambda kernel: kernel.name),
    ("ignoring-build-hash", _unhashed),
    ("demangled", _declared),
)


def contents(kernel: KernelReport) -> Hashable:
    """Every mnemonic of a kernel with its count, and how many of them do nothing."""
    return tuple(frozenset((row.name, row.count) for row in part.rows) for part in (kernel.tally, kernel.idle))


class _Pairing:
    """Kernels still without a partner, by their place in their report."""

    def __init__(self, before: Sequence[KernelReport], after: Sequence[KernelReport]) -> None:
        self._sides = (before, after)
        self._left = (dict.fromkeys(range(len(before))), dict.fromkeys(range(len(after))))
        self._partners: dict[int, tuple[int, str]] = {}
        self._several: tuple[dict[int, tuple[list[int], str]], ...] = ({}, {})

    def join(self, how: str, key: _Key) -> None:
        """Pair what has a key that nothing else has, of what is left."""
        for olds, news in self._groups(key, self._left):
            for old, new in self._equal(olds, news):
                self._pair(old, new, how)
            self._settle(how, olds, news, "several have this name")

    def join_anywhere(self, how: str, key: _Key) -> None:
        """Pair across architectures, where a key stands once on each side in all."""
        for olds, news in self._groups(key, (range(len(self._sides[0])), range(len(self._sides[1])))):
            several = len(olds) + len(news) > 2
            self._settle(how, olds, news, "this name on another architecture", several=several)

    def _settle(self, how: str, olds: list[int], news: list[int], why: str, *, several: bool = False) -> None:
        """Pair the only ones that are left; where there are more, none, and not later either."""
        left = [[place for place in places if place in self._left[side]] for side, places in enumerate((olds, news))]
        if len(left[0]) == len(left[1]) == 1 and not several:
            self._pair(left[0][0], left[1][0], how)
        elif all(left):
            self._give_up(left[0], left[1], why)

    def _groups(self, key: _Key, places: Sequence[Iterable[int]]) -> list[tuple[list[int], list[int]]]:
        groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, kernels in enumerate(self._sides):
            for place in places[side]:
                groups[key(kernels[place])][side].append(place)
        return [group for group in groups.values() if all(group)]

    def _give_up(self, olds: list[int], news: list[int], why: str) -> None:
        for side, (mine, others) in enumerate(((olds, news), (news, olds))):
            for place in mine:
                self._several[side][place] = (others, why)
                del self._left[side][place]

    def _equal(self, olds: list[int], news: list[int]) -> Iterator[tuple[int, int]]:
        """Where a name stands several times, those with the same instructions belong together."""
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for new in news:
            waiting[contents(self._sides[1][new])].append(new)
        for old in olds:
            if same := waiting.get(contents(self._sides[0][old])):
                yield old, same.pop(0)

    def _pair(self, old: int, new: int, how: str) -> None:
        self._partners[old] = (new, how)
        del self._left[0][old], self._left[1][new]

    def result(self) -> Iterator[Pair]:
        before, after = self._sides
        taken = {new for new, _ in self._partners.values()}
        alone = (
            [k for place, k in enumerate(before) if place not in self._partners],
            [k for place, k in enumerate(after) if place not in taken],
        )
        hints = (_Hints(alone[1]), _Hints(alone[0]))
        for place, kernel in enumerate(before):
            new, how = self._partners.get(place, (None, "none"))
            if new is None:
                yield Pair(kernel, None, how, self._candidates(0, place, hints[0]))
            else:
                yield Pair(kernel, after[new], how)
        for place, kernel in enumerate(after):
            if place not in taken:
                yield Pair(None, kernel, "none", self._candidates(1, place, hints[1]))

    def _candidates(self, side: int, place: int, hints: _Hints) -> dict[str, str]:
        others, why = self._several[side].get(place, ([], ""))
        if others:
            return {self._sides[1 - side][other].name: why for other in others[:_MOST_CANDIDATES]}
        return hints.of(self._sides[side][place])


def _base(kernel: KernelReport) -> str:
    """The last part of a name, without namespaces, template arguments and parameters."""
    bare = bare_names(kernel.name)
    return bare[-1].rpartition("::")[2] if bare else _unhashed(kernel).partition("(")[0]


def _folded(kernel: KernelReport) -> str:
    return _unhashed(kernel).casefold()


def _many(kernel: KernelReport) -> Hashable:
    return contents(kernel) if kernel.tally.total >= _TELLING else None


#: Why a kernel may be another one with a new name.
_LIKENESSES: tuple[tuple[str, _Key], ...] = (
    ("the same base name", _base),
    ("differs in case only", _folded),
    ("the same instructions", _many),
)


class _Hints:
    """Kernels without a partner, by what makes them like another."""

    def __init__(self, kernels: Iterable[KernelReport]) -> None:
        self._index: dict[tuple[str, Hashable], list[str]] = defaultdict(list)
        for kernel in kernels:
            for why, key in _LIKENESSES:
                self._index[(why, key(kernel))].append(kernel.name)

    def of(self, kernel: KernelReport) -> dict[str, str]:
        found: dict[str, str] = {}
        for why, key in _LIKENESSES:
            like = key(kernel)
            for name in self._index.get((why, like), []) if like is not None else ():
                found.setdefault(name, why)
        return dict(list(found.items())[:_MOST_CANDIDATES])
