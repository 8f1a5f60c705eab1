"""Hypothesis strategies for inputs. All options are keywords; what is left out is drawn.

Opcodes come from the registered architectures, so a plugin's own are drawn too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hypothesis import strategies as st

from sassmix.arch import sm
from sassmix.plugins import default_plugins
from sassmix.registry import Registry
from sassmix.testing.models import (
    FunctionModel,
    HistogramModel,
    HistogramRow,
    InstructionModel,
    ListingModel,
    TraceModel,
)
from sassmix.testing.operands import guards, mnemonics, operands

_EXIT = InstructionModel("", "EXIT")
#: Names of kernels; some look like something else.
_names = st.one_of(
    st.builds("{}{}".format, st.sampled_from(["k", "_Z1k", "Kernel_"]), st.integers(0, 9999)),
    st.sampled_from(["EXIT", "R1", "UP0", "L_x_0", "x86", "a", "_"]),
)


def known_opcodes(arch: str | None = None) -> tuple[str, ...]:
    """The opcodes of a target, or those of all, the shortest names first (examples shrink towards them).

    :raises UnknownArchitectureError: where no plugin registers the target.
    """
    return _opcodes(default_plugins().registry, sm(arch)[0] if arch else None)


@cache
def _opcodes(registry: Registry, target: str | None) -> tuple[str, ...]:
    tables = [registry.require(target)] if target else [table for _, table in registry]
    return tuple(sorted({name for table in tables for name in table.opcodes}, key=lambda name: (len(name), name)))


def targets() -> st.SearchStrategy[str]:
    """A registered target; examples shrink to one without control words."""
    names = [target for target, _ in default_plugins().registry]
    return st.sampled_from(sorted(names, key=lambda target: ListingModel(target, ()).control_period))


def instructions(
    *, arch: str | None = None, opcodes: Sequence[str] | None = None
) -> st.SearchStrategy[InstructionModel]:
    """One instruction: any guard, modifiers and operands around an opcode.

    :param arch: only opcodes of this target; those of all targets, if left out.
    :param opcodes: only these.
    """
    allowed = tuple(opcodes) if opcodes is not None else known_opcodes(arch)
    return st.builds(InstructionModel, guards(), mnemonics(allowed), st.lists(operands(), max_size=4).map(tuple))


def functions(
    *,
    arch: str | None = None,
    opcodes: Sequence[str] | None = None,
    name: str | None = None,
    max_instructions: int = 9,
) -> st.SearchStrategy[FunctionModel]:
    """A kernel that ends in EXIT, as compiled code does; the EXIT is one of ``max_instructions``."""
    code = st.lists(instructions(arch=arch, opcodes=opcodes), max_size=max_instructions - 1)
    return st.builds(
        lambda called, lines: FunctionModel(called, (*lines, _EXIT)), st.just(name) if name else _names, code
    )


def listings(
    *,
    arch: str | None = None,
    opcodes: Sequence[str] | None = None,
    min_functions: int = 1,
    max_functions: int = 3,
    max_instructions: int = 9,
) -> st.SearchStrategy[ListingModel]:
    """Functions with names of their own. :func:`sassmix.testing.render` makes the text."""

    @cache  # a strategy is checked when it is first used; once is enough
    def of(target: str) -> st.SearchStrategy[ListingModel]:
        one = functions(arch=target, opcodes=opcodes, max_instructions=max_instructions)
        several = st.lists(one, min_size=min_functions, max_size=max_functions, unique_by=lambda f: f.name)
        return several.map(lambda found: ListingModel(target, tuple(found)))

    return of(sm(arch)[0]) if arch else targets().flatmap(of)


def histograms(
    *,
    kernel: FunctionModel | str | None = None,
    resolved: bool | None = None,
    arch: str | None = None,
    max_warps: int = 4,
    max_count: int = 10**6,
) -> st.SearchStrategy[HistogramModel]:
    """Executed counts by warp and name; each name once a warp, and each warp exits.

    :param kernel: the function that was counted, whose instructions the names are then, or only its name.
    :param resolved: True names mnemonics only, False numbers (``OPCODE_3``) only, None either.
    """
    if isinstance(kernel, FunctionModel):
        return _histograms_of(st.just(kernel), resolved, max_warps, max_count)
    return _histograms_of(functions(arch=arch, name=kernel), resolved, max_warps, max_count)


def _histograms_of(
    kernels: st.SearchStrategy[FunctionModel], resolved: bool | None, max_warps: int, max_count: int
) -> st.SearchStrategy[HistogramModel]:
    @st.composite
    def draw_one(draw: st.DrawFn) -> HistogramModel:
        kernel = draw(kernels)
        numbered = draw(st.booleans()) if resolved is None else not resolved
        rows = []
        for warp in range(draw(st.integers(1, max_warps))):
            counts: dict[str, int] = {}
            for number, line in enumerate(kernel.instructions):
                name = f"OPCODE_{number}" if numbered else line.mnemonic
                counts[name] = draw(st.integers(1, max_count)) if line is not _EXIT else 1
            rows += [HistogramRow(warp, 0, name, count) for name, count in counts.items()]
        return HistogramModel(kernel.name, tuple(rows))

    return draw_one()


def traces(
    *,
    kernel: FunctionModel | None = None,
    arch: str | None = None,
    complete: bool | None = True,
    max_launches: int = 2,
    max_warps: int = 3,
    max_repeats: int = 2,
) -> st.SearchStrategy[TraceModel]:
    """Every warp of every launch runs through the function, each instruction up to ``max_repeats`` times.

    :param kernel: the function that runs; drawn for ``arch``, if left out.
    :param complete: whether the capture says that it is whole; None for either.
    """

    @st.composite
    def draw_one(draw: st.DrawFn) -> TraceModel:
        target = sm(arch)[0] if arch else draw(targets())
        function = kernel or draw(functions(arch=target))
        last = len(function.instructions) - 1
        warps = draw(st.integers(1, max_warps))
        records = [
            (launch, warp, number)
            for launch in range(draw(st.integers(1, max_launches)))
            for warp in range(warps)
            for number in range(last + 1)
            for _ in range(draw(st.integers(1, max_repeats)) if number < last else 1)
        ]
        whole = draw(st.booleans()) if complete is None else complete
        return TraceModel(target, function, tuple(records), whole)

    return draw_one()
