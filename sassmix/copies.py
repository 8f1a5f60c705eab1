"""Counts that are given more than once: what is surely one launch counts once, what may be a copy is told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sassmix.counts import Counts
from sassmix.errors import Problem
from sassmix.own_texts import by_opcode
from sassmix.readers._zstd import content_digest


def counted_once(found: Sequence[Counts], digests: Mapping[str, str], problems: list[Problem]) -> list[Counts]:
    """The counts without what is surely a copy, the files of one capture put together; what may be a copy is told.

    :param digests: a digest of each file, by path.
    """
    kept = _launched_once(_whole_traces(_without_copies(found, problems)), problems)
    problems += _equal_files(kept, digests)
    return kept


def _without_copies(found: Sequence[Counts], problems: list[Problem]) -> list[Counts]:
    """A copy of a trace, which numbers its launches, is no further launch; two equal histograms may be two."""
    alike = Counter(_outline(counts) for counts in found)
    first: dict[object, str] = {}
    kept = []
    for counts in found:
        copied = counts.launch_ids and alike[_outline(counts)] > 1
        key = (_outline(counts), content_digest(Path(counts.path))) if copied else id(counts)
        if first.setdefault(key, counts.path) == counts.path:
            kept.append(counts)
        else:
            problems.append(Problem("info", counts.path, f"the same trace as {first[key]}; counted once"))
    return kept


def _outline(counts: Counts) -> tuple[object, ...]:
    """What two copies of a trace have in common, however they are compressed; iterations are launches of their own."""
    iteration = _iteration(counts.path)
    return (counts.kind, counts.names.best, iteration, counts.launch_ids, counts.total, len(counts.rows))


def _whole_traces(all_counts: list[Counts]) -> list[Counts]:
    """Put the files of one capture together: those of one kernel and iteration that share a launch.

    Only together do they show how many warps there were, where these ended, and whether every record is here.
    """
    groups: dict[tuple[object, ...], list[Counts]] = {}
    for counts in all_counts:
        key = (counts.names.checksum or counts.names.best, _iteration(counts.path))
        whole = counts.kind == "cutracer-trace" and counts.launch_ids
        groups.setdefault(key if whole else (id(counts),), []).append(counts)
    return [counts for group in groups.values() for counts in (_together(group) if len(group) > 1 else group)]


def _together(parts: list[Counts]) -> list[Counts]:
    shared = Counter(launch for part in parts for launch in part.launch_ids)
    split = [part for part in parts if any(shared[launch] > 1 for launch in part.launch_ids)]
    if not any(part.gaps for part in split):  # all are whole by themselves: runs that number their launches anew
        return parts
    from sassmix.readers.cutracer_trace import read_together

    joined = list(read_together([Path(part.path) for part in split]))
    return [*joined, *(part for part in parts if part not in split)]


def _launched_once(found: Sequence[Counts], problems: list[Problem]) -> list[Counts]:
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


def _equal_files(found: Sequence[Counts], digests: Mapping[str, str]) -> Iterator[Problem]:
    """Equal files, or equal counts in two, may be a copy or two runs that did the same, which nothing in them can tell.

    :param digests: a digest of each file, by path. Files of several iterations of one run are several launches.
    """
    if len({counts.path for counts in found}) < 2:
        return
    first: dict[object, str] = {}
    copies: dict[tuple[str, str | None], str] = {}
    for counts in found:
        path, name, iteration = counts.path, counts.names.best, _iteration(counts.path)
        keys = [(digests[path], name, iteration)] if path in digests else []
        others = [first.setdefault(key, path) for key in (*keys, *_alike(counts, iteration))]
        if other := next((other for other in others if other != path), ""):
            copies.setdefault((path, name), other)
    for (path, name), other in copies.items():
        what = f"{name or 'its counts'}: the same as in {other}, counted again as another run; is it a copy?"
        yield Problem("warning", path, what)


def _alike(counts: Counts, iteration: str) -> list[object]:
    """What two exports of one launch have in common; none where something in them tells launches apart."""
    if not counts.rows or not counts.names.known or counts.identity or counts.launch_ids:
        return []
    opcodes = by_opcode((row.mnemonic or row.name or "", row.issued) for row in counts.rows)
    return [(counts.kind, counts.names.best, iteration, frozenset((+opcodes).items()))]


def _iteration(path: str) -> str:
    """The number of the iteration in the name of a tracer's file; the launches of each are counted anew."""
    found = re.search(r"_iter([0-9]+)_", Path(path).name)
    return found[1] if found else ""
