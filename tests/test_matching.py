"""Which function counts belong to: one candidate is a match, more are none, and nothing that only looks alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.counts import KernelNames
from sassmix.listing import Columns, Function, Role
from sassmix.matching import match, normalised
from sassmix.parsing import parse


def function(name: str, arch: str | None = "sm_90", role: Role = "kernel") -> Function:
    columns = Columns(["0000"], [""], ["EXIT"], [""])
    return Function(name=name, arch=arch, role=role, section=None, columns=columns, start=0, stop=1)


LONG = "_ZN7project6detail" + "21very_long_name_holder" * 7
HASHED = "_ZN41_GLOBAL__N__{}_10_general_cu_{}6hiddenEPi"


DIVIDE, STATIC = HASHED.format("0bff35ba", "divide"), HASHED.format("0bff35ba", "deadbeef")
HALF = "_Z1fI6__halfEvPT_"


@pytest.mark.parametrize(
    ("names", "functions", "how", "found"),
    [
        (KernelNames(mangled="k"), ["k", "kk"], "exact", "k"),
        (KernelNames(file="k"), ["k", "k.cold.1"], "exact", "k"),
        (KernelNames(file="_Z1kPf"), ["_Z1kPf", "_Z1kPd"], "exact", "_Z1kPf"),
        (KernelNames(mangled="k", file="other"), ["other"], "none", None),
        (KernelNames(file="gem"), ["gemm", "gemm_bias"], "none", None),
        (KernelNames(file="VecAdd"), ["vecadd", "vecAdd"], "none", None),
        (KernelNames(demangled="void f<__half>(__half *)"), [HALF, "_Z1fIfEvPT_"], "demangled", HALF),
        (KernelNames(file="f"), ["_Z1fI6__halfEvPT_", "_Z1fIfEvPT_"], "none", None),
        (KernelNames(file="f"), ["_Z1fPf", "_Z2ffPf"], "demangled", "_Z1fPf"),
        (KernelNames(file=LONG[:150], cut=True), [LONG + "A", "x"], "truncated-name", LONG + "A"),
        (KernelNames(file=LONG[:150], cut=True), [LONG + "A", LONG + "B"], "none", None),
        (KernelNames(mangled=LONG + "A", file=LONG[:150], cut=True), [LONG + "A", LONG + "B"], "exact", LONG + "A"),
        (KernelNames(mangled=LONG + "C", file=LONG[:150], cut=True), [LONG + "A"], "none", None),
        (KernelNames(mangled=HASHED.format("7a11c0de", "divide")), [DIVIDE], "ignoring-build-hash", DIVIDE),
        (KernelNames(mangled=HASHED.format("7a11c0de", "b25dedbc")), [STATIC], "ignoring-build-hash", STATIC),
        (KernelNames(), ["only"], "only-function", "only"),
        (KernelNames(), ["one", "two"], "none", None),
        (KernelNames(file="absent"), ["only"], "none", None),
    ],
)  # fmt: skip
def test_the_ways_of_matching(names: KernelNames, functions: list[str], how: str, found: str | None) -> None:
    result = match(names, None, [function(name) for name in functions])
    assert (result.how, result.function.name if result.function else None) == (how, found)


@pytest.mark.parametrize("names", [KernelNames(file="gem"), KernelNames(file="GEMM"), KernelNames(file="gemn")])
def test_names_that_look_alike_are_candidates_and_never_chosen(names: KernelNames) -> None:
    result = match(names, None, [function("gemm"), function("unrelated")])
    assert (result.how, result.candidates) == ("none", ("gemm",))


@pytest.mark.parametrize(("arch", "how"), [("sm_90", "exact"), ("sm_90a", "exact"), ("sm_80", "none"), (None, "none")])
def test_one_name_on_two_architectures(arch: str | None, how: str) -> None:
    result = match(KernelNames(mangled="k"), arch, [function("k", "sm_90a"), function("k", "sm_100")])
    assert result.how == how


@given(st.lists(st.sampled_from(["k", "kk", "K", "_Z1kPf", "_Z1kPd", LONG + "A", LONG + "B"]), unique=True), st.data())
def test_the_order_of_the_functions_changes_nothing(names: list[str], data: st.DataObject) -> None:
    wanted = KernelNames(file=data.draw(st.sampled_from(["k", "_Z1kPf", LONG[:150]])), cut=data.draw(st.booleans()))
    shuffled = data.draw(st.permutations(names))
    one, other = (match(wanted, None, [function(n) for n in order]) for order in (names, shuffled))
    assert (one.how, one.function and one.function.name) == (other.how, other.function and other.function.name)
    assert set(one.candidates) == set(other.candidates)


@pytest.mark.parametrize(
    ("profiler", "demangler"),
    [
        ("void gemm<float, (int)4>(const float *, float *)", "void gemm<float, 4>(float const*, float*)"),
        ("void f<(unsigned int)4, (bool)1>(const std::pair<const int, unsigned long> &)",
         "void f<4u, true>(std::pair<int const, unsigned long> const&)"),
        ("void ns::poly<float, (int)12>(const T1 *, T1 *, int)", "void ns::poly<float, 12>(float const*, float*, int)"),
        ("void f<P<int, char>, float>(T1, const T2 &)", "void f<P<int, char>, float>(P<int, char>, float const&)"),
        ("<unnamed>::hidden(int *)", "(anonymous namespace)::hidden(int*)"),
        ("k(const unsigned int *, const ns::T<const float> *)", "k(unsigned int const*, ns::T<float const> const*)"),
    ],
)  # fmt: skip
def test_demanglers_spell_one_declaration_differently(profiler: str, demangler: str) -> None:
    assert normalised(profiler) == normalised(demangler)
    assert normalised(profiler) != normalised(demangler.replace("*", "**").replace("&", "&&"))


@given(st.text(max_size=60))
def test_no_text_breaks_the_spelling(text: str) -> None:
    assert isinstance(normalised(text), str)


@pytest.mark.parametrize(("other", "how"), [("sm_90", "exact"), ("sm_80", "none")])
def test_a_cubin_beside_its_listing_is_one_function(other: str, how: str) -> None:
    """The same code twice is one candidate; of another architecture it is another one."""
    body = "k:\n        /*0000*/                   EXIT ;\n"
    functions = [f for arch in ("sm_90", other) for f in parse(f"\t.target\t{arch}\n{body}").functions]
    found = match(KernelNames(mangled="k"), None, functions)
    assert found.how == how
    assert (found.function is functions[0]) == (how == "exact")


def test_the_same_name_with_other_code_is_another_function() -> None:
    bodies = ("EXIT ;", "RET ;")
    text = "\t.target\tsm_90\nk:\n        /*0000*/                   {}\n"
    functions = [f for body in bodies for f in parse(text.format(body)).functions]
    assert match(KernelNames(mangled="k"), None, functions).how == "none"
