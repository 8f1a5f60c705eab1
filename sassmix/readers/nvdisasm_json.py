"""The listing that ``nvdisasm -json`` prints: no labels and no offsets, helpers inside their caller's list.

The tool crashes on some files and leaves half a text; the functions in front of the break are read all the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sassmix import forms
from sassmix.arch import sm
from sassmix.errors import InputError, Problem
from sassmix.listing import INSIDE, Columns, Function, Listing
from sassmix.readers import Reader
from sassmix.readers.text import ODD_BYTES, decode
from sassmix.wholeness import role_by_code

_SNIFF = re.compile(r'\A\s*\[\s*\{\s*"(ELF|SM|SchemaVersion|Producer)"|"sass-instructions"')
_STEP, _OLD_STEP = 16, 8  # bytes of an instruction; the old ones before sm_70
_KEYS = frozenset({"predicate", "opcode", "operands", "other-attributes"})
_ARCH_OPTION = re.compile(r"-arch[ =]sm_([0-9]+[af]?)\b")
_NAME_START = re.compile(r'\{\s*"function-name"')
#: Where a listing begins that stands behind another; no text in JSON holds quotes like these.
_LISTING_START = re.compile(r'\[\s*\{\s*"(?:ELF|SM|SchemaVersion|Producer)"\s*:')
_TWICE = " (twice)"
_MEMBERS = 2  # the header and the functions
_NO_OPERAND = re.compile("\n|//")  # a line end, or what would begin a comment of a text listing


def _sniff(head: bytes) -> bool:
    return (text := decode(head)[0]).lstrip()[:1] == "[" and bool(_SNIFF.search(text))


def _read(path: Path) -> Iterator[Listing]:
    try:
        text, understood = decode(path.read_bytes())
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from error
    starts = [0, *(match.start() for match in islice(_LISTING_START.finditer(text), 1, None))]
    for start, stop in zip(starts, [*starts[1:], len(text)], strict=True):
        listing = parse_json(text[start:stop], path=str(path))
        if not (understood or start):
            listing.problems.append(Problem("warning", str(path), ODD_BYTES))
        yield listing


def parse_json(text: str, *, path: str | None = None) -> Listing:
    """Read the output of ``nvdisasm -json`` for one file. What is cut off or malformed becomes a problem."""
    problems: list[Problem] = []
    header, functions = _load(text, path, problems)
    listing = Listing(kind="nvdisasm-json", functions=[], problems=problems, path=path)
    listing.arch = _arch(header)
    producer = re.search(r"V([0-9.]+)", str(header.get("Producer", "")))
    listing.tool = f"nvdisasm {producer[1]}" if producer else None
    toolkit = re.search(r"V([0-9.]+)", str(_note(header).get("tki_toolVersion", "")))
    listing.toolkit = toolkit[1] if toolkit else None
    for number, item in enumerate(functions, 1):
        if isinstance(item, dict) and isinstance(item.get("sass-instructions"), list):
            listing.functions.append(_function(item, listing.arch, path, problems))
        else:
            problems.append(Problem("warning", path, f"function {number} of the listing has no list of instructions"))
    if problems and any("cut off" in p.message for p in problems) and listing.functions:
        listing.functions[-1].damage.append("the listing is cut off behind this function")
    return listing


def _load(text: str, path: str | None, problems: list[Problem]) -> tuple[dict[str, Any], list[Any]]:
    try:
        data = json.loads(text, object_pairs_hook=_guard_first)
    except (ValueError, RecursionError) as error:
        problems.append(Problem("error", path, f"the JSON listing is cut off or malformed: {error}"))
        return _rescue(text)
    head = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}
    rest = data[1] if isinstance(data, list) and len(data) > 1 and isinstance(data[1], list) else []
    if not rest:
        problems.append(Problem("warning", path, "the JSON listing holds no list of functions"))
    if isinstance(data, list) and len(data) > _MEMBERS:
        problems.append(Problem("warning", path, "what stands behind the functions of the JSON listing was not read"))
    return head, rest


def _guard_first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A guarded P2R has the key ``predicate`` twice, for its guard and for its operand PR: the guard is kept.

    Any other key that stands there twice is told of by one that is not known.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        found |= (pair for pair in pairs if pair[0] == "predicate" and str(pair[1]).startswith("@"))
        often = Counter(key for key, _ in pairs if key != "predicate")
        found |= {key + _TWICE: value for key, value in pairs if often[key] > 1}
    return found


def _rescue(text: str) -> tuple[dict[str, Any], list[Any]]:
    """Whatever whole objects stand in front of the break."""
    decoder = json.JSONDecoder(object_pairs_hook=_guard_first)
    header: dict[str, Any] = {}
    functions: list[Any] = []
    start = text.find("{")
    try:
        header, _ = decoder.raw_decode(text, start) if start >= 0 else ({}, 0)
        for match in _NAME_START.finditer(text):
            functions.append(decoder.raw_decode(text, match.start())[0])
    except (ValueError, RecursionError):
        pass
    return header, functions


def _note(header: dict[str, Any]) -> dict[str, Any]:
    note = header.get(".note.nv.tkinfo")
    return note if isinstance(note, dict) else {}


def _arch(header: dict[str, Any]) -> str | None:
    """The header gives the number only; the compiler's options in the notes also the letter."""
    machine = header.get("SM")
    version = machine.get("version") if isinstance(machine, dict) else None
    if not isinstance(version, dict) or not all(isinstance(version.get(k), int) for k in ("major", "minor")):
        return None
    number = f"{version['major']}{version['minor']}"
    option = _ARCH_OPTION.search(str(_note(header).get("tki_toolOptions", "")))
    exact = option[1] if option and option[1].rstrip("af") == number else number
    return sm(exact)[0] if re.fullmatch(r"[1-9][0-9]{1,3}[af]?", exact) else None


