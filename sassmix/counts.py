"""The model of executed counts, as a reader gives them: one :class:`Counts` per kernel and file, nothing resolved yet.

Readers say what the file says and nothing else; names, ids and addresses are joined to listings in
:mod:`sassmix.resolution`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sassmix.errors import Problem


# Not frozen: that would make a row several times as costly, and profilers' exports hold millions. Nothing changes one.
@dataclass(slots=True)
class CountRow:
    """One counted instruction (or one name that stands for several), summed over warps and launches.

    :param issued: warp instructions issued, the guard's outcome notwithstanding.
    :param mnemonic: the full mnemonic where the source names it, as it stands there (``HMMA.16816.F32``).
    :param name: what the source calls the row if that is no mnemonic: ``OPCODE_138``; kept if nothing resolves it.
    :param index: the instruction's number within its function, from 0.
    :param offset: its bytes from the start of its function; from an absolute address the first one is taken away.
    :param sass: the instruction's text where the row carries it.
    :param active: those of them with at least one active lane; None where the source does not tell.
    :param threads: thread instructions executed with the guard true; None where the source does not tell.
    """

    issued: int
    mnemonic: str | None = None
    name: str | None = None
    index: int | None = None
    offset: int | None = None
    sass: str | None = None
    active: int | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelNames:
    """What a source says on the name of a kernel; all None where it says nothing.

    :param mangled: the whole mangled name, from metadata.
    :param demangled: the declaration, as a profiler writes it.
    :param root: the function that a tracer says it instrumented.
    :param file: the name within the file's name; ``cut`` if it may be longer than stands there (150 characters).
    """

    mangled: str | None = None
    demangled: str | None = None
    root: str | None = None
    file: str | None = None
    cut: bool = False
    checksum: str | None = None

    @property
    def known(self) -> bool:
        """Whether the source gives any name at all."""
        return bool(self.best)

    @property
    def best(self) -> str | None:
        """The most exact name there is."""
        return self.mangled or self.root or self.file or self.demangled


@dataclass(slots=True, kw_only=True)
class Counts:
    """The executed counts of one kernel in one file.

    :param kind: as in the report's ``inputs``.
    :param arch: the architecture that the source names, ``sm_90``; None where it does not.
    :param launches: distinct launches; None where the source cannot tell.
    :param warps: the largest number of distinct warps in one launch; None where the source cannot tell.
    :param gaps: why the capture is not complete, or not known to be, each in words; empty for a complete one.
    :param lost: why data is missing for certain (dropped records, a filter); a part of ``gaps`` that counts more.
    :param table: the source's own table from an instruction's number to its text.
    :param base: the address of the offset 0, where the texts of the rows name addresses.
    :param size: how many instructions the source says that the kernel has.
    :param hardware: totals that the hardware counted, by name: ``inst_executed`` for all, else a pipe (``tensor``).
    :param launch_ids: the launches as a tracer numbers them; two files that share one are parts of one trace.
    :param identity: a digest of what no two launches have in common, such as a profiler's samples: two of one are one.
    :param last: the numbers of the instructions that the warps ended with; None where the source cannot tell.
    :param entered: how often the kernel was entered, by a warp of a launch; None where the source cannot tell.
    :param root_only: whether the source says that functions which the kernel calls were left out.
    :param missing: what the source has no measurement of although it has a place for it (``cycles``).
    """

    path: str
    kind: str
    names: KernelNames
    arch: str | None = None
    rows: list[CountRow] = field(default_factory=list)
    launches: int | None = None
    warps: int | None = None
    gaps: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    table: dict[int, str] = field(default_factory=dict)
    base: int = 0
    size: int | None = None
    hardware: dict[str, float] = field(default_factory=dict)
    entered: int | None = None
    root_only: bool = False
    missing: tuple[str, ...] = ()
    launch_ids: frozenset[int] = frozenset()
    identity: str | None = None
    last: frozenset[int] | None = None
    tool: str | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def total(self) -> int:
        """Warp instructions issued, all rows together."""
        return sum(row.issued for row in self.rows)


# Gaps that the resolved instructions or a listing may close (:mod:`sassmix.resolution`); readers put these texts.
CLOCK_READ = "CS2R counted: a clock-region capture counts only what lies between two clock reads"
CODE_READS_CLOCK = "the code reads a clock: a clock-region capture counts only what lies between two clock reads"
NO_EXIT = "no EXIT was counted, so the warps were not followed to their end"
NO_ADDRESS = "the rows have no addresses, so a row that is missing leaves no trace; export the column Address"
UNTOLD_EXIT = "whether the warps reached EXIT is not known, since not every count is resolved"
GUARDED_END = "no completion record, and warps ended with an EXIT under a guard, by which not every lane need have left"
UNKNOWN_END = "no completion record, and which instructions the warps ended with is not known"
