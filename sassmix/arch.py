"""The vocabulary of plugins: opcode rows, modifier rules, architectures and what is known of one mnemonic.

Data only: :mod:`sassmix.registry` lets architectures inherit, :mod:`sassmix.classify` looks a mnemonic up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sassmix.csvtable import Placed, read_table
from sassmix.errors import PluginError, UnknownArchitectureError, did_you_mean

CATEGORIES = frozenset(
    """tensor tensor_memory float.fp64 float.fp32 float.fp16 float.special integer.arithmetic integer.logic conversion
    movement predicate memory.global memory.shared memory.distributed memory.local memory.generic memory.constant
    memory.bulk memory.texture memory.surface memory.cache sync control warp special misc graphics""".split()
)
DATAPATHS = frozenset({"vector", "uniform"})
SPACES = frozenset("global shared distributed local generic constant texture surface tensor attribute".split())
KNOWLEDGE = frozenset({"documented", "observed", "inferred"})
LANES = 32  # threads of a warp, on every architecture
PIPES = frozenset("adu alu cbu fma fp64 lsu tensor tex tma uniform xu".split())
#: The facets that a report can be grouped by, besides ``opcode``.
FACETS = ("category", "group", "pipe", "datapath", "space", "dtype", "intent")
_CLOSED = {"category": CATEGORIES, "datapath": DATAPATHS, "space": SPACES, "pipe": PIPES, "knowledge": KNOWLEDGE}
_CLOSED["intent"] = CATEGORIES
_OPTIONAL = frozenset({"group", "space", "dtype", "pipe", "intent"})
_OPCODE = re.compile(r"[A-Z_][A-Z0-9_]*")
_TARGET = re.compile(r"(?:sm|compute)?_?([1-9][0-9]{1,3})([af]?)", re.IGNORECASE)
#: Several targets in one text: ``90-100``, ``sm_90+``, ``9x``, ``range(90, 100)``.
_SEVERAL = re.compile(r"[0-9]\s*([-.,:+*x]|to\b)|[<>]")
#: Glob patterns that can match an opcode, and a modifier.
_OPCODE_PATTERN = re.compile(r"([A-Z_*?]|\[!?.[^]]*\])([A-Z0-9_*?]|\[!?.[^]]*\])*")
_MODIFIER_PATTERN = re.compile(r"([A-Za-z0-9_*?]|\[!?.[^]]*\])*")


def sm(*targets: int | str) -> tuple[str, ...]:
    """Target names in their one spelling: ``sm(90, "90a", "SM100f")`` is ``("sm_90", "sm_90a", "sm_100f")``.

    :raises UnknownArchitectureError: for text that is not a number with an optional ``a`` or ``f``.
    """
    return tuple(_target(str(t)) for t in targets)


def _target(text: str) -> str:
    if not (match := _TARGET.fullmatch(text.strip())):
        how = "write it as sm_90 or sm_100a"
        if text in ("a", "f"):
            how = 'write the whole target, sm(200, "200a")'
        elif _SEVERAL.search(text):
            how = "targets are exact, never ranges; write it as sm_90 or sm_100a, name each: sm(90, 100)"
        raise UnknownArchitectureError(f"{text!r} is not the name of an architecture; {how}")
    return f"sm_{match[1]}{match[2].lower()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opcode(Placed):
    """One row of an opcode table: what is known of a base mnemonic on one architecture.

    ``group`` is NVIDIA's own heading, empty where it has none; ``pipe`` is Nsight Compute's name of the execution
    pipeline, only where it was measured or documented on this architecture; ``source`` is the evidence for the row.
    """

    opcode: str
    category: str
    group: str = ""
    datapath: str = "vector"
    space: str = ""
    dtype: str = ""
    pipe: str = ""
    knowledge: str
    source: str
    description: str = ""

    def __post_init__(self) -> None:
        check_facets({name: getattr(self, name) for name in _COLUMNS}, where=f"opcode {self.opcode}")
        if not _OPCODE.fullmatch(self.opcode):
            raise PluginError(f"opcode {self.opcode!r} matches no instruction; write the base mnemonic alone, as HMMA")
        if not self.source.strip():
            raise PluginError(f"opcode {self.opcode}: the source is missing; say where the row's facts come from")

    @property
    def tensor(self) -> bool:
        """True for a matrix multiply: the category ``tensor`` holds nothing else."""
        return self.category == "tensor"


_COLUMNS = tuple(column.name for column in fields(Opcode))


def check_facets(facets: Mapping[str, object], *, where: str) -> None:
    """Raise :class:`PluginError` for a value outside its closed set, with the nearest one that is inside."""
    for name, value in facets.items():
        if not isinstance(value, str):
            raise PluginError(f"{where}: {name} {value!r} is not a text")
        allowed = _CLOSED.get(name)
        if allowed and value not in allowed and not (value == "" and name in _OPTIONAL):
            near = did_you_mean(value, allowed) or f"; there are {', '.join(sorted(allowed))}"
            raise PluginError(f"{where}: {name} {value!r} is not one of its values{near}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifierRule:
    """Facets that a modifier changes: ``HFMA2`` with ``MMA`` runs on the tensor pipe.

    ``opcode`` and ``modifier`` are glob patterns; the rule holds where the opcode matches and any modifier of the
    mnemonic matches (an empty ``modifier`` holds for every mnemonic of the opcode). For each facet the first rule
    that holds decides, those of a child before those of its parent.
    """

    opcode: str
    modifier: str = ""
    facets: Mapping[str, str]
    source: str = ""

    def __post_init__(self) -> None:
        rule = f"rule {self.opcode}.{self.modifier}" if self.modifier else f"rule {self.opcode}"
        if not isinstance(self.facets, Mapping) or not self.facets:
            raise PluginError(f"{rule}: facets {self.facets!r} change nothing; write them as {{'dtype': 'f16'}}")
        for name in self.facets:
            if name not in (allowed := (*FACETS, "knowledge")):
                near = did_you_mean(str(name), allowed) or f"; there are {', '.join(allowed)}"
                raise PluginError(f"{rule}: no facet {name!r}{near}")
        check_facets(self.facets, where=rule)
        if self.facets.get("category") == "tensor":
            raise PluginError(f"{rule}: a modifier makes no matrix opcode; add a row")
        # A pattern with a character that no name has would never hold, and nobody would see it.
        if not _OPCODE_PATTERN.fullmatch(self.opcode):
            raise PluginError(f"{rule}: {self.opcode!r} can match no opcode; write it as HFMA2 or H*MMA")
        if not _MODIFIER_PATTERN.fullmatch(self.modifier):
            raise PluginError(f"{rule}: {self.modifier!r} can match no modifier, a part between dots; write BF16*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """What one plugin says of one or more exact targets, as the difference from ``extends``.

    :param name: unique name, ``hopper``; a child names it in ``extends``.
    :param sm: exact targets as :func:`sm` spells them; empty for a base that only others extend.
    :param opcodes: rows that are new or differ from the parent's.
    :param remove: opcodes of the parent that this architecture does not have.
    :param modifier_rules: looked at before the parent's.
    :param family: product generation, where several architectures share one; the name if left out.
    """

    name: str
    sm: tuple[str, ...] = ()
    extends: str | None = None
    opcodes: tuple[Opcode, ...] = ()
    remove: tuple[str, ...] = ()
    modifier_rules: tuple[ModifierRule, ...] = ()
    family: str = ""

    def __post_init__(self) -> None:
        what = f"architecture {self.name!r}"
        for name, value in (("name", self.name), ("extends", self.extends or "nothing")):
            if not isinstance(value, str) or not value:
                raise PluginError(f"{what}: {name} is {value!r}; write a name in quotes")
        if isinstance(self.sm, (str, int, range)):
            raise PluginError(f"{what}: sm is {_kind(self.sm)}; name each target: sm=sm(130, '130a')")
        object.__setattr__(self, "sm", sm(*self.sm))
        if twice := [target for target in self.sm if self.sm.count(target) > 1]:
            raise PluginError(f"{what}: {twice[0]} stands twice in sm; leave one out")
        for name, kind in (("opcodes", Opcode), ("remove", str), ("modifier_rules", ModifierRule)):
            object.__setattr__(self, name, _several(f"{what}: {name}", getattr(self, name), kind))
        object.__setattr__(self, "family", self.family or self.name)


def _several(where: str, value: Any, kind: type) -> tuple[Any, ...]:
    """A field that holds several of a kind: one alone is a bracket that was forgotten."""
    needed = "texts" if kind is str else f"sassmix.{kind.__name__}"
    if isinstance(value, (str, kind)) or not isinstance(value, Iterable):
        raise PluginError(f"{where} is {_kind(value)}; give {needed} in a tuple: (A, B) or (A,)")
    items = tuple(value)
    for item in items:
        if not isinstance(item, kind):
            raise PluginError(f"{where} holds {_kind(item)}; give {needed} only")
    return items


def _kind(value: object) -> str:
    return "a text" if isinstance(value, str) else "None" if value is None else f"one {type(value).__name__}"


def load_opcodes(file: str | Path, name: str | None = None) -> tuple[Opcode, ...]:
    """Read the rows of an opcode table.

    :param file: the table, or the plugin's ``__file__``: then the table lies beside it.
    :param name: the table's file name; left out, it is the module's with the suffix ``.csv``.
    :raises PluginError: naming the file and the row that is wrong.
    """
    path = Path(file)
    if path.suffix != ".csv":
        path = path.parent / name if name else path.with_suffix(".csv")
    needed = [f.name for f in fields(Opcode) if f.default is MISSING]
    found: dict[str, Opcode] = {}
    for place, cells in read_table(path, [f.name for f in fields(Opcode)], needed):
        try:
            row = Opcode(**cells).at(place)
        except PluginError as error:
            raise PluginError(f"{place}: {error.message}") from None
        if earlier := found.get(row.opcode):
            number = earlier.place.rpartition(" ")[2]
            raise PluginError(f"{place}: {row.opcode} stands in row {number} already; leave one out")
        found[row.opcode] = row
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcodeInfo:
    """What is known of one mnemonic on one architecture. Facets that do not apply or are not known are None.

    ``known`` is False where the architecture does not have the opcode, or no plugin registers the architecture.
    ``tensor`` is None where nothing is known. ``arch`` is None for an answer on which all architectures that have the
    opcode agree.
    """

    opcode: str
    mnemonic: str
    arch: str | None
    known: bool
    category: str | None = None
    group: str | None = None
    datapath: str | None = None
    space: str | None = None
    dtype: str | None = None
    pipe: str | None = None
    intent: str | None = None
    tensor: bool | None = False
    knowledge: str | None = None
    source: str | None = None
    plugin: str | None = None
    description: str | None = field(default=None, compare=False)

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The dotted parts behind the opcode."""
        return tuple(self.mnemonic.split(".")[1:])

    def to_dict(self) -> dict[str, object]:
        """The facets; ``sassmix explain`` adds to them what it can say of other architectures."""
        return asdict(self)

    def with_facets(self, changes: Mapping[str, str]) -> OpcodeInfo:
        """The same with some facets changed; an empty text means that a facet does not apply."""
        return replace(self, **{name: value or None for name, value in changes.items()})  # type: ignore[arg-type]