def _function(item: dict[str, Any], arch: str | None, path: str | None, problems: list[Problem]) -> Function:
    name = str(item.get("function-name", "(no name)"))
    given = item.get("start")
    start = given if isinstance(given, int) else 0
    rows: list[tuple[str, str, str, str]] = []
    unread: dict[int, str] = {}
    entries, step = item["sass-instructions"], _step(arch)
    for place, entry in enumerate(entries):
        row = entry if isinstance(entry, dict) else {}
        if step == _OLD_STEP and row == {"opcode": ""}:
            continue  # a word of control fields
        index = len(rows)
        opcode, guard = str(row.get("opcode") or "?"), str(row.get("predicate") or "").removeprefix("@")
        guard = "" if guard in _NO_GUARDS else guard
        tail = _operands(opcode, str(row.get("operands") or ""))
        rows.append((f"{start + step * place:04x}", f"@{guard} " if guard else "", opcode, f" {tail}"))
        if opcode == "?":
            unread[index] = "has no opcode"
        elif not _KEYS.issuperset(row):
            unread[index] = f"has the key {min(set(row) - _KEYS)!r}, which is not known"
    columns = Columns(*(list(column) for column in zip(*rows, strict=True)))
    unread.update(_rejected(columns))
    function = Function(name=name, arch=arch, role="kernel", section=None, columns=columns, start=0, stop=len(columns))
    function.role = "helper" if name.startswith("$") else role_by_code(function)
    # Helpers have no entry of their own here: what is called by a local name stands in the caller's list.
    local = {match[1] for tail in columns.tails if (match := _LOCAL.search(tail))}
    function.labels = dict.fromkeys(local, INSIDE)
    for index, reason in sorted(unread.items()):
        problems.append(Problem("warning", path, f"instruction {index} of {name} {reason}"))
        function.damage.append(f"instruction {index} {reason}")
        if reason != _ODD_OPERANDS:
            function.unreadable.add(index)
    if function.falls_through:
        function.damage.append("its last instruction is not an end")
    if doubled := [key for key in item if key.endswith(_TWICE)]:
        function.damage.append(f"it has the key {doubled[0].removesuffix(_TWICE)!r} more than once")
    if item.get("length") != step * len(entries):
        function.damage.append(f"its length is said to be {item.get('length')} bytes, {step * len(entries)} are here")
    return function


def _step(arch: str | None) -> int:
    digits = re.match(r"sm_([0-9]+)", arch or "")
    return _OLD_STEP if digits and int(digits[1]) < 70 else _STEP


_ODD_OPERANDS = "has operands that the grammar does not know"


_LOCAL = re.compile(r"`\((\$[^()`]+)\)")
_MISPLACED = re.compile(r"(?<![a-z])([gi]?desc|tmem),?\[")
_JOINED = re.compile(r"(?<=[0-9ZT])\[")  # R3[R2]: version 12.8 leaves the comma out for targets before sm_75
_GUARD_AGAIN = re.compile(r",@!?U?P[0-9T](?=,|$)")  # in the operands of a guarded P2R
_TRANSFER = re.compile(r"(CALL|CAL|JCAL|PRET|RET|BRA|JMP|JMX|BRX|JMXU|BRXU|BSSY)(\.|$)")
_NO_SYMBOL = re.compile(r"[-~!]*(U?[RP](Z|T|[0-9]+)(\..*)?|B[0-9]+|0x[0-9a-f]+|[0-9].*|[^$.\w].*|)")


def _put_back(match: re.Match[str]) -> str:
    first = match.start() == 0 or match.string[match.start() - 1] == ","
    return f"{'' if first else ','}{match[1]}["


def _operands(opcode: str, text: str) -> str:
    """Operands as the text listing spells them.

    JSON has the bare symbol as the target of a call, and for sm_80 a comma behind a descriptor, or none, instead of in
    front of it: ``R3desc,[UR4][R2.64]``.
    """
    text = _JOINED.sub(",[", _MISPLACED.sub(_put_back, _GUARD_AGAIN.sub("", text)))
    rest, comma, last = text.rpartition(",")
    if not _TRANSFER.match(opcode) or _NO_SYMBOL.fullmatch(last):
        return text
    return f"{rest}{comma}`({last})"


#: Operands of P2R and the like that the tool prints in the place of a guard.
_NO_GUARDS = frozenset({"PR", "UPR"})


def _rejected(columns: Columns) -> dict[int, str]:
    """Instructions that the grammar does not know, with what is wrong with them."""
    guards = forms.rejected_guards(set(columns.guards))
    mnemonics = forms.rejected_mnemonics(set(columns.mnemonics))
    # These would be taken for the end of the text; so they become what the grammar does not know either.
    spaced = [_NO_OPERAND.sub("\0", tail.replace(",", ", ")) for tail in columns.tails]
    tails = forms.rejected_tails(spaced, forms.half_folded("\n".join(spaced)))
    found: dict[int, str] = {}
    for index, tail in enumerate(spaced):
        if columns.guards[index] in guards or columns.mnemonics[index] in mnemonics:
            found[index] = "is not an instruction"
        elif tail in tails:
            found[index] = _ODD_OPERANDS
    return found


READER = Reader(name="nvdisasm -json", sniff=_sniff, read=_read)
