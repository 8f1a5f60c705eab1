"""The instructions of a kernel, each with how often it was executed. Kept only where a report is to show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sassmix.arch import OpcodeInfo
from sassmix.classify import Classifier
from sassmix.listing import Function
from sassmix.tally import Row

#: Why a listing alone tells no executed counts.
STATIC = "a listing alone has no executed counts"


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One instruction.

    :param function: the name of its function.
    :param labels: the code labels in front of it.
    :param offset: hexadecimal digits as the listing has them, bytes from the section's start; empty without one.
    :param category: its category, ``unresolved`` or ``unclassified``.
    :param count: how often it was executed; None where nothing tells.
    :param padding: whether it only fills up the section.
    """

    function: str
    labels: tuple[str, ...]
    offset: str
    text: str
    category: str
    count: int | None
    padding: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The functions of a kernel: its own and the helpers behind it.

    :param infos: what each mnemonic in them is.
    :param executed: counts by place in the columns of the functions; None where nothing tells.
    :param why: the reason for that, one sentence.
    """

    functions: tuple[Function, ...]
    infos: Mapping[str, OpcodeInfo]
    executed: Mapping[int, int] | None = None
    why: str = STATIC

    def __len__(self) -> int:
        return sum(map(len, self.functions))

    @property
    def most(self) -> int:
        """The largest executed count of one instruction; 0 where nothing tells."""
        return max((self.executed or {}).values(), default=0)

    def lines(self) -> Iterator[CodeLine]:
        """Every instruction in the order of the listing, padding included."""
        for function in self.functions:
            labels: dict[int, list[str]] = {}
            for name, place in function.labels.items():
                labels.setdefault(place, []).append(name)
            for place in range(function.start, function.stop):
                yield self._line(function, place, tuple(labels.get(place, ())))

    def _line(self, function: Function, place: int, labels: tuple[str, ...]) -> CodeLine:
        columns = function.columns
        mnemonic = columns.mnemonics[place]
        info = None if place in function.unreadable else self.infos.get(mnemonic)
        return CodeLine(
            function=function.name,
            labels=labels,
            offset=columns.offsets[place],
            text=f"{columns.guards[place].strip()} {mnemonic}{columns.tails[place].rstrip()}".strip(),
            category=Row(mnemonic, 0, info).facet("category"),
            count=None if self.executed is None else self.executed.get(place, 0),
            padding=place >= function.code_stop,
        )


def code_of(
    functions: Sequence[Function],
    classifier: Classifier,
    arch: str | None,
    executed: Mapping[int, int] | None = None,
    why: str = STATIC,
) -> Code:
    """The code of functions, classified on a target."""
    mnemonics = {m for f in functions for m in f.columns.mnemonics[f.start : f.stop]}
    infos = {mnemonic: classifier.info(mnemonic, arch) for mnemonic in mnemonics}
    return Code(functions=tuple(functions), infos=infos, executed=executed, why=why)
