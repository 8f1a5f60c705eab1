"""Markdown for pull requests."""

from __future__ import annotations

import re
from typing import Any

from sassmix.render import counted, printable, three
from sassmix.report import KernelReport, Report

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$-])")
#: Mentions, links and issue numbers live on behind a backslash, since they are looked for in what markdown shows.
_LIVE = re.compile(r"@|:(?=//)|www(?=\.)|\\#(?=\d)", re.IGNORECASE)


def escaped(value: Any) -> str:
    """Text that markdown shows as it is; an empty comment, which nobody sees, parts what would become a link."""
    return _LIVE.sub(r"\g<0><!-- -->", _SPECIAL.sub(r"\\\1", printable(str(value))))


def table(columns: list[str], rows: list[list[Any]]) -> str:
    """A markdown table with every cell escaped."""
    lines = ["| " + " | ".join(map(escaped, columns)) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(map(escaped, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def report_markdown(report: Report) -> str:
    """One section per kernel, problems last."""
    parts = [_kernel(kernel, report.by) for kernel in report.kernels]
    if report.problems:
        rows: list[list[Any]] = [[p.severity, p.path or "", p.line or "", p.message] for p in report.problems]
        parts.append("### Problems\n\n" + table(["severity", "path", "line", "message"], rows))
    return "\n".join(parts) or "No kernels.\n"


def _kernel(kernel: KernelReport, by: str) -> str:
    counts = kernel.tally.counts()
    head = f"### {escaped(kernel.demangled or kernel.name)}\n\n"
    facts = [
        f"{kernel.arch or 'architecture unknown'}, {kernel.basis}: {counted(kernel)}, "
        f"{counts['unresolved']:,} unresolved, {counts['unclassified']:,} unclassified; confidence {kernel.confidence}",
        f"tensor cores: present {three(kernel.tensor.present)}, active {three(kernel.tensor.active)} "
        f"({kernel.tensor.reason})",
    ]
    mix = [[row[by], f"{row['count']:,}", f"{row['share']:.2%}"] for row in kernel.tally.mix(by)]
    evidence = [[item.status, item.check, item.detail] for item in kernel.evidence]
    body = "".join(f"- {escaped(fact)}\n" for fact in facts)
    parts = [f"{head}{body}", table([by, "count", "share"], mix), table(["status", "check", "detail"], evidence)]
    if found := kernel.hints:
        parts.append(table(["question", "because", "look at"], [[h.question, h.because, h.look_at] for h in found]))
    return "\n".join(parts)
