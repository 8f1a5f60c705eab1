"""What a person has to decide, in words: the samples tell what is new, not what it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from sassmix.errors import number_of
from sassmix.scaffold.findings import Findings
from sassmix.scaffold.plan import Plan
from sassmix.scaffold.samples import Samples

#: How alike two names are (1 is equal) before one may be the other's successor: STS and STSV are, LDC and CLDS are not.
_ALIKE = 0.75


def decisions(plan: Plan, samples: Samples, found: Findings) -> Iterator[str]:
    """A sentence for each decision."""
    if not samples.forms:
        yield "There is no sample: compile a kernel, print it with nvdisasm -c, and name it in the test."
    else:
        yield from _on_opcodes(f"{plan.name}.csv", found)
        yield from _on_the_parent(plan.extends, found)


def _on_opcodes(table: str, found: Findings) -> Iterator[str]:
    if found.rows:
        guessed = ", ".join(row.opcode for row in found.rows)
        yield f'Is each guess right? {guessed}. Rows in {table}; as long as they are inferred, no verdict is "no".'
    if matrix := [row.opcode for row in found.rows if row.tensor]:
        yield f'Does each of these multiply matrices? {", ".join(matrix)}: a verdict "yes" rests on them.'
    for opcode in found.open:
        seen = found.seen[opcode]
        yield f"What is {opcode}? Nothing tells ({seen.text}; {seen.place}): add its row to {table}."
    for opcode, old in renamed(found.seen, found.absent).items():
        yield f"Is {opcode} a new name of {' or '.join(old)}? The samples do not show the old name; its row may fit."
    for name in found.unreadable:
        yield f"{name} ({found.seen[name].place}) is the name of no opcode; a newer disassembler may know it."
    for opcode, (seen, types) in found.types.items():
        yield (
            f"Does a modifier of {opcode} change the data type ({', '.join(types)})? No rule says so; the first form "
            f"with one is {seen.mnemonic} ({seen.place})."
        )


def renamed(new: Iterable[str], absent: Iterable[str]) -> dict[str, list[str]]:
    """New opcodes that are spelt nearly like some which the samples lack."""
    near = {opcode: get_close_matches(opcode, list(absent), n=2, cutoff=_ALIKE) for opcode in new}
    return {opcode: names for opcode, names in near.items() if names}


def _on_the_parent(parent: str, found: Findings) -> Iterator[str]:
    if found.nearer:
        name, lacking = found.nearer
        yield (
            f"Is {parent} the nearest parent? It lacks {number_of(len(found.seen), 'opcode')} of the samples, {name} "
            f"{len(lacking)}: {', '.join(lacking) or 'none'}."
        )
    for relative, names in found.gone.items():
        yield f"Are these gone, as on {relative}? The samples lack them, which proves nothing: {', '.join(names)}."
    if not found.enough:
        yield f"Is any opcode of {parent} gone? The samples hold too few of them to point at one; see REMOVED."


def in_the_checkout(plan: Plan, found: Findings) -> Iterator[str]:
    """What else a checkout wants of an architecture that is kept in it."""
    matrix = sorted({row.opcode for row in found.rows if row.tensor} | set(plan.parent.matrix_opcodes))
    plugin = f"nvidia-{plan.name.replace('_', '-')}"
    row = f"| {plan.name} | {', '.join(plan.targets)} | `{plugin}` | {' '.join(matrix)} |"
    yield f"The table of architectures in the README needs the row: {row}"
    yield f"What the disassembler prints for {plan.targets[0]} goes into fixtures/opcodes/printed.tsv, if it is known."
    yield "New matrix opcodes go into TARGETS_OF in tests/test_tables.py. Then: make grammar, make test lint."
