"""Where control goes from an instruction: on, to another place that its text names, or to one that it does not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sassmix.columns import ALWAYS, Columns
from sassmix.listing import CALLS, INDIRECT_JUMPS, Function

#: Opcodes behind which control goes on, for all parts of a warp together or for one after the other.
PASSES = frozenset(
    "BSSY BSYNC SSY PBK PCNT PRET BREAK WARPSYNC YIELD NANOSLEEP BMOV RPCMOV ELECT PREEXIT ACQBULK".split()
)
#: Opcodes after which control may go elsewhere, or which a warp may execute once for each of its diverged parts.
TRANSFERS = PASSES | frozenset(
    "BRA BRX BRXU JMP JMX JMXU CALL CAL JCAL RET EXIT KILL BRK SYNC CONT BPT ENDCOLLECTIVE LONGJMP".split()
)
ENDS = frozenset({"EXIT", "KILL", "BPT"})
#: Opcodes whose operands may say where they lead.
_DIRECTED = CALLS | {"BRA", "JMP"}
#: Modifiers that make a branch conditional.
_CONDITIONS = re.compile(r"\.(?:DIV|CONV|ANY|ALL)\b")
_ADDRESS = re.compile(r"(?:^|[ ,])0x0*([0-9a-f]*)\s*$")
#: The operands of a jump that says where it leads: perhaps a condition, then a label, an address, or both.
_DIRECT = re.compile(
    r"\s*(?P<condition>!?UP\d|!?P\d|UR\d+)?(?(condition)\s*,\s*)(?:`\((?P<label>[^()`]+)\))?\s*"
    r"(?:0x0*(?P<address>[0-9a-f]*))?\s*"
)


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump or a call to an instruction, by its index; ``always`` where nothing but its count decides how often."""

    target: int
    always: bool


@dataclass(frozen=True, slots=True)
class Code:
    """The instructions that counts may belong to, ``start`` to ``stop`` in the columns of the functions.

    :param jumps: the jumps and calls that say where they lead, by index.
    :param targets: indices that a jump or a call can lead to.
    :param unread: indices of lines that cannot be read, so that control may go anywhere from there.
    :param partial: whether an index that is not among the counts may have been executed all the same.
    :param exact: whether what a guard turned off is counted as well; some tracers leave it out.
    """

    function: Function
    start: int
    stop: int
    jumps: Mapping[int, Jump]
    targets: frozenset[int]
    unread: frozenset[int]
    partial: bool
    exact: bool

    def opcode(self, index: int) -> str:
        """The first part of the mnemonic."""
        return self.function.columns.mnemonics[index].partition(".")[0]

    def guarded(self, index: int) -> bool:
        """Whether it has a guard."""
        return bool(self.function.columns.guards[index].strip())

    def lacks(self, index: int) -> bool:
        """Whether some of its executions may not be counted, those that its guard turned off."""
        return not self.exact and self.guarded(index)

    def untold(self, index: int) -> bool:
        """Whether it may have been executed although it is not among the counts."""
        return self.partial or index in self.unread

    def leaves(self, index: int) -> bool:
        """Whether control may go elsewhere from here, or come on in parts."""
        return self.opcode(index) in TRANSFERS or index in self.unread

    def passes(self, index: int) -> bool:
        """Whether control that came here for certain goes on behind it."""
        return passes(self.function, index) and index not in self.unread


def code_of(
    functions: Sequence[Function], *, partial: bool = False, anywhere: bool = False, exact: bool = False
) -> Code:
    """The code of a function and of those that stand behind it in its section.

    :param anywhere: whether a jump may lead to any instruction; the others are those of :class:`Code`.
    """
    function, stop = functions[0], max(f.code_stop for f in functions)
    window = range(function.start, stop)
    jumps, targets = _led_to(functions, window)
    anywhere = anywhere or any(_leads_anywhere(function.columns, index) for index in window)
    unread = frozenset(index for f in functions for index in f.unreadable)
    all_targets = frozenset(window) if anywhere else targets
    return Code(function, function.start, stop, jumps, all_targets, unread, partial, exact)


def passes(function: Function, index: int) -> bool:
    """Whether control goes on behind the instruction, whatever its operands."""
    opcode, _, modifiers = function.columns.mnemonics[index].partition(".")
    return opcode not in TRANSFERS or (opcode in PASSES and "COLLECTIVE" not in modifiers)


def address_of(operands: str) -> int | None:
    """The address with which the operands end, where they do."""
    match = _ADDRESS.search(operands)
    return int(match[1] or "0", 16) if match else None


def _led_to(functions: Sequence[Function], window: range) -> tuple[dict[int, Jump], frozenset[int]]:
    """The jumps that say where they lead, and all places to which anything may."""
    columns = functions[0].columns
    names = {name: index for f in functions for name, index in (*f.labels.items(), (f.name, f.start))}
    places = {offset.lstrip("0"): index for index in window if (offset := columns.offsets[index])}
    targets = {f.start for f in functions} | {index for f in functions for index in f.labels.values()}
    jumps: dict[int, Jump] = {}
    for index in window:
        mnemonic, tail = columns.mnemonics[index], columns.tails[index]
        opcode = mnemonic.partition(".")[0]
        if opcode not in TRANSFERS:
            continue
        if (address := _ADDRESS.search(tail)) and address[1] in places:
            targets.add(places[address[1]])
        direct = _DIRECT.fullmatch(tail) if opcode in _DIRECTED else None
        target = _target(direct, opcode, names, places) if direct else None
        if direct and target is not None and target in window:
            guarded = columns.guards[index].strip() not in ALWAYS
            jumps[index] = Jump(target, not (guarded or direct["condition"] or _CONDITIONS.search(mnemonic)))
    return jumps, frozenset(targets)


def _target(direct: re.Match[str], opcode: str, names: Mapping[str, int], places: Mapping[str, int]) -> int | None:
    """By the label, else by the address; a call of address 0 is one whose target is put in later."""
    label, address = direct["label"], direct["address"]
    if label in names or address is None or (opcode in CALLS and not address):
        return names.get(label or "")
    return places.get(address)


def _leads_anywhere(columns: Columns, index: int) -> bool:
    return columns.mnemonics[index].partition(".")[0] in INDIRECT_JUMPS and "(*" not in columns.tails[index]
