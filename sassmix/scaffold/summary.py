"""What the command prints: what was read and written, what is guessed, what a person has to decide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from sassmix.scaffold.job import Scaffold

_WIDTH = 100


def lines(done: Scaffold) -> Iterator[str]:
    """The summary, line by line."""
    plan, samples, found = done.plan, done.samples, done.found
    yield f"{plan.name}: {', '.join(plan.targets)}, as the difference from {plan.extends}"
    total = len(plan.parent.opcodes)
    yield (
        f"read: {_some(samples.files, 'file')}, {_some(samples.functions, 'function')}, "
        f"{_some(sum(samples.counts.values()), 'instruction')}; {total - len(found.absent)} of the {total} opcodes of "
        f"{plan.extends}, {_some(len(found.seen), 'other')}"
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


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
