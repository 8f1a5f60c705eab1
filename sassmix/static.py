"""Listings to kernels: the static mix of every function, with what its calls reach.

Functions are reduced to counts as they are read, so that a library never stands in memory as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from operator import lt

from sassmix.code import Code, code_of
from sassmix.columns import NEVER
from sassmix.errors import number_of
from sassmix.evidence import ArchitectureClaim, Evidence, check_architecture, check_resolved, few
from sassmix.labels import LabelRule, readable
from sassmix.listing import Function, Listing
from sassmix.plugins import Plugins
from sassmix.reaching import Callees
from sassmix.registry import Registry, target_key
from sassmix.report import STATIC_UNIT, KernelReport
from sassmix.tally import Tally, merged, tally
from sassmix.tensor import static_verdict

#: Functions that are followed from one; a call graph can be as large as a library.
_MOST_REACHED = 500
_SHOWN = ("name", "arch", "role", "section", "instructions", "padding", "dead", "missing")
_Sections = dict[tuple[str | None, str | None, object], list["FunctionSummary"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSummary:
    """A function without its instructions: what the static mix and the evidence need.

    :param home: one and the same object for all functions of one listing; calls are resolved inside of it first.
    :param idle: the part of ``tally`` that stands under a guard which is never true.
    """

    name: str
    claim: ArchitectureClaim
    role: str
    section: str | None
    instructions: int
    padding: int
    dead: int
    missing: int
    calls: tuple[str, ...]
    unknown_calls: int
    damage: tuple[str, ...]
    tally: Tally
    idle: Tally
    home: object
    path: str = ""
    code: Code | None = None

    @property
    def arch(self) -> str | None:
        """The architecture that its opcodes are judged by."""
        return self.claim.arch

    def to_dict(self) -> dict[str, object]:
        """The entry of an input's ``functions``."""
        return {name: getattr(self, name) for name in _SHOWN}


def summarise(
    listing: Listing, plugins: Plugins, *, arch: str | None, include_padding: bool = False, keep: Set[str] = frozenset()
) -> Iterator[FunctionSummary]:
    """Reduce the functions of a listing.

    :param arch: the user's word on the architecture, None where the listing is to be believed.
    :param keep: the functions whose instructions are kept too.
    """
    inferred = infer_arch(listing.functions, plugins.registry)
    labels = {label for function in listing.functions for label in function.labels}
    for function in listing.functions:
        claim = _claim(function, arch, inferred)
        yield FunctionSummary(
            name=function.name,
            claim=claim,
            role=function.role,
            section=function.section,
            instructions=len(function),
            padding=function.padding,
            dead=function.dead,
            missing=function.missing,
            calls=function.calls,
            unknown_calls=function.unknown_calls,
            damage=(*function.damage, *_disorder(function), *open_branches(function, labels)),
            tally=tally(
                plugins.classifier,
                claim.arch,
                function.counts(include_padding=include_padding),
                function.unread(include_padding=include_padding),
            ),
            idle=tally(plugins.classifier, claim.arch, _dead(function)),
            home=listing.home,
            path=listing.path or "",
            code=code_of([function], plugins.classifier, claim.arch) if function.name in keep else None,
        )


def _dead(function: Function) -> Counter[str]:
    """The mnemonics that stand under a guard which is never true, with their counts."""
    if not function.dead:
        return Counter()
    columns, places = function.columns, range(function.start, function.code_stop)
    return Counter(
        columns.mnemonics[i] for i in places if columns.guards[i].strip() in NEVER and i not in function.unreadable
    )


def open_branches(function: Function, labels: Set[str]) -> list[str]:
    """Branches that lead to what is not in the text, so that there is more of the function than stands there."""
    return [f"a branch leads to {target}, which is not in the text" for target in sorted(function.branches - labels)]


def _claim(function: Function, arch: str | None, inferred: tuple[str, str] | None) -> ArchitectureClaim:
    if arch or function.arch or not inferred:
        return ArchitectureClaim(arch or function.arch, function.arch)
    return ArchitectureClaim(inferred[0], None, inferred[1])


def infer_arch(functions: Iterable[Function], registry: Registry) -> tuple[str, str] | None:
    """The only generation that has all opcodes of functions whose listing names none, and the opcode that tells."""
    unnamed = [function for function in functions if function.arch is None]
    opcodes = {mnemonic.partition(".")[0] for function in unnamed for mnemonic in function.counts()}
    targets: set[str] | None = None
    for opcode in opcodes:
        having = set(registry.targets_with(opcode))
        if having:
            targets = having if targets is None else targets & having
    numbers = {target_key(target)[0] for target in targets or ()}
    if len(numbers) != 1 or not targets:
        return None
    telling = [o for o in sorted(opcodes) if {target_key(t)[0] for t in registry.targets_with(o)} == numbers]
    return min(targets, key=target_key), telling[0] if telling else "its opcodes together"


