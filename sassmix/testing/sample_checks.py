"""What holds for samples of an architecture: listings that its code was disassembled to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sassmix.arch import FACETS, OpcodeInfo
from sassmix.classify import Classifier
from sassmix.errors import SassmixError, number_of
from sassmix.evidence import check_resolved
from sassmix.listing import Function, Listing
from sassmix.tally import Tally, tally
from sassmix.tensor import static_verdict
from sassmix.testing.subject import Subject

#: A listing that is a text; of a binary the text is the disassembler's, and gone.
_TEXTS = frozenset({"nvdisasm-text", "cuobjdump-sass", "annotated-listing"})
#: The second half of an encoding, which belongs to the code line before it.
_WITH_HALF = re.compile(r"/\* 0x[0-9a-f]{16} \*/\n +/\* 0x[0-9a-f]{16} \*/$", re.MULTILINE)


def sample_present(subject: Subject) -> Iterator[str]:
    """There is a listing, it can be read, holds code, and is of this architecture."""
    if not subject.listings:
        yield (
            f"{subject.target} has no listing; compile a kernel for it, print it with nvdisasm -c, "
            "and name the file in `listings`"
        )
    for path, found in subject.samples:
        if isinstance(found, SassmixError):
            yield f"{path.name}: cannot be read: {found}"
        elif not any(map(len, found)):
            yield f"{path.name}: holds no instruction; give a listing of compiled code"
        else:
            yield from _foreign(subject, path, found)


def _foreign(subject: Subject, path: Path, listing: Listing) -> Iterator[str]:
    registry = subject.plugins.registry
    for arch in sorted({function.arch for function in listing if function.arch}):
        if registry.get(arch) is not subject.table:
            yield f"{path.name}: is a listing of {arch}, not of {subject.target}; move it to the tests of {arch}"


def sample_opcodes(subject: Subject) -> Iterator[str]:
    """Every opcode of the samples is known on this architecture."""
    for path, listing in subject.read_samples:
        unknown: dict[str, tuple[int, str, str]] = {}
        for function in listing:
            for mnemonic, count in function.counts(include_padding=True).items():
                info = subject.info(mnemonic)
                if not info.known:
                    seen, where, form = unknown.get(info.opcode, (0, function.name, mnemonic))
                    unknown[info.opcode] = (seen + count, where, form)
        for opcode, (count, where, form) in sorted(unknown.items()):
            times = number_of(count, "time")
            yield (
                f"{path.name}: {opcode} is not known on {subject.target} ({times}, first as {form} in {where}); "
                f"add its row to {subject.rows_file}{_elsewhere(subject, opcode)}"
            )


def _elsewhere(subject: Subject, opcode: str) -> str:
    targets = subject.plugins.registry.targets_with(opcode)
    removed = ", and take it out of `remove`" if opcode in subject.architecture.remove else ""
    return f" ({', '.join(targets[:3])} has it{removed})" if targets else ""


def sample_lines(subject: Subject) -> Iterator[str]:
    """The samples are read without a problem, and every line is accounted for."""
    for path, listing in subject.read_samples:
        for problem in listing.problems:
            yield f"{path.name}, line {problem.line or '?'}: {problem.message}; print it anew, or report the line"
        if listing.kind in _TEXTS:
            yield from _lost_lines(path, listing)


def _lost_lines(path: Path, listing: Listing) -> Iterator[str]:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    lines = text.count("\n") + (not text.endswith("\n"))
    counted = sum(listing.lines.values())
    if not lines - len(_WITH_HALF.findall(text)) <= counted <= lines:
        told = f"{number_of(lines, 'line')}, of which {counted:,} are accounted for"
        yield f"{path.name}: {told}; this is a fault of sassmix, report it"


def sample_counts(subject: Subject) -> Iterator[str]:
    """The mix of every function adds up to its instructions, by every facet."""
    for path, listing in subject.read_samples:
        for function in listing:
            found = _tally(subject.plugins.classifier, subject.target, function)
            if found.total != len(function) - function.padding:
                code = number_of(len(function) - function.padding, "instruction")
                yield f"{path.name}, {function.name}: {found.total:,} counted of {code}; report it"
            for by in (*FACETS, "opcode"):
                total = sum(row["count"] for row in found.mix(by))
                if total != found.total:
                    yield f"{path.name}, {function.name}: by {by} {total:,} are counted, not {found.total:,}; report it"


def _tally(classifier: Classifier, target: str, function: Function) -> Tally:
    return tally(classifier, target, function.counts(), function.unread())


def sample_verdicts(subject: Subject) -> Iterator[str]:
    """The verdict on tensor cores follows the rows, and knowing less never turns it into a no.

    Every form of a matrix opcode is matrix work, and each opcode of a function is forgotten in turn: without it the
    verdict may be unknown, but false only where the architecture has no matrix opcode at all.
    """
    matrix = set(subject.table.matrix_opcodes)
    for path, listing in subject.read_samples:
        for mnemonic in sorted({m for function in listing for m in function.counts()}):
            info = subject.info(mnemonic)
            if info.known and (info.opcode in matrix) != (info.category == "tensor"):
                yield (
                    f"{path.name}: {mnemonic} is {info.category}, its row says otherwise; "
                    "a rule or sassmix_classify must not change what is matrix work"
                )
        for function in listing if matrix else ():
            yield from (f"{path.name}, {function.name}: {fault}" for fault in _hasty(subject, function))


def _hasty(subject: Subject, function: Function) -> Iterator[str]:
    for opcode in sorted({mnemonic.partition(".")[0] for mnemonic in function.counts()}):
        verdict = _verdict(subject, function, _forgetting(subject, opcode))
        if verdict is False:
            yield f"without {opcode} the verdict on tensor cores is no, though nothing proves it; report it"


def _forgetting(subject: Subject, opcode: str) -> Classifier:
    """The classifier as if no plugin knew an opcode."""

    def answer(mnemonic: str, arch: str) -> OpcodeInfo:
        if mnemonic.partition(".")[0] == opcode:
            return OpcodeInfo(opcode=opcode, mnemonic=mnemonic, arch=arch, known=False)
        return subject.plugins.classifier.info(mnemonic, arch)

    return Classifier(subject.plugins.registry, answer)


def _verdict(subject: Subject, function: Function, classifier: Classifier) -> bool | None:
    found = _tally(classifier, subject.target, function)
    resolved = check_resolved(found)
    doubts = [resolved.detail] if resolved.status != "pass" else []
    return static_verdict(found, {}, doubts, arch=subject.target, registry=subject.plugins.registry).present
