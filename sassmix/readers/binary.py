"""Cubins, fat binaries, and host objects, libraries and archives that embed cubins, read by NVIDIA's own tools.

Every cubin goes through ``nvdisasm -c``, as its listing has labels and symbols that ``cuobjdump -sass`` does not print;
cuobjdump only takes the cubins out. The tools never see a file's own name: they get a link in a private folder.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path

from sassmix.errors import InputError, Problem, SassmixError, ToolError
from sassmix.listing import Listing
from sassmix.parsing import parse
from sassmix.readers import Reader
from sassmix.readers.text import decode
from sassmix.tools import Attempt, Output, Tool, find_tools, need_tools

_ELF, _FATBIN, _ARCHIVE = b"\x7fELF", b"\x50\xed\x55\xba", b"!<arch>\n"
_EM_CUDA = 190
_LINK = "the-file"  # no word of a tool's messages, in which it is replaced by the name of the file
_TOOL_SAYS = "the tool says: "
_MEMBER = re.compile(r"(?:ELF|PTX) file +[0-9]+: (.+)")
_SM = re.compile(r"sm_[0-9]+[af]?")
_HOLDER = re.compile(rf"member .*?{_LINK}:(.*):")
# One extraction reads the whole library, however little it takes out: 4 s for cuBLASLt, which has 5367 members
# (1.3 GB). One by one that is six hours, all at once it fills a small temporary folder.
_BATCH = 256
_MOST_AT_ONCE = 8
_NOTE_ARCH = re.compile(rb"-arch[ =](sm_[0-9]+[af]?)\b")
_NOTE_TOOLKIT = re.compile(rb"release [0-9.]+, V([0-9.]+)")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_IN_FILE = frozenset({1, 2, 3})  # PROGBITS, SYMTAB, STRTAB; NVIDIA has types of its own that take no room in the file


@dataclass(frozen=True, slots=True)
class _Elf:
    """What is read from an ELF file without any tool. A struct and 30 lines do; no dependency for that."""

    machine: int
    abi: int
    flags: int
    sections: dict[str, bytes]  # only the notes of the compiler, and the code's sections, these without their bytes

    @property
    def has_code(self) -> bool:
        return any(name.startswith(".text.") for name in self.sections)

    @property
    def arch(self) -> str:
        """The flags have the number; the letter stands there (ABI 7 and early ABI 8) or in the compiler's options."""
        new = self.abi >= 8
        number = self.flags >> 8 & 0xFF if new else self.flags & 0xFF
        plain = f"sm_{number}"
        option = _NOTE_ARCH.search(self._note)
        if option and option[1].decode().rstrip("af") == plain:
            return option[1].decode()
        return plain + ("a" if self.flags & (0x8 if new else 0x800) else "")

    @property
    def toolkit(self) -> str | None:
        """The version of the compiler; in front of it in the notes may stand a tool that rewrote its output."""
        return found[-1].decode() if (found := _NOTE_TOOLKIT.findall(self._note)) else None

    @property
    def _note(self) -> bytes:
        return self.sections.get(".note.nv.tkinfo", b"")


def _read_elf(data: mmap, path: str) -> _Elf:
    """:raises InputError: for a file that is shorter than its tables say."""
    if len(data) < 64:
        raise InputError(path, "is cut off: not even the ELF header is whole")
    if data[4] != 2 or data[5] != 1:
        return _Elf(data[18] | data[19] << 8, data[8], 0, {})
    programs, table, flags, _, each, count, size, number, names = struct.unpack_from("<QQIHHHHHH", data, 32)
    _inside(data, programs + each * count, path, "program headers")
    _inside(data, table + size * max(number, bool(table)), path, "section headers")
    if not table or size != _SECTION.size:
        return _Elf(data[18] | data[19] << 8, data[8], flags, {})
    first = _SECTION.unpack_from(data, table)
    number, names = number or first[5], first[6] if names == 0xFFFF else names  # more than fits into 16 bits
    _inside(data, table + size * max(number, names + 1), path, "section headers")
    rows = [_SECTION.unpack_from(data, table + size * index) for index in range(number)]
    return _Elf(data[18] | data[19] << 8, data[8], flags, _sections(data, rows, names, path))