def kernels_of(
    summaries: list[FunctionSummary], registry: Registry, rules: Iterable[LabelRule]
) -> Iterator[KernelReport]:
    """One entry per function, so that the entries add up to the listing."""
    rules = list(rules)
    callees = Callees(summaries)
    sections: _Sections = {}
    for summary in summaries:
        sections.setdefault((summary.section, summary.arch, summary.home), []).append(summary)
    for summary in summaries:
        evidence = static_evidence(summary, registry)
        reached, open_ends = reach(summary, callees, sections)
        doubts = [item.detail for item in evidence if item.status != "pass"] + open_ends
        yield KernelReport(
            name=summary.name,
            demangled=readable(summary.name, rules),
            arch=summary.arch,
            role=summary.role,
            calls=list(summary.calls),
            unknown_calls=summary.unknown_calls,
            listing={"function": summary.name, "how": "exact", "candidates": []},
            basis="static",
            unit=STATIC_UNIT,
            launches=None,
            warps=None,
            tally=summary.tally,
            idle=summary.idle,
            home=summary.home,
            inputs=[summary.path] if summary.path else [],
            tensor=static_verdict(summary.tally, reached, doubts, arch=summary.arch, registry=registry),
            evidence=evidence,
            code=summary.code,
        )


def reach(
    start: FunctionSummary,
    callees: Callees[FunctionSummary],
    sections: _Sections,
) -> tuple[dict[str, Tally], list[str]]:
    """The functions that a call can end in, with their mixes, and why some of them cannot be seen.

    A call through a register may end in any helper of the same section, and anywhere else too.
    """
    found: dict[str, Tally] = {}
    open_ends: dict[str, None] = {}
    pending, seen, opened = [start], {id(start)}, set()
    while pending:
        here = pending.pop()
        if here is not start:
            found[here.name] = merged([found[here.name], here.tally]) if here.name in found else here.tally
            open_ends.update(dict.fromkeys(f"{here.name}: {reason}" for reason in here.damage))
            if here.missing:
                open_ends[f"{here.name}: its addresses have gaps"] = None
            if here.tally.matrix():
                break
        if len(seen) > _MOST_REACHED:
            open_ends[f"it reaches more than {_MOST_REACHED} functions, not all of which were followed"] = None
            break
        following, ends = callees.called_by(here)
        open_ends.update(dict.fromkeys(ends))
        place = (here.section, here.arch, here.home)
        if here.unknown_calls and here.section and place not in opened:
            opened.add(place)
            following += [s for s in sections[place] if s.role == "helper"]
        for target in following:
            if id(target) not in seen:
                seen.add(id(target))
                pending.append(target)
    return found, list(open_ends)


def _disorder(function: Function) -> tuple[str, ...]:
    """Each address is larger than the one before it, if lines were neither changed nor moved."""
    offsets = [offset for offset in function.columns.offsets[function.start : function.stop] if offset]
    if len({*map(len, offsets)}) > 1:
        width = max(map(len, offsets))
        offsets = [offset.zfill(width) for offset in offsets]
    in_order = all(map(lt, offsets, offsets[1:]))
    return () if in_order else ("its addresses are not in order: lines are wrong or stand elsewhere",)


def static_evidence(summary: FunctionSummary, registry: Registry) -> list[Evidence]:
    """The six checks for a function of a listing."""
    total = summary.instructions
    captured = Evidence("captured", "pass", f"{number_of(total, 'instruction')}, {summary.padding:,} of them padding")
    if not total:
        captured = Evidence("captured", "fail", "the function holds no instruction")
    complete = Evidence("complete", "pass", "the function stands in the listing as a whole")
    if summary.damage:
        complete = Evidence("complete", "warn", few(summary.damage))
    return [
        captured,
        complete,
        check_resolved(summary.tally),
        check_architecture(summary.claim, summary.tally, registry),
        Evidence("mapping", "pass", "the counts are the listing's own"),
        _consistent(summary),
    ]


def _consistent(summary: FunctionSummary) -> Evidence:
    if summary.missing > 0:
        gaps = number_of(summary.missing, "address", "is", "are")
        detail = f"{gaps} not printed: the disassembler hides an encoding, or lines are missing"
        return Evidence("consistent", "warn", detail)
    if summary.missing < 0:
        detail = f"{number_of(-summary.missing, 'address')} too many: lines repeat or stand out of order"
        return Evidence("consistent", "warn", detail)
    return Evidence("consistent", "pass", "the addresses follow one another without a gap")
