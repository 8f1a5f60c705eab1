"""How long a declaration may be, against what LLVM's demangler writes; names that double are left alone in no time."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from typing import cast

import pydemumble
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sassmix.demangling import declares_at_most
from sassmix.labels import demangled
from tests.conftest import FIXTURES, ROOT

#: A name may declare as much as this: an own bound, so that tests stay small.
MOST = 1 << 20


def base36(number: int) -> str:
    """A reference to the part of this number."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    text = ""
    number -= 1
    while number >= 0:
        text, number = digits[number % 36] + text, number // 36 or -1
    return f"S{text}_"


#: Each level refers twice to the one before: as a part of the name, as a parameter of the template, as an empty pack.
DOUBLING: dict[str, Callable[[int], str]] = {
    "parts": lambda n: "_Z1f1a" + "".join(f"S_I{base36(i)}{base36(i)}E" for i in range(n)),
    "nested": lambda n: "_Z1f1aI" + "S_I" * n + "iiE" + "".join(f"{base36(i + 1)}E" for i in range(n)),
    "functions": lambda n: "_Z1f1a" + "".join(f"PF{base36(2 * i)}{base36(2 * i)}E" for i in range(n)),
    "parameters": lambda n: "_Z1fI1aIiiE" + "".join(f"1bIT{p}_T{p}_E" for p in ["", *range(n - 1)]) + "Evv",
    "packs": lambda n: "_Z1fIJiiiE" + "".join(f"JDpT{p}_DpT{p}_E" for p in ["", *range(n - 1)]) + "Evv",
    "empty packs": lambda n: "_Z1fIJE" + "".join(f"JDpT{p}_DpT{p}_E" for p in ["", *range(n - 1)]) + "Evv",
    "members": lambda n: "_Z1f1a" + "".join(f"M{base36(i)}{base36(i)}" for i in range(n)),
    "expressions": lambda n: "_Z1fI1aIiiEXcl1gEE" + "".join(f"1bIT{p}_T{p}_E" for p in ["", *range(1, n)]) + "Evv",
}


@pytest.mark.parametrize("levels", [40, 200, 1000])
@pytest.mark.parametrize("name", DOUBLING)
def test_a_name_that_doubles_stays_mangled_and_takes_no_time(name: str, levels: int) -> None:
    mangled = DOUBLING[name](levels)
    start = time.process_time()
    assert demangled(mangled) is None
    assert time.process_time() - start < 2


@pytest.mark.parametrize("name", DOUBLING)
def test_names_that_double_a_little_are_demangled(name: str) -> None:
    """They are what they are taken for: names that the demangler takes."""
    assert demangled(DOUBLING[name](2))


#: Pieces of names; ``@`` becomes an identifier of some length. What is made of them is now and then a name.
PIECES = (
    "@ @ @ I E E N Z J S_ S0_ S1_ S2_ T_ T0_ T1_ Dp P K R V F M A3_ Dv4_ v i f p Li3E Lb1E L L_Z LU X nt pl Ul E_ "
    "C1 D0 B LDn0E Sa St Ss DF16_"
).split()
WHOLE = (
    "@ I @ I i i E @ I T_ T_ E @ I T0_ T0_ E E v T_",
    "@ @ @ I S0_ E P S_ P K S1_",
    "N @ @ I @ I J i S1_ E E E v Dp T_",
    "@ I J i f f E E v Dp @ I T_ S0_ E",
    "Z N @ @ E v E N K Ul v E_ cl E v",
    "@ M @ F v i E A3_ Dv4_ f",
    "@ I L_Z @ v E L @ 5E XT_E E v S_ S0_",
    "N @ @ E N S_ @ E N S0_ @ E K P S1_ r K S2_",
)


@st.composite
def names(draw: st.DrawFn) -> str:
    """A name with some pieces put in, taken out or repeated."""
    made = draw(st.sampled_from(WHOLE)).split()
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(made)))
        stop = draw(st.integers(start, min(len(made), start + 8)))
        new = draw(st.sampled_from([made[start:stop] * 2, [], *([piece] for piece in PIECES)]))
        made[start : stop if len(new) != 1 else start] = new
    long = st.sampled_from([1, 7, 300, 900])
    return "_Z" + "".join(f"{n}{'q' * n}" if piece == "@" and (n := draw(long)) else piece for piece in made)


@example("_Z1q" + "Dv4_pl" + f"900{'q' * 900}" + "S0_")  # a vector of pixels, and a long
@example("_Z1fIJ" + "i" * 50 + f"EEvDp900{'q' * 900}IT_E")  # 50 times the long name
@example(f"_Z900{'q' * 900}IiEv" + "cvi" + "T_" * 4)  # not followed
@given(names())
def test_a_declaration_is_no_longer_than_was_said(name: str) -> None:
    assume(declares_at_most(name, MOST))
    low, high = 0, MOST
    while low < high:  # the least that is said of it
        middle = (low + high) // 2
        low, high = (low, middle) if declares_at_most(name, middle) else (middle + 1, high)
    assert len(pydemumble.demangle(name)) <= low


def real_names() -> set[str]:
    """The mangled names in the fixtures."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in (FIXTURES / "listings").rglob("*.sass"))
    return {name for text in texts for name in re.findall(r"\b_Z\w+", text)}


#: Of templates as libraries nest them: the name, and references to most of what is in it.
LIBRARY = (
    "_ZN3lib6kernelINS_4gemm10CollectiveINS1_8PipelineILi4ENS_5tupleIJNS_1CILi2EEENS5_ILi1EEES7_EEEEENS4_IJNS5_ILi128EEE"
    "SA_NS5_ILi64EEEEEEfNS4_IJlS7_NS5_ILi0EEEEEEfSE_NS4_IJS9_SC_SE_EEESF_EEEEvNT_6ParamsE"
)


def test_real_names_are_demangled() -> None:
    found = real_names()
    assert len(found) > 40
    for name in {*found, LIBRARY}:
        assert demangled(name) == (pydemumble.demangle(name) or None), name
    assert len(cast("str", demangled(LIBRARY))) > 5 * len(LIBRARY)


def test_a_declaration_that_is_too_long_is_not_kept() -> None:
    assert len(cast("str", demangled(DOUBLING["parts"](12)))) > 40_000
    assert demangled(DOUBLING["parts"](15)) is None


CALL = """
import resource
from sassmix.labels import demangled
from tests.test_demangling import DOUBLING
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for levels in (*range(1, 40), 400):
    for doubling in DOUBLING.values():
        demangled(doubling(levels))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is in other units, or not told")
def test_doubling_takes_no_memory_either() -> None:
    done = subprocess.run([sys.executable, "-c", CALL], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200  # megabytes
