"""Only the evidence: may this data be believed? The questions in the order in which a person should ask them."""

from __future__ import annotations

from typing import Any

from sassmix.evidence import CHECKS, verdict
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


def check(report: Report) -> dict[str, Any]:
    """The evidence of a report in the schema ``sassmix.check/1``.

    The verdict is that of the worst check; without any kernel, or with an input that could not be read, it fails.
    """
    kernels = [
        {
            "name": kernel.name,
            "confidence": kernel.confidence,
            "evidence": [item.to_dict() for item in sorted(kernel.evidence, key=lambda e: CHECKS.index(e.check))],
        }
        for kernel in report.kernels
    ]
    statuses = [item.status for kernel in report.kernels for item in kernel.evidence]
    unread = any(problem.severity == "error" for problem in report.problems)
    return {
        "schema": SCHEMA,
        "verdict": "fail" if report.empty or unread else verdict(statuses),
        "kernels": kernels,
        "problems": [problem.to_dict() for problem in report.problems],
    }
