"""A file with cubins in it, by cuobjdump and nvdisasm."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sassmix.attempt import Attempt
from sassmix.errors import InputError, Problem, SassmixError, ToolError, number_of
from sassmix.listing import Listing
from sassmix.readers.disassembly import LINK, TOOL_SAYS, Disassembly, disassembler
from sassmix.readers.text import decode
from sassmix.tools import need_tools

_MEMBER = re.compile(r"(?:ELF|PTX) file +[0-9]+: (.+)")
_SM = re.compile(r"sm_[0-9]+[af]?")
_HOLDER = re.compile(rf"member .*?{LINK}:(.*):")
# One extraction reads the whole library, however little it takes out: thousands of members one by one take hours, and
# all at once fill a small temporary folder.
_BATCH = 256
_MOST_AT_ONCE = 8
_LONGEST_NAME = 255  # bytes that a file system takes


@dataclass(frozen=True, slots=True)
class _Member:
    file: str  # its name in the private folder
    label: str
    arch: str


class Library:
    """A file with cubins in it: taken out in batches, several disassembled at a time, given one after the other."""

    def __init__(self, path: Path, folder: Path, kind: str) -> None:
        self.path, self.folder, self.kind = path, folder, kind
        self.running: deque[tuple[_Member, Disassembly]] = deque()
        self.problems: list[Problem] = []  # wait for a listing to stand in: a member that fails has none of its own
        self.first_error: SassmixError | None = None
        self.cuobjdump = need_tools("cuobjdump", str(path))
        self.how = disassembler(str(path))
        self.said: set[str] = set()
        self.members = self._list("-lelf")
        if len(self.members) == 1:
            self.members = [replace(self.members[0], label=str(path))]
        for arch, count in Counter(member.arch for member in self._list("-lptx")).items():
            what = f"{number_of(count, 'PTX member')} for {arch}: no SASS, not counted"
            self.problems.append(Problem("info", str(path), what))

    def _cuobjdump(self, *options: str) -> str:
        """All calls go to the one version that could list the file: the others may name the members differently."""
        attempt = Attempt(self.cuobjdump, [*options, LINK], folder=self.folder, subject=str(self.path))
        try:
            tool, text = attempt.result(lambda tool, output: (tool, decode(output.stdout)[0]))
        finally:
            attempt.stop()
        self.cuobjdump = [tool]
        for failure in attempt.failures:
            message = f"taken apart with {tool}, which may leave out members that it does not know, as {failure}"
            self.problems.append(Problem("warning", str(self.path), message))
        return text

    def _list(self, option: str) -> list[_Member]:
        found: list[_Member] = []
        holder = ""
        for line in self._cuobjdump(option).splitlines():
            if match := _HOLDER.fullmatch(line):
                holder = f"{match[1]}:"
            elif match := _MEMBER.fullmatch(line):
                name = f"{holder}{self.path.stem}{match[1].removeprefix(LINK)}"  # as cuobjdump calls it for the user
                arch = _SM.findall(match[1])
                found.append(_Member(match[1], f"{self.path}({name})", arch[-1] if arch else "no known architecture"))
        if odd := [member.file for member in found if not _is_name(member.file)]:
            raise ToolError(f"{self.path}: {self.cuobjdump[0]} gives a member a name that is none: {odd[0][:100]!r}")
        return found

    def listings(self) -> Iterator[Listing]:
        """One listing for each member that can be read; the problems of the others stand in the next one."""
        good = 0
        for number, (member, work) in enumerate(self._started(), 1):
            _progress(f"disassembling member {number} of {len(self.members)}")
            try:
                listing = work.listing()
            except SassmixError as error:
                self._failed(member, error)
                continue
            listing.problems = [*self.problems, *filter(self._is_new, listing.problems)]
            self.problems = []
            good += 1
            yield listing
        if self.first_error and not good:
            raise self.first_error
        if self.problems:
            yield Listing(kind=self.kind, functions=[], problems=self.problems, path=str(self.path))
        elif not good:
            raise InputError(str(self.path), "holds no device code")

    def _is_new(self, problem: Problem) -> bool:
        """A tool says the same of each of a thousand members; it is told once, at the first."""
        known = problem.message in self.said
        self.said.update([problem.message] if problem.message.startswith(TOOL_SAYS) else [])
        return not known

    def _started(self) -> Iterator[tuple[_Member, Disassembly]]:
        """Members whose disassembly is under way, as many as there are processors: it takes longer than reading it."""
        for member in self._extracted():
            self.running.append((member, Disassembly(self.how, self.folder / member.file, member.label, self.kind)))
            if len(self.running) > min(_processors(), _MOST_AT_ONCE):
                yield from self._first()
        while self.running:
            yield from self._first()

    def _first(self) -> Iterator[tuple[_Member, Disassembly]]:
        member, work = self.running[0]
        yield member, work
        work.close()  # it may have failed before it was waited for
        self.running.popleft()
        (self.folder / member.file).unlink(missing_ok=True)

    def _extracted(self) -> Iterator[_Member]:
        for start in range(0, len(self.members), _BATCH):
            batch = self.members[start : start + _BATCH]
            error = ToolError(f"{self.path}: {self.cuobjdump[0]} did not take it out of the file")
            try:
                self._cuobjdump("-xelf", ",".join(member.file for member in batch))
            except ToolError as failure:
                error = failure
            for member in batch:
                if (self.folder / member.file).is_file():
                    yield member
                else:
                    self._failed(member, error)

    def _failed(self, member: _Member, error: SassmixError) -> None:
        self.first_error = self.first_error or error
        message = str(error).removeprefix(f"{member.label}: ").removeprefix(f"{self.path}: ")
        self.problems.append(Problem("error", member.label, f"this member is not counted: {message}"))

    def close(self) -> None:
        """Stop what is under way."""
        _progress("")
        for _, work in self.running:
            work.close()


def _processors() -> int:
    """How many this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_name(text: str) -> bool:
    """Whether it can be a file of one folder, and one of several in an option."""
    return (
        Path(text).name == text
        and not {",", "\0"} & set(text)
        and len(text.encode("utf-8", "replace")) <= _LONGEST_NAME
    )


def _progress(text: str) -> None:
    """One line on a terminal, written over by the next; an empty text takes it away."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"\r{text:<60}", end="" if text else "\r", file=sys.stderr, flush=True)
