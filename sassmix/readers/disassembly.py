"""One cubin to its listing, by nvdisasm. The tool never sees the file's own name, only a link in a private folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from sassmix.attempt import Attempt
from sassmix.errors import InputError, Problem, ToolError
from sassmix.listing import Listing
from sassmix.parsing import parse
from sassmix.readers.elf import Elf, open_elf
from sassmix.readers.text import decode
from sassmix.tools import Output, Tool, find_tools, need_tools

LINK = "the-file"  # no word of a tool's messages, in which it is replaced
TOOL_SAYS = "the tool says: "


def private_folder(path: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder with a link to the file."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="sassmix-")
        try:
            Path(folder.name, LINK).symlink_to(path.resolve())
        except OSError:  # some systems keep links from users
            shutil.copyfile(path, Path(folder.name, LINK))
    except OSError as error:
        raise ToolError(f"{path}: no temporary folder for it: {error}") from error
    return folder


class Disassembly:
    """One cubin being disassembled."""

    def __init__(self, how: tuple[list[Tool], str], file: Path, subject: str, kind: str) -> None:
        self.file, self.subject, self.kind = file, subject, kind
        self._attempt = Attempt(how[0], [how[1], file.name], folder=file.parent, subject=subject)

    def listing(self) -> Listing:
        """Wait for the tool and read what it prints.

        :raises SassmixError: if no tool could read the cubin, or it is not whole.
        """
        elf = open_elf(self.file, self.subject)[1]
        if elf is None:
            raise InputError(self.subject, "is no ELF file")
        return self._attempt.result(lambda tool, output: self._read(elf, tool, output))

    def _read(self, elf: Elf, tool: Tool, output: Output) -> Listing:
        subject = self.subject
        listing = parse(decode(output.stdout)[0], path=subject)
        if not output.stdout.strip() or (elf.has_code and not listing.lines["code"]):
            raise ToolError(f"{subject}: {tool} printed no listing{_first_line(output)}; try another version of it")
        listing.kind, listing.tool, listing.toolkit = self.kind, str(tool), elf.toolkit
        notes = [f"read with {tool}, as {failure}" for failure in self._attempt.failures]
        notes += [f"{TOOL_SAYS}{said}" for said in output.messages]
        listing.problems[:0] = [Problem("warning", subject, note) for note in notes]
        _name_arch(listing, elf.arch)
        return listing

    def close(self) -> None:
        """Stop the tool."""
        self._attempt.stop()


def disassembler(subject: str) -> tuple[list[Tool], str]:
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
