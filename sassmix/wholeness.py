"""Is a function there as a whole? Where it begins and ends, what role it has, and what speaks against it being all.

What a text does not show is damage: the mix is made of what stands there, and proves nothing of the rest.
"""

from __future__ import annotations

from sassmix.errors import Problem
from sassmix.listing import Function, Role
from sassmix.symbols import Scope

UNNAMED = "(no name)"
#: Bytes from one instruction to the next at most: one of sm_70 and later, or an older one and a control word.
_STEP = 16
_MOST_PROBLEMS = 1000
#: Where each label stands, by the identity of its listing's symbols and by its name.
Ends = dict[tuple[int, str], int]


def finished(scope: Scope, *, cut: bool) -> list[Function]:
    """The functions, with their ends, roles and damage; instructions in front of any name get a function too."""
    total = len(scope.columns)
    if total and (not scope.functions or scope.functions[0].start > 0):
        scope.functions.insert(0, _unnamed(scope))
    for function, following in zip(scope.functions, scope.functions[1:], strict=False):
        function.stop = following.start
    if scope.functions:
        scope.functions[-1].stop = total
    scope.functions = [f for f in scope.functions if len(f) or _known(scope, f)]
    ends: Ends = {}
    for function in scope.functions:
        listing = id(scope.symbols_of(function))
        for label, index in function.labels.items():
            ends[listing, label] = max(index, ends.get((listing, label), -1))
    for before, function in zip([None, *scope.functions], scope.functions, strict=False):
        function.role = _role(scope, function)
        _begin(function, before)
        _end(scope, function, ends)
    _assign_damage(scope)
    if cut and scope.functions and not scope.functions[-1].damage and scope.functions[-1].falls_through:
        scope.functions[-1].damage.append("the text is cut off")
    return scope.functions


def _unnamed(scope: Scope) -> Function:
    return Function(name=UNNAMED, arch=scope.arch, role="kernel", section=None, columns=scope.columns, start=0, stop=0)


def _known(scope: Scope, function: Function) -> bool:
    symbol = scope.symbols_of(function).get(function.name)
    return bool(symbol and symbol.function) or scope.kind == "cuobjdump-sass"


def _role(scope: Scope, function: Function) -> Role:
    symbol = scope.symbols_of(function).get(function.name)
    if symbol is None or not symbol.function:
        return role_by_code(function)
    if symbol.kernel:
        return "kernel"
    return "device" if function.section == f".text.{function.name}" else "helper"


def _end(scope: Scope, function: Function, ends: Ends) -> None:
    """Note it where the end of a function is not in the text, or nothing shows that it is."""
    symbols = scope.symbols_of(function)
    end = symbols[function.name].end if function.name in symbols else ""
    if end:
        if ends.get((id(symbols), end), -1) < function.stop:
            _cut(scope, function, f"its end, label {end}, is not in the text")
        elif len(function) and function.falls_through:
            function.damage.append("its last instruction is not an end")
    elif function.falls_through:
        function.damage.append("its last instruction is not an end")
    elif scope.kind != "cuobjdump-sass":
        if not function.padding:
            function.damage.append("nothing in the text marks its end")
    elif scope.encodings and function.start not in scope.ended:
        _cut(scope, function, "the row of dots that closes it is not in the text")


def _cut(scope: Scope, function: Function, why: str) -> None:
    function.damage.append(why)
    if len(scope.problems) < _MOST_PROBLEMS:
        scope.problems.append(Problem("warning", scope.path, f"function {function.name} is cut: {why}"))


def _begin(function: Function, before: Function | None) -> None:
    """Note it where a function begins elsewhere than at the start of its section or behind its neighbour."""
    offset = function.columns.offsets[function.start] if len(function) else ""
    if not offset:
        if len(function):
            function.damage.append("the text has no addresses, so that a missing line could not be noticed")
        return
    if before is not None and len(before) and before.section == function.section and function.section:
        expected = int(before.columns.offsets[before.stop - 1] or "0", 16) + _STEP
    else:
        expected = _STEP // 2  # before sm_70 a control word comes first
    if int(offset, 16) > expected:
        function.damage.append(f"it begins at {int(offset, 16):#x}; what stands before that is not in the text")


def _assign_damage(scope: Scope) -> None:
    marks = sorted([*scope.damaged, *scope.unreadable.items()])
    place = 0
    for index, reason in marks:
        while place + 1 < len(scope.functions) and scope.functions[place].stop <= index:
            place += 1
        if scope.functions:
            scope.functions[place].damage.append(reason)
            if index in scope.unreadable:
                scope.functions[place].unreadable.add(index)


def role_by_code(function: Function) -> Role:
    """A listing without symbols does not tell kernels from the rest; what returns and never exits is no kernel."""
    opcodes = {m.partition(".")[0] for m in function.columns.mnemonics[function.start : function.stop]}
    return "device" if "RET" in opcodes and "EXIT" not in opcodes else "kernel"
