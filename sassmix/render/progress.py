"""What a long job is at, in one line on stderr; nothing where nobody looks at it, and nothing left of it at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sassmix.render import printable

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

#: Seconds after which a job is long; one that is shorter does not even load what would draw the line.
PATIENCE = 0.7


@contextmanager
def progress() -> Iterator[Callable[[str], None] | None]:
    """Give a function that takes what the job is at; None where stderr is no terminal that can take a line back."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM", "") in ("dumb", "unknown"):
        yield None
        return
    line = _Line()
    try:
        yield line.tell
    finally:
        line.end()


class _Line:
    """The line, which another thread draws: a single step may be the long one."""

    def __init__(self) -> None:
        from threading import RLock, Timer

        self._text = ""
        self._status: Status | None = None
        self._ended = False
        self._lock = RLock()
        self._timer = Timer(PATIENCE, self._begin)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, text: str) -> None:
        """Show what the job is at, once it is a long one."""
        with self._lock:
            self._text = text
            if self._status is not None:
                self._status.update(_shown(text))

    def _begin(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if not self._ended:
                self._status = Status(_shown(self._text), console=Console(file=sys.stderr), spinner="line")
                self._status.start()

    def end(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._status is not None:
                self._status.stop()


def _shown(text: str) -> Text:
    from rich.text import Text

    return Text(printable(text), no_wrap=True, overflow="ellipsis")
