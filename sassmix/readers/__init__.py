"""Input kinds. Each is recognised by its content, never by the name of the file alone."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sassmix.errors import InputError, Problem
from sassmix.listing import Listing

if TYPE_CHECKING:
    from sassmix.counts import Counts

#: Bytes from the start of a file by which its kind is told.
HEAD = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A kind of input.

    :param name: shown in messages.
    :param sniff: told the first :data:`HEAD` bytes, says whether the file is of this kind.
    :param read: gives what the file holds, one after the other: listings (a library has many) or counts (a profile
        has many kernels); raises :class:`~sassmix.errors.SassmixError` where it cannot go on.
    :param counts: whether it gives counts, to which listings are joined.
    """

    name: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Path], Iterable[Listing | Counts]]
    counts: bool = False


@dataclass(slots=True, kw_only=True)
class Input:
    """One file of a report: what it is and how to read it."""

    path: Path
    reader: Reader
    sha256: str
    problems: list[Problem] = field(default_factory=list)

    def parts(self) -> Iterator[Listing | Counts]:
        """Read the file, part by part."""
        yield from self.reader.read(self.path)


#: The name that stands for standard input, and how messages and reports call it.
DASH, STDIN = "-", "<stdin>"


@contextmanager
def standard_input() -> Iterator[Path]:
    """A private file with all that comes in: kinds are told from the start and read from it again, some by a tool.

    :raises InputError: if it is closed, or there is no room for it.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="sassmix-") as folder:
            path = Path(folder, STDIN)
            with path.open("wb") as copy:
                if sys.stdin is None:
                    raise InputError(STDIN, "is closed")
                shutil.copyfileobj(sys.stdin.buffer, copy)
            yield path
    except OSError as error:
        raise InputError(STDIN, f"cannot be read: {error.strerror or error}") from error


#: Modules with a ``READER`` each, in the order in which they are asked: the surest signs first.
BUILTIN = (
    "binary",
    "text",
    "nvdisasm_json",
    "cutracer_trace",
    "cutracer_hist",
    "ncu_source",
    "ncu_raw",
    "nvbit",
    "bare",
)


def builtin_readers() -> Iterator[Reader]:
    """The kinds that sassmix itself knows; a module is imported when it is its turn."""
    for name in BUILTIN:
        yield import_module(f"sassmix.readers.{name}").READER


def all_readers() -> Iterator[Reader]:
    """The kinds of the plugins, then the built-in ones."""
    from sassmix.plugins import default_plugins

    yield from default_plugins().readers()
    yield from builtin_readers()


def open_input(path: Path) -> Input:
    """Find out what a file is.

    :raises InputError: for a file that cannot be read, is empty, or is of no known kind.
    """
    head = _head(path, HEAD)
    problems: list[Problem] = []
    for reader in all_readers():
        try:
            if reader.sniff(head):
                return Input(path=path, reader=reader, sha256=_digest(path), problems=problems)
        except Exception as error:  # a plugin's reader may fail in any way, and must not take the others along
            what = f"the reader {reader.name} fails to tell whether it knows the file: {type(error).__name__}: {error}"
            problems.append(Problem("warning", str(path), what))
    from sassmix.readers.text import describe

    raise InputError(str(path), describe(head))


def _head(path: Path, size: int) -> bytes:
    """The start of a file; its kind is told from it before a large file of no known kind is read to its end."""
    try:
        if not path.is_file():
            known = "is not a regular file; use - for standard input"
            raise InputError(str(path), known if path.exists() else "no such file or folder")
        with path.open("rb") as handle:
            head = handle.read(size)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(str(path), f"cannot be read: {reason}") from error
    if not head:
        raise InputError(str(path), "holds zero bytes; the tool that should have written it has written nothing")
    return head


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error


def files_of(folder: Path, problems: list[Problem]) -> list[Path]:
    """The files under a folder, sorted; links to folders are not followed, so circles end nothing."""
    found: list[Path] = []
    pending = [folder]
    while pending:
        here = pending.pop()
        try:
            entries = sorted(here.iterdir())
        except OSError as error:
            problems.append(Problem("warning", str(here), f"the folder cannot be read: {error.strerror or error}"))
            continue
        for entry in entries:
            if entry.is_dir() and not entry.is_symlink():
                pending.append(entry)
            elif entry.is_file():
                found.append(entry)
    return sorted(found)
