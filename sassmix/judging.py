"""Are conditions met by the kernels of a report, or by the change between two?

Met by proof only: a kernel that is not whole, not resolved or not classified does not meet a ``forbid``, and one
without a partner does not meet a ``max-increase``; the failure then says that it cannot be told, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sassmix.conditions import Condition, Failure, Subject
from sassmix.evidence import few
from sassmix.pairing import Pair
from sassmix.reaching import Index, index_of, reached_from
from sassmix.report import KernelReport, Report

_LAUNCHED = ("kernel", None)  # a source of counts alone gives no role
_TENSOR = Subject("category", "tensor")


def judge(conditions: Sequence[Condition], report: Report) -> list[Failure]:
    """The conditions that the kernels of one report do not meet."""
    index = index_of([*report.kernels, *report.others])
    return [
        *_unread(conditions, report),
        *(f for condition in conditions for f in _judge_all(condition, report.kernels, index)),
    ]


def judge_change(
    conditions: Sequence[Condition], pairs: Sequence[Pair], before: Report, after: Report
) -> list[Failure]:
    """The conditions that a change does not meet.

    :param pairs: the kernels that the conditions are about. What must and must not be there is asked of the kernels
        after the change; a kernel that is gone meets nothing, since nothing shows what became of it.
    """
    index = index_of(after.kernels)
    kernels = [pair.after for pair in pairs if pair.after]
    gone = [pair for pair in pairs if not pair.after and pair.either.role in _LAUNCHED]
    failed = [failure for report in (before, after) for failure in _unread(conditions, report)]
    for condition in conditions:
        failed += [_failure(condition, pair.either, _gone(pair), unknown=True) for pair in gone]
        if condition.kind == "max-increase":
            failed += [failure for pair in pairs if pair.after for failure in _increase(condition, pair)]
        elif kernels or not gone:
            failed += _judge_all(condition, kernels, index)
    return list(dict.fromkeys(failed))


def _gone(pair: Pair) -> str:
    return "the kernel is gone" + (f"; renamed? {few(pair.candidates)}" if pair.candidates else "")


def _unread(conditions: Sequence[Condition], report: Report) -> Iterator[Failure]:
    """An input that could not be read may hold anything."""
    errors = [f"{p.path}: {p.message}" if p.path else p.message for p in report.problems if p.severity == "error"]
    for condition in conditions if errors else ():
        yield _failure(condition, None, few(errors), unknown=True)


def _judge_all(condition: Condition, kernels: Sequence[KernelReport], index: Index) -> Iterator[Failure]:
    if not kernels:
        yield _failure(condition, None, "there is no kernel", unknown=True)
    if condition.kind == "forbid":
        for kernel in kernels:
            yield from _forbidden(condition, kernel, index)
    else:  # what a launched kernel must hold may be missing in the functions that it calls
        for kernel in [kernel for kernel in kernels if kernel.role in _LAUNCHED] or kernels:
            yield from _required(condition, kernel, index)


def _required(condition: Condition, kernel: KernelReport, index: Index) -> Iterator[Failure]:
    seen, doubts = _look(condition.subject, kernel, index)
    contradiction = [e.detail for e in kernel.evidence if e.check == "consistent" and e.status == "fail"]
    if seen and condition.subject == _TENSOR and not _verdict(kernel):
        yield _failure(condition, kernel, kernel.tensor.reason, unknown=_verdict(kernel) is None)
    elif seen and contradiction:
        yield _failure(condition, kernel, f"the data contradicts itself: {few(contradiction)}", unknown=True)
    elif not seen:
        yield _failure(condition, kernel, few(doubts) if doubts else "none", unknown=bool(doubts))


def _forbidden(condition: Condition, kernel: KernelReport, index: Index) -> Iterator[Failure]:
    seen, doubts = _look(condition.subject, kernel, index)
    if seen or doubts:
        yield _failure(condition, kernel, seen or few(doubts), unknown=not seen)


def _look(subject: Subject, kernel: KernelReport, index: Index) -> tuple[str, list[str]]:
    """What a kernel and the functions that it reaches hold of a subject, in words, and why there may be more."""
    own = _holds(subject, kernel)
    if subject == _TENSOR and not own and _verdict(kernel) is False:
        return "", []  # by the report's own proof: an architecture without matrix opcodes needs no other
    reached, doubts = reached_from(kernel, index)
    called = [f"{words} in {one.name}, which it calls" for one in reached if (words := _in_words(_holds(subject, one)))]
    for one in (kernel, *reached):
        doubts += _doubts(subject, one)
    return few([*([_in_words(own)] if own else []), *called]), doubts


def _verdict(kernel: KernelReport) -> bool | None:
    """The report's own word on matrix opcodes: in the code, or executed."""
    return kernel.tensor.present if kernel.basis == "static" else kernel.tensor.active


def _holds(subject: Subject, kernel: KernelReport) -> Counter[str]:
    """The opcodes of a kernel that belong to a subject, with their counts."""
    found: Counter[str] = Counter()
    for row in kernel.tally.rows:
        if subject.holds(row):
            found[row.facet("opcode")] += row.count
    return found


def _in_words(opcodes: Counter[str]) -> str:
    return few((f"{opcode} ({count:,})" for opcode, count in opcodes.most_common()), most=6)


def _doubts(subject: Subject, kernel: KernelReport) -> list[str]:
    """Why a kernel may hold more of a subject than was seen."""
    facts = [e for e in kernel.evidence if e.status != "pass" and e.check != "resolved"]
    if subject.facet == "opcode":  # an opcode is known by its name on any architecture
        facts = [e for e in facts if e.check != "architecture"]
    unknown = [row.name for row in kernel.tally.rows if subject.holds(row) is None]
    where = f"{kernel.name}: " if kernel.basis == "static" and kernel.role not in _LAUNCHED else ""
    found = [f"{where}{e.detail}" for e in facts]
    return [*found, f"{where}of {few(unknown)} it is not known"] if unknown else found


def _increase(condition: Condition, pair: Pair) -> Iterator[Failure]:
    after = pair.after
    assert after is not None
    number = _holds(condition.subject, after).total()
    if pair.before is None:
        limit = 0 if condition.relative else condition.limit
        if number > limit or (doubts := _doubts(condition.subject, after)):
            why = f"the kernel is new, with {number:,}" if number > limit else few(doubts)
            yield _failure(condition, pair.either, why, unknown=True)
        return
    if pair.before.unit != after.unit:
        why = f"counts of different units: {pair.before.unit}, {after.unit}"
        yield _failure(condition, pair.either, why, unknown=True)
        return
    old = _holds(condition.subject, pair.before).total()
    allowed = old * condition.limit if condition.relative else condition.limit
    doubts = [*_doubts(condition.subject, pair.before), *_doubts(condition.subject, after)]
    if number - old > allowed:
        yield _failure(condition, pair.either, f"{old:,} before, {number:,} after")
    elif doubts:
        yield _failure(condition, pair.either, few(doubts), unknown=True)


def _failure(condition: Condition, kernel: KernelReport | None, found: str, *, unknown: bool = False) -> Failure:
    return Failure(condition, kernel.name if kernel else None, kernel.arch if kernel else None, found, unknown)
