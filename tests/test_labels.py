"""Names of functions as people write them: of a mangled name drawn in parts, each spelling is known beforehand."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sassmix.labels import LabelRule, bare_names, declared_names, demangled, near_names, readable, selected

#: Types and template arguments as a mangled name and as people write them.
TYPES = {"f": "float", "Pi": "int*", "PFviE": "void (*)(int)", "N2ns1TIiEE": "ns::T<int>", "4Name": "Name"}
#: Expressions with the signs of brackets. The demangler writes parentheses around some of them only.
COMPARED = {
    f"X{code}Li1ELi0EE": f"1 {sign} 0" for code, sign in {"lt": "<", "le": "<=", "ge": ">=", "ls": "<<"}.items()
}
COMPARED |= {"XgtLi1ELi0EE": "(1 > 0)", "XrsLi1ELi0EE": "(1 >> 0)", "XssLi1ELi0EE": "1 <=> 0", "XptLi1E1aE": "1->a"}
ARGUMENTS = {**TYPES, "Li4E": "4", "Lb1E": "true", **COMPARED}
SCOPES = {"2ns": "ns", "12_GLOBAL__N_1": "(anonymous namespace)", "1TIiLi4EE": "T<int, 4>", "9operators": "operators"}
SCOPES |= {f"1UI{code}E": f"U<{text}>" for code, text in COMPARED.items()}
RESULTS = {"v": "void", "j": "unsigned int", "Pf": "float*"}


@dataclass(frozen=True)
class Declared:
    """A function of C++: its parts, and every spelling that follows from them."""

    scopes: tuple[str, ...]
    name: str
    arguments: tuple[str, ...]
    parameters: tuple[str, ...]
    result: str = "v"

    @property
    def mangled(self) -> str:
        """The linker's name; that of a template holds the type of the result too."""
        own = f"{len(self.name)}{self.name}" + (f"I{''.join(self.arguments)}E" if self.arguments else "")
        scoped = f"N{''.join(self.scopes)}{own}E" if self.scopes else own
        return f"_Z{scoped}{self.result if self.arguments else ''}{''.join(self.parameters) or 'v'}"

    @property
    def bare(self) -> str:
        """Without parameters and template arguments."""
        return "::".join((*(SCOPES[scope].partition("<")[0] for scope in self.scopes), self.name))

    @property
    def full(self) -> str:
        """Without parameters."""
        arguments = ", ".join(ARGUMENTS[one] for one in self.arguments)
        name = "::".join((*(SCOPES[scope] for scope in self.scopes), self.name))
        return f"{name}<{arguments}>" if arguments else name

    @property
    def declaration(self) -> str:
        """As a demangler writes it."""
        parameters = ", ".join(TYPES[one] for one in self.parameters)
        return f"{f'{RESULTS[self.result]} ' if self.arguments else ''}{self.full}({parameters})"


def some(values: dict[str, str], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(sorted(values)), max_size=most, unique=True).map(tuple)


NAMES = st.sampled_from(["f", "ff", "vecAdd", "vec_add2", "k"])
DECLARED = st.builds(
    Declared, some(SCOPES, 2), NAMES, some(ARGUMENTS, 3), some(TYPES, 3), st.sampled_from(sorted(RESULTS))
)


@given(DECLARED)
def test_every_spelling_of_a_function_means_it(one: Declared) -> None:
    assert demangled(one.mangled) == one.declaration == readable(one.mangled)
    assert bare_names(one.mangled) == tuple(dict.fromkeys((one.full, one.bare)))
    profiler = re.sub(r"(\w+) const([*&])", r"const \1 \2", one.declaration)  # as Nsight Compute puts it
    for spelling in (one.mangled, one.declaration, one.full, one.bare, profiler, one.declaration.replace(", ", ",")):
        assert selected([one.mangled, "_Z5otherv"], spelling) == {one.mangled}
        assert selected([profiler, "other(int)"], spelling) == ({profiler} if spelling != one.mangled else set())


@given(st.lists(DECLARED, min_size=1, max_size=5, unique_by=lambda one: one.mangled), st.data())
def test_the_narrowest_meaning_counts(several: list[Declared], data: st.DataObject) -> None:
    names = [one.mangled for one in several]
    wanted = data.draw(st.sampled_from(several))
    for spelling, same in (
        (wanted.mangled, {wanted.mangled}),
        (wanted.declaration, {one.mangled for one in several if one.declaration == wanted.declaration}),
        (wanted.full, {one.mangled for one in several if wanted.full in (one.full, one.bare)}),
    ):
        assert selected(names, spelling) == same
    assert selected(names, "*") == set(names)
    assert selected(names, "_Z*") == set(names)


@pytest.mark.parametrize(
    ("mangled", "bare"),
    [
        ("_ZN2nslsERii", ("ns::operator<<",)),
        ("_ZltRK1AS1_", ("operator<",)),
        ("_ZN1AclEi", ("A::operator()",)),
        ("_ZNK1A1fEv", ("A::f",)),
        ("plain", ()),
        ("_Z", ()),
        ("_Zqqq", ()),
    ],
)
def test_operators_are_not_taken_for_brackets(mangled: str, bare: tuple[str, ...]) -> None:
    assert bare_names(mangled) == bare


