"""The tools of the CUDA toolkit: where they are, and running them so that nothing they do goes unseen.

A tool is trusted with nothing: it may be missing, too old or too new for the file, crash, hang, or print without end.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

from sassmix.errors import ToolError

#: The environment variable with the seconds after which a tool is stopped.
TIMEOUT_VARIABLE = "SASSMIX_TOOL_TIMEOUT"
DEFAULT_TIMEOUT = 600.0
#: Bytes that a tool may print, and those of its messages.
MOST_OUTPUT = 4 << 30
MOST_MESSAGES = 1 << 20
INSTALL = "pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump"

# Distributions that bring a tool, the newest layout first: nvidia/cu13/bin, nvidia/cuda_nvdisasm/bin before 13.
_DISTRIBUTIONS = ("nvidia-cuda-{}", "nvidia-cuda-{}-cu13", "nvidia-cuda-{}-cu12")
_SUFFIX = ".exe" if os.name == "nt" else ""
_VERSION = re.compile(rb"\bV([0-9]+(?:\.[0-9]+)+)")
_SERIOUS = re.compile(r"\b(fatal|error)\b", re.IGNORECASE)
TOO_OLD_FILE = re.compile(r"deprecated|or earlier", re.IGNORECASE)
TOO_NEW_FILE = re.compile(r"cannot decode architecture|unsupported|not supported", re.IGNORECASE)
_QUOTE = 300


class ToolTimeout(ToolError):
    """A tool that did not end in time; another version of it is not tried, as that could take as long again."""


@dataclass(frozen=True)
class Tool:
    """An executable of the CUDA toolkit; its version is only asked for when it is needed."""

    name: str
    path: Path

    @cached_property
    def version(self) -> str | None:
        """What ``--version`` says, ``13.5.37``; None where it says nothing of the kind."""
        unasked = Tool(self.name, self.path)
        unasked.__dict__["version"] = None  # a failure must not ask for the version of what failed
        try:
            limit = min(30, time_limit())
            printed = run(unasked, ["--version"], folder=self.path.parent, subject=self.name, timeout=limit).stdout
        except ToolError:
            return None
        found = _VERSION.search(printed)
        return found[1].decode() if found else None

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool that succeeded has printed; ``messages`` are the lines on stderr."""

    stdout: bytes
    messages: list[str]


def find_tools(name: str) -> list[Tool]:
    """Every tool of this name, the one to prefer first: installed packages, CUDA_HOME (or CUDA_PATH), PATH."""
    found: dict[Path, Tool] = {}
    for path in (*_from_packages(name), *_from_cuda_home(name), *_from_path(name)):
        if path.is_file() and os.access(path, os.X_OK):
            found.setdefault(path.resolve(), Tool(name, path))
    return list(found.values())


def need_tools(name: str, subject: str) -> list[Tool]:
    """The same as :func:`find_tools`.

    :raises ToolError: if there is none; it says what to install so that ``subject`` can be read.
    """
    tools = find_tools(name)
    if not tools:
        raise ToolError(f"{subject}: needs {name}, which is not installed: {INSTALL}, or set CUDA_HOME to a toolkit")
    return tools


def _from_packages(name: str) -> Iterator[Path]:
    for pattern in _DISTRIBUTIONS:
        with suppress(metadata.PackageNotFoundError):
            for file in metadata.distribution(pattern.format(name)).files or ():
                if file.name == name + _SUFFIX and "bin" in file.parts:
                    yield Path(str(file.locate()))


def _from_cuda_home(name: str) -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield Path(home).absolute() / "bin" / (name + _SUFFIX)


