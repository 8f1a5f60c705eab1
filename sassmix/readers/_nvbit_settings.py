"""What the settings of NVBit's tools make of the counts: warps or threads, all launches and instructions or some."""

from __future__ import annotations

from sassmix.counts import CountRow, Counts
from sassmix.errors import Problem
from sassmix.own_texts import mnemonic_of

_NO_END = (str((1 << 32) - 1), "0")
#: Settings that say where counting begins and ends, by what is numbered.
_INSTRUCTIONS = ("INSTR_BEGIN", "INSTR_END")
_LAUNCHES = (("KERNEL_BEGIN", "KERNEL_END"), ("START_GRID_NUM", "END_GRID_NUM"))
#: What every version of opcode_hist prints; the launches' settings have two sets of names.
_ALWAYS = (*_INSTRUCTIONS, "COUNT_WARP_LEVEL", "EXCLUDE_PRED_OFF")
#: Any other word could as well be an opcode.
SETTINGS = frozenset((*_ALWAYS, *_LAUNCHES[0], *_LAUNCHES[1], "ACTIVE_FROM_START", "TOOL_VERBOSE", "MANGLED_NAMES"))
#: What rows are called that have no opcode.
REST, ALL = "not among the opcodes", "all instructions"


class Unit:
    """What one count is, by the tool's settings: a warp that issues, unless they say otherwise."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.threads = settings.get("COUNT_WARP_LEVEL") == "0"
        self.guarded = settings.get("EXCLUDE_PRED_OFF") == "1"

    def row(self, name: str, number: int) -> CountRow:
        """Counts of threads stand in both places, since the tool has none of warps then."""
        mnemonic = None if name in (REST, ALL) else mnemonic_of(name)
        return CountRow(
            mnemonic=mnemonic,
            name=None if mnemonic else name,
            issued=number,
            active=number if self.guarded and not self.threads else None,
            threads=number if self.threads else None,
        )


def explain(counts: Counts, unit: Unit, settings: dict[str, str], line: int) -> None:
    """What the counts are and lack by the tool's settings, in words."""
    notes = counts.problems
    if unit.threads:
        lanes = "with the guard true" if unit.guarded else "whatever the guard says"
        what = f"the counts are thread instructions, {lanes} (COUNT_WARP_LEVEL = 0); warps were not counted"
        notes.append(Problem("warning", counts.path, what, line))
        counts.missing = ("warp instructions",)
    if unit.guarded:
        counts.gaps.append("instructions with a false guard were not counted (EXCLUDE_PRED_OFF = 1)")
    if not settings.keys() & SETTINGS:
        what = "the tool's settings are not in the text: warp instructions are assumed, the default"
        notes.append(Problem("info", counts.path, what, line))
    elif absent := _absent(settings):
        what = f"settings of the tool are not in the text, or not readable: {', '.join(absent)}"
        notes.append(Problem("warning", counts.path, f"{what}; the default is assumed", line))
        pairs = (_INSTRUCTIONS, *_LAUNCHES)
        if any(len(settings.keys() & set(pair)) == 1 for pair in pairs):  # people shorten; damage takes a part
            counts.gaps.append(what)


def _absent(settings: dict[str, str]) -> list[str]:
    """Settings that the tool prints and the text lacks."""
    pair = _LAUNCHES[any(name in settings for name in _LAUNCHES[1])]
    return [name for name in (*_ALWAYS, *pair) if name not in settings]


def explain_windows(counts: Counts, settings: dict[str, str]) -> None:
    """Launches that were left out may be of this kernel or not; instructions were of it for certain."""
    if window := _window(settings, *_INSTRUCTIONS):
        counts.lost.append(f"only instructions {window} of each function were counted")
        counts.gaps.append(counts.lost[-1])
    windows = (_window(settings, *names) for names in _LAUNCHES)
    counts.gaps += [f"only launches {window} of the program were counted" for window in windows if window]
    if settings.get("ACTIVE_FROM_START") == "0":
        counts.gaps.append("only launches between the program's own marks were counted (ACTIVE_FROM_START = 0)")


def _window(settings: dict[str, str], first: str, last: str) -> str:
    begin, end = settings.get(first, "0"), settings.get(last, _NO_END[0])
    return f"{begin} to {end} ({first}, {last})" if begin != "0" or end not in _NO_END else ""