@pytest.mark.parametrize("scope", ["", "2ns", "1TIiLi4EE"])
@pytest.mark.parametrize(("code", "kind"), [("i", "int"), ("j", "unsigned int"), ("1BIiLi4EE", "B<int, 4>"), ("w", "")])
def test_a_conversion_keeps_its_operator_and_its_scope(scope: str, code: str, kind: str) -> None:
    """Of ``operator int`` the last blank parts no type of a result from the name; nor that of ``operator new``."""
    operator = f"cv{code}" if kind else "nw"
    mangled = f"_ZN{scope}1A{operator}Em"
    name = "::".join((*([SCOPES[scope]] if scope else []), "A", f"operator {kind or 'new'}"))
    assert demangled(mangled) == f"{name}(unsigned long)"
    assert bare_names(mangled) == (name,)
    assert selected([mangled, "_Z5otherv"], name) == {mangled}


@pytest.mark.parametrize("operator", ["_ZN1AcviEv", "_ZN1AltEi"])
def test_an_operator_among_the_arguments_is_no_name(operator: str) -> None:
    mangled = f"_Z1fILi1EXadL{operator}EEEvf"
    declared = demangled(mangled)
    assert declared and "operator" in declared
    assert bare_names(mangled) == (declared.removeprefix("void ").removesuffix("(float)"),)


@example(Declared(("2ns", "12_GLOBAL__N_1"), "f", (), ()))
@example(Declared((), "f", ("XgtLi1ELi0EE",), ()))
@given(DECLARED)
def test_a_name_without_parameters_is_a_declaration_too(one: Declared) -> None:
    """Some tools print it so; the last parentheses may be those of an argument, or of a namespace."""
    assert declared_names(one.full) == declared_names(one.declaration) == tuple(dict.fromkeys((one.full, one.bare)))


@pytest.mark.parametrize("name", ["plain", "", "_Z", "_Z1", "$_Z1fv$_Z1gv", "x_Z1fv", "_Z1fv" + "v" * 20_000])
def test_what_is_not_mangled_has_no_declaration(name: str) -> None:
    assert demangled(name) is None and readable(name) is None
    assert selected([name, "other"], name) == {name}


def test_a_name_may_be_as_long_as_the_demangler_bears() -> None:
    longest = f"_Z{16_000 - 8}{'f' * (16_000 - 8)}v"
    assert len(longest) == 16_000 and demangled(longest) == f"{'f' * (16_000 - 8)}()"
    assert demangled(longest.replace("15992", "15993").replace("fv", "ffv")) is None


def test_a_pattern_is_tried_last_and_respects_case() -> None:
    names = ["_Z1fPi", "_Z1fPiPf", "f*", "F"]
    assert selected(names, "f*") == {"f*"}
    assert selected(names, "f(int*)") == {"_Z1fPi"}
    assert selected(names, "f(int*") == {"_Z1fPi", "_Z1fPiPf"}
    assert selected(names, "f(int[*]*") == {"_Z1fPi", "_Z1fPiPf"}
    assert selected(names, "[f]*") == {"_Z1fPi", "_Z1fPiPf", "f*"}
    assert selected(names, "q") == set() == selected([], "f")


def test_the_first_rule_that_applies_names_a_function() -> None:
    rules = [
        LabelRule(name="none", label=lambda name: None),
        LabelRule(name="empty", label=lambda name: "" if name == "_Z1gv" else None),
        LabelRule(name="own", label=lambda name: "mine" if name != "_Z1hv" else None),
    ]
    assert [readable(name, rules) for name in ("_Z1fv", "_Z1gv", "_Z1hv")] == ["mine", "", "h()"]


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("vecadd", "; did you mean vecAdd?"),
        ("_Z6vecAddPx", "; did you mean _Z6vecAddPf?"),
        ("vecAdd(float)", "; did you mean vecAdd(float*)?"),
        ("reduc", "; did you mean reduce?"),
        ("zzz", "; there are vecAdd(float*), reduce"),
        ("VE", "; did you mean vecAdd(float*)?"),
    ],
)
def test_a_name_that_is_nearly_right_is_told_in_its_spelling(wanted: str, hint: str) -> None:
    assert near_names(["_Z6vecAddPf", "reduce", "_Z6vecAddPf"], wanted) == hint


def test_the_spellings_of_one_name_leave_room_for_another() -> None:
    names = ["_ZN2ns8abcdefghEi", "ns::abc"]
    assert near_names(names, "ns::abcdefgh(in") == "; did you mean ns::abcdefgh(int) or ns::abc?"


def test_hints_are_few_each_name_once_and_none_of_nothing() -> None:
    alike = [f"kernel_{n}" for n in range(9)]
    assert near_names(alike, "kernel_x").count(" or ") == 2
    assert near_names(alike, "qqq") == "; there are kernel_0, kernel_1, kernel_2, kernel_3, kernel_4 and 4 more"
    assert near_names(alike[:5], "qqq") == "; there are kernel_0, kernel_1, kernel_2, kernel_3, kernel_4"
    assert near_names([], "x") == ""
