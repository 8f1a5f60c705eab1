"""The vocabulary of plugins: opcode rows, modifier rules, architectures and what is known of one mnemonic.

Data only. How architectures inherit from one another is in :mod:`sassmix.registry`, how a mnemonic is looked up in
:mod:`sassmix.classify`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path

from sassmix.errors import PluginError, UnknownArchitectureError, did_you_mean

CATEGORIES = frozenset(
    """tensor tensor_memory float.fp64 float.fp32 float.fp16 float.special integer.arithmetic integer.logic conversion
    movement predicate memory.global memory.shared memory.distributed memory.local memory.generic memory.constant
    memory.bulk memory.texture memory.surface memory.cache sync control warp special misc graphics""".split()
)
DATAPATHS = frozenset({"vector", "uniform"})
SPACES = frozenset("global shared distributed local generic constant texture surface tensor attribute".split())
KNOWLEDGE = frozenset({"documented", "observed", "inferred"})
PIPES = frozenset("adu alu cbu fma fp64 lsu tensor tex tma uniform xu".split())
#: The facets that a report can be grouped by, besides ``opcode``.
FACETS = ("category", "group", "pipe", "datapath", "space", "dtype", "intent")
_CLOSED = {"category": CATEGORIES, "datapath": DATAPATHS, "space": SPACES, "pipe": PIPES, "knowledge": KNOWLEDGE}
_CLOSED["intent"] = CATEGORIES
_OPTIONAL = frozenset({"group", "space", "dtype", "pipe", "intent"})
_OPCODE = re.compile(r"[A-Z_][A-Z0-9_]*")
_TARGET = re.compile(r"(?:sm|compute)?_?([1-9][0-9]{1,3})([af]?)", re.IGNORECASE)


def sm(*targets: int | str) -> tuple[str, ...]:
    """Target names in their one spelling: ``sm(90, "90a", "SM100f")`` is ``("sm_90", "sm_90a", "sm_100f")``.

    :raises UnknownArchitectureError: for text that is not a number with an optional ``a`` or ``f``.
    """
    return tuple(_target(str(t)) for t in targets)


def _target(text: str) -> str:
    if not (match := _TARGET.fullmatch(text.strip())):
        how = 'write the whole target, sm(200, "200a")' if text in ("a", "f") else "write it as sm_90 or sm_100a"
        raise UnknownArchitectureError(f"{text!r} is not the name of an architecture; {how}")
    return f"sm_{match[1]}{match[2].lower()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opcode:
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
        check_facets(asdict(self), where=f"opcode {self.opcode}")
        if not _OPCODE.fullmatch(self.opcode):
            raise PluginError(f"opcode {self.opcode!r} matches no instruction; write the base mnemonic alone, as HMMA")
        if not self.source.strip():
            raise PluginError(f"opcode {self.opcode}: the source is missing; say where the row's facts come from")

    @property
    def tensor(self) -> bool:
        """True for a matrix multiply: the category ``tensor`` holds nothing else."""
        return self.category == "tensor"


def check_facets(facets: Mapping[str, object], *, where: str) -> None:
    """Raise :class:`PluginError` for a value outside its closed set, with the nearest one that is inside."""
    for name, value in facets.items():
        if not isinstance(value, str):
            raise PluginError(f"{where}: {name} {value!r} is not a text")
        allowed = _CLOSED.get(name)
        if allowed and value not in allowed and not (value == "" and name in _OPTIONAL):
            raise PluginError(f"{where}: {name} {value!r} is not one of its values{did_you_mean(value, allowed)}")


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
        allowed = set(FACETS) | {"knowledge"}
        for name in self.facets:
            if name not in allowed:
                raise PluginError(f"rule {self.opcode}.{self.modifier}: no facet {name!r}{did_you_mean(name, allowed)}")
        check_facets(self.facets, where=f"rule {self.opcode}.{self.modifier}")
        if self.facets.get("category") == "tensor":
            raise PluginError(f"rule {self.opcode}.{self.modifier}: a modifier makes no matrix opcode; add a row")


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
        if isinstance(self.remove, str):
            raise PluginError(f'architecture {self.name!r}: remove is a text; write ("{self.remove}",)')
        object.__setattr__(self, "sm", sm(*self.sm))
        object.__setattr__(self, "family", self.family or self.name)


def load_opcodes(file: str | Path, name: str | None = None) -> tuple[Opcode, ...]:
    """Read the rows of an opcode table.

    :param file: the table, or the plugin's ``__file__``: then the table lies beside it.
    :param name: the table's file name; left out, it is the module's with the suffix ``.csv``.
    :raises PluginError: naming the file and the row that is wrong.
    """
    path = Path(file)
    if path.suffix != ".csv":
        path = path.parent / name if name else path.with_suffix(".csv")
    columns = [f.name for f in fields(Opcode)]
    records = _records(path)
    if not records:
        raise PluginError(f"{path.name} holds no row; the first one names the columns: {','.join(columns)}")
    _check_header(f"{path.name}, row {records[0][0]}", records[0][1], columns)
    return _rows(path.name, records)


def _records(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of each row that is not blank, with the number of its first line."""
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = "" if path.exists() else "; is it packaged?"
        raise PluginError(f"{path.name} cannot be read: {error.strerror or error}{hint}") from error
    records, line = list[tuple[int, list[str]]](), 1
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
        for cells in reader:
            records.append((line, cells))
            line = reader.line_num + 1
    except UnicodeDecodeError as error:
        line = len((data[: error.start] + b".").splitlines())
        raise PluginError(f"{path.name}, row {line}: {error.reason}; save the table as utf-8") from None
    except csv.Error as error:
        raise PluginError(f"{path.name}, row {line}: {error}; quote a cell as a whole, a quote in it twice") from None
    return [record for record in records if record[1]]


def _check_header(where: str, header: list[str], columns: list[str]) -> None:
    for column in header:
        if column not in columns:
            near = "; separate by commas" if re.search("[;\t]", column) else did_you_mean(column, columns)
            raise PluginError(f"{where}: no column {column!r} in an opcode table{near}")
        if header.count(column) > 1:
            raise PluginError(f"{where}: the column {column!r} stands twice; leave one out")
    for needed in fields(Opcode):
        if needed.default is MISSING and needed.name not in header:
            raise PluginError(f"{where}: the column {needed.name!r} is missing; add it, every row needs it")


def _rows(file: str, records: list[tuple[int, list[str]]]) -> tuple[Opcode, ...]:
    (_, header), *rows = records
    seen: dict[str, int] = {}
    result = []
    for line, cells in rows:
        where = f"{file}, row {line}"
        if len(cells) != len(header):
            raise PluginError(f"{where}: as many cells as the header has are needed; quote a cell that holds a comma")
        try:
            opcode = Opcode(**dict(zip(header, cells, strict=True)))
        except PluginError as error:
            raise PluginError(f"{where}: {error.message}") from None
        if opcode.opcode in seen:
            raise PluginError(f"{where}: {opcode.opcode} stands in row {seen[opcode.opcode]} already")
        seen[opcode.opcode] = line
        result.append(opcode)
    return tuple(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpcodeInfo:
    """What is known of one mnemonic on one architecture. Facets that do not apply or are not known are None.

    ``known`` is False where the architecture does not have the opcode, or no plugin registers the architecture.
    ``arch`` is None for an answer on which all architectures that have the opcode agree.
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
    tensor: bool = False
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