def _sections(data: mmap, rows: Sequence[tuple[int, ...]], names: int, path: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for row in rows:
        if row[1] in _IN_FILE:
            _inside(data, row[4] + row[5], path, "sections")
        start = rows[names][4] + row[0] if names < len(rows) else len(data)
        name = data[start : max(start, data.find(b"\0", start))].decode("utf-8", "replace")
        if name.startswith(".text.") and row[1] == 1 and row[5]:
            found[name] = b""
        elif name == ".note.nv.tkinfo":
            found[name] = data[row[4] : row[4] + row[5]]
    return found


def _inside(data: mmap, end: int, path: str, what: str) -> None:
    if end > len(data):
        raise InputError(path, f"is cut off: its {what} reach to byte {end}, the file has {len(data)}")


def _sniff(head: bytes) -> bool:
    return head.startswith((_ELF, _FATBIN, _ARCHIVE))


def _read(path: Path) -> Iterator[Listing]:
    head, elf, fat = _open(path, str(path))
    if elf and elf.machine == _EM_CUDA:
        yield from _cubin(path)
    elif fat:
        yield from _members(path, "fatbin" if head.startswith(_FATBIN) else "elf")
    else:
        raise InputError(str(path), "holds no device code: no fat binary is embedded in it")


def _open(path: Path, name: str) -> tuple[bytes, _Elf | None, bool]:
    """The start of a file, its ELF tables if it has any, and whether a fat binary stands anywhere in it."""
    try:
        with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            elf = _read_elf(data, name) if data[:4] == _ELF else None
            return data[:8], elf, (elf is None or elf.machine != _EM_CUDA) and data.find(_FATBIN) >= 0
    except (OSError, ValueError) as error:
        raise InputError(name, f"cannot be read: {error}") from error


def _private(path: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder with a link to the file."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="sassmix-")
        try:
            Path(folder.name, _LINK).symlink_to(path.resolve())
        except OSError:  # some systems keep links from users
            shutil.copyfile(path, Path(folder.name, _LINK))
    except OSError as error:
        raise ToolError(f"{path}: no temporary folder for it: {error}") from error
    return folder


def _cubin(path: Path) -> Iterator[Listing]:
    how = _disassembler(str(path))
    with _private(path) as folder, closing(_Disassembly(how, Path(folder, _LINK), str(path), "cubin")) as work:
        listing = work.listing()
    yield listing


def _members(path: Path, kind: str) -> Iterator[Listing]:
    with _private(path) as folder, closing(_Library(path, Path(folder), kind)) as library:
        yield from library.listings()


class _Disassembly:
    """One cubin being disassembled."""

    def __init__(self, how: tuple[list[Tool], str], file: Path, subject: str, kind: str) -> None:
        self.file, self.subject, self.kind = file, subject, kind
        self._attempt = Attempt(how[0], [how[1], file.name], folder=file.parent, subject=subject)

    def listing(self) -> Listing:
        """Wait for the tool and read what it prints.

        :raises SassmixError: if no tool could read the cubin, or it is not whole.
        """
        elf = _open(self.file, self.subject)[1]
        if elf is None:
            raise InputError(self.subject, "is no ELF file")
        return self._attempt.result(lambda tool, output: self._read(elf, tool, output))

    def _read(self, elf: _Elf, tool: Tool, output: Output) -> Listing:
        subject = self.subject
        listing = parse(decode(output.stdout)[0], path=subject)
        if not output.stdout.strip() or (elf.has_code and not listing.lines["code"]):
            raise ToolError(f"{subject}: {tool} printed no listing{_first_line(output)}; try another version of it")
        listing.kind, listing.tool, listing.toolkit = self.kind, str(tool), elf.toolkit
        notes = [f"read with {tool}, as {failure}" for failure in self._attempt.failures]
        notes += [f"{_TOOL_SAYS}{said}" for said in output.messages]
        listing.problems[:0] = [Problem("warning", subject, note) for note in notes]
        _name_arch(listing, elf.arch)
        return listing

    def close(self) -> None:
        """Stop the tool."""
        self._attempt.stop()


def _disassembler(subject: str) -> tuple[list[Tool], str]:
    """nvdisasm; cuobjdump alone can do where NVDISASM_PATH leads it to one that is not found otherwise."""
    tools = find_tools("nvdisasm")
    if not tools and "NVDISASM_PATH" in os.environ and (others := find_tools("cuobjdump")):
        return others, "-sass"
    return tools or need_tools("nvdisasm", subject), "-c"


def _first_line(output: Output) -> str:
    lines = decode(output.stdout[:4096])[0].strip().splitlines()
    return f" but {lines[0][:100]!r}" if lines else ""


def _name_arch(listing: Listing, exact: str) -> None:
    """An older tool prints no architecture that it does not know by name, and not the letter of one that it does."""
    for function in listing.functions:
        if function.arch in (None, exact.rstrip("af")):
            function.arch = exact
    if listing.arch in (None, exact.rstrip("af")) and {f.arch for f in listing.functions} <= {exact}:
        listing.arch = exact


@dataclass(frozen=True, slots=True)
class _Member:
    file: str  # its name in the private folder
    label: str
    arch: str


class _Library:
    """A file with cubins in it: taken out in batches, several disassembled at a time, given one after the other."""

    def __init__(self, path: Path, folder: Path, kind: str) -> None:
        self.path, self.folder, self.kind = path, folder, kind
        self.running: deque[tuple[_Member, _Disassembly]] = deque()
        self.problems: list[Problem] = []  # wait for a listing to stand in: a member that fails has none of its own
        self.first_error: SassmixError | None = None
        self.cuobjdump = need_tools("cuobjdump", str(path))
        self.how = _disassembler(str(path))
        self.said: set[str] = set()
        self.members = self._list("-lelf")
        if len(self.members) == 1:
            self.members = [replace(self.members[0], label=str(path))]
        for arch, count in Counter(member.arch for member in self._list("-lptx")).items():
            what = f"a PTX member for {arch}: it holds" if count == 1 else f"{count} PTX members for {arch}: they hold"
            rest = "is" if count == 1 else "are"
            self.problems.append(Problem("info", str(path), f"{what} no SASS and {rest} not counted"))

    def _cuobjdump(self, *options: str) -> str:
        """All calls go to the one version that could list the file: the others may name the members differently."""
        attempt = Attempt(self.cuobjdump, [*options, _LINK], folder=self.folder, subject=str(self.path))
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
                name = f"{holder}{self.path.stem}{match[1].removeprefix(_LINK)}"  # as cuobjdump calls it for the user
                arch = _SM.findall(match[1])
                found.append(_Member(match[1], f"{self.path}({name})", arch[-1] if arch else "no known architecture"))
        if any(Path(member.file).name != member.file or "," in member.file for member in found):
            raise ToolError(f"{self.path}: {self.cuobjdump[0]} gives a member a name that is none: {found[0].file!r}")
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
        self.said.update([problem.message] if problem.message.startswith(_TOOL_SAYS) else [])
        return not known

    def _started(self) -> Iterator[tuple[_Member, _Disassembly]]:
        """Members whose disassembly is under way, as many as there are processors: it takes longer than reading it."""
        for member in self._extracted():
            self.running.append((member, _Disassembly(self.how, self.folder / member.file, member.label, self.kind)))
            if len(self.running) > min(os.cpu_count() or 1, _MOST_AT_ONCE):
                yield from self._first()
        while self.running:
            yield from self._first()

    def _first(self) -> Iterator[tuple[_Member, _Disassembly]]:
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


def _progress(text: str) -> None:
    """One line on a terminal, written over by the next; an empty text takes it away."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None and sys.stderr.isatty():
            print(f"\r{text:<60}", end="" if text else "\r", file=sys.stderr, flush=True)


READER = Reader(name="binary", sniff=_sniff, read=_read)
