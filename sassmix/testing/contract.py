"""The contract of an architecture: all checks as a list of faults, and as a test class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sassmix.arch import sm
from sassmix.plugins import Plugins
from sassmix.testing import sample_checks, table_checks
from sassmix.testing.subject import Subject

Check = Callable[[Subject], Iterator[str]]

#: Every check of the contract, by the name of its test.
CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        table_checks.registered,
        table_checks.sorted_table,
        table_checks.spelling,
        table_checks.sources,
        table_checks.knowledge,
        table_checks.matrix_opcodes,
        table_checks.agreement,
        table_checks.rules,
        table_checks.explained,
        sample_checks.sample_present,
        sample_checks.sample_opcodes,
        sample_checks.sample_lines,
        sample_checks.sample_counts,
        sample_checks.sample_verdicts,
    )
}


def check_architecture(
    arch: str,
    listings: Iterable[Path | str] = (),
    *,
    plugins: Plugins | None = None,
    checks: Iterable[str] = tuple(CHECKS),
) -> list[str]:
    """Hold a registered architecture to the contract.

    :param arch: a target, ``sm_130``.
    :param listings: samples of its code, as files that :func:`sassmix.read` reads.
    :param plugins: the plugins to ask; those that are installed, if left out.
    :param checks: names of :data:`CHECKS`; all, if left out.
    :returns: the faults, each a sentence with place, fault and remedy; empty where the contract is kept.
    :raises UnknownArchitectureError: for a text that is not the name of a target.
    """
    subject = Subject.of(sm(arch)[0], listings, plugins)
    if subject.target not in subject.plugins.registry:
        return list(table_checks.registered(subject))
    return list(dict.fromkeys(fault for name in checks for fault in CHECKS[name](subject)))


class ArchitectureContract:
    """The contract as tests: subclass it as ``TestNova``, set ``arch`` and ``listings``, and run pytest.

    One test for each of :data:`CHECKS`. One that cannot hold for an architecture is left out by ``test_rules = None``.
    """

    #: A target, ``sm_130``.
    arch: ClassVar[str]
    #: Samples of its code.
    listings: ClassVar[Sequence[Path | str]] = ()


def _test(name: str) -> Callable[[ArchitectureContract], None]:
    def test(self: ArchitectureContract) -> None:
        import pytest  # only here: the list of faults needs no test runner

        if faults := check_architecture(_arch_of(type(self)), self.listings, checks=[name]):
            pytest.fail("\n".join(faults), pytrace=False)

    test.__name__ = test.__qualname__ = f"test_{name}"
    test.__doc__ = CHECKS[name].__doc__
    return test


def _arch_of(contract: type[ArchitectureContract]) -> str:
    arch: Any = getattr(contract, "arch", None)
    if not isinstance(arch, str):
        raise TypeError(f'{contract.__name__} names no architecture; write arch = "sm_130" in it')
    return arch


for _name in CHECKS:
    setattr(ArchitectureContract, f"test_{_name}", _test(_name))
