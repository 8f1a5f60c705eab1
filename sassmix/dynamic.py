"""Executed counts to kernels: matched with listings, resolved, checked, one entry per kernel with all its launches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sassmix.agreement import Agreement, launches_in_words
from sassmix.classify import Classifier
from sassmix.code import code_of
from sassmix.counts import Counts
from sassmix.evidence import ArchitectureClaim, Evidence, check_architecture, check_resolved, few
from sassmix.labels import LabelRule, readable
from sassmix.launches import Launches, by_thread, compared, executed, launch_count
from sassmix.listing import Function
from sassmix.matching import CERTAIN, same_number
from sassmix.registry import Registry
from sassmix.report import UNITS, KernelReport
from sassmix.tally import Tally, tally
from sassmix.tensor import TensorVerdict, dynamic_verdict


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
        launches=launch_count(main),
        warps=_most(counts.warps for counts, _ in main.parts),
        tally=counted,
        tensor=_verdict(main, counted, claim, evidence, static, classifier),
        evidence=evidence,
        agreement=agreement,
        executed=_executed(main),
        code=code_of([function, *main.helpers], classifier, claim.arch, *executed(main, what))
        if keep and function
        else None,
    )


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
    number = "an unknown number of launches" if launches is None else launches_in_words(launches)
    detail = f"{sum(c.total for c, _ in main.parts)} instructions, {number}"
    return Evidence("captured", "pass" if counted.total else "fail", detail)


def _complete(main: Launches) -> Evidence:
    lost = [text for counts, _ in main.parts for text in counts.lost]
    gaps = [text for _, resolution in main.parts for text in resolution.gaps]
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
    if not found.candidates and not counted.unresolved:
        return Evidence("mapping", "pass", "the counts name their instructions themselves")
    names = f": possible are {few(found.candidates)}" if found.candidates else ""
    what = f"no function of the listings has this name for certain{names}"
    return Evidence("mapping", "fail" if counted.unresolved else "warn", what)


def _consistent(sources: Sequence[Launches], counted: Tally, agreement: Agreement) -> Evidence:
    resolutions = [resolution for launches in sources for _, resolution in launches.parts]
    conflicts = _against_hardware(sources, counted)
    conflicts += [text for resolution in resolutions for text in resolution.conflicts]
    conflicts += agreement.conflicts
    if conflicts:
        return Evidence("consistent", "fail", few(conflicts))
    doubts = [text for resolution in resolutions for text in resolution.doubts] + agreement.doubts
    if doubts:
        return Evidence("consistent", "warn", few(doubts))
    agreed = [*(text for resolution in resolutions for text in resolution.checked), *agreement.agreed]
    return Evidence("consistent", "pass", f"agrees with {few(agreed)}" if agreed else "nothing contradicts it")


def _against_hardware(sources: Sequence[Launches], counted: Tally) -> list[str]:
    """Where the hardware's own counters speak against the instructions: the tensor pipe, HFMA2.MMA left out."""
    found = []
    for counts in (counts for launches in sources for counts, _ in launches.parts):
        if "tensor" in counts.hardware and not counted.unresolved and not counted.unclassified:
            used = counts.hardware["tensor"] - counts.hardware.get("tensor_hfma2", 0.0)
            if (used > 0) != bool(counted.matrix()):
                what = "was" if used > 0 else "was not"
                found.append(f"the tensor pipe {what} used by the hardware's counter, the instructions say otherwise")
    return found


def _verdict(
    main: Launches,
    counted: Tally,
    claim: ArchitectureClaim,
    evidence: list[Evidence],
    static: KernelReport | None,
    classifier: Classifier,
) -> TensorVerdict:
    everything = tally(classifier, claim.arch, *main.counted("issued"))
    masked = all(resolution.has("active") for _, resolution in main.parts)
    on = tally(classifier, claim.arch, *main.counted("active")) if masked else everything
    return dynamic_verdict(
        everything,
        on,
        evidence,
        arch=claim.arch,
        registry=classifier.registry,
        static=static.tensor if static else None,
    )


def static_of(function: Function | None, kernels: Iterable[KernelReport]) -> KernelReport | None:
    """The static entry of a function."""
    if function is None:
        return None
    return next((k for k in kernels if k.name == function.name and same_number(k.arch, function.arch)), None)
