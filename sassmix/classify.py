"""What is one mnemonic on one architecture? Asked once for each distinct mnemonic, never per instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

from sassmix.arch import FACETS, ModifierRule, OpcodeInfo, check_facets
from sassmix.errors import PluginError
from sassmix.registry import Registry, Table

Override = Callable[[str, str], OpcodeInfo | None]


def check_answer(answer: object) -> OpcodeInfo:
    """The answer of a plugin's hook, held to what holds for the row of a table.

    :raises PluginError: for any other answer: a mix would lose the instruction, or call a matrix multiply none.
    """
    if not isinstance(answer, OpcodeInfo):
        kind = type(answer).__name__
        raise PluginError(f"sassmix_classify gives {kind}, not sassmix.OpcodeInfo; give None for what the table knows")
    where = f"sassmix_classify's answer for {answer.mnemonic}"
    facets = {name: getattr(answer, name) for name in (*FACETS, "knowledge")}
    check_facets({name: value for name, value in facets.items() if value is not None}, where=where)
    if answer.known and answer.category is None:
        raise PluginError(f"{where}: the opcode is known, but has no category; give one")
    if answer.tensor != (answer.category == "tensor"):
        raise PluginError(f"{where}: tensor is {answer.tensor} in the category {answer.category}; make them agree")
    return answer


class Classifier:
    """Answers from the plugins' own hook first, then from the tables; answers are kept."""

    def __init__(self, registry: Registry, override: Override | None = None) -> None:
        self.registry = registry
        self._override = override
        self._known: dict[tuple[str, str | None], OpcodeInfo] = {}
        self._rules: dict[str, dict[str, list[ModifierRule]]] = {}

    def info(self, mnemonic: str, arch: str | None) -> OpcodeInfo:
        """What a mnemonic is on a target; without a target, what all targets that have the opcode agree on."""
        key = (mnemonic, arch)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._agreed(mnemonic) if arch is None else self._on(mnemonic, arch)
        return found

    def _on(self, mnemonic: str, arch: str) -> OpcodeInfo:
        if self._override is not None:
            answer = self._override(mnemonic, arch)
            if answer is not None:
                return answer
        opcode = mnemonic.partition(".")[0]
        table = self.registry.get(arch)
        row = table.opcodes.get(opcode) if table else None
        if table is None or row is None:
            return OpcodeInfo(opcode=opcode, mnemonic=mnemonic, arch=arch, known=False)
        info = OpcodeInfo(
            opcode=opcode,
            mnemonic=mnemonic,
            arch=arch,
            known=True,
            category=row.category,
            group=row.group or None,
            datapath=row.datapath,
            space=row.space or None,
            dtype=row.dtype or None,
            pipe=table.pipes.get(opcode) or None,
            intent=row.category,
            tensor=row.tensor,
            knowledge=row.knowledge,
            source=row.source,
            plugin=table.origin.plugin,
            description=row.description or None,
        )
        return info.with_facets(self._changes(info, table))

    def _changes(self, info: OpcodeInfo, table: Table) -> dict[str, str]:
        changes: dict[str, str] = {}
        for rule in self._rules_of(info.opcode, table):
            if not rule.modifier or any(_fits(m, rule.modifier) for m in info.modifiers):
                for facet, value in rule.facets.items():
                    changes.setdefault(facet, value)
        if "category" in changes:
            changes.setdefault("intent", changes["category"])
        return changes

    def _rules_of(self, opcode: str, table: Table) -> list[ModifierRule]:
        of_arch = self._rules.setdefault(table.architecture.name, {})
        if opcode not in of_arch:
            fitting = {pattern for pattern in {rule.opcode for rule in table.rules} if _fits(opcode, pattern)}
            of_arch[opcode] = [rule for rule in table.rules if rule.opcode in fitting]
        return of_arch[opcode]

    def _agreed(self, mnemonic: str) -> OpcodeInfo:
        opcode = mnemonic.partition(".")[0]
        one_per_table = {id(self.registry.get(t)): t for t in self.registry.targets_with(opcode)}
        return agreement(mnemonic, [self.info(mnemonic, target) for target in one_per_table.values()])


def _fits(text: str, pattern: str) -> bool:
    """Whether a glob pattern matches; most are plain texts, which need none made."""
    return text == pattern or (not pattern.isalnum() and fnmatchcase(text, pattern))


def agreement(mnemonic: str, answers: Iterable[OpcodeInfo]) -> OpcodeInfo:
    """One answer for no architecture in particular: a facet on which the answers differ is None.

    Known only where all agree on the category, since an answer without one would be no classification.
    """
    answers = list(answers)
    agreed: dict[str, Any] = {}
    for facet in (*FACETS, "tensor", "plugin", "source", "description"):
        values = {getattr(a, facet) for a in answers}
        agreed[facet] = values.pop() if len(values) == 1 else None
    known = agreed["category"] is not None
    agreed["tensor"] = bool(agreed["tensor"])
    if known:
        agreed["knowledge"] = "inferred" if any(a.knowledge == "inferred" for a in answers) else "observed"
        agreed["plugin"] = ", ".join(sorted({a.plugin for a in answers if a.plugin})) or None
    return OpcodeInfo(opcode=mnemonic.partition(".")[0], mnemonic=mnemonic, arch=None, known=known, **agreed)
