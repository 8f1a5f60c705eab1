"""One spelling of a C++ declaration: declarations are drawn, written as two demanglers would, and compared."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import spelling
from sassmix.spelling import normalised

#: Each type of a number with its casts and its suffixes; the first cast is the shortest.
NUMBERS = {
    "int": (["", "(int)", "(signed)", "(signed int)"], [""]),
    "unsigned": (["(unsigned)", "(unsigned int)"], ["u", "U"]),
    "long": (["(long)", "(long int)"], ["l", "L"]),
    "unsigned long": (["(unsigned long)", "(unsigned long int)"], ["ul", "UL"]),
    "long long": (["(long long)", "(long long int)"], ["ll", "LL"]),
    "unsigned long long": (["(unsigned long long)"], ["ull", "ULL"]),
    "short": (["(short)", "(short int)"], []),
    "char": (["(char)"], []),
    "signed char": (["(signed char)"], []),
    "unsigned char": (["(unsigned char)"], []),
}
BUILTIN = ["float", "int", "unsigned int", "unsigned long long", "signed char", "long", "double", "short"]


@dataclass(frozen=True)
class Written:
    """A part of a declaration in the one spelling, and as another demangler writes it."""

    one: str
    other: str


def joined(parts: list[Written], between: str = ", ") -> Written:
    return Written(between.join(p.one for p in parts), between.join(p.other for p in parts))


@st.composite
def numbers(draw: st.DrawFn) -> Written:
    """A number or a truth value as a template argument."""
    if draw(st.booleans()):
        word, cast = draw(st.sampled_from([("true", "(bool)1"), ("false", "(bool)0")]))
        return Written(word, draw(st.sampled_from([word, cast])))
    casts, suffixes = NUMBERS[draw(st.sampled_from(sorted(NUMBERS)))]
    value = draw(st.integers(-30, 3000))
    forms = [f"{cast}{value}" for cast in casts] + [f"{value}{suffix}" for suffix in suffixes]
    return Written(forms[0], draw(st.sampled_from(forms)))


@st.composite
def names(draw: st.DrawFn, depth: int = 1) -> Written:
    """A type without qualifiers: built in, or a class, perhaps one within a template."""
    if depth == 0 or draw(st.booleans()):
        name = draw(st.sampled_from([*BUILTIN, "ns::Vec", "__half", "T_1", "(anonymous namespace)::Hidden"]))
        return Written(name, name.replace("(anonymous namespace)", draw(st.sampled_from([name[:21], "<unnamed>"]))))
    inner = joined(draw(st.lists(arguments(depth - 1), min_size=1, max_size=3)))
    name, member = draw(st.sampled_from(["Tile", "ns::Tile"])), draw(st.sampled_from(["", "::Part", "::Part::Deep"]))
    return Written(f"{name}<{inner.one}>{member}", f"{name}<{inner.other}>{member}")


@st.composite
def types(draw: st.DrawFn, depth: int = 1) -> Written:
    """A type; its qualifiers stand behind its name in the one spelling, in front of or behind it in the other."""
    name = draw(names(depth))
    qualifiers = draw(st.sampled_from(["", "const", "volatile", "const volatile"]))
    behind = draw(st.sampled_from(["", "*", "&", "&&", "**", "* const", "* const*", "* volatile&"]))
    blank = draw(st.sampled_from(["", " "])) if behind else ""
    one = f"{name.one} {qualifiers}".strip() + behind
    front = draw(st.booleans())
    other = f"{qualifiers} {name.other}" if front else f"{name.other} {qualifiers}"
    return Written(one, other.strip() + blank + behind)


def arguments(depth: int = 1) -> st.SearchStrategy[Written]:
    return types(depth) | numbers()


@st.composite
def declarations(draw: st.DrawFn) -> Written:
    name = draw(st.sampled_from(["gemm", "ns::detail::gemm", "k2u", "A::operator()"]))
    given = draw(st.lists(arguments(), max_size=3))
    taken = joined(draw(st.lists(types(), max_size=4)))
    of = joined(given)
    one, other = (f"<{text}>" if given else "" for text in (of.one, of.other))
    void = draw(st.sampled_from(["", "void "])) if given else ""
    return Written(f"{name}{one}({taken.one})", f"{void}{name}{other}({taken.other})")


def packed(text: str) -> str:
    return "".join(text.split())


@given(declaration=declarations())
def test_two_demanglers_spell_a_declaration_the_same(declaration: Written) -> None:
    spelt = normalised(declaration.one)
    assert normalised(declaration.other) == spelt == normalised(spelt)
    assert packed(spelt) == packed(declaration.one), "only blanks differ from what c++filt writes"
    assert normalised(f"{declaration.one} [clone .1]") != spelt != normalised(f"x{declaration.one}")


@given(given=st.lists(arguments(), min_size=1, max_size=12), data=st.data())
def test_what_stands_for_an_argument_is_spelt_as_the_argument(given: list[Written], data: st.DataObject) -> None:
    """Nsight Compute's T1, T2 and so on, each with qualifiers of its own."""
    one, other = joined(given).one, joined(given).other
    chosen = data.draw(st.lists(st.integers(1, len(given)), min_size=1, max_size=6))
    behind = data.draw(st.sampled_from(["", "*", "&", "* const&"]))
    plain = ", ".join(f"{given[n - 1].one} const{behind}" for n in chosen)
    parameters = ", ".join(data.draw(st.sampled_from([f"const T{n} {behind}", f"T{n} const {behind}"])) for n in chosen)
    assert normalised(f"void ns::f<{other}>(int, {parameters}, T99)") == normalised(f"ns::f<{one}>(int, {plain}, T99)")


@pytest.mark.parametrize(
    "declaration",
    [
        "f(T1)",
        "T1<int>(float)",
        "f<T1>(float)",
        "f<int>(T0, T01, T2, T10, T1x, xT1, T1::T1)",
        "f<int, T1",
        "(T1<int>",
        "g<int>(T",
        ")",
    ],
)
def test_what_no_argument_stands_for_stays(declaration: str) -> None:
    assert packed(normalised(declaration)) == declaration.replace(" ", "")


@pytest.mark.parametrize("name", ["operator<", "operator>", "operator->", "operator<<", "operator()"])
def test_an_operator_opens_and_closes_no_arguments(name: str) -> None:
    for declaration in (f"A::{name}(int const*, T1)", f"A::{name}(T1)"):
        assert packed(normalised(declaration)) == packed(declaration)


@pytest.mark.parametrize("number", ["x4u", "4ux", "4uu", "f4l", "1.4l", "$4u", "4lul", "_4u"])
def test_what_only_ends_like_a_number_with_a_suffix_stays(number: str) -> None:
    assert packed(normalised(f"f<{number}>()")) == f"f<{number}>()"


@pytest.mark.parametrize("cast", ["(int)x", "(float)4", "(bool)2", "(bool)12", "(Tint)4", "(int )4", "(int*)4"])
def test_a_cast_of_another_type_or_of_no_number_stays(cast: str) -> None:
    assert packed(normalised(f"f<{cast}>()")) == packed(f"f<{cast}>()")


@pytest.mark.parametrize("many", [1, 2, 20])
def test_a_declaration_that_its_arguments_make_too_long_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    declaration = f"f<{'A<' * 10}int{'>' * 10}>({', '.join(['T1'] * many)})"
    length = len(normalised(declaration).split())
    for limit, left in ((length, 0), (length - 1, many)):
        monkeypatch.setattr(spelling, "_MOST_TOKENS", limit)
        normalised.cache_clear()
        assert normalised(declaration).count("T1") == left
    normalised.cache_clear()
