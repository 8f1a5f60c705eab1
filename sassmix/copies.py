"""Counts that are given more than once: what is surely one launch counts once, what may be a copy is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sassmix.counts import Counts
from sassmix.errors import Problem


def launched_once(found: Sequence[Counts], problems: list[Problem]) -> list[Counts]:
    """Two counts that share what no two launches have in common are one launch, whatever their files are called."""
    first: dict[str, Counts] = {}
    kept = []
    for counts in found:
        if counts.identity is None or first.setdefault(counts.identity, counts) is counts:
            kept.append(counts)
        else:
            what = f"the same samples at the same instructions as in {first[counts.identity].path}: counted once"
            problems.append(Problem("info", counts.path, what))
    return kept


def equal_files(found: Sequence[Counts], digests: Mapping[str, str]) -> Iterator[Problem]:
    """Equal files may be a copy or two runs that did the same, which nothing in them can tell.

    :param digests: a digest of each file, by path. Files of several iterations of one run are several launches.
    """
    first: dict[object, str] = {}
    for path, name in dict.fromkeys((counts.path, counts.names.best) for counts in found):
        other = first.setdefault((digests.get(path), name, iteration(path)), path)
        if path in digests and other != path:
            what = f"{name or 'its counts'}: the same as in {other}, counted again as another run; is it a copy?"
            yield Problem("warning", path, what)


def iteration(path: str) -> str:
    """The number of the iteration in the name of a tracer's file; the launches of each are counted anew."""
    found = re.search(r"_iter([0-9]+)_", Path(path).name)
    return found[1] if found else ""
