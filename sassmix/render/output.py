"""Where text goes: standard output, a file, and messages on stderr. What cannot be written is said, once."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from sassmix.errors import SassmixError
from sassmix.render import encodable, printable


def encoding_of(path: str | None) -> str:
    """The encoding of a report: a file's is always the same."""
    return "utf-8" if path else getattr(sys.stdout, "encoding", None) or "utf-8"


def width_of(path: str | None) -> int | None:
    """Columns of the terminal, or what ``COLUMNS`` says; None where the report goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if not path and sys.stdout and sys.stdout.isatty() else None


def write(text: str, path: str | None = None) -> None:
    """Write a report to a file or, without one, to standard output.

    :raises SassmixError: if it cannot be written.
    :raises BrokenPipeError: if the reader of standard output has gone.
    """
    text = encodable(text, encoding_of(path))
    try:
        if path and text:
            Path(path).write_text(text, encoding="utf-8")
        elif sys.stdout is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
        elif text:
            raise SassmixError("standard output cannot be written: it is closed")
    except OSError as error:
        if not path:
            silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise
        raise SassmixError(f"{path or 'standard output'} cannot be written: {error.strerror or error}") from error


def silence(stream: TextIO) -> None:
    """Lead a stream to nowhere: what is left in its buffer is written again when Python ends, and would fail again."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def say(what: object) -> None:
    """One line on stderr, which itself escapes the letters that its encoding lacks."""
    if sys.stderr is not None:
        try:
            print(f"sassmix: {printable(str(what))}", file=sys.stderr, flush=True)
        except OSError:
            silence(sys.stderr)