def _from_path(name: str) -> Iterator[Path]:
    """Relative entries are left out: a file in the folder at hand must not become a tool."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if Path(folder).is_absolute():
            yield Path(folder) / (name + _SUFFIX)


def time_limit() -> float:
    """Seconds that a tool may take.

    :raises ToolError: if the environment variable holds no positive number.
    """
    text = os.environ.get(TIMEOUT_VARIABLE, "").strip()
    try:
        seconds = float(text or DEFAULT_TIMEOUT)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ToolError(f"{TIMEOUT_VARIABLE} is {text!r}, which is no number of seconds above 0")
    return seconds


class Job:
    """A tool under way. Its output goes to files without a name, so that it never waits for us to read.

    It has a process group of its own, so that all it starts ends with it; Ctrl-C does not reach that group by itself.
    """

    def __init__(
        self, tool: Tool, args: Sequence[str], *, folder: Path, subject: str, timeout: float | None = None
    ) -> None:
        self.tool, self.folder, self.subject = tool, folder, subject
        self.seconds = time_limit() if timeout is None else timeout
        self._file = args[-1]
        self._stop_at = time.monotonic() + self.seconds
        self._stdout = tempfile.TemporaryFile()  # noqa: SIM115 (closed by stop)
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                [str(tool.path), *args],
                stdin=subprocess.DEVNULL,
                stdout=self._stdout,
                stderr=self._stderr,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            self._close()
            raise ToolError(f"{subject}: {tool.path} cannot be started: {error.strerror}; {INSTALL}") from error

    def result(self) -> Output:
        """Wait for the end.

        :raises ToolError: if the tool fails, prints too much, or (:class:`ToolTimeout`) does not end in time.
        """
        try:
            self._wait()
            messages = self._messages()
            if self._process.returncode:
                raise ToolError(f"{self.subject}: {self._failure(messages)}")
            self._stdout.seek(0)
            return Output(self._stdout.read(), messages)
        finally:
            self.stop()

    def stop(self) -> None:
        """End the tool and all that it has started, if it still runs."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL) if hasattr(os, "killpg") else self._process.kill()
            self._process.wait()
        self._close()

    def _close(self) -> None:
        self._stdout.close()
        self._stderr.close()

    def _wait(self) -> None:
        while not self._ended():
            if time.monotonic() >= self._stop_at:
                raise ToolTimeout(
                    f"{self.subject}: {self.tool} did not end within {self.seconds:g} seconds and was stopped; "
                    f"set {TIMEOUT_VARIABLE} to wait longer"
                )

    def _ended(self) -> bool:
        """Wait a little; what has been printed so far is measured each time."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, min(0.2, self._stop_at - time.monotonic())))
        sizes = [os.fstat(file.fileno()).st_size for file in (self._stdout, self._stderr)]
        if sizes[0] > MOST_OUTPUT or sizes[1] > MOST_MESSAGES:
            raise ToolError(f"{self.subject}: {self.tool} was stopped, as it had printed {sum(sizes):,} bytes")
        return self._process.poll() is not None

    def _messages(self) -> list[str]:
        """The lines on stderr; they are shown behind the name of the file, so they need not name it again."""
        self._stderr.seek(0)
        text = self._stderr.read().decode("utf-8", "replace")
        for name in (f"{self.folder.resolve()}{os.sep}{self._file}", f"{self.folder}{os.sep}{self._file}", self._file):
            text = text.replace(f"'{name}'", "the file").replace(f" {name} ", " the file ")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _failure(self, messages: list[str]) -> str:
        code = self._process.returncode
        said = ([m for m in messages if _SERIOUS.search(m)] or messages or [""])[-1][:_QUOTE]
        if code < 0:
            how = f"crashed ({signal.strsignal(-code) or f'signal {-code}'})"
        else:
            how = "failed" if said else f"failed with status {code} and said nothing"
        return f"{self.tool} {how}{f', saying {said!r}' if said else ''}; {_advice(said)}"


def _advice(said: str) -> str:
    if TOO_OLD_FILE.search(said):
        return "set CUDA_HOME to an older CUDA toolkit (12.8 knows sm_50 to sm_120)"
    if TOO_NEW_FILE.search(said):
        return f"install a newer one: {INSTALL.replace('install', 'install -U')}, or set CUDA_HOME"
    return f"the file is damaged or needs another version: {INSTALL.replace('install', 'install -U')}, or set CUDA_HOME"


def run(tool: Tool, args: Sequence[str], *, folder: Path, subject: str, timeout: float | None = None) -> Output:
    """Run a tool in a folder to its end.

    :param args: options, then the file; never seen by a shell.
    :param subject: what the work is for; messages start with it.
    :raises ToolError: as :meth:`Job.result` does.
    """
    return Job(tool, args, folder=folder, subject=subject, timeout=timeout).result()
