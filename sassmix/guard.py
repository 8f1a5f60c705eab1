"""Plugins' code, run so that it harms nothing but itself: what it raises or prints is kept as an error of the plugin.

An error names the line of the plugin that it comes from, and what to do where that is not plain.
"""

from __future__ import annotations

import importlib
import inspect
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any

from sassmix.errors import PluginError, SassmixError
from sassmix.registry import Origin, names_place

if TYPE_CHECKING:
    from sassmix.counts import Counts
    from sassmix.labels import LabelRule
    from sassmix.listing import Listing
    from sassmix.readers import Reader

_ENGINE = Path(__file__).parent
#: Folders whose lines stand between a plugin's and the one that asked it.
_BETWEEN = (_ENGINE, Path(importlib.__file__).parent)
_REMEDIES: tuple[tuple[type[BaseException], str], ...] = (
    (SassmixError, ""),  # it says what to do itself
    (SystemExit, "a plugin must not end Python; raise an error instead"),
    (ImportError, "install what is missing, and name it in the plugin's dependencies"),
    (SyntaxError, "correct the line"),
    (BaseException, "--strict --debug shows the traceback"),
)
_LONGEST = 300


class Guard:
    """Runs plugins' code; ``errors`` says what failed."""

    def __init__(self) -> None:
        self.errors: list[PluginError] = []
        self._blamed: set[tuple[Origin, str]] = set()

    @contextmanager
    def __call__(self, origin: Origin, what: str, failure: str) -> Iterator[None]:
        """Run a plugin's code: it may fail in any way, even leave Python, and must not take the others along.

        :param what: of this only the first failure is kept: what fails for a mnemonic fails for a thousand.
        :param failure: the start of the error's text.
        """
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.blame(origin, what, told(error, failure, origin), error)

    @contextmanager
    def silent(self, origin: Origin, when: str) -> Iterator[None]:
        """Keep what a plugin prints from standard output, where it would spoil a report; it is an error."""
        heard = _Heard()
        with redirect_stdout(heard):
            yield
        if text := heard.getvalue().strip():
            said = f"prints {text[:60]!r} when {when} ({heard.place or origin.module})"
            self.blame(origin, f"print {when}", f"{said}; standard output is the report's, print nothing")

    def blame(self, origin: Origin, what: str, message: str, cause: BaseException | None = None) -> None:
        """Keep an error, unless the plugin has one for the same thing."""
        if (origin, what) not in self._blamed:
            error = origin.error(message)
            error.__cause__ = cause
            self.errors.append(error)
        self._blamed.add((origin, what))


class _Heard(io.StringIO):
    """What is printed, and the plugin's line that printed first."""

    place = ""

    def write(self, text: str) -> int:
        if not self.place:
            called = takewhile(lambda item: not _file(item[0]).is_relative_to(_ENGINE), walk_stack(sys._getframe(1)))
            self.place = _own_line(reversed([*called]))
        return super().write(text)


def told(error: BaseException, failure: str, origin: Origin) -> str:
    """An error in one sentence: ``cannot be loaded: ValueError: no (acme.py, line 3); ...``."""
    line = line_of(error)
    if isinstance(error, PluginError):
        return f"{error.message} ({line})" if line and not names_place(error.message) else error.message
    remedy = next(text for kind, text in _REMEDIES if isinstance(error, kind))
    text = f"{failure}: {type(error).__name__}: {_text(error)} ({line or origin.module})"
    return f"{text}; {remedy}" if remedy else text


def _text(error: BaseException) -> str:
    """The text of any exception, even of one that cannot say it."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception as fault:
        text = f"(its text cannot be made: {type(fault).__name__})"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def line_of(error: BaseException) -> str:
    """Where in the plugin's own folder an error comes from: ``acme.py, line 3``; empty where from none of its lines."""
    if isinstance(error, SyntaxError) and error.filename:
        return _place(error.filename, error.lineno or 1)
    return _own_line(walk_tb(error.__traceback__))


def _own_line(frames: Iterable[tuple[FrameType, int]]) -> str:
    """The innermost line in the folder of the outermost one that is a plugin's; what it calls lies elsewhere."""
    lines = [(_file(frame), line) for frame, line in frames]
    lines = [(file, line) for file, line in lines if not _is_between(file)]
    own = [(file, line) for file, line in lines if file.parent == lines[0][0].parent]
    return _place(*own[-1]) if own else ""


def _file(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename)


def line_of_function(function: Callable[..., Any]) -> str:
    """Where a hook's implementation begins: ``acme.py, line 3``; empty for what is not written in Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return _place(code.co_filename, code.co_firstlineno) if code else ""


def file_name(file: str | Path) -> str:
    """A file without its folder, but for a package's own, which all have one name."""
    path = Path(file)
    return f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name


def _place(file: str | Path, line: int) -> str:
    return f"{file_name(file)}, line {line}"


def _is_between(file: Path) -> bool:
    return str(file).startswith("<") or any(file.is_relative_to(folder) for folder in _BETWEEN)


def guarded_reader(guard: Guard, origin: Origin, reader: Reader) -> Reader:
    """One that knows no file where it fails to tell, and whose plugin is named where it fails to read."""

    def sniff(head: bytes) -> bool:
        with guard(origin, f"sniff {reader.name}", f"the reader {reader.name} fails to tell what a file is"):
            return bool(reader.sniff(head))
        return False

    def read(path: Path) -> Iterator[Listing | Counts]:
        try:
            yield from reader.read(path)
        except (SassmixError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # as in Guard
            raise origin.error(told(error, f"its reader, {reader.name}, fails", origin)) from error

    return replace(reader, sniff=sniff, read=read)


def guarded_rule(guard: Guard, origin: Origin, rule: LabelRule) -> LabelRule:
    """One that does not apply where it fails."""

    def label(name: str) -> str | None:
        with guard(origin, f"label {rule.name}", f"the label rule {rule.name} fails for {name}"):
            found = rule.label(name)
            if found is not None and not isinstance(found, str):
                kind = type(found).__name__
                raise PluginError(
                    f"the label rule {rule.name} gives {kind}, not a text; give None where it does not apply"
                )
            return found
        return None

    return replace(rule, label=label)
