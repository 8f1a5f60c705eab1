"""Are conditions met by the kernels of a report, or by the change between two?

Met by proof only: a kernel that is not whole, not resolved or not classified does not meet a ``forbid``, and one
without a partner does not meet a ``max-increase``; the failure then says that it cannot be told, and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from sassmix.conditions import Condition, Failure, Subject
from sassmix.errors import number_of
from sassmix.evidence import few
from sassmix.pairing import Pair
from sassmix.reaching import Callees, reached_from
from sassmix.report import KernelReport, Report

_LAUNCHED = ("kernel", None)  # a source of counts alone gives no role
_TENSOR = Subject("category", "tensor")
#: What surely does nothing, by the basis of its kernel.
_IDLE = {"static": "under a guard that is never true", "dynamic": "issued with no lane on"}


def judge(conditions: Sequence[Condition], report: Report) -> list[Failure]:
    """The conditions that the kernels of one report do not meet."""
    callees = Callees([*report.kernels, *report.others])
    return [
        *_unread(conditions, report),
        *(f for condition in conditions for f in _judge_all(condition, report.kernels, callees)),
    ]


def judge_change(
    conditions: Sequence[Condition], pairs: Sequence[Pair], before: Report, after: Report
) -> list[Failure]:
    """The conditions that a change does not meet.

    :param pairs: the kernels that the conditions are about. What must and must not be there is asked of the kernels
        after the change; a kernel that is gone meets nothing, since nothing shows what became of it.
    """
    callees = Callees(after.kernels)
    kernels = [pair.after for pair in pairs if pair.after]
    gone = [pair for pair in pairs if not pair.after and pair.either.role in _LAUNCHED]
    failed = [failure for report in (before, after) for failure in _unread(conditions, report)]
    for condition in conditions:
        failed += [_failure(condition, pair.either, _gone(pair), unknown=True) for pair in gone]
        if condition.kind == "max-increase":
            failed += [failure for pair in pairs if pair.after for failure in _increase(condition, pair)]
        elif kernels or not gone:
            failed += _judge_all(condition, kernels, callees)
    return list(dict.fromkeys(failed))


def _gone(pair: Pair) -> str:
    return "the kernel is gone" + (f"; renamed? {few(pair.candidates)}" if pair.candidates else "")


def _unread(conditions: Sequence[Condition], report: Report) -> Iterator[Failure]:
    """An input that could not be read may hold anything."""
    errors = [f"{p.path}: {p.message}" if p.path else p.message for p in report.problems if p.severity == "error"]
    for condition in conditions if errors else ():
        yield _failure(condition, None, few(errors), unknown=True)


def _judge_all(
    condition: Condition, kernels: Sequence[KernelReport], callees: Callees[KernelReport]
) -> Iterator[Failure]:
    if not kernels:
        yield _failure(condition, None, "there is no kernel", unknown=True)
    if condition.kind == "forbid":
        for kernel in kernels:
            yield from _forbidden(condition, kernel, callees)
    else:  # what a launched kernel must hold may be missing in the functions that it calls
        for kernel in [kernel for kernel in kernels if kernel.role in _LAUNCHED] or kernels:
            yield from _required(condition, kernel, callees)


def _required(condition: Condition, kernel: KernelReport, callees: Callees[KernelReport]) -> Iterator[Failure]:
    seen, doubts = _look(condition.subject, kernel, callees, live=True)
    contradiction = [e.detail for e in kernel.evidence if e.check == "consistent" and e.status == "fail"]
    if seen and condition.subject == _TENSOR and not _verdict(kernel):
        yield _failure(condition, kernel, kernel.tensor.reason, unknown=_verdict(kernel) is None)
    elif seen and contradiction:
        yield _failure(condition, kernel, f"the data contradicts itself: {few(contradiction)}", unknown=True)
    elif not seen:
        idle = _look(condition.subject, kernel, callees)[0]
        none = f"{idle}, all {_IDLE[kernel.basis]}" if idle else "none"
        yield _failure(condition, kernel, few(doubts) if doubts else none, unknown=bool(doubts))


def _forbidden(condition: Condition, kernel: KernelReport, callees: Callees[KernelReport]) -> Iterator[Failure]:
    seen, doubts = _look(condition.subject, kernel, callees)
    if seen or doubts:
        yield _failure(condition, kernel, seen or few(doubts), unknown=not seen)


def _look(
    subject: Subject, kernel: KernelReport, callees: Callees[KernelReport], *, live: bool = False
) -> tuple[str, list[str]]:
    """What a kernel and the functions that it reaches hold of a subject, in words, and why there may be more.

    :param live: leave out what surely does nothing.
    """
    own = _holds(subject, kernel, live=live)
    if subject == _TENSOR and not own and _verdict(kernel) is False:
        return "", []  # by the report's own proof: an architecture without matrix opcodes needs no other
    reached, doubts = reached_from(kernel, callees)
    words = {one.name: _in_words(_holds(subject, one, live=live)) for one in reached}
    called = [f"{held} in {name}, which it calls" for name, held in words.items() if held]
    for one in (kernel, *reached):
        doubts += _doubts(subject, one)
    return few([*([_in_words(own)] if own else []), *called]), doubts


def _verdict(kernel: KernelReport) -> bool | None:
    """The report's own word on matrix opcodes: in the code, or executed."""
    return kernel.tensor.present if kernel.basis == "static" else kernel.tensor.active


