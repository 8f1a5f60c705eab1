"""Executed counts to kernels: matched with listings, resolved, checked, one entry per kernel with all its launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from sassmix.agreement import Agreement
from sassmix.classify import Classifier
from sassmix.code import code_of
from sassmix.counts import Counts
from sassmix.errors import number_of
from sassmix.evidence import ArchitectureClaim, Evidence, check_architecture, check_resolved, few
from sassmix.labels import LabelRule, readable
from sassmix.launches import Launches, by_thread, compared, executed, launch_count
from sassmix.listing import Function
from sassmix.matching import CERTAIN, same_number
from sassmix.registry import Registry
from sassmix.report import UNITS, KernelReport
from sassmix.tally import Tally, tally
from sassmix.tensor import TensorVerdict, dynamic_verdict, pipe_bounds

#: Kinds of files that may hold no counts and miss none: lists of launches, pages of other metrics.
_NO_CAPTURE = frozenset({"cutracer-launches", "ncu-raw"})


def kernel_report(
    sources: Sequence[Launches],
    *,
    classifier: Classifier,
    rules: Iterable[LabelRule],
    arch: str | None,
    what: str,
    static: KernelReport | None,
    keep: bool = False,
) -> KernelReport:
    """The entry of one traced kernel.

    :param what: ``issued``, ``active`` or ``threads``.
    :param static: the entry of its function in the listing, for what stands in the code.
    :param keep: keep the instructions too.
    """
    main = sources[0]
    function, registry = main.match.function, classifier.registry
    told = all(resolution.has(what) for _, resolution in main.parts)
    what = what if told else "issued"
    claim = _claim(main, arch)
    counted = tally(classifier, claim.arch, *main.counted(what))
    agreement = compared(sources)
    evidence = _evidence(sources, counted, claim, registry, agreement)
    name = function.name if function else main.first.names.best or _file_name(main.first)
    return KernelReport(
        name=name,
        demangled=readable(name, rules) or main.first.names.demangled,
        arch=claim.arch,
        role=function.role if function else None,
        calls=list(function.calls) if function else [],
        listing=main.match.to_dict(),
        basis="dynamic",
        unit=UNITS["threads" if what == "issued" and by_thread(main) else what],
        inputs=list(dict.fromkeys(counts.path for launches in sources for counts, _ in launches.parts)),
        launches=launch_count(main),
        warps=_most(counts.warps for counts, _ in main.parts),
        tally=counted,
        tensor=_verdict(sources, claim, evidence, static, classifier),
        evidence=evidence,
        agreement=agreement,
        executed=_executed(main),
        idle=tally(classifier, claim.arch, _idle(main) if what == "issued" else {}),
        code=code_of([function, *main.helpers], classifier, claim.arch, *executed(main, what))
        if keep and function
        else None,
    )


def _idle(main: Launches) -> Counter[str]:
    """What was issued with no lane on, by mnemonic, as far as masks or the number of lanes tell."""
    found: Counter[str] = Counter()
    for _, resolution in main.parts:
        for name, row in resolution.resolved:
            found[name] += row.issued - (row.issued if row.active is None else row.active)
    return +found


def _executed(main: Launches) -> dict[str, int]:
    """The totals in every unit that the source tells."""
    if by_thread(main):
        return {}
    told = [what for what in UNITS if all(resolution.has(what) for _, resolution in main.parts)]
    return {what: sum(counter.total() for counter in main.counted(what)) for what in told}


def _file_name(counts: Counts) -> str:
    return Path(counts.path).name.partition(".")[0]


def _claim(main: Launches, arch: str | None) -> ArchitectureClaim:
    """The user's word, the listing's (it has the letter), the source's."""
    listed = main.match.function.arch if main.match.function else None
    stated = listed or main.first.arch
    if arch and not stated and len(main.elsewhere) == 1:  # the only listing of this name is for another architecture
        stated = main.elsewhere[0]
    return ArchitectureClaim(arch or stated, stated)


def _most(values: Iterable[int | None]) -> int | None:
    numbers = list(values)
    return None if None in numbers else max((n for n in numbers if n is not None), default=None)


def _evidence(
    sources: Sequence[Launches], counted: Tally, claim: ArchitectureClaim, registry: Registry, agreement: Agreement
) -> list[Evidence]:
    main = sources[0]
    return [
        _captured(main, counted),
        _complete(main),
        check_resolved(counted),
        check_architecture(claim, counted, registry),
        _mapping(main, counted),
        _consistent(sources, counted, agreement),
    ]


def _captured(main: Launches, counted: Tally) -> Evidence:
    launches = launch_count(main)
    number = "an unknown number of launches" if launches is None else number_of(launches, "launch")
    detail = f"{number_of(sum(c.total for c, _ in main.parts), 'instruction')}, {number}"
    return Evidence("captured", "pass" if counted.total else "fail", detail)


