"""May the data be believed? Six checks for each kernel, and the confidence that follows from them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from sassmix.registry import Registry
from sassmix.tally import Tally

Status = Literal["pass", "warn", "fail"]
CHECKS = ("captured", "complete", "resolved", "architecture", "mapping", "consistent")
#: Share of unresolved counts from which on a mix says little; below, it is a blemish.
MANY = 0.01


class Evidence(NamedTuple):
    """One check: its name, its outcome, and why in one sentence."""

    check: str
    status: Status
    detail: str

    def to_dict(self) -> dict[str, str]:
        """The entry of a report's ``evidence``."""
        return {"check": self.check, "status": self.status, "detail": self.detail}


def confidence(evidence: Iterable[Evidence]) -> str:
    """low with any failed check, medium with any warning, else high."""
    statuses = {item.status for item in evidence}
    return "low" if "fail" in statuses else "medium" if "warn" in statuses else "high"


def verdict(statuses: Iterable[str]) -> str:
    """The worst of several outcomes: ``fail``, ``warn`` or ``pass``."""
    statuses = set(statuses)
    return "fail" if "fail" in statuses else "warn" if "warn" in statuses else "pass"


def few(reasons: Iterable[str], most: int = 3) -> str:
    """Some reasons in one phrase, the number of the rest behind them."""
    reasons = list(dict.fromkeys(reasons))
    more = f" and {len(reasons) - most:,} more" if len(reasons) > most else ""
    return "; ".join(reasons[:most]) + more


def check_resolved(tally: Tally) -> Evidence:
    """Is every count an instruction that is known, and classified on this architecture?"""
    total, unresolved, unclassified = tally.total, tally.unresolved, tally.unclassified
    if unresolved:
        names = few(row.name for row in tally.rows if row.info is None)
        status: Status = "fail" if unresolved > MANY * total else "warn"
        return Evidence("resolved", status, f"{unresolved:,} of {total:,} not resolved to an instruction: {names}")
    if unclassified:
        names = few(row.name for row in tally.rows if row.info and not row.info.known)
        return Evidence("resolved", "warn", f"{unclassified:,} of {total:,} not classified by any plugin: {names}")
    if guesses := tally.guesses:
        names, number = few(row.name for row in guesses), sum(row.count for row in guesses)
        return Evidence("resolved", "warn", f"all {total:,} resolved, {number:,} only inferred: {names}")
    return Evidence("resolved", "pass", f"all {total:,} resolved and classified")


class ArchitectureClaim(NamedTuple):
    """Which architecture is meant and who says so: the input, ``--arch``, or an opcode that only one has."""

    arch: str | None
    stated: str | None
    inferred_from: str = ""

    @property
    def overridden(self) -> bool:
        """Whether the user's word contradicts the input's."""
        return bool(self.stated and self.arch and self.stated != self.arch)


def check_architecture(claim: ArchitectureClaim, tally: Tally, registry: Registry) -> Evidence:
    """Is the architecture known, and can it have these opcodes?"""
    arch = claim.arch
    if arch is None:
        return Evidence(
            "architecture",
            "warn",
            "no input names the architecture; opcodes are judged by what all architectures agree on; give --arch",
        )
    if arch not in registry:
        known = "`sassmix archs` lists what is known, `sassmix new-arch` begins a plugin"
        detail = f"no plugin registers {arch}: its opcodes are not classified; {known}"
        return Evidence("architecture", "fail", detail)
    foreign = foreign_opcodes(tally, registry)
    if foreign:
        return Evidence(
            "architecture",
            "fail",
            f"{arch} does not have {few(foreign)}: the listing or the architecture is another one",
        )
    if claim.overridden:
        return Evidence("architecture", "warn", f"--arch says {arch}, the input says {claim.stated}")
    if claim.inferred_from:
        return Evidence("architecture", "warn", f"{arch}, inferred from {claim.inferred_from}, which only it has")
    return Evidence("architecture", "pass", f"{arch}, by plugin {registry.require(arch).origin.plugin}")


def foreign_opcodes(tally: Tally, registry: Registry) -> list[str]:
    """Opcodes that this architecture lacks and another one has."""
    unknown = dict.fromkeys(row.info.opcode for row in tally.rows if row.info and row.info.arch and not row.info.known)
    return [opcode for opcode in unknown if registry.targets_with(opcode)]
