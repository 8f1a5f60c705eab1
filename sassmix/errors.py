"""Every error that sassmix raises, and the problem that it reports instead of raising.

An error ends the work on what it names; a :class:`Problem` is part of a report that was made all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["info", "warning", "error"]
#: Problems of one kind that a reader tells one by one; of the rest it tells how many there are.
TOLD = 20


class SassmixError(Exception):
    """Base of all errors of sassmix; its text is one sentence for the person who ran the command."""


class ListingSyntaxError(SassmixError):
    """Text that the grammar of listings does not know.

    :param path: file name or another name of the text, None where it has none.
    :param line: line number, from 1.
    :param column: column of the first character that does not fit, from 1.
    :param text: the line as it stands in the input.
    """

    def __init__(self, message: str, *, path: str | None, line: int, column: int, text: str) -> None:
        super().__init__(f"{path or 'text'}:{line}:{column}: {message}: {text[:120]!r}")
        self.path, self.line, self.column, self.text = path, line, column, text


class InputError(SassmixError):
    """An input that cannot be read at all: missing, of no known kind, empty, a tool's message instead of its output."""

    def __init__(self, path: str, message: str, *, line: int | None = None) -> None:
        super().__init__(f"{path}{f':{line}' if line else ''}: {message}")
        self.path, self.line, self.reason = path, line, message


class ToolError(SassmixError):
    """A tool of the CUDA toolkit that is missing, too old or too new for the file, failed, or did not end."""


class UnknownArchitectureError(SassmixError):
    """An architecture name that no plugin registers, or that is no name of an architecture at all."""


class PluginError(SassmixError):
    """A plugin that cannot be used; the text names it, its distribution and its version."""

    def __init__(self, message: str, *, plugin: str = "", distribution: str = "", version: str = "") -> None:
        origin = f"{plugin or 'plugin'}{f' ({distribution} {version})' if distribution else ''}"
        super().__init__(f"{origin}: {message}")
        self.message, self.plugin, self.distribution, self.version = message, plugin, distribution, version


class CountsError(SassmixError):
    """Counts that do not fit the listing or the schema of their kind."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something odd in an input: the report was made, and this says what it could not use and what to do.

    ``line`` and ``column`` count from 1 and are None where the problem has no place in the file.
    """

    severity: Severity
    path: str | None
    message: str
    line: int | None = None
    column: int | None = None

    def to_dict(self) -> dict[str, object]:
        """The entry of a report's ``problems``."""
        return {
            "severity": self.severity,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "message": self.message,
        }

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.path, self.line, self.column) if p is not None)
        return f"{self.severity}: {place + ': ' if place else ''}{self.message}"


def number_of(number: int, what: str, *verbs: str) -> str:
    """``1 launch``, ``2 launches``; with the verbs ``is`` and ``are`` behind it: ``1 address is``."""
    many = f"{what}es" if what.endswith(("s", "h")) else f"{what}s"
    one = number == 1
    return " ".join([f"{number:,}", what if one else many, *(verbs[:1] if one else verbs[1:])])


def listed(words: Sequence[str], most: int) -> str:
    """``a, b, c and 5 more``."""
    return ", ".join(words[:most]) + (f" and {len(words) - most:,} more" if len(words) > most else "")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """``; did you mean X or Y?`` for names close to ``name``, else nothing."""
    import difflib  # only where something is misspelt

    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""
