"""The guard around plugins' code: which line is named, what is said of it, and that nothing else is taken along."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sassmix.errors
from sassmix.errors import InputError, PluginError
from sassmix.guard import Guard, guarded_reader, guarded_rule, line_of, line_of_function, told
from sassmix.labels import LabelRule
from sassmix.readers import Reader
from tests.conftest import origin

ACME = replace(origin("acme"), module="acme.chips")
Module = Callable[..., dict[str, Any]]


@pytest.fixture
def module(tmp_path: Path) -> Module:
    """Run a text as a file of the plugin's folder, or of another one; the names that it defines."""

    def run(source: str, file: str = "acme/chip.py", **names: Any) -> dict[str, Any]:
        path = file if file.startswith("<") else tmp_path / file
        exec(compile(source, path, "exec"), names)
        return names

    return run


def caught(function: Callable[[], Any]) -> BaseException:
    """What a function raises, as if the engine had called it: without the frames of this file."""
    with pytest.raises(BaseException) as found:
        function()
    trace = found.value.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return found.value.with_traceback(trace)


CALLS = "def call():\n    return function()\n"
RAISES = "def call():\n    x = 1\n    raise ValueError('no')\n"
#: Files from the outermost call inwards, each by its name and its source; the line that is named.
CHAINS = {
    "its own": ([("acme/chip.py", RAISES)], "chip.py, line 3"),
    "another file of its folder": ([("acme/chip.py", CALLS), ("acme/table.py", RAISES)], "table.py, line 3"),
    "a library that it calls": ([("acme/chip.py", CALLS), ("lib/other.py", RAISES)], "chip.py, line 2"),
    "a library that calls it back": (
        [("acme/chip.py", CALLS), ("lib/other.py", CALLS), ("acme/table.py", RAISES)],
        "table.py, line 3",
    ),
    "its package's own file": ([("acme/__init__.py", RAISES)], "acme/__init__.py, line 3"),
    "code of no file": ([("acme/chip.py", CALLS), ("<string>", RAISES)], "chip.py, line 2"),
}


def chained(module: Module, files: list[tuple[str, str]]) -> Callable[[], Any]:
    """A function of the engine that calls the first of those of some files, each of which calls the next."""
    call: Callable[[], Any] | None = None
    for file, source in reversed([(sassmix.errors.__file__, CALLS), *files]):
        call = module(source, file, function=call)["call"]
    assert call
    return call


@pytest.mark.parametrize(("files", "line"), CHAINS.values(), ids=CHAINS)
def test_an_error_names_the_innermost_line_of_the_plugins_folder(
    module: Module, files: list[tuple[str, str]], line: str
) -> None:
    assert line_of(caught(chained(module, files))) == line


@pytest.mark.parametrize(("files", "line"), CHAINS.values(), ids=CHAINS)
def test_what_is_printed_names_the_line_as_an_error_does(
    module: Module, files: list[tuple[str, str]], line: str
) -> None:
    printing = [(file, source.replace("raise ValueError('no')", "print('no')")) for file, source in files]
    guard, call = Guard(), chained(module, printing)
    with guard.silent(ACME, "it is tested"):
        call()
        print("later")
    (error,) = guard.errors
    assert f"prints 'no\\nlater' when it is tested ({line}); " in error.message


def test_an_error_of_ours_names_the_plugins_line_that_called_us(module: Module) -> None:
    inner = [("acme/chip.py", CALLS), (sassmix.errors.__file__, RAISES)]
    assert line_of(caught(chained(module, inner))) == "chip.py, line 2"


@pytest.mark.parametrize("lineno", [None, 1, 7])
def test_a_syntax_error_names_its_own_file(lineno: int | None) -> None:
    error = SyntaxError("bad", ("/x/table.py", lineno, None, None))
    assert line_of(error) == f"table.py, line {lineno or 1}"
    assert told(error, "fails", ACME) == f"fails: SyntaxError: bad (table.py, line {lineno or 1}); correct the line"


def test_an_error_of_no_line_names_the_module() -> None:
    assert line_of(ValueError()) == line_of(SyntaxError("no file")) == ""
    assert "ValueError: x (acme.chips); " in told(ValueError("x"), "fails", ACME)


def test_what_is_printed_from_no_line_of_the_plugin_names_its_module(module: Module) -> None:
    guard = Guard()
    with guard.silent(ACME, "it is tested"):
        module("print('x')", sassmix.errors.__file__)
    assert "prints 'x' when it is tested (acme.chips); " in guard.errors[0].message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "no (chip.py, line 2)"),
        ("t.csv, row 3: no", "t.csv, row 3: no"),
        ("no (a.py, line 9)", "no (a.py, line 9)"),
    ],
)
def test_an_error_of_ours_is_told_as_it_is_with_one_place(module: Module, text: str, said: str) -> None:
    call = module(f"def call():\n    raise PluginError({text!r})\n", PluginError=PluginError)["call"]
    assert told(caught(call), "fails", ACME) == said
    assert told(PluginError(text), "fails", ACME) == text, "no line of the plugin, no place"


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (InputError("a", "b"), ""),
        (SystemExit(3), "; a plugin must not end Python; "),
        (ModuleNotFoundError("x"), "; install what is missing"),
        (SyntaxError("x"), "; correct the line"),
        (ValueError("x"), "; --strict --debug"),
        (BaseException("x"), "; --strict --debug"),
    ],
)
def test_each_kind_of_error_has_its_remedy(error: BaseException, remedy: str) -> None:
    _, _, behind = told(error, "fails", ACME).partition("(acme.chips)")
    assert behind.startswith(remedy) and bool(behind) == bool(remedy)


