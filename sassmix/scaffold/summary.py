"""What the command prints: what was read and written, what is guessed, what a person has to decide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from sassmix.errors import number_of
from sassmix.scaffold.job import Scaffold

_WIDTH = 100


def lines(done: Scaffold) -> Iterator[str]:
    """The summary, line by line."""
    plan, samples, found = done.plan, done.samples, done.found
    yield f"{plan.name}: {', '.join(plan.targets)}, as the difference from {plan.extends}"
    files, functions = number_of(samples.files, "file"), number_of(samples.functions, "function")
    known, others = number_of(len(plan.parent.opcodes), "opcode"), number_of(len(found.seen), "other")
    yield (
        f"read: {files}, {functions}, {number_of(sum(samples.counts.values()), 'instruction')}; "
        f"{len(plan.parent.opcodes) - len(found.absent):,} of the {known} of {plan.extends}, {others}"
    )
    yield from (f"note: {note}" for note in samples.notes)
    yield from (f"{'would write' if done.dry else 'written'}: {path}" for path in done.files)
    if found.guesses:
        yield from ("", "guesses:")
    for guess in found.guesses:
        row, seen = guess.row, found.seen[guess.row.opcode]
        yield f"  {row.opcode}: {', '.join(filter(None, (row.category, row.datapath, row.space, row.dtype)))}"
        yield f"    {guess.reason}"
        yield f"    {seen.text}  ({seen.place})"
    yield from ("", "to decide:")
    for number, text in enumerate(done.decisions(), 1):
        first, rest = f"  {number}. ", "     "
        yield from textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False)
