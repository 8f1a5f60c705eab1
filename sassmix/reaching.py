"""What a call leads to, of all that was read: a function of the same listing first, else the only one of its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from sassmix.errors import number_of
from sassmix.report import KernelReport
from sassmix.tally import Tally


class Caller(Protocol):
    """What calls are looked up for. ``home`` is one and the same object for all functions of one listing."""

    @property
    def name(self) -> str: ...
    @property
    def arch(self) -> str | None: ...
    @property
    def home(self) -> object: ...
    @property
    def calls(self) -> Iterable[str]: ...
    @property
    def unknown_calls(self) -> int: ...
    @property
    def tally(self) -> Tally: ...


C = TypeVar("C", bound=Caller)


class Callees(Generic[C]):
    """Functions by name and architecture, as calls name them."""

    def __init__(self, functions: Iterable[C] = ()) -> None:
        self._named: dict[tuple[str, str | None], list[C]] = {}
        for function in functions:
            self._named.setdefault((function.name, function.arch), []).append(function)

    def called_by(self, caller: C) -> tuple[list[C], list[str]]:
        """The functions that a caller names, and why some of them are not known, in words."""
        found: list[C] = []
        open_ends: list[str] = []
        for name in caller.calls:
            possible = self._possible(caller, name)
            if possible and all(_alike(possible[0], other) for other in possible[1:]):
                found.append(possible[0])
            elif possible:
                open_ends.append(
                    f"{caller.name} calls {name}, and {number_of(len(possible), 'function', 'has', 'have')} this name"
                )
            else:
                open_ends.append(f"{caller.name} calls {name}, which is not in the input")
        if caller.unknown_calls:
            open_ends.append(f"{caller.name} calls a function that the listing does not name")
        return found, open_ends

    def _possible(self, caller: C, name: str) -> list[C]:
        named = self._named.get((name, caller.arch), [])
        return [one for one in named if one.home is caller.home] or named


def reached_from(kernel: KernelReport, callees: Callees[KernelReport]) -> tuple[list[KernelReport], list[str]]:
    """What is called, directly or not, and the calls that lead to what is not known.

    Executed counts hold what was called, or their evidence says that they do not; so there is nothing to follow.
    """
    if kernel.basis != "static":
        return [], []
    found = {id(kernel): kernel}
    open_ends: list[str] = []
    pending = [kernel]
    while pending:
        called, ends = callees.called_by(pending.pop())
        open_ends += ends
        new = {id(one): one for one in called if id(one) not in found}
        found |= new
        pending += new.values()
    return [one for one in found.values() if one is not kernel], open_ends


def _alike(one: Caller, other: Caller) -> bool:
    """Whether one stands for the other: a file and its copy. Functions that call need not end up in the same ones."""
    return one.tally == other.tally and not (one.calls or other.calls or one.unknown_calls or other.unknown_calls)