@pytest.mark.parametrize("length", [0, 1, 299, 300, 301, 5000])
def test_a_text_is_cut_only_where_it_is_too_long(length: int) -> None:
    said = told(ValueError("y" * length), "fails", ACME)
    assert said.count("y") == min(length, 300)
    assert ("y..." in said) == (length > 300)


def test_a_function_begins_at_its_line_whatever_is_around_it(module: Module) -> None:
    function = module("\n\ndef hook(): ...\n")["hook"]

    @functools.wraps(function)
    def around() -> None: ...

    assert line_of_function(function) == line_of_function(around) == "chip.py, line 3"
    for other in (len, functools.partial(function), int):
        assert line_of_function(other) == ""


def anything(function: Callable[[Any], Any]) -> Any:
    """A function that may give what it likes."""
    return function


def labels(name: str, function: Callable[[str], Any]) -> LabelRule:
    return LabelRule(name=name, label=function)


def test_a_rule_and_a_reader_are_given_what_is_asked_and_answer_as_before(tmp_path: Path) -> None:
    guard = Guard()
    rule = guarded_rule(guard, ACME, labels("x", lambda name: f"<{name}>" if name != "main" else None))
    assert [rule.label(name) for name in ("k", "main", "")] == ["<k>", None, "<>"]
    reader = Reader(name="r", sniff=lambda head: head.startswith(b"S"), read=anything(lambda path: [path]))
    safe = guarded_reader(guard, ACME, reader)
    assert [safe.sniff(head) for head in (b"SASS", b"no")] == [True, False]
    assert [str(item) for item in safe.read(tmp_path)] == [str(tmp_path)] and (safe.name, rule.name) == ("r", "x")
    assert guard.errors == []


@pytest.mark.parametrize("value", [0, 1, False, b"k", ["k"]])
def test_a_label_that_is_no_text_is_none_and_an_error(value: Any) -> None:
    guard = Guard()
    assert guarded_rule(guard, ACME, labels("x", lambda name: value)).label("k") is None
    (error,) = guard.errors
    assert f"gives {type(value).__name__}, not a text" in error.message


def test_each_rule_and_each_reader_has_an_error_of_its_own_and_only_one() -> None:
    guard = Guard()
    rules = [guarded_rule(guard, ACME, labels(name, lambda _: 1 / 0)) for name in "ab"]
    fails = anything(lambda _: 1 / 0)
    readers = [guarded_reader(guard, ACME, Reader(name=n, sniff=fails, read=fails)) for n in "ab"]
    for _ in range(2):
        assert [rule.label("k") for rule in rules] == [None, None]
        assert [reader.sniff(b"") for reader in readers] == [False, False]
    assert [error.message.partition(" fails")[0] for error in guard.errors] == [
        *("the label rule a", "the label rule b", "the reader a", "the reader b")
    ]
    guarded_rule(guard, origin("other"), labels("a", lambda _: 1 / 0)).label("k")
    assert [error.plugin for error in guard.errors] == [*["acme"] * 4, "other"]


def failing(error: BaseException) -> Reader:
    def read(path: Path) -> Iterator[Any]:
        yield path
        raise error

    return Reader(name="r", sniff=lambda head: True, read=read)


def test_a_reader_that_fails_half_way_is_an_error_of_its_plugin_with_place(tmp_path: Path) -> None:
    found = guarded_reader(Guard(), ACME, failing(ValueError("half"))).read(tmp_path)
    assert str(next(iter(found))) == str(tmp_path)
    error = caught(lambda: next(iter(found)))
    assert isinstance(error, PluginError) and isinstance(error.__cause__, ValueError)
    assert "its reader, r, fails: ValueError: half (test_guard.py, line " in str(error)
    nowhere = Reader(name="r", sniff=lambda head: True, read=anything(len))
    assert "(acme.chips); " in str(caught(lambda: list(guarded_reader(Guard(), ACME, nowhere).read(tmp_path))))


@pytest.mark.parametrize("error", [InputError("a", "b"), PluginError("x"), KeyboardInterrupt()])
def test_an_error_that_says_all_itself_and_ctrl_c_pass_through(error: BaseException, tmp_path: Path) -> None:
    assert caught(lambda: list(guarded_reader(Guard(), ACME, failing(error)).read(tmp_path))) is error
