"""The loop that other tools have in the place of a parser: two regular expressions, each tried on each line.

It proves nothing, drops what it does not match, and shifts every instruction behind such a line.
"""

from __future__ import annotations

import re


def two_regex_loop(text: str) -> dict[str, list[str]]:
    """Opcodes by function, helpers counted to the function in whose section they stand."""
    functions: dict[str, list[str]] = {}
    opcodes: list[str] | None = None
    for line in text.splitlines():
        label = re.match(r"^\.text\.(\S+):", line)
        if label:
            opcodes = functions.setdefault(label.group(1), [])
            continue
        code = re.match(r"^\s+/\*[0-9a-fA-F]+\*/\s+(?:@[!P\w]+ )?(\w[\w.]*)", line)
        if code and opcodes is not None:
            opcodes.append(code.group(1).split(".")[0])
    return functions
