"""Instructions and nothing else, without offsets, as people paste them: told by opcodes that some architecture has."""

from __future__ import annotations

import re

from sassmix import forms
from sassmix.readers import Reader
from sassmix.readers.text import decode, is_text, read_text


def _sniff(head: bytes) -> bool:
    if not is_text(head):
        return False
    lines = [line for line in decode(head)[0].splitlines()[:200] if line.strip()]
    lines = lines[:-1] or lines
    kinds = forms.line_kinds(lines)
    if not {"bare"} <= set(kinds) <= {"bare", "comment", "label"}:
        return False
    opcodes = {
        match[1] for line, kind in zip(lines, kinds, strict=True) if kind == "bare" and (match := _OPCODE.search(line))
    }
    return any(_exists(opcode) for opcode in opcodes)


_OPCODE = re.compile(r"(?:^|[\s{])(?:@!?[A-Z0-9]+\s+)?([A-Z_][A-Z0-9_]+)(?![A-Za-z0-9_])")


def _exists(opcode: str) -> bool:
    from sassmix.plugins import default_plugins

    return bool(default_plugins().registry.targets_with(opcode))


READER = Reader(name="instructions without offsets", sniff=_sniff, read=read_text)
