"""What pytest loads wherever sassmix is installed: one fixture, and nothing of sassmix before a test asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from sassmix.plugins import Plugins


class HoldsToContract(Protocol):
    """The fixture's function: arguments of :func:`sassmix.testing.check_architecture`, whose faults fail the test."""

    def __call__(
        self,
        arch: str,
        listings: Iterable[Path | str] = (),
        *,
        plugins: Plugins | None = None,
        checks: Iterable[str] | None = None,
    ) -> None: ...


@pytest.fixture(scope="session")
def architecture_contract() -> HoldsToContract:
    """Hold a registered architecture to the contract: ``architecture_contract("sm_130", [LISTING])``."""

    def hold(
        arch: str,
        listings: Iterable[Path | str] = (),
        *,
        plugins: Plugins | None = None,
        checks: Iterable[str] | None = None,
    ) -> None:
        from sassmix.testing import check_architecture

        options: dict[str, Any] = {} if checks is None else {"checks": checks}
        if faults := check_architecture(arch, listings, plugins=plugins, **options):
            pytest.fail("\n".join(faults), pytrace=False)

    return hold
