"""Every way to get a plugin wrong has a message with place and remedy, and its row in the documentation.

The tables of docs/hooks.md are the list of cases: each row's first cell names a case below, its second what is said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from sassmix.plugins import default_plugins
from tests.conftest import FIXTURES, ROOT, Command, Distribution
from tests.test_docs import named_block

HOPPER = FIXTURES / "listings" / "saxpy.sm_90a.sass"
HEAD = """import sassmix
from sassmix import Architecture, LabelRule, ModifierRule, Opcode, OpcodeInfo, Reader, load_opcodes, sm

ROW = Opcode(opcode="XMMA", category="tensor", knowledge="inferred", source="made up")

"""
HOOK = f"{HEAD}@sassmix.hookimpl\ndef sassmix_architectures():\n    return "
COLUMNS = "opcode,category,knowledge,source\n"
LOADS = f"{HOOK}[Architecture(name='acme', sm=sm(130), opcodes=load_opcodes(__file__))]\n"


@dataclass(frozen=True)
class Case:
    """A distribution ``acme`` 1.2 with something wrong in it.

    :param points: its entry points, name to value.
    :param at_work: whether it fails only when a listing is read.
    :param works: whether the plugin stays.
    """

    module: str = ""
    csv: str | bytes = ""
    points: dict[str, str] = field(default_factory=lambda: {"acme": "acme"})
    at_work: bool = False
    works: bool = False
    limit: str | None = None


def entry(value: str) -> Case:
    return Case(LOADS + "\nPLUGIN = None\nclass Chip: ...\n", f"{COLUMNS}XMMA,tensor,inferred,x\n", {"acme": value})


def gives(expression: str) -> Case:
    """A hook that gives the value of an expression."""
    return Case(f"{HOOK}{expression}\n")


def chip(**arguments: str) -> Case:
    """One architecture, by the expressions of its arguments."""
    given = {"name": "'acme'", "sm": "sm(130)", "extends": "'hopper'", **arguments}
    return gives(f"[Architecture({', '.join(f'{key}={value}' for key, value in given.items())})]")


def rule(arguments: str) -> Case:
    return chip(modifier_rules=f"(ModifierRule({arguments}),)")


def table(*rows: str, columns: str = COLUMNS) -> Case:
    return Case(LOADS, columns + "\n".join(rows) + "\n")


def child(*rows: str, remove: str = "()") -> Case:
    """A child of Hopper with a table."""
    module = LOADS.replace("sm=sm(130)", f"sm=sm(130), extends='hopper', remove={remove}")
    return Case(module, COLUMNS + "\n".join(rows) + "\n")


def work(hook: str, body: str) -> Case:
    return Case(f"{HEAD}@sassmix.hookimpl\ndef {hook}:\n    {body}\n", at_work=True, works=True)


def reader(**functions: str) -> Case:
    given = {"name": "'x'", "sniff": "lambda head: True", "read": "lambda path: []", **functions}
    return work("sassmix_readers()", f"return [Reader({', '.join(f'{k}={v}' for k, v in given.items())})]")


def label(expression: str) -> Case:
    return work("sassmix_label_rules()", f"return [LabelRule(name='x', label=lambda name: {expression})]")


FADD = "category='float.fp32', known=True, opcode='FADD', mnemonic=mnemonic, arch=arch"
CASES: dict[str, Case] = {
    # entry point and module
    "the entry point names nothing": entry("acme:"),
    "the entry point names a module that is not there": entry("acmee"),
    "the entry point names an attribute that is not there": entry("acme:PLUGN"),
    "the entry point names a function, a class or `None`": entry("acme:sassmix_architectures"),
    "the module cannot be imported": Case("import sassmix\nimport acme_not_there\n"),
    "the module is not Python": Case("import sassmix\n\ndef (:\n"),
    "the module raises when it is imported": Case("x = 1\ny = x / 0\n"),
    "the module ends Python": Case("import sys\nsys.exit(3)\n"),
    "the module prints": Case(LOADS + "print('hello')\n", f"{COLUMNS}XMMA,tensor,inferred,made up\n", works=True),
    "two entry points name one plugin": Case(
        LOADS, f"{COLUMNS}XMMA,tensor,inferred,made up\n", {"acme": "acme", "again": "acme"}, works=True
    ),
    "two plugins have one name": Case(LOADS, f"{COLUMNS}XMMA,tensor,inferred,made up\n", {"nvidia-hopper": "acme"}),
    "`SASSMIX_PLUGINS` names what is not installed": Case(points={}, limit="acmee"),
    # hooks
    "a marked function is no hook": Case(HOOK.replace("architectures", "architectues") + "[]\n"),
    "nothing is marked": Case("x = 1\n"),
    "a hook is not marked": Case(HOOK + "[]\n\ndef sassmix_readers():\n    return []\n"),
    "a hook has an argument that there is not": Case(
        f"{HEAD}@sassmix.hookimpl\ndef sassmix_classify(mnemonic, chip): ...\n"
    ),
    "a hook gives no list": gives("None"),
    "a hook gives one thing": gives("Architecture(name='acme', sm=sm(130))"),
    "a hook gives something else": gives("['sm_130']"),
    "a hook raises": gives("[][1]"),
    # architectures
    "a target is no name of one": chip(sm="sm('hopper')"),
    "targets are a range": chip(sm="sm('130-139')"),
    "`sm` is a text, a number or a range": chip(sm="'sm_130'"),
    "a target stands twice": chip(sm="sm(130, 'compute_130')"),
    "a target is claimed already": chip(sm="sm(130, 90)"),
    "a name is taken": chip(name="'hopper'"),
    "the name is none": chip(name="None"),
    "the parent is not there": chip(extends="'hoper'"),
    "the parent is a target": chip(extends="'sm_90'"),
    "the parent could not be registered": gives(
        "[Architecture(name='a', sm=sm(130, 90)), Architecture(name='b', sm=sm(131), extends='a')]"
    ),
    "architectures extend one another": gives(
        "[Architecture(name='a', sm=sm(130), extends='b'), Architecture(name='b', sm=sm(131), extends='a')]"
    ),
    "the parent lacks what is removed": chip(remove="('HGMAM',)"),
    "there is no parent to remove from": chip(extends="None", remove="('HGMMA',)"),
    "an opcode is removed and has a row": child("HGMMA,sync,observed,made up", remove="('HGMMA',)"),
    "a row repeats the parent's": Case(
        LOADS.replace("sm=sm(130)", "sm=sm(130), extends='p'").replace(
            "[Arch", "[Architecture(name='p', sm=sm(131), opcodes=load_opcodes(__file__)), Arch"
        ),
        f"{COLUMNS}XMMA,tensor,inferred,made up\n",
        works=True,
    ),
    "two rows are for one opcode": chip(opcodes="(ROW, ROW)"),
    "a field that holds several has one, or a text": chip(opcodes="ROW"),
    "a field holds something else": chip(remove="(ROW,)"),
    # modifier rules
    "a rule changes a facet that there is not": rule("opcode='HFMA2', facets={'pip': 'fma'}"),
    "a rule gives a facet another value": rule("opcode='HFMA2', facets={'pipe': 'tensro'}"),
    "a rule changes nothing": rule("opcode='HFMA2', facets={}"),
    "a rule makes a matrix opcode": rule("opcode='HFMA2', facets={'category': 'tensor'}"),
    "a rule's opcode can never match": rule("opcode='hfma2', facets={'pipe': 'fma'}"),
    "a rule's modifier can never match": rule("opcode='HFMA2', modifier='BF16.V2', facets={'pipe': 'fma'}"),
    # tables
    "the table is not there": Case(LOADS.replace("__file__", "__file__, 'none.csv'")),
    "the table is empty": Case(LOADS),
    "a column that there is not": table("XMMA,tensor,inferred,x", columns=COLUMNS.replace("category", "catgory")),
    "a column stands twice": table("XMMA,tensor,tensor,inferred,x", columns=COLUMNS.replace("op", "category,op")),
    "a column is missing": table("XMMA,tensor,inferred", columns="opcode,category,knowledge\n"),
    "a cell too many or too few": table("XMMA,tensor,inferred,page 3, line 4"),
    "an opcode has two rows": table("XMMA,tensor,inferred,x", "XLD,sync,inferred,x", "XMMA,sync,inferred,x"),
    "an opcode matches no instruction": table("XMMA.F16,tensor,inferred,x"),
    "a value is not one of its values": table("XMMA,tensr,inferred,x"),
    "the source is missing": table("XMMA,tensor,inferred,"),
    "quotes are wrong": table('XMMA,tensor,inferred,"x" y'),
    "another encoding": Case(LOADS, (COLUMNS + "XMMA,tensor,inferred,§ 3\n").encode("latin-1")),
    "a byte-order mark": Case(LOADS, f"\ufeff{COLUMNS}XMMA,tensor,inferred,x\n"),
    "NUL characters": Case(LOADS, f"{COLUMNS}XMMA,tensor,inferred,x\0\n"),
    # at work
    "`sassmix_classify` raises": work("sassmix_classify(mnemonic, arch)", "return {}[mnemonic]"),
    "`sassmix_classify` gives something else": work("sassmix_classify(mnemonic, arch)", "return 'tensor'"),
    "`sassmix_classify` gives a value that is none": work(
        "sassmix_classify(mnemonic, arch)", f"return OpcodeInfo({FADD.replace('fp32', 'fp23')})"
    ),
    "`sassmix_classify` gives no category": work(
        "sassmix_classify(mnemonic, arch)", "return OpcodeInfo(known=True, opcode='A', mnemonic='A', arch=arch)"
    ),
    "`sassmix_classify` hides a matrix opcode": work(
        "sassmix_classify(mnemonic, arch)", f"return OpcodeInfo({FADD.replace('float.fp32', 'tensor')})"
    ),
    "a reader cannot tell what a file is": reader(sniff="lambda head: 1 / 0"),
    "a reader fails to read": reader(read="lambda path: 1 / 0"),
    "a label rule raises": label("1 / 0"),
    "a label rule gives something else": label("1"),
}
_PLACE = re.compile(
    r"\(acme\.py, line \d+\)|acme\.csv, row \d+|(acme|none)\.csv |acme\.py |entry point|SASSMIX_PLUGINS"
)
_REMEDY = re.compile(r"; \S+ \S+|; correct it")


def documented() -> dict[str, str]:
    """What is wrong to the message, as the tables of the documentation have them."""
    section = (ROOT / "docs/hooks.md").read_text(encoding="utf-8").partition("\n## Errors\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| `(.+)` \|$", section, re.MULTILINE)
    return dict(rows)


def install(distribution: Distribution, case: Case) -> None:
    distribution.info.joinpath("entry_points.txt").write_text(
        "[sassmix]\n" + "".join(f"{name} = {value}\n" for name, value in case.points.items())
    )
    distribution.folder.joinpath("acme.py").write_text(case.module, encoding="utf-8")
    data = case.csv if isinstance(case.csv, bytes) else case.csv.encode()
    distribution.folder.joinpath("acme.csv").write_bytes(data)


def said(case: Case, command: Command) -> list[str]:
    """The errors of the plugin, without its name."""
    errors = [str(error) for error in default_plugins().errors]
    if case.at_work:
        assert errors == [], "it loads"
        problems: list[dict[str, Any]] = command("mix", HOPPER, "--format", "json").json["problems"]
        errors = [problem["message"].removeprefix("plugin fails: ") for problem in problems]
    names = [f"{name} (acme 1.2): " for name in case.points] or [f"{case.limit}: "]
    assert all(error.startswith(tuple(names)) for error in errors)
    return [error.partition(": ")[2] for error in errors]


def test_every_case_has_its_row_and_every_row_its_case() -> None:
    assert sorted(documented()) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_said_with_place_and_remedy(
    distribution: Distribution, command: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case = CASES[name]
    install(distribution, case)
    if case.limit:
        monkeypatch.setenv("SASSMIX_PLUGINS", case.limit)
    errors = said(case, command)
    assert errors, "nothing is said"
    for error in errors:
        assert _PLACE.search(error), f"no place: {error}"
        assert _REMEDY.search(error), f"no remedy: {error}"
        assert str(distribution.folder) not in error and "\n" not in error
    wanted = ".*".join(re.escape(part) for part in documented()[name].split("..."))
    assert any(re.fullmatch(wanted, error) for error in errors), f"{errors} is not {documented()[name]}"
    works = [plugin for plugin in default_plugins().versions() if plugin in case.points and plugin != "nvidia-hopper"]
    assert works or not case.works
    assert default_plugins().registry.get("sm_90a"), "the others stay"


@pytest.mark.parametrize("value", ["", "!!", "acme:", ":x", "1acme", "acme:PLUGIN:x"])
def test_an_entry_point_that_is_none_is_said(distribution: Distribution, value: str) -> None:
    install(distribution, entry(value))
    (error,) = default_plugins().errors
    assert "entry point" in str(error) and ("names nothing; write acme" in str(error) or "not installed" in str(error))


@pytest.mark.parametrize("value", ["acme:PLUGIN", "acme:Chip", "acme:sassmix_architectures"])
def test_an_entry_point_names_a_module_or_an_object(distribution: Distribution, value: str) -> None:
    install(distribution, entry(value))
    (error,) = default_plugins().errors
    assert f"its entry point {value!r} names" in str(error) and "name a module or an object" in str(error)


@pytest.mark.parametrize("given", ["None", "'hopper'", "b''", "3", "print"])
@pytest.mark.parametrize("hook", ["sassmix_architectures", "sassmix_readers", "sassmix_label_rules"])
def test_each_hook_that_registers_wants_a_list(distribution: Distribution, hook: str, given: str) -> None:
    install(distribution, Case(f"{HEAD}@sassmix.hookimpl\ndef {hook}():\n    return {given}\n"))
    plugins = default_plugins()
    plugins.readers()
    plugins.label_rules()
    (error,) = plugins.errors
    assert (
        f"{hook} gives " in str(error) and "give a list of sassmix." in str(error) and "acme.py, line 6" in str(error)
    )


@pytest.mark.parametrize("given", ["[]", "()", "iter(())", "(x for x in ())", "{}.values()"])
def test_anything_that_can_be_gone_through_is_a_list(distribution: Distribution, given: str) -> None:
    install(distribution, gives(given))
    assert default_plugins().errors == []


def test_a_generator_that_fails_half_way_gives_nothing(distribution: Distribution) -> None:
    body = "    yield Architecture(name='acme', sm=sm(130))\n    raise ValueError('half')\n"
    install(distribution, Case(HOOK.replace("    return ", body)))
    (error,) = default_plugins().errors
    assert "ValueError: half (acme.py, line 9)" in str(error) and default_plugins().registry.get("sm_130") is None


def test_the_line_is_the_plugins_own_and_not_one_of_what_it_calls(distribution: Distribution) -> None:
    install(distribution, Case("import sassmix\n\nimport json\njson.loads('{')\n"))
    (error,) = default_plugins().errors
    assert "JSONDecodeError" in str(error) and "(acme.py, line 4)" in str(error)


def test_what_a_plugin_prints_is_not_in_the_report(distribution: Distribution, command: Command) -> None:
    install(distribution, CASES["the module prints"])
    run = command("archs", "--format", "json")
    assert run.json and "prints 'hello' when it is loaded" in run.err
    assert command("archs", "--strict").status == 2


def test_an_error_that_cannot_say_its_text_is_said_all_the_same(distribution: Distribution) -> None:
    source = "class Odd(Exception):\n    def __str__(self):\n        return None\n\nraise Odd\n"
    install(distribution, Case(source))
    (error,) = default_plugins().errors
    assert "Odd: (its text cannot be made: TypeError) (acme.py, line 5)" in str(error)


def test_a_module_that_no_line_can_be_told_of_is_named(distribution: Distribution) -> None:
    install(distribution, Case("import sassmix\n\0\n"))
    (error,) = default_plugins().errors
    assert "Error: source code string cannot contain null bytes (acme); " in str(error)  # a ValueError before 3.11.4


def test_a_line_of_a_package_names_the_package(distribution: Distribution) -> None:
    install(distribution, Case(points={"acme": "chips"}))
    (distribution.folder / "chips").mkdir()
    (distribution.folder / "chips" / "__init__.py").write_text("from chips import hopper\n")
    (distribution.folder / "chips" / "hopper.py").write_text("import sassmix\n1 / 0\n")
    (error,) = default_plugins().errors
    assert "(hopper.py, line 2)" in str(error)
    default_plugins.cache_clear()
    (distribution.folder / "chips" / "__init__.py").write_text("1 / 0\n")
    (error,) = default_plugins().errors
    assert "(chips/__init__.py, line 1)" in str(error)


def test_strict_and_debug_show_where_the_plugin_failed(distribution: Distribution, command: Command) -> None:
    install(distribution, CASES["the module raises when it is imported"])
    with pytest.raises(Exception, match="division by zero") as caught:
        command("archs", "--strict", "--debug")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_the_mistake_of_the_tutorial_gives_the_message_that_it_shows(
    distribution: Distribution, command: Command
) -> None:
    tutorial = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(sassmix: warning: plugin .*)\n```$", tutorial, re.MULTILINE)
    row = re.search(r"Add the row `(.*)` to the table", tutorial)
    assert shown and row
    distribution.add("chip999", "chip999", named_block("docs/tutorial.md", "chip999.py"))
    table = named_block("docs/tutorial.md", "chip999.csv") + f"{row[1]}\n"
    (distribution.folder / "chip999.csv").write_text(table, encoding="utf-8")
    assert command("archs").err.strip() == shown[1].replace("sassmix-chip999 0.1.0", "acme 1.2")
