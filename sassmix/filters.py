"""Why was nothing captured? Names that a tracer was told to look for, against the kernels that there are.

Tracers compare names with upper and lower case and end with status 0 where no kernel fits, so the filter of a script or
a log beside the data is the only trace of the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sassmix.counts import Counts
from sassmix.errors import Problem
from sassmix.labels import demangled
from sassmix.listing import Function
from sassmix.matching import match

#: How CUTracer is told its filter: a variable, in a script or its log, or an option of its command.
_FILTER = re.compile(rb"(?:KERNEL_FILTERS[ \t]*[=:]|--kernel-filters[= \t])[ \t]*[\"']?([^\"'\s;&|]{1,500})")
_READ = 1 << 18
_MOST_FILES = 200


def filter_problems(paths: Iterable[str], names: Iterable[str]) -> Iterator[Problem]:
    """Filters that fit no kernel, while one has the name in another case.

    :param paths: files beside the inputs that are of no known kind: scripts, logs.
    :param names: of all functions and traced kernels, mangled or not.
    """
    known = dict.fromkeys(names)
    spelt = {text: name for name in known for text in (name, demangled(name)) if text}
    for path in list(paths)[:_MOST_FILES] if spelt else ():
        for line, word in _filters(Path(path)):
            alike = [text for text in spelt if word.lower() in text.lower()]
            if alike and not any(word in text for text in spelt):
                what = f"the filter {word!r} fits no kernel: case counts, and what is here is {alike[-1]!r}"
                yield Problem("warning", path, what, line)


def _filters(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(_READ)
    except OSError:
        return
    for found in _FILTER.finditer(text):
        for word in filter(None, found[1].decode("utf-8", "replace").split(",")):
            yield text.count(b"\n", 0, found.start()) + 1, word


def empty_problems(all_counts: Iterable[Counts], functions: Sequence[Function]) -> Iterator[Problem]:
    """Sources without counts, with the functions that they may have been meant for."""
    for counts in all_counts:
        if counts.rows:
            continue
        found = match(counts.names, counts.arch, functions)
        wanted = counts.names.best
        what = "holds no counts: nothing was captured"
        if wanted and functions and found.function is None:
            near = f"; there is {', '.join(found.candidates)}" if found.candidates else ""
            what += f"; no function is called {wanted!r}{near}"
        yield Problem("warning", counts.path, what)
