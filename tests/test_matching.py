"""Which function counts belong to: one candidate is a match, more are none, and nothing that only looks alike."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.counts import KernelNames
from sassmix.listing import Columns, Function, Role
from sassmix.matching import Functions, match
from sassmix.parsing import parse
from sassmix.spelling import normalised
from tests.conftest import Body, written


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
        (KernelNames(file="k", cut=True), ["k", "f"], "truncated-name", "k"),
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


@pytest.mark.parametrize("cut", [True, False])
def test_the_beginning_of_a_name_in_another_case_is_a_hint_where_it_may_be_cut(cut: bool) -> None:
    result = match(KernelNames(file="_ZN2NS6vecA", cut=cut), None, [function("_ZN2ns6vecAddEPfi"), function("other")])
    assert (result.how, result.candidates) == ("none", ("_ZN2ns6vecAddEPfi",) if cut else ())


@pytest.mark.parametrize("names", [["_Z1kPf", "_Z1kPd"], ["_Z1kPd", "_ZN2ns1kEv", "_Z1kPf"]])
def test_several_that_fit_are_the_candidates(names: list[str]) -> None:
    result = match(KernelNames(file="k"), None, [function(name) for name in [*names, "kk"]])
    assert (result.how, result.function, result.candidates) == ("none", None, tuple(names))


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


SAME, OTHER_CODE = ["FADD R1, R2, R3", "EXIT"], ["@P0 FADD R1, R2, R3", "EXIT"]


@pytest.mark.parametrize("before", [[], ["f"], ["f", "g"]])
@pytest.mark.parametrize("behind", [[], ["f"]])
@pytest.mark.parametrize("code", [SAME, OTHER_CODE])
def test_a_copy_may_stand_anywhere_in_its_listing(before: list[str], behind: list[str], code: list[str]) -> None:
    """What stands before and behind it makes it no other; a guard does."""
    others = [[Body(name, ["MOV R1, R2", "EXIT"]) for name in names] for names in (before, behind)]
    texts = [written(Body("k", SAME), Body("h", SAME)), written(*others[0], Body("k", code), *others[1])]
    for listings in (texts, texts[::-1]):
        functions = [one for text in listings for one in parse(text).functions]
        found = match(KernelNames(mangled="k"), None, functions)
        first = next(one for one in functions if one.name == "k")
        assert found.function is (first if code is SAME else None)


def test_the_same_name_with_other_code_is_another_function() -> None:
    bodies = ("EXIT ;", "RET ;")
    text = "\t.target\tsm_90\nk:\n        /*0000*/                   {}\n"
    functions = [f for body in bodies for f in parse(text.format(body)).functions]
    assert match(KernelNames(mangled="k"), None, functions).how == "none"


MEMBER, ARROW, OTHER = "_ZN2ns3FooIiE3barEv", "_ZNK1AptEv", "_ZN2ns3FooIfE3bazEv"
HIDDEN = "_ZN12_GLOBAL__N_16hiddenEv"


@pytest.mark.parametrize(
    ("names", "how", "found"),
    [
        (KernelNames(root="k"), "metadata", "k"),
        (KernelNames(root=MEMBER), "metadata", MEMBER),
        (KernelNames(root="ns::Foo<int>::bar()"), "metadata", MEMBER),
        (KernelNames(root="absent"), "none", None),
        (KernelNames(demangled="k"), "exact", "k"),
        (KernelNames(demangled="ns::Foo<int>::bar()"), "demangled", MEMBER),
        (KernelNames(demangled="ns::Foo::bar"), "demangled", MEMBER),
        (KernelNames(demangled="bar"), "demangled", MEMBER),
        (KernelNames(demangled="ns::Foo<int>::bar"), "none", None),  # neither a declaration nor bare
        (KernelNames(demangled="(anonymous namespace)::hidden"), "demangled", HIDDEN),
        (KernelNames(demangled="ns::Foo"), "none", None),
        (KernelNames(demangled="A::operator->"), "demangled", ARROW),
        (KernelNames(demangled="A::operator-"), "none", None),
    ],
)
def test_what_a_tracer_or_a_profiler_calls_a_function(names: KernelNames, how: str, found: str | None) -> None:
    result = match(names, None, [function(name) for name in ("k", "kk", MEMBER, ARROW, OTHER, HIDDEN)])
    assert (result.how, result.function.name if result.function else None) == (how, found)
    assert result.to_dict() == {"function": found, "how": how, "candidates": list(result.candidates)}


@pytest.mark.parametrize(
    ("profiler", "demangler"),
    [
        ("void f<ns::T<int>, float>(T2 *)", "void f<ns::T<int>, float>(float*)"),
        ("void f<ns::T<int>, float>(T1, T2)", "void f<ns::T<int>, float>(ns::T<int>, float)"),
        ("void f<A<B<int>, C>, D>(const T1 *, T2)", "void f<A<B<int>, C>, D>(A<B<int>, C> const*, D)"),
        ("void f<int>(T1, T2)", "void f<int>(int, T2)"),
        ("void f(T1)", "void f(T1)"),
    ],
)
def test_the_arguments_of_a_template_stand_for_its_parameters(profiler: str, demangler: str) -> None:
    assert normalised(profiler) == normalised(demangler)
    assert normalised(profiler) != normalised(demangler.replace("f<", "g<").replace("f(", "g("))


def test_what_is_called_is_not_taken_for_the_only_function() -> None:
    result = match(KernelNames(), None, [function("f", role="device"), function("k"), function("h", role="helper")])
    assert (result.how, result.function and result.function.name) == ("only-function", "k")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("add1u(float *)", "add1(float*)"), ("add1L(float *)", "add1(float*)"), ("f2ul<1>()", "f2<1>()")),
        *(("f<(char)4>()", "f<4>()"), ("f<4u>()", "f<4>()"), ("f<4l>()", "f<4ll>()")),
        ("f<(short)4>()", "f<(char)4>()"),
        ("f<(signed char)4>()", "f<(char)4>()"),
    ],
)  # fmt: skip
def test_what_is_another_type_or_another_name_stays_so(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@pytest.mark.parametrize(
    ("wanted", "mangled"),
    [("add1u(float *)", "_Z4add1Pf"), ("add1L(float *)", "_Z4add1Pf"), ("void f<(char)4>(float *)", "_Z1fILi4EEvPf")],
)
def test_another_function_is_no_match(wanted: str, mangled: str) -> None:
    assert match(KernelNames(demangled=wanted), None, [function(mangled)]).how == "none"


@pytest.mark.parametrize(
    ("cast", "suffixed"),
    [
        *(("(unsigned int)4", "4u"), ("(long)4", "4l"), ("(unsigned long)4", "4ul"), ("(long long)-4", "-4ll")),
        ("(int)4", "4"),
    ],
)  # fmt: skip
def test_a_cast_and_a_suffix_are_one_type(cast: str, suffixed: str) -> None:
    assert normalised(f"f<{cast}>()") == normalised(f"f<{suffixed}>()")


@pytest.mark.parametrize(
    ("wanted", "known"),
    [
        *(("vecadd(float *)", ["_Z6vecAddPf"]), ("vecAdd(float *, int)", ["_Z6vecAddPf"])),
        *(("vecAdd2(float *)", ["_Z6vecAddPf"]), ("vecAdd(float *)", ["_ZN2ns6vecAddEPf"])),
        ("void gemm<__half>(T1 *)", ["_Z4gemmIfEvPT_", "_Z4gemmIdEvPT_"]),
        ("vecAdb(float *)", ["_Z6vecAddPf"]),
    ],
)
def test_declarations_that_look_alike_are_candidates(wanted: str, known: list[str]) -> None:
    """Whichever of the two is mangled."""
    found = match(KernelNames(demangled=wanted), None, [function(name) for name in [*known, "_Z9unrelatedPf"]])
    assert (found.how, sorted(found.candidates)) == ("none", sorted(known))


@pytest.mark.parametrize("inner", ["const A<", "A<const ", "const ", "(", "volatile A<"])
def test_a_declaration_of_any_depth_has_a_spelling(inner: str) -> None:
    assert normalised(f"void k({inner * 20_000}int{'>' * 20_000} *)")


def test_a_name_is_looked_up_and_not_compared_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The letters of few names are compared, and no function is spelt anew for each name."""
    compared: list[int] = []
    spelt: list[str] = []

    def close(_: str, names: Iterable[str], n: int) -> list[str]:
        compared.append(len(list(names)))
        return []

    def spelling(declaration: str) -> str:
        spelt.append(declaration)
        return normalised(declaration)

    monkeypatch.setattr("difflib.get_close_matches", close)
    monkeypatch.setattr("sassmix.matching.normalised", spelling)
    functions = Functions(function(f"_Z{len(str(number)) + 6}kernel{number}Pf") for number in range(300))
    for number in range(50):
        match(KernelNames(demangled=f"kelp{number}(int *)"), None, functions)
    assert 0 < max(compared) <= 40
    assert len(spelt) <= len(functions) + 50
