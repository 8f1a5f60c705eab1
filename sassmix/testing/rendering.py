"""Models to text, in the columns of each tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial, singledispatch

from sassmix.errors import SassmixError, did_you_mean
from sassmix.testing import captures
from sassmix.testing.models import FunctionModel, HistogramModel, InstructionModel, ListingModel, TraceModel

Line = Callable[[str], str]

_DATA = """//--------------------- .nv.info                  --------------------------
\t.section\t.nv.info,"",@"SHT_CUDA_INFO"
\t.align\t4

        /*0000*/ \t.byte\t0x04, 0x2f
        /*0002*/ \t.short\t(.L_1 - .L_0)
"""
_WORD = f"/* 0x{7:016x} */"
_LIVE = {"plr": "|  3 ^ :  |    |", "lrm-narrow": "| 3  ^:  |  1 ^ |", "lrm-count": "|   3   |   1    |"}
_SOURCE = {
    "g": '\t//## File "src/k.cu", line 5\n',
    "gi": '\t//## File "a; b/k.cu", line 12 inlined at "x.cu", line 3\n',
    "gp": '\t//## File ".nv_debug_ptx_txt", line 38\n',
}


def render(model: ListingModel | HistogramModel | TraceModel, *, mode: str | None = None) -> str:
    """The text of a model.

    :param mode: of a listing, one of :data:`MODES`, ``c`` if left out: the option of nvdisasm, ``cuobjdump`` or the
        way in which a text was passed on. The other models have no modes.
    """
    return _render(model, mode)


@singledispatch
def _render(model: object, mode: str | None) -> str:
    raise SassmixError(f"{type(model).__name__} is not a model of an input")


@_render.register
def _(model: ListingModel, mode: str | None) -> str:
    mode = mode or "c"
    if mode not in MODES:
        raise SassmixError(
            f"no mode is called {mode!r}{did_you_mean(mode, MODES) or '; there are ' + ', '.join(MODES)}"
        )
    return MODES[mode](model)


@_render.register
def _(model: HistogramModel, mode: str | None) -> str:
    return captures.histogram_text(model)


@_render.register
def _(model: TraceModel, mode: str | None) -> str:
    return captures.trace_text(model)


def _code(offset: int, line: InstructionModel) -> str:
    guard = f"{line.guard} " if line.guard else ""
    operands = f" {line.operand_text}" if line.operands else ""
    return f"        /*{offset:04x}*/ {guard:>18}{line.mnemonic}{operands} ;"


def _numbered(model: ListingModel, function: FunctionModel, *, words: bool) -> Iterator[str]:
    """The code lines; with encodings, in the two words of newer targets or behind the control words of older ones."""
    period = model.control_period
    last = -period
    for offset, line in zip(model.offsets(), function.instructions, strict=False):
        if words and period and offset // period * period != last:
            last = offset // period * period
            yield f"{' ' * 70}{_WORD}"
        yield f"{_code(offset, line)}   {_WORD}" if words else _code(offset, line)
        if words and not period:
            yield f"{' ' * 70}{_WORD}"


def _nvdisasm(
    model: ListingModel,
    *,
    decorate: Line = lambda code: code,
    comment: str = "",
    words: bool = False,
    data: str = "",
) -> str:
    out = [f"\t.target\t{model.arch}", "", '\t.elftype\t@"ET_EXEC"', "", *data.splitlines()]
    for number, function in enumerate(model.functions):
        name = function.name
        out += [
            f"//--------------------- .text.{name} --------------------------",
            f'\t.section\t.text.{name},"ax",@progbits',
            "\t.align\t128",
            f"        .global         {name}",
            f"        .type           {name},@function",
            f"        .size           {name},(.L_x_{number} - {name})",
            f'        .other          {name},@"STO_CUDA_ENTRY STV_DEFAULT"',
            f"{name}:{comment}",
            f".text.{name}:{comment}",
        ]
        out += [decorate(code) for code in _numbered(model, function, words=words)]
        out += [f".L_x_{number}:{comment}", ""]
    return "\n".join(out) + "\n"


def _live_ranges(mode: str, model: ListingModel) -> str:
    table = f"   // {_LIVE[mode]}"
    return _nvdisasm(model, decorate=lambda code: code + table, comment=table)


def _source_lines(mode: str, model: ListingModel) -> str:
    return _nvdisasm(model, decorate=lambda code: _SOURCE[mode] + code)


def _raw(model: ListingModel) -> str:
    return _nvdisasm(model, data=_DATA).expandtabs(8)


def _cuobjdump(model: ListingModel) -> str:
    out = [
        "",
        "Fatbin elf code:",
        "================",
        f"arch = {model.arch}",
        "code version = [1,8]",
        "host = linux",
        "",
    ]
    out += [f"\tcode for {model.arch}", f"\t.target\t{model.arch}", ""]
    for function in model.functions:
        out += [f"\t\tFunction : {function.name}", f'\t.headerflags\t@"{_flags(model)}"']
        out += [*_numbered(model, function, words=True), "\t\t..........", ""]
    return "\n".join(out) + "\n"


def _flags(model: ListingModel) -> str:
    return f"EF_CUDA_SM{model.generation}{' EF_CUDA_ACCELERATORS' if model.arch.endswith('a') else ''}"


def _profiler(model: ListingModel) -> str:
    def bare(code: str) -> str:
        return re.sub(r"(@!?U?P[0-9T]) ", r"\1   ", code.removesuffix(" ;"), count=1)

    return _nvdisasm(model, decorate=bare)


def _annotated(model: ListingModel) -> str:
    return _nvdisasm(model, decorate=lambda code: f"      [B------:R-:W0:Y:S02] {code}")


def _windows(model: ListingModel) -> str:
    return "\ufeff" + _nvdisasm(model).replace("\n", "\r\n")


def _retabbed(model: ListingModel) -> str:
    return _nvdisasm(model).replace("        /*", "\t/*").replace("    ", "\t")


#: How a listing can be printed: the options of nvdisasm (``plain`` is none), cuobjdump, Nsight Compute's spelling,
#: other assemblers' control fields in front, saved on another system, tabs by an editor.
MODES: dict[str, Callable[[ListingModel], str]] = {
    "c": _nvdisasm,
    "plain": partial(_nvdisasm, data=_DATA),
    "raw": _raw,
    "hex": partial(_nvdisasm, words=True),
    **{mode: partial(_source_lines, mode) for mode in _SOURCE},
    **{mode: partial(_live_ranges, mode) for mode in _LIVE},
    "cuobjdump": _cuobjdump,
    "profiler": _profiler,
    "annotated": _annotated,
    "windows": _windows,
    "retabbed": _retabbed,
}
