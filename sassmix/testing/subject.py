"""What a contract is about: one target, the plugins that are asked, the samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sassmix.api import read
from sassmix.arch import Architecture, Opcode, OpcodeInfo
from sassmix.errors import SassmixError
from sassmix.listing import Listing
from sassmix.plugins import Plugins, default_plugins
from sassmix.registry import Table


@dataclass(frozen=True, eq=False)
class Subject:
    """An architecture under test. ``target`` is in its one spelling, ``sm_130``; it need not be registered."""

    target: str
    listings: tuple[Path, ...]
    plugins: Plugins

    @classmethod
    def of(cls, target: str, listings: Iterable[Path | str] = (), plugins: Plugins | None = None) -> Subject:
        """A subject; without plugins, of those that are installed."""
        return cls(target, tuple(map(Path, listings)), plugins or default_plugins())

    @cached_property
    def table(self) -> Table:
        """The architecture with what it inherits.

        :raises UnknownArchitectureError: where no plugin registers the target.
        """
        return self.plugins.registry.require(self.target)

    @property
    def architecture(self) -> Architecture:
        """The architecture as its plugin gave it: rows and rules of its own only."""
        return self.table.architecture

    @cached_property
    def parts(self) -> list[Architecture]:
        """The architecture, and those it extends that have no target and so no contract of their own."""
        named = {table.architecture.name: table.architecture for table in self.plugins.registry.tables()}
        parts = [self.architecture]
        while (base := named.get(parts[-1].extends or "")) and not base.sm:
            parts.append(base)
        return parts

    @property
    def rows(self) -> Iterator[Opcode]:
        """The rows of its own."""
        return (row for part in self.parts for row in part.opcodes)

    def info(self, mnemonic: str) -> OpcodeInfo:
        """What a mnemonic is on the target."""
        return self.plugins.classifier.info(mnemonic, self.target)

    @cached_property
    def samples(self) -> list[tuple[Path, Listing | SassmixError]]:
        """Each sample as it was read, or why it cannot be."""
        return [(path, _read(path)) for path in self.listings]

    @property
    def read_samples(self) -> Iterator[tuple[Path, Listing]]:
        """The samples that can be read."""
        return ((path, found) for path, found in self.samples if isinstance(found, Listing))

    @property
    def rows_file(self) -> str:
        """Where rows of the architecture are to be added, in words."""
        files = dict.fromkeys(row.place.partition(",")[0] for row in self.architecture.opcodes if row.place)
        return " or ".join(files) or f"the opcodes of architecture {self.architecture.name}"

    def place(self, row: Opcode) -> str:
        """Where a row stands: ``nova.csv, row 7 (HMMA)``."""
        return (
            f"{row.place} ({row.opcode})" if row.place else f"architecture {self.architecture.name}, row {row.opcode}"
        )


def _read(path: Path) -> Listing | SassmixError:
    try:
        return read(path)
    except SassmixError as error:
        return error
