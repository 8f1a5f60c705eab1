"""Large listings from smaller ones, every copy with other names, registers and numbers, so that no code repeats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path

_NAME = re.compile(r"^\.text\.(\S+):", re.MULTILINE)
_REGISTER = re.compile(r"\bR([0-9]+)\b")
_NUMBER = re.compile(r"\b0x([0-9a-f]+)\b")
_REGISTERS = 250


def varied(path: Path, texts: Sequence[str], megabytes: float) -> Path:
    """A listing of so many bytes at least; the texts come in turn."""
    size = 0
    with path.open("w", encoding="utf-8") as file:
        for number in count():
            for text in texts:
                size += file.write(_copy(text, number))
                if size >= megabytes * 1e6:
                    return path
    return path


def _copy(text: str, number: int) -> str:
    """The first copy is the text itself."""
    if not number:
        return text
    for name in dict.fromkeys(_NAME.findall(text)):
        text = text.replace(name, f"{name}v{number}x")
    for prefix in (".L_x_", "$__internal_"):
        text = text.replace(prefix, f"{prefix}{number}0000")
    text = _REGISTER.sub(partial(_register, number), text)
    return _NUMBER.sub(partial(_number, number), text)


def _register(number: int, found: re.Match[str]) -> str:
    return f"R{(int(found[1]) + 7 * number) % _REGISTERS}"


def _number(number: int, found: re.Match[str]) -> str:
    return f"0x{int(found[1], 16) + number:x}"
