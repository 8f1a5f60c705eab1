"""The harness of what disassemblers print: the input in the place of their output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from fuzz.invariants import file_of, hold
from sassmix.errors import SassmixError
from sassmix.parsing import parse
from sassmix.readers import binary
from sassmix.readers.text import decode
from sassmix.tools import Output, Tool

FIXTURES = Path(__file__).parent.parent / "fixtures"


class _Printed:
    """In the place of a tool: what it prints is the input, cut at NUL bytes, one piece for each call."""

    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces
        self.failures: list[str] = []

    def __call__(self, *_: Any, **__: Any) -> _Printed:
        return self

    def result(self, read: Callable[[Tool, Output], Any]) -> Any:
        """Hand the next piece to whoever waits for the tool."""
        piece = self.pieces.pop(0) if self.pieces else b""
        return read(_TOOL, Output(piece, piece[:100].decode("utf-8", "replace").split("\n")))

    def stop(self) -> None:
        """There is nothing to stop."""


_TOOL = Tool("nvdisasm", Path("/nowhere/nvdisasm"))
_TOOL.__dict__["version"] = "99.1"
_CUBIN = (FIXTURES / "cubins" / "saxpy.sm_90a.cubin").read_bytes()
_EMBEDDED = b"\x50\xed\x55\xba" + bytes(60)


def tool_output(data: bytes) -> None:
    """What disassemblers print on a good file, whatever it is: of one cubin, then of a file with several in it."""
    for content, name in ((_CUBIN, "k.cubin"), (_EMBEDDED, "k.fatbin")):
        printed = _Printed(data.split(b"\0"))
        with (
            file_of(content, name) as path,
            mock.patch("sassmix.readers.disassembly.Attempt", printed),
            mock.patch("sassmix.readers.library.Attempt", printed),
            mock.patch("sassmix.readers.disassembly.find_tools", lambda _: [_TOOL]),
            mock.patch("sassmix.readers.library.need_tools", lambda *_: [_TOOL]),
        ):
            try:
                parts = list(binary.READER.read(path))
            except SassmixError as error:
                hold(bool(str(error)), "a refusal has words", error)
                continue
            if name.endswith("cubin"):
                printed_text = parse(decode(data.split(b"\0")[0])[0])
                hold(sum(map(len, parts[0])) == sum(map(len, printed_text)), "what is printed is read", parts)  # type: ignore[arg-type]
            for part in parts:
                hold(all(len(f.columns) >= f.stop for f in part.functions), "functions are inside", part)  # type: ignore[union-attr]
