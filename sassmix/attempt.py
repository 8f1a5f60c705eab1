"""Several versions of a tool, tried one after the other until one can read the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from sassmix.errors import ToolError
from sassmix.tools import TOO_NEW_FILE, TOO_OLD_FILE, Job, Output, Tool, ToolTimeout, time_limit

_T = TypeVar("_T")


class Attempt:
    """A job for the first of several versions of a tool; where one refuses the file or fails, the next one is tried.

    No version reads every architecture: 13 dropped those before sm_75, and each knows none that came after it.
    """

    def __init__(self, tools: Sequence[Tool], args: Sequence[str], *, folder: Path, subject: str) -> None:
        self._tools, self._args, self._folder, self._subject = tools, args, folder, subject
        self._errors: list[ToolError] = []
        self._timeout = time_limit()
        self._start()

    def _start(self) -> None:
        self._job: Job | None = None
        while self._job is None and len(self._errors) < len(self._tools):
            tool = self._tools[len(self._errors)]
            try:
                self._job = Job(tool, self._args, folder=self._folder, subject=self._subject, timeout=self._timeout)
            except ToolError as error:
                self._errors.append(error)

    def result(self, read: Callable[[Tool, Output], _T]) -> _T:
        """Wait for the end.

        :param read: makes something of the output; a ToolError of it counts as a failure of the tool.
        :raises ToolError: if all versions failed, with the message of the first.
        """
        while self._job is not None:
            try:
                return read(self._job.tool, self._job.result())
            except ToolTimeout:
                raise
            except ToolError as error:
                self._errors.append(error)
            self._start()
        others = ", ".join(f"{tool} at {tool.path}" for tool in self._tools[1:])
        raise ToolError(f"{self._errors[0]}{f'; {others} failed too' if others else ''}")

    @property
    def failures(self) -> list[str]:
        """What went wrong with the versions in front of the one at hand; refusing an architecture is no fault."""
        said = [str(error).removeprefix(f"{self._subject}: ") for error in self._errors]
        return [text for text in said if not (TOO_OLD_FILE.search(text) or TOO_NEW_FILE.search(text))]

    def stop(self) -> None:
        """Give up."""
        if self._job is not None:
            self._job.stop()
