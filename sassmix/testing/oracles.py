"""The disassembler as its own witness: ``nvdisasm -json`` against its text, by guard and mnemonic."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from sassmix.listing import Listing
from sassmix.parsing import parse
from sassmix.readers.nvdisasm_json import parse_json
from sassmix.tools import need_tools, run

Code = dict[str, list[tuple[str, str]]]


def code_of(listing: Listing) -> Code:
    """Guards and mnemonics by function, helpers with the function in whose section they stand, as JSON has them."""
    found: Code = {}
    name = ""
    for function in listing.functions:
        if function.role != "helper" or not found:
            name = function.name
        found.setdefault(name, []).extend((i.guard, i.mnemonic) for i in function)
    return found


def disassembly_faults(binary: Path | str, *, options: Sequence[str] = ("-c",)) -> list[str]:
    """Print a cubin as text and as JSON, read both, and say where they differ.

    :param options: of nvdisasm, for the text; not ``-plr``, which leaves instructions out.
    :returns: one sentence for each function that differs; empty where both say the same.
    :raises ToolError: where there is no nvdisasm, or it fails.
    """
    path = Path(binary).resolve()
    tool = need_tools("nvdisasm", str(path))[0]
    with tempfile.TemporaryDirectory(prefix="sassmix-") as folder:
        text, json = (
            run(tool, [*flags, str(path)], folder=Path(folder), subject=str(path)).stdout.decode("utf-8", "replace")
            for flags in (options, ["-json"])
        )
    by_text, by_json = code_of(parse(text)), code_of(parse_json(json))
    faults = [f"{path.name}: {name} stands in one of the two only" for name in sorted(by_text.keys() ^ by_json.keys())]
    for name in sorted(by_text.keys() & by_json.keys()):
        for number, (one, other) in enumerate(zip_longest(by_text[name], by_json[name])):
            if one != other:
                faults.append(f"{path.name}, {name}, instruction {number}: {one} in the text, {other} in the JSON")
                break
    return faults
