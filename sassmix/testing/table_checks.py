"""What holds for the table of an architecture. Each check gives its faults: place, what is wrong, remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from sassmix.arch import ModifierRule, Opcode
from sassmix.errors import did_you_mean
from sassmix.testing.subject import Subject

#: A type is written as in the other tables: a letter and bits, or exponent and mantissa.
_DTYPE = re.compile(r"[fbsu][1-9][0-9]{0,2}|tf32|bf16|e[0-9]m[0-9]+")
_KNOWN_DTYPES = "f64 f32 tf32 bf16 f16 e4m3 e5m2 e3m2 e2m3 e2m1 s64 u64 s32 u32 s16 u16 s8 u8 s4 u4 b64 b32 b1".split()
_NO_SOURCE = re.compile(r"\W*(todo|tbd|fixme|xxx|source|none|n/?a|unknown|somewhere)?\W*", re.IGNORECASE)
_SHARED = ("category", "datapath", "space")


def registered(subject: Subject) -> Iterator[str]:
    """One plugin registers the target, and that plugin has no error.

    What a plugin says of parents, removed opcodes and repeated rows is checked where it is loaded; it is among these.
    """
    registry, target = subject.plugins.registry, subject.target
    missing = target not in registry
    if missing:
        how = "name its module in an entry point of the group 'sassmix' and install the package (pip install -e .)"
        yield f"no plugin registers {target}; {how}"
    for error in subject.plugins.errors:
        if missing or error.plugin == subject.table.origin.plugin or re.search(rf"\b{target}\b", error.message):
            yield f"plugin error: {error}"


def sorted_table(subject: Subject) -> Iterator[str]:
    """The rows of a table stand in the order of the alphabet, so that a change is one line of a diff."""
    last: dict[str, Opcode] = {}
    for row in subject.rows:
        file = row.place.partition(",")[0]
        if file in last and last[file].opcode > row.opcode:
            yield f"{subject.place(row)}: stands behind {last[file].opcode}; sort the rows by opcode"
        last[file] = row


def spelling(subject: Subject) -> Iterator[str]:
    """Data types are written as in every other table."""
    values = [(subject.place(row), row.dtype) for row in subject.rows]
    values += [(_place(rule), rule.facets.get("dtype", "")) for part in subject.parts for rule in part.modifier_rules]
    for place, dtype in values:
        if dtype and not _DTYPE.fullmatch(dtype):
            near = did_you_mean(dtype, _KNOWN_DTYPES) or "; there are " + " ".join(_KNOWN_DTYPES)
            yield f"{place}: dtype {dtype!r} is not the name of a type{near}"


def sources(subject: Subject) -> Iterator[str]:
    """Each row names its evidence."""
    for row in subject.rows:
        if _NO_SOURCE.fullmatch(row.source):
            yield f"{subject.place(row)}: source {row.source!r} is none; name the manual, tool or measurement"


def knowledge(subject: Subject) -> Iterator[str]:
    """A documented opcode stands under a heading of the manual; a pipe was measured or documented, not guessed."""
    for row in subject.rows:
        if row.knowledge == "documented" and not row.group:
            yield (
                f"{subject.place(row)}: documented, but without a group; give NVIDIA's heading, "
                "or knowledge observed or inferred"
            )
        if row.knowledge == "inferred" and row.pipe:
            yield (
                f"{subject.place(row)}: the pipe {row.pipe} of an opcode that is only inferred; "
                "leave it out until it is measured"
            )


def matrix_opcodes(subject: Subject) -> Iterator[str]:
    """What is called a matrix multiply is one: a matrix opcode in another category makes the verdict wrong."""
    for row in subject.table.opcodes.values():
        if row.opcode.endswith("MMA") and not row.tensor:
            yield f"{subject.place(row)}: the name says matrix multiply, the category {row.category}; say tensor"


def agreement(subject: Subject) -> Iterator[str]:
    """An opcode does the same work everywhere: category, datapath and space are those of the other architectures."""
    others: dict[str, tuple[Opcode, str]] = {}
    for target, table in subject.plugins.registry:
        if table is not subject.table:
            for name, row in table.opcodes.items():
                others.setdefault(name, (row, target))
    for row in subject.rows:
        other, target = others.get(row.opcode, (row, ""))
        for facet in _SHARED:
            ours, theirs = getattr(row, facet), getattr(other, facet)
            if ours != theirs:
                yield f"{subject.place(row)}: {facet} {ours!r}, but {theirs!r} on {target}; one of them is wrong"


def rules(subject: Subject) -> Iterator[str]:
    """Each modifier rule can hold for some mnemonic, and decides something that no rule before it has decided."""
    opcodes = sorted({name for table in subject.plugins.registry.tables() for name in table.opcodes})
    for part in subject.parts:
        for number, rule in enumerate(part.modifier_rules):
            if fault := _idle(rule, part.modifier_rules[:number], opcodes):
                yield f"{_place(rule)}: {fault}"


def _idle(rule: ModifierRule, earlier: Sequence[ModifierRule], opcodes: Sequence[str]) -> str | None:
    """Why a rule never decides anything, None where it does."""
    matched = [name for name in opcodes if fnmatchcase(name, rule.opcode)]
    if not matched:
        near = did_you_mean(rule.opcode, opcodes)
        return f"no opcode matches {rule.opcode!r}{near or '; correct it or leave it out'}"
    shadow = _shadow(rule, matched, earlier)
    return f"never decides, since {_place(shadow)} stands before it; put it in front of that" if shadow else None


def _shadow(rule: ModifierRule, opcodes: Iterable[str], earlier: Sequence[ModifierRule]) -> ModifierRule | None:
    """The last of the rules that together decide all that a rule would decide; None where something is left to it."""
    deciding = None
    for opcode in opcodes:
        covering = [e for e in earlier if fnmatchcase(opcode, e.opcode) and _covers(e.modifier, rule.modifier)]
        for facet in rule.facets:
            deciding = next((e for e in covering if facet in e.facets), None)
            if deciding is None:
                return None
    return deciding


def _covers(wide: str, narrow: str) -> bool:
    """Whether one pattern of modifiers holds wherever another does, as far as their text tells."""
    literal = not set(narrow) & set("*?[")
    return wide in ("", narrow) or (bool(narrow) and (wide == "*" or (literal and fnmatchcase(narrow, wide))))


def explained(subject: Subject) -> Iterator[str]:
    """Each opcode of the architecture, inherited ones too, has an answer that agrees with its row."""
    for opcode, row in subject.table.opcodes.items():
        info, place = subject.info(opcode), subject.place(row)
        if not info.known:
            yield f"{place}: sassmix_classify says that it is not known; give None to leave it to the row"
        elif not (info.source and info.knowledge and info.plugin):
            yield f"{place}: the answer of sassmix_classify lacks source, knowledge or plugin; give all three"
        elif row.tensor != info.tensor or row.tensor != (info.category == "tensor"):
            yield f"{place}: the row says {row.category}, the answer {info.category}: one of them is wrong; correct it"
    yield from (f"plugin error: {error}" for error in subject.plugins.errors if "sassmix_classify" in str(error))


def _place(rule: ModifierRule) -> str:
    return f"rule {rule.opcode}.{rule.modifier}" if rule.modifier else f"rule {rule.opcode}"