def _complete(main: Launches) -> Evidence:
    lost = [text for counts in (*(c for c, _ in main.parts), *main.empty) for text in counts.lost]
    gaps = [text for _, resolution in main.parts for text in resolution.gaps]
    captures = [counts for counts in main.empty if counts.kind not in _NO_CAPTURE]
    gaps += [text for counts in captures for text in counts.gaps or [f"{counts.path} holds no counts"]]
    if lost:
        return Evidence("complete", "fail", few(lost + gaps))
    if gaps:
        return Evidence("complete", "warn", few(gaps))
    return Evidence("complete", "pass", "the capture is whole and unfiltered")


def _mapping(main: Launches, counted: Tally) -> Evidence:
    found = main.match
    if found.function and found.how in CERTAIN:
        return Evidence("mapping", "pass", f"function {found.function.name}, {found.how}")
    if found.function:
        return Evidence("mapping", "warn", f"function {found.function.name}, {found.how}: a likely match, no exact one")
    alone = "the counts name their instructions themselves"
    if not main.listed:
        what = f"{alone}; there is no listing to compare them with"
        missing = (
            "no listing is given, and the counts do not name their instructions: give the cubin or its listing too"
        )
        return Evidence("mapping", "fail", missing) if counted.unresolved else Evidence("mapping", "pass", what)
    what = f"none of the listings' functions has this name for certain{_others(main)}"
    if counted.unresolved:
        return Evidence("mapping", "fail", f"{what}; give the cubin or the listing of the code that ran")
    if found.candidates or main.elsewhere:
        return Evidence("mapping", "warn", what)
    return Evidence("mapping", "pass", f"{alone}; {what}")


def _others(main: Launches) -> str:
    """What there is instead."""
    if main.elsewhere:
        return f": it is there for {' and '.join(main.elsewhere)}; --arch says which is meant"
    if main.match.candidates:
        return f": possible are {few(main.match.candidates)}"
    return f": they are {few(main.listed)}"


def _consistent(sources: Sequence[Launches], counted: Tally, agreement: Agreement) -> Evidence:
    resolutions = [resolution for launches in sources for _, resolution in launches.parts]
    conflicts = _against_hardware(sources, counted)
    conflicts += [text for resolution in resolutions for text in resolution.conflicts]
    conflicts += agreement.conflicts
    if conflicts:
        wrong = any(resolution.conflicts for resolution in resolutions) and sources[0].match.function
        remedy = "; give the listing of the code that ran" if wrong else ""
        return Evidence("consistent", "fail", f"{few(conflicts)}{remedy}")
    doubts = [text for resolution in resolutions for text in resolution.doubts] + agreement.doubts
    if doubts:
        return Evidence("consistent", "warn", few(doubts))
    agreed = [*(text for resolution in resolutions for text in resolution.checked), *agreement.agreed]
    return Evidence(
        "consistent", "pass", f"agrees with {few(agreed)}" if agreed else "there is nothing to compare with"
    )


def _against_hardware(sources: Sequence[Launches], counted: Tally) -> list[str]:
    """Where the hardware's own counters speak against the instructions: the tensor pipe, HFMA2.MMA left out."""
    if counted.unresolved or counted.unclassified:
        return []
    bounds = [[pipe_bounds(counts) for counts, _ in launches.parts] for launches in sources]
    used = any(bound and bound[0] > 0 for launches in bounds for bound in launches)
    # What one launch did not use, another of the same kernel may have.
    unused = any(all(bound and bound[1] <= 0 for bound in launches) for launches in bounds)
    what = "was" if used and not counted.matrix() else "was not" if unused and counted.matrix() else ""
    told = f"the tensor pipe {what} used by the hardware's counter, the instructions say otherwise"
    return [told] if what else []


def _matrix(launches: Launches, claim: ArchitectureClaim, classifier: Classifier) -> dict[str, int]:
    """The matrix opcodes that a source saw executed."""
    masked = all(resolution.has("active") for _, resolution in launches.parts)
    return tally(classifier, claim.arch, *launches.counted("active" if masked else "issued")).matrix()


def _verdict(
    sources: Sequence[Launches],
    claim: ArchitectureClaim,
    evidence: list[Evidence],
    static: KernelReport | None,
    classifier: Classifier,
) -> TensorVerdict:
    main, *others = sources
    standing = tally(classifier, claim.arch, Counter(name for source in sources for name in source.standing))
    everything = tally(classifier, claim.arch, *main.counted("issued"))
    masked = all(resolution.has("active") for _, resolution in main.parts)
    on = tally(classifier, claim.arch, *main.counted("active")) if masked else everything
    return dynamic_verdict(
        everything,
        on,
        evidence,
        elsewhere={other.first.kind: _matrix(other, claim, classifier) for other in others},
        arch=None if claim.overridden else claim.arch,  # an absence follows from no contradiction
        registry=classifier.registry,
        static=TensorVerdict(True, None, "") if standing.matrix() else static.tensor if static else None,
    )


def static_of(function: Function | None, kernels: Iterable[KernelReport]) -> KernelReport | None:
    """The static entry of a function."""
    if function is None:
        return None
    return next((k for k in kernels if k.name == function.name and same_number(k.arch, function.arch)), None)
