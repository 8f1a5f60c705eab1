"""Thread instructions beside warp instructions: what one number says of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, repeat
from operator import gt, mul, not_

from sassmix.arch import LANES
from sassmix.errors import number_of


def active_of(issued: int | None, lanes: int | None, sass: str) -> int | None:
    """Warp instructions with an active lane, where the lanes leave one possibility."""
    if issued is None or lanes is None:
        return None
    if lanes == 0:
        return 0
    if not sass.startswith("@"):
        return issued
    least, most = -(-lanes // LANES), min(issued, lanes)
    return most if least == most else None


def odd_lanes(
    issued: Sequence[int | None], lanes: Sequence[int | None], texts: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """The rows, by position, whose thread instructions cannot be those of their warp instructions, and why."""
    known = None not in issued and None not in lanes
    if not known or any(map(gt, lanes, map(mul, issued, repeat(LANES)))):  # type: ignore[arg-type]
        suspects: Sequence[int] = range(len(lanes))
    else:
        suspects = list(compress(range(len(lanes)), map(not_, lanes)))
    for at in suspects:
        warps, threads = issued[at], lanes[at]
        if warps is None or threads is None:
            continue
        if threads > LANES * warps or (warps and not threads and texts[at][:1] != "@"):
            counted = number_of(threads, "thread instruction")
            yield at, f"{counted} cannot be those of {number_of(warps, 'warp instruction')}"
