"""The verdict on tensor cores, with three values: true, false by proof, and null with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from sassmix.evidence import Evidence, few, foreign_opcodes
from sassmix.registry import Registry
from sassmix.tally import Tally

if TYPE_CHECKING:
    from sassmix.counts import Counts


class TensorVerdict(NamedTuple):
    """``present``: a matrix opcode stands in the code; ``active``: one was executed; ``reason``: one sentence."""

    present: bool | None
    active: bool | None
    reason: str


def named(matrix: dict[str, int]) -> str:
    """``HMMA (2); IMMA (1)``."""
    return few(f"{opcode} ({count:,})" for opcode, count in sorted(matrix.items(), key=lambda item: -item[1]))


def has_no_matrix_unit(arch: str | None, tally: Tally, registry: Registry) -> bool:
    """Whether the architecture is known, has no matrix opcode, and nothing speaks against it being this one."""
    table = registry.get(arch)
    doubtful = tally.unresolved or foreign_opcodes(tally, registry)
    return bool(table and not table.matrix_opcodes and not doubtful)


def guessed(tally: Tally) -> list[str]:
    """Opcodes whose class is no more than inferred, so that they may be matrix opcodes after all."""
    rows = (row for row in tally.guesses if row.info and not row.info.tensor)
    return [f"what {row.name} does is only inferred" for row in rows]


def static_verdict(
    own: Tally,
    reached: dict[str, Tally],
    doubts: Iterable[str],
    *,
    arch: str | None,
    registry: Registry,
) -> TensorVerdict:
    """What a listing alone can tell.

    :param reached: the mixes of the functions that are called, by name.
    :param doubts: why an instruction may have stayed unseen, in words.
    """
    if own.matrix():
        return TensorVerdict(
            True, None, f"the listing holds {named(own.matrix())}; whether it ran, only counts can tell"
        )
    for name, tally in reached.items():
        if tally.matrix():
            what = f"the function {name} that it reaches holds {named(tally.matrix())}"
            return TensorVerdict(True, None, f"{what}; whether it ran, only counts can tell")
    if all(has_no_matrix_unit(arch, tally, registry) for tally in (own, *reached.values())):
        return TensorVerdict(False, False, f"{arch} has no matrix opcode")
    doubts = list(doubts) + [
        f"{name} has opcodes that are not classified" for name, t in reached.items() if t.unclassified or t.unresolved
    ]
    doubts += [doubt for tally in (own, *reached.values()) for doubt in guessed(tally)]
    if doubts:
        return TensorVerdict(None, None, f"no matrix opcode was seen, but that proves nothing: {few(doubts)}")
    return TensorVerdict(
        False, None, "no matrix opcode stands in the listing or in what it calls; what ran, only counts can tell"
    )


def dynamic_verdict(
    issued: Tally,
    active: Tally,
    evidence: Iterable[Evidence],
    *,
    arch: str | None,
    registry: Registry,
    static: TensorVerdict | None,
    elsewhere: Mapping[str, dict[str, int]] | None = None,
) -> TensorVerdict:
    """What executed counts can tell.

    :param issued: everything that was counted.
    :param active: the same with at least one active lane, where masks say; else the same as ``issued``.
    :param static: what the code of the kernel tells, if it is there.
    :param elsewhere: the matrix opcodes that other sources saw executed, by source.
    """
    present = static.present if static else None
    doubts = [item.detail for item in evidence if item.status != "pass"] + guessed(issued)
    seen = {"": active.matrix(), **(elsewhere or {})}
    source, matrix = next(((source, matrix) for source, matrix in seen.items() if matrix), ("", {}))
    if matrix:
        contradicted = [item.detail for item in evidence if item.check == "consistent" and item.status == "fail"]
        if contradicted:
            return TensorVerdict(
                present, None, f"matrix opcodes were counted, but the data contradicts itself: {few(contradicted)}"
            )
        by = f", by {source}" if source else ""
        return TensorVerdict(True, True, f"{named(matrix)} executed{by}")
    if has_no_matrix_unit(arch, issued, registry):
        return TensorVerdict(False, False, f"{arch} has no matrix opcode")
    if issued.matrix():
        what = f"{named(issued.matrix())} issued with no lane active, so not executed"
        return TensorVerdict(True, None if doubts else False, f"{what}; {few(doubts)}" if doubts else what)
    if doubts:
        return TensorVerdict(present, None, f"no matrix opcode was counted, but that proves nothing: {few(doubts)}")
    return TensorVerdict(present, False, "every row resolved, capture complete, no matrix opcode executed")


def pipe_bounds(counts: Counts) -> tuple[float, float] | None:
    """How much of the use of the tensor pipe is matrix work, at least and at most; None where nothing tells.

    Where it is not counted apart, packed arithmetic may be all of its instructions, or none.
    """
    if "tensor" not in counts.hardware:
        return None
    used, packed = counts.hardware["tensor"], counts.hardware.get("tensor_hfma2")
    return used - (_packed(counts) if packed is None else packed), used - (packed or 0.0)


def _packed(counts: Counts) -> int:
    """Instructions that may be HFMA2.MMA, which is no matrix opcode; a name without modifiers hides which."""
    names = [((row.mnemonic or "").split("."), row.issued) for row in counts.rows]
    return sum(issued for (opcode, *rest), issued in names if opcode == "HFMA2" and (not rest or "MMA" in rest))
