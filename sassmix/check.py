"""Only the evidence: may this data be believed? The questions in the order in which a person should ask them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sassmix.conditions import Condition
from sassmix.evidence import CHECKS, verdict
from sassmix.judging import judge
from sassmix.report import Report

SCHEMA = "sassmix.check/1"
#: What each check asks.
QUESTIONS = {
    "captured": "Is there any data?",
    "complete": "Is it all of the data?",
    "resolved": "Is every count an instruction that is known?",
    "architecture": "Does the classifier know the architecture?",
    "mapping": "Is it certain which function the counts belong to?",
    "consistent": "Do the sources agree with one another and with the code?",
}


def check(report: Report, conditions: Sequence[Condition] = ()) -> dict[str, Any]:
    """The evidence of a report in the schema ``sassmix.check/1``.

    The verdict is that of the worst check; without any kernel, with an input that could not be read, or with a
    condition that is not met, it fails. A warning among the problems is one of the verdict too.
    """
    kernels = [
        {
            "name": kernel.name,
            "confidence": kernel.confidence,
            "evidence": [item.to_dict() for item in sorted(kernel.evidence, key=lambda e: CHECKS.index(e.check))],
            "sources": [side.to_dict() for side in kernel.agreement.sides],
            "differences": kernel.agreement.differences,
        }
        for kernel in report.kernels
    ]
    statuses = [item.status for kernel in report.kernels for item in kernel.evidence]
    severities = {problem.severity for problem in report.problems}
    unread = "error" in severities
    failed = [failure.to_dict() for failure in judge(conditions, report)]
    statuses += ["warn"] if "warning" in severities else []
    return {
        "schema": SCHEMA,
        "verdict": "fail" if report.empty or unread or failed else verdict(statuses),
        "conditions": [str(condition) for condition in conditions],
        "kernels": kernels,
        "failed": failed,
        "problems": [problem.to_dict() for problem in report.problems],
    }