def _holds(subject: Subject, kernel: KernelReport, *, live: bool = False) -> Counter[str]:
    """The opcodes of a kernel that belong to a subject, with their counts."""
    found: Counter[str] = Counter()
    for rows, sign in ((kernel.tally.rows, 1), (kernel.idle.rows if live else (), -1)):
        for row in rows:
            if subject.holds(row):
                found[row.facet("opcode")] += sign * row.count
    return +found


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
    old, new = pair.before, pair.after
    assert new is not None
    if old is not None and old.unit != new.unit:
        why = f"counts of different units: {old.unit}, {new.unit}"
        yield _failure(condition, pair.either, why, unknown=True)
        return
    doubts = [doubt for kernel in (old, new) if kernel for doubt in _doubts(condition.subject, kernel)]
    # In code, what was under a guard that is never true and now is not is more too.
    for live in (False, True) if new.basis == "static" else (False,):
        numbers = [_holds(condition.subject, one, live=live).total() if one else 0 for one in (old, new)]
        before, after = (_per_launch(*side) for side in zip(numbers, (old, new), strict=True))
        if not numbers[1]:
            continue
        if before is None or after is None:
            doubts.append("the number of launches is not known, and the counts are of all of them")
        elif after - before > (before * condition.limit if condition.relative else condition.limit):
            yield _failure(condition, pair.either, _grown(pair, numbers, live=live), unknown=old is None)
            return
    if doubts:
        yield _failure(condition, pair.either, few(doubts), unknown=True)


def _per_launch(number: int, kernel: KernelReport | None) -> Fraction | None:
    """Counts of one launch, on average; code is there once. None where the number of launches is not known."""
    if not number or kernel is None or kernel.basis == "static":
        return Fraction(number)
    return Fraction(number, kernel.launches) if kernel.launches else None


def _grown(pair: Pair, numbers: Sequence[int], *, live: bool) -> str:
    launches = [kernel.launches if kernel else None for kernel in (pair.before, pair.after)]
    differ = pair.before is not None and launches[0] != launches[1]
    before, after = (
        f"{number:,}" + (f" in {number_of(of, 'launch')}" if differ and of else "")
        for number, of in zip(numbers, launches, strict=True)
    )
    rest = f", those {_IDLE['static']} left out" if live else ""
    return f"the kernel is new, with {after}{rest}" if pair.before is None else f"{before} before, {after} after{rest}"


def _failure(condition: Condition, kernel: KernelReport | None, found: str, *, unknown: bool = False) -> Failure:
    return Failure(condition, kernel.name if kernel else None, kernel.arch if kernel else None, found, unknown)
