"""The functions that a kernel reaches by calls, of those that stand in a report."""

from __future__ import annotations

from collections.abc import Iterable

from sassmix.report import KernelReport

Index = dict[tuple[str, str | None], KernelReport]


def index_of(kernels: Iterable[KernelReport]) -> Index:
    """The entries of a report by name and architecture."""
    return {(kernel.name, kernel.arch): kernel for kernel in kernels}


def reached_from(kernel: KernelReport, index: Index) -> tuple[list[KernelReport], list[str]]:
    """What is called, directly or not, and the calls that lead to what is not here.

    Executed counts hold what was called, or their evidence says that they do not; so there is nothing to follow.
    """
    if kernel.basis != "static":
        return [], []
    found: dict[str, KernelReport] = {kernel.name: kernel}
    open_ends: list[str] = []
    pending = [kernel]
    while pending:
        here = pending.pop()
        if here.unknown_calls:
            open_ends.append(f"{here.name} calls a function that the listing does not name")
        for name in here.calls:
            target = index.get((name, kernel.arch))
            if target is None:
                open_ends.append(f"{here.name} calls {name}, which is not in the input")
            elif name not in found:
                found[name] = target
                pending.append(target)
    del found[kernel.name]
    return list(found.values()), open_ends
