"""The command: exit statuses, formats, hostile names, and what must never be said."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sassmix
from sassmix.arch import FACETS
from sassmix.errors import InputError, SassmixError
from sassmix.plugins import default_plugins
from sassmix.render import printable, render
from tests.conftest import FIXTURES, LISTINGS, Body, Command, Run, written

Save = Callable[..., Path]
GOOD = FIXTURES / "listings" / "saxpy.sm_90a.sass"
MATRIX = FIXTURES / "listings" / "wgmma.sm_90a.sass"
CALLS = FIXTURES / "listings" / "calls.sm_90a.sass"
KERNELS = [function.name for function in sassmix.read(GOOD).functions]
FORMATS = ("text", "json", "csv", "markdown")
BY = (*FACETS, "opcode")
SIMPLE = written(Body("k", ["MOV R2, R3", "IMAD R2, R3, R4, R5", "EXIT"]))
PTX = """
Fatbin ptx code:
================
arch = sm_90
code version = [8,5]
host = linux
compile_size = 64bit
compressed
"""
CUOBJDUMP = """
\tcode for sm_90a
\t\tFunction : {name}
\t.headerflags\t@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*0000*/                   MOV R2, R3 ;                  /* 0x0000000000027202 */
                                                                 /* 0x000fe20000000f00 */
        /*0010*/                   EXIT ;                        /* 0x000000000000794d */
                                                                 /* 0x000fea0003800000 */
\t\t..........
"""
#: What makes an input unusable, and a word of the message.
UNUSABLE: dict[str, tuple[bytes, str]] = {
    "zero bytes": (b"", "zero bytes"),
    "blanks": (b" \n\t\n", "nothing but blanks"),
    "a byte order mark": (b"\xef\xbb\xbf", "nothing but blanks"),
    "prose": (b"Dear all,\nthe kernel is slow.\n", "no known kind"),
    "bytes": (bytes(range(256)), "no known kind"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0d", "no known kind"),
    "other json": (b'{"a": 1}', "no known kind"),
    "a tool's error": (b"nvdisasm fatal   : Could not open input file 'k.cubin'\n", "Could not open input file"),
    "another tool's error": (b"cuobjdump info    : File 'k' does not contain device code\n", "does not contain"),
    "PTX": (b".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n", ""),
}


def complaint(run: Run) -> str:
    """What stderr says, which is never a traceback and one line for each message."""
    assert "Traceback" not in run.err
    assert all(line.startswith("sassmix: ") for line in run.err.splitlines())
    return run.err


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), strict=True))


@pytest.mark.parametrize("form", FORMATS)
def test_a_good_input_gives_a_report_and_silence(command: Command, form: str) -> None:
    run = command("mix", GOOD, "--format", form)
    assert (run.status, run.err) == (0, "") and run.out.endswith("\n")


@pytest.mark.parametrize(("content", "words"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_input_is_2_with_json_and_a_message(
    command: Command, save: Save, content: bytes, words: str
) -> None:
    path = save(content, "k.sass")
    for form in FORMATS:
        run = command("mix", path, "--format", form)
        assert run.status in {2, 3} and words in complaint(run)
        assert run.status == 2 or content == UNUSABLE["PTX"][0]
    report = command("mix", path, "--format", "json").json
    assert (report["schema"], report["kernels"]) == ("sassmix.report/1", []) and report["problems"]


def test_a_folder_without_an_input_is_2_with_json_and_a_message(command: Command, save: Save, tmp_path: Path) -> None:
    for words in ("holds no file;", "holds no file of a known kind;"):
        run = command("mix", tmp_path, "--format", "json")
        assert run.status == 2 and f"{tmp_path}: the folder {words}" in complaint(run)
        messages = [p["message"] for p in run.json["problems"]]
        assert run.json["kernels"] == [] and any(f"the folder {words}" in message for message in messages)
        assert command("mix", tmp_path, GOOD).status == 0
        save("Dear all,\n", "readme.md")


def test_no_input_at_all_is_an_error() -> None:
    with pytest.raises(SassmixError, match="no input was given"):
        sassmix.mix([])


@pytest.mark.parametrize("again", ["in/k.sass", "in", "in/../in/k.sass", "link", "in/link", "."])
def test_a_file_that_is_given_twice_is_counted_once(command: Command, save: Save, tmp_path: Path, again: str) -> None:
    path = save(SIMPLE, "in/k.sass")
    for link in ("link", "in/link"):
        (tmp_path / link).symlink_to(path)
    once = command("mix", path, "--format", "json").json
    twice = command("mix", path, f"{tmp_path}/{again}", "--format", "json")
    assert twice.status == 0 and twice.err == ""
    assert (twice.json["inputs"], twice.json["kernels"]) == (once["inputs"], once["kernels"])
    problems = twice.json["problems"]
    assert {p["severity"] for p in problems} == {"info"} and all("counted once" in p["message"] for p in problems)


def test_two_files_with_the_same_text_are_two(command: Command, save: Save) -> None:
    report = command("mix", save(SIMPLE, "a"), save(SIMPLE, "b"), "--format", "json").json
    assert len(report["inputs"]) == len(report["kernels"]) == 2 and report["problems"] == []


def test_a_missing_file_is_2_with_json_and_a_message(command: Command, tmp_path: Path) -> None:
    run = command("mix", tmp_path / "none.sass", "--format", "json")
    assert run.status == 2 and "none.sass: no such file" in complaint(run)
    assert run.json["kernels"] == [] and "no such file" in run.json["problems"][0]["message"]


EMPTY = {
    "a fat binary's PTX only": PTX,
    "a header only": "\t.target\tsm_90a\n\n",
    "a function without instructions": written(Body("k", [])),
}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_an_input_without_instructions_is_3_with_json_and_a_message(command: Command, save: Save, text: str) -> None:
    run = command("mix", save(text), "--format", "json")
    assert run.status == 3 and complaint(run)
    assert sum(kernel["counts"]["total"] for kernel in run.json["kernels"]) == 0
    assert [item["kind"] for item in run.json["inputs"]] and run.json["problems"]


@pytest.mark.parametrize(("content", "words"), UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize("first", [True, False])
def test_good_and_bad_inputs_together_are_0_with_a_problem(
    command: Command, save: Save, content: bytes, words: str, first: bool
) -> None:
    bad = save(content, "bad.sass")
    run = command("mix", *((bad, GOOD) if first else (GOOD, bad)), "--format", "json")
    assert run.status == 0 and words in complaint(run)
    good = command("mix", GOOD, "--format", "json").json
    assert run.json["kernels"] == good["kernels"]
    problems = [problem for problem in run.json["problems"] if problem["path"] == str(bad)]
    assert problems or content == UNUSABLE["PTX"][0]


def test_a_folder_is_searched_and_what_is_no_input_is_passed_over(command: Command, save: Save) -> None:
    save(SIMPLE, "in/deep/er/k.sass")
    save(SIMPLE.replace("k", "q"), "in/named-oddly")
    save("Dear all,\n", "in/readme.md")
    run = command("mix", save("", "in/empty").parent, "--format", "json")
    assert run.status == 0
    assert [Path(item["path"]).name for item in run.json["inputs"]] == ["k.sass", "named-oddly"]
    assert {p["severity"] for p in run.json["problems"] if "readme" in p["path"]} == {"info"}


WRONG: list[list[str | Path]] = [
    [],
    ["mix"],
    ["mxi", GOOD],
    ["mix", GOOD, "--format", "yaml"],
    ["mix", GOOD, "--by", "categry"],
    ["mix", GOOD, "--arch", "hopper"],
    ["mix", GOOD, "--kernel", "nothing_like_it"],
    ["mix", GOOD, "-o", "/no/such/folder/report"],
    ["explain"],
    ["mix", GOOD, "--arch", "sm_999"],
    ["check", GOOD, "--arch", "sm_999"],
    ["diff", GOOD, GOOD, "--arch", "sm_999"],
    ["diff", "-", "-"],
    ["explain", "HMMA", "--arch", "sm_999"],
    ["explain", ""],
    ["explain", "a b"],
    ["explain", "=cmd()"],
    ["explain", "1HMMA"],
    ["diff", GOOD],
    ["archs", "more"],
]


@pytest.mark.parametrize("arguments", WRONG, ids=lambda arguments: " ".join(map(str, arguments)) or "nothing")
def test_wrong_usage_is_2_with_a_message_and_no_output(command: Command, arguments: Sequence[str | Path]) -> None:
    run = command(*arguments)
    assert (run.status, run.out) == (2, "") and run.err and "Traceback" not in run.err


def test_wrong_values_have_near_ones(command: Command) -> None:
    assert "did you mean category?" in command("mix", GOOD, "--by", "categry").err
    assert "did you mean sm_90a" in command("explain", "HMMA", "--arch", "sm_900a").err
    assert "hopper is sm_90, sm_90a" in command("mix", GOOD, "--arch", "hopper").err
    assert "did you mean sm_90 " in command("check", GOOD, "--arch", "sm_9O").err
    assert "did you mean sm_90" in command("diff", GOOD, GOOD, "--arch", "sm_900").err
    assert all(by in command("mix", GOOD, "--by", "zzz").err for by in BY)


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("path", [GOOD, MATRIX, CALLS], ids=lambda path: path.stem)
def test_every_facet_sums_to_the_total(command: Command, by: str, path: Path) -> None:
    report = command("mix", path, "--by", by, "--format", "json").json
    totals = {kernel["name"]: kernel["counts"]["total"] for kernel in report["kernels"]}
    for kernel in report["kernels"]:
        assert sum(row["count"] for row in kernel["mix"]) == totals[kernel["name"]]
        assert all(list(row) == [by, "count", "share"] for row in kernel["mix"])
    table = rows(command("mix", path, "--by", by, "--format", "csv").out)
    assert sum(int(row["count"]) for row in table) == sum(totals.values())
    further = ["tensor_core_present", "tensor_core_active", "confidence", "inputs"]
    assert all(list(row) == ["kernel", "arch", "basis", by, "count", "share", *further] for row in table)
    verdicts = {kernel["name"]: kernel["tensor_core_present"] for kernel in report["kernels"]}
    words = {True: "true", False: "false", None: "unknown"}
    assert all(row["tensor_core_present"] == words[verdicts[row["kernel"]]] for row in table)
    assert {row["tensor_core_active"] for row in table} == {"unknown"}


def test_all_formats_say_the_same(command: Command) -> None:
    report = command("mix", GOOD, "--format", "json").json
    table = rows(command("mix", GOOD, "--format", "csv").out)
    flat = [(k["name"], r["category"], r["count"]) for k in report["kernels"] for r in k["mix"]]
    assert [(row["kernel"], row["category"], int(row["count"])) for row in table] == flat
    text, markdown = (command("mix", GOOD, "--format", form).out for form in ("text", "markdown"))
    for name, category, count in flat:
        assert re.search(rf"^ +{re.escape(category)} +{count:,} ", text, re.MULTILINE), (name, category)
        assert re.search(rf"^\| {re.escape(category)} \| {count} \|", markdown.replace("\\", ""), re.MULTILINE)
    for kernel in report["kernels"]:
        name = kernel["demangled"] or kernel["name"]
        assert name in text and name in markdown.replace("\\", "")


def test_the_text_shows_what_is_unresolved_even_where_nothing_is(command: Command) -> None:
    lines = command("mix", GOOD).out.splitlines()
    for name in ("unresolved", "unclassified"):
        assert sum(line.split()[:2] == [name, "0"] for line in lines) == len(KERNELS)


@pytest.mark.parametrize("form", FORMATS)
def test_the_report_may_go_to_a_file(command: Command, tmp_path: Path, form: str) -> None:
    for arguments in (("mix", GOOD), ("explain", "HMMA"), ("archs",), ("diff", GOOD, MATRIX)):
        path = tmp_path / "report"
        shown = command(*arguments, "--format", form)
        run = command(*arguments, "--format", form, "-o", path)
        assert (run.out, run.status) == ("", shown.status) and path.read_text(encoding="utf-8") == shown.out


@pytest.mark.parametrize(
    ("patterns", "count"),
    [
        (["_Z7vec_addPKdS0_Pdi"], 1),
        (["vec_add(double const*, double const*, double*, int)"], 1),
        (["vec_add*"], 1),
        (["vec_add"], 1),
        (["vec_add", "saxpy"], 2),
        (["_Z*"], sum(name.startswith("_Z") for name in KERNELS)),
        (["*"], len(KERNELS)),
        (["*saxpy*", "_Z7vec_addPKdS0_Pdi", "_Z7vec_*"], 2),
    ],
)
def test_a_kernel_is_chosen_by_its_names_or_by_a_pattern(command: Command, patterns: list[str], count: int) -> None:
    options = [word for pattern in patterns for word in ("--kernel", pattern)]
    run = command("mix", GOOD, "--format", "json", *options)
    whole = command("mix", GOOD, "--format", "json").json
    assert (run.status, len(run.json["kernels"])) == (0, count)
    assert all(kernel in whole["kernels"] for kernel in run.json["kernels"]) and run.json["inputs"] == whole["inputs"]


@pytest.mark.parametrize(
    ("pattern", "near"),
    [
        ("_Z7vec_adPKdS0_Pdi", "did you mean _Z7vec_addPKdS0_Pdi"),
        ("vec_add(double const, double const, double, int)", "did you mean vec_add(double const*"),
        ("vec_ad", "did you mean vec_add?"),
        ("VEC_ADD*", "there are daxpy_stride("),
        ("[", "there are daxpy_stride("),
    ],
)
def test_a_kernel_that_is_not_there_is_2_with_near_names(command: Command, pattern: str, near: str) -> None:
    run = command("mix", GOOD, "--kernel", "*saxpy*", "--kernel", pattern)
    assert (run.status, run.out) == (2, "") and near in complaint(run) and pattern in run.err


@pytest.mark.parametrize("name", ["k[0]", "k*", "a?b"])
def test_a_name_with_the_signs_of_patterns_is_found_as_it_is(command: Command, save: Save, name: str) -> None:
    path = save(CUOBJDUMP.format(name=name))
    assert command("mix", path, "--kernel", name).status == 0


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("f(int*)", ["_Z1fPi"]),
        ("_Z1fPi", ["_Z1fPi"]),
        ("f(int*, float*)", ["_Z1fPiPf"]),
        ("f(int[*]*)", ["_Z1fPi", "_Z1fPiPf"]),
        ("f(*", ["_Z1fPi", "_Z1fPiPf"]),
        ("f", ["_Z1fPi", "_Z1fPiPf"]),
        ("[f]", []),
        ("ns::t", ["_ZN2ns1tIiEEvPf"]),
        ("ns::t<int>", ["_ZN2ns1tIiEEvPf"]),
    ],
)
def test_a_name_is_no_pattern_where_a_kernel_has_it(
    command: Command, save: Save, pattern: str, names: list[str]
) -> None:
    path = save(written(Body("_Z1fPi", ["EXIT"]), Body("_Z1fPiPf", ["EXIT"]), Body("_ZN2ns1tIiEEvPf", ["EXIT"])))
    run = command("mix", path, "--kernel", pattern, "--format", "json")
    if not names:
        assert run.status == 2
        return
    report = run.json
    assert [kernel["name"] for kernel in report["kernels"]] == names


NAMES = {
    "colour": "a\x1b[31mb",
    "title": "a\x1b]0;owned\x07",
    "eight-bit escape": "a\x9b31m",
    "bell": "a\x07b",
    "backspace": "abc\x08\x08d",
    "formula": "=cmd()",
    "other formula": "@SUM(A1)",
    "plus": "+1+1",
    "minus": "-1+1",
    "quotes": 'a"b","c',
    "comma": "a,b",
    "markdown": "![x](http://a.b)|**c**`d`",
    "mention": "@someone",
    "address": "a@b.org",
    "bare link": "HTTPS://a.b/c and Www.a.b",
    "issue": "a#12",
    "html": "<script>alert(1)</script>",
    "entity": "a&lt;b",
    "heading": "# a",
    "rich": "[bold red]a[/bold red]:smile:",
    "words": "größe_名前_🙂",
    "backwards": "a\u202eb",
    "line separator": "a\u2028b",
    "format": "%s%n{0}",
}
STEERS_A_TERMINAL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(params=NAMES.values(), ids=list(NAMES))
def named(request: pytest.FixtureRequest, save: Save) -> tuple[str, Path]:
    """A listing of one function with a hostile name."""
    return request.param, save(CUOBJDUMP.format(name=request.param))


def test_a_hostile_name_is_kept_in_json(command: Command, named: tuple[str, Path]) -> None:
    run = command("mix", named[1], "--format", "json")
    assert run.out.isascii() and [kernel["name"] for kernel in run.json["kernels"]] == [named[0]]


def test_a_hostile_name_steers_no_terminal(command: Command, named: tuple[str, Path]) -> None:
    run = command("mix", named[1])
    assert not STEERS_A_TERMINAL.search(run.out) and not STEERS_A_TERMINAL.search(run.err)
    assert printable(named[0]) in run.out


def test_a_hostile_name_is_plain_text_in_markdown(command: Command, named: tuple[str, Path]) -> None:
    out = command("mix", named[1], "--format", "markdown").out
    heading = out.splitlines()[0].removeprefix("### ")
    assert not STEERS_A_TERMINAL.search(out)
    assert not re.search(r"@\w|://|www\.|#\d", heading, re.IGNORECASE), "looked for in what is shown, so also escaped"
    bare = heading.replace("<!-- -->", "")
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>&|!]", bare)
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", bare) == printable(named[0])


def test_a_hostile_name_steers_no_terminal_in_csv_or_a_message(command: Command, named: tuple[str, Path]) -> None:
    shown = command("mix", named[1], "--format", "csv").out
    near = command("mix", named[1], "--kernel", "zzz").err
    assert not STEERS_A_TERMINAL.search(shown) and not STEERS_A_TERMINAL.search(complaint(Run(2, "", near)))
    assert printable(named[0]) in near


@pytest.mark.parametrize(
    "arguments", [("mix", "{}"), ("diff", "{}", "{}"), ("mix", GOOD, "--by", "{}"), ("archs", "--{}")]
)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_hostile_argument_steers_no_terminal(command: Command, arguments: Sequence[str | Path], name: str) -> None:
    run = command(*(str(argument).replace("{}", name) for argument in arguments))
    assert run.status == 2 and not STEERS_A_TERMINAL.search(run.err)


def test_a_message_keeps_the_letters_of_a_name(command: Command) -> None:
    assert "größe_名前" in command("mix", "/none/größe_名前").err


def test_a_hostile_name_is_no_formula_in_csv(command: Command, named: tuple[str, Path]) -> None:
    table = rows(command("mix", named[1], "--format", "csv").out)
    assert sum(int(row["count"]) for row in table) == 2
    (cell,) = {row["kernel"] for row in table}
    assert cell[:1] not in {"=", "+", "-", "@", "\t", "\r"} and None not in table[0]


@given(name=st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))))
def test_any_name_goes_through_every_format(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.sass"
    name = f"k{name}".replace("\xa0", "_")  # what is pasted from a page has these for blanks, so they are read as such
    path.write_text(CUOBJDUMP.format(name=name), encoding="utf-8")
    report = sassmix.mix(path)
    (kernel,) = json.loads(render(report, "json"))["kernels"]
    assert kernel["name"] == name.strip()
    table = rows(render(report, "csv"))
    assert {row["kernel"] for row in table} <= {printable(name.strip())}
    for form in ("text", "markdown"):
        assert not any(unicodedata.category(c) in {"Cc", "Cf"} and c != "\n" for c in render(report, form))


@pytest.mark.parametrize("form", FORMATS)
def test_a_hostile_mnemonic_of_explain_is_shown_as_it_is(command: Command, form: str) -> None:
    run = command("explain", "NO.=cmd()\x1b[31m", "--format", form)
    assert run.status == 0 and not STEERS_A_TERMINAL.search(run.out)


EXPLAINED = [
    *("opcode", "mnemonic", "arch", "known", "category", "group", "datapath", "space", "dtype", "pipe", "intent"),
    *("tensor", "knowledge", "source", "plugin", "suggestions", "known_on"),
]


def explained(command: Command, *arguments: str) -> list[dict[str, Any]]:
    run = command("explain", *arguments, "--format", "json")
    assert (run.status, run.err) == (0, "")
    assert all(set(EXPLAINED) <= set(entry) for entry in run.json)
    entries: list[dict[str, Any]] = run.json
    return entries


def test_explain_on_an_architecture(command: Command) -> None:
    entries = explained(command, "hmma.16816.F32", "UTCHMMA.2CTA", "NOSUCH", "--arch", "90a")
    assert [(e["opcode"], e["arch"], e["known"], e["tensor"]) for e in entries] == [
        ("HMMA", "sm_90a", True, True),
        ("UTCHMMA", "sm_90a", False, None),
        ("NOSUCH", "sm_90a", False, None),
    ]
    assert entries[0]["mnemonic"] == "HMMA.16816.F32" and entries[1]["category"] is None


COUNTED = [
    *sorted((FIXTURES / "counts" / "cutracer").glob("kernel_*")),
    *sorted((FIXTURES / "counts" / "ncu").glob("*.csv")),
    *sorted((FIXTURES / "counts" / "nvbit").glob("*.txt")),
]


@pytest.mark.parametrize("path", COUNTED, ids=lambda p: p.name)
def test_what_holds_counts_is_no_listing_to_read(path: Path) -> None:
    with pytest.raises(InputError, match=r"executed counts .*sassmix\.mix reads them"):
        sassmix.read(path)


def test_the_library_takes_one_name_of_a_kernel_as_the_command_does() -> None:
    for names in ("hgmma_pipelined", ["hgmma_pipelined"]):
        found = sassmix.mix(FIXTURES / "listings" / "wgmma.sm_90a.sass", kernels=names)
        assert [kernel.name for kernel in found.kernels] == ["hgmma_pipelined"]


@pytest.mark.parametrize("path", LISTINGS, ids=lambda p: p.stem)
def test_explain_takes_every_mnemonic_in_any_case(path: Path) -> None:
    for function in sassmix.read(path):
        for mnemonic in function.counts():
            printed = sassmix.explain(mnemonic, function.arch)
            assert printed.mnemonic == mnemonic
            assert sassmix.explain(mnemonic.lower(), function.arch) == printed
            assert sassmix.explain(mnemonic.upper(), function.arch) == printed


@pytest.mark.parametrize("opcode", ["HGMMA", "UTCHMMA", "EXIT", "BMMA"])
def test_explain_on_all_is_one_entry_for_each_architecture_that_has_it(command: Command, opcode: str) -> None:
    entries = explained(command, opcode)
    assert [entry["arch"] for entry in entries] == default_plugins().registry.targets_with(opcode)
    assert all(entry["known"] for entry in entries)


def test_explain_of_what_none_has_is_one_entry(command: Command) -> None:
    (entry,) = explained(command, "NOSUCH.X")
    assert (entry["opcode"], entry["arch"], entry["known"], entry["category"]) == ("NOSUCH", None, False, None)


def test_explain_says_where_an_opcode_is_known_and_what_was_meant(command: Command) -> None:
    (misspelt,) = explained(command, "HGMA")
    assert misspelt["suggestions"][0] == "HGMMA" and misspelt["known_on"] == [] and misspelt["tensor"] is None
    (elsewhere,) = explained(command, "HGMMA", "--arch", "sm_100a")
    assert (elsewhere["suggestions"], elsewhere["known_on"]) == ([], ["sm_90", "sm_90a"])
    text = command("explain", "HGMA").out
    assert text.startswith("no architecture has HGMA; did you mean HGMMA or ") and text.endswith("?\n")
    text = command("explain", "HGMMA", "--arch", "sm_100a").out
    assert text == "sm_100a does not have HGMMA; sm_90, sm_90a have it\n"


def test_explain_puts_equal_answers_into_one_block_of_the_text(command: Command) -> None:
    text = command("explain", "EXIT", "HGMMA").out
    assert len(re.findall(r"sm_\w+", "".join(re.findall(r"(?s)^arch .*?^known", text, re.MULTILINE)))) == sum(
        len(default_plugins().registry.targets_with(opcode)) for opcode in ("EXIT", "HGMMA")
    )
    assert re.search(r"^arch +sm_90 sm_90a \(2 targets\)$", text, re.MULTILINE)
    assert len(explained(command, "EXIT")) == len(default_plugins().registry.targets_with("EXIT"))


def test_archs_lists_every_target(command: Command) -> None:
    run = command("archs", "--format", "json")
    registry = default_plugins().registry
    assert (run.status, run.err) == (0, "")
    assert [entry["arch"] for entry in run.json] == [target for target, _ in registry]
    for entry in run.json:
        assert set(entry) >= {"arch", "architecture", "family", "plugin", "distribution", "opcodes", "matrix_opcodes"}
        assert entry["opcodes"] == len(registry.require(entry["arch"]).opcodes) > 100
        assert entry["distribution"].startswith("sassmix ")
    by_arch = {entry["arch"]: entry["matrix_opcodes"] for entry in run.json}
    assert "HGMMA" in by_arch["sm_90a"] and "UTCHMMA" in by_arch["sm_100a"] and by_arch["sm_61"] == []


@pytest.mark.parametrize("form", FORMATS)
def test_lists_have_a_row_for_each_entry_in_every_format(command: Command, form: str) -> None:
    text = command("archs", "--format", form).out
    words = re.findall(r"\bsm_\w+", text.replace("\\", ""))
    assert {target for target, _ in default_plugins().registry} <= set(words)
    if form == "csv":
        assert len(rows(text)) == len(list(default_plugins().registry))


NOISE = SIMPLE.replace("R2", "R40").replace(".L_end_k", ".L_x_9").replace("EXIT ;", "EXIT ;\n")


@pytest.mark.parametrize(
    ("after", "status", "word"),
    [
        (SIMPLE, 0, "same"),
        (NOISE, 0, "same"),
        (written(Body("k", ["MOV R2, R3", "IMAD R2, R3, R4, R5", "EXIT", "BRA 0x30", "NOP"])), 0, "same"),
        (SIMPLE.replace("IMAD ", "IMAD.WIDE "), 1, "changed"),
        (SIMPLE.replace("MOV ", "SEL "), 1, "changed"),
        (written(Body("k", ["EXIT"])), 1, "changed"),
        (SIMPLE.replace("k", "q"), 1, "gone"),
    ],
)
def test_diff_says_whether_the_instructions_changed(
    command: Command, save: Save, after: str, status: int, word: str
) -> None:
    before, other = save(SIMPLE, "before.sass"), save(after, "after.sass")
    for a, b in ((before, other), (other, before)):
        run = command("diff", a, b, "--format", "json")
        assert (run.status, run.json["same"]) == (status, status == 0)
        assert run.json["kernels"][0]["status"] == word and run.json["schema"] == "sassmix.diff/1"


@pytest.mark.parametrize("changed", [0, 1])
def test_diff_of_many_kernels_is_the_same_only_where_all_are(command: Command, save: Save, changed: int) -> None:
    bodies = [Body("a", ["MOV R2, R3", "EXIT"]), Body("b", ["MOV R2, R3", "EXIT"])]
    before = save(written(*bodies), "before.sass")
    bodies[changed] = Body(bodies[changed].name, ["SEL R2, R3, R4, P0", "EXIT"])
    run = command("diff", before, save(written(*bodies), "after.sass"), "--format", "json")
    assert (run.status, run.json["same"]) == (1, False)
    assert [kernel["status"] == "changed" for kernel in run.json["kernels"]] == [changed == 0, changed == 1]


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_diff_with_an_input_that_cannot_be_read_is_2_with_json(command: Command, tmp_path: Path, bad: int) -> None:
    sides = [GOOD if bad == 1 else tmp_path / "a", GOOD if bad == 0 else tmp_path / "b"]
    run = command("diff", *sides, "--format", "json")
    assert run.status == 2 and (run.json["schema"], run.json["same"]) == ("sassmix.diff/1", False)
    assert run.json["kernels"] == run.json["failed"] == []
    missing = [str(side) for side in sides if side != GOOD]
    assert [problem["path"] for problem in run.json["problems"]] == missing == re.findall(r"/\S+/[ab](?=:)", run.err)
    assert command("diff", *sides).out == "" == command("diff", *sides, "--format", "csv").out


def test_diff_of_what_holds_no_instructions_is_3(command: Command, save: Save) -> None:
    empty = save(PTX)
    assert command("diff", empty, empty).status == 3 and command("diff", empty, GOOD).status == 1


@pytest.mark.parametrize("error", [ValueError("x\x1b[31m"), RecursionError(), AssertionError("y"), OSError("z")])
def test_a_fault_of_our_own_is_one_line_and_2(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def faulty(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("sassmix.analysis.mix", faulty)
    run = command("mix", GOOD, "--format", "json")
    said = f"internal error: {type(error).__name__}: {printable(str(error))}; run again with --debug and report it"
    assert (run.status, run.out, run.err) == (2, "", f"sassmix: error: {said}\n")
    with pytest.raises(type(error)):
        command("mix", GOOD, "--debug")


def test_debug_shows_the_traceback_and_nothing_else_does(command: Command) -> None:
    for arguments in (["mix", GOOD, "--by", "x"], ["explain", "HMMA", "--arch", "sm_999"]):
        assert "Traceback" not in command(*arguments).err
        with pytest.raises(SassmixError):
            command(*arguments, "--debug")
    assert issubclass(InputError, SassmixError)


def test_ctrl_c_is_quiet(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sassmix.analysis.mix", interrupted)
    run = command("mix", GOOD)
    assert (run.status, run.out, run.err) == (130, "", "")


def python(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Another Python with this sassmix."""
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**plain(), **options}
    )


def plain() -> dict[str, str]:
    """The environment without what changes Python: PYTHONUNBUFFERED hides what is left in a buffer."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_a_broken_pipe_is_quiet() -> None:
    process = python("-m", "sassmix.cli", "mix", str(GOOD))
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 0
    process.stderr.close()


HALF = (
    '[{"SM":{"version":{"major":9,"minor":0}}},[{"function-name":"k\\ud800\\u540d","start":0,"length":16,'
    '"sass-instructions":[{"opcode":"EXIT"}]}]]'
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "utf-8"])
def test_any_encoding_of_the_output_will_do(save: Save, encoding: str, form: str) -> None:
    path, target = save(HALF), save("", "report")
    for options in ([], ["-o", str(target)]):
        process = python("-m", "sassmix.cli", "mix", str(path), "--format", form, *options, PYTHONIOENCODING=encoding)
        out, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
        text = target.read_text(encoding="utf-8") if options else out.decode(encoding)
        letters = "名" in text
        assert letters == (form != "json" and (bool(options) or encoding == "utf-8"))
        if form == "text":
            block = "█" if options or encoding in {"utf-8", "cp437"} else "#"
            assert re.search(f"100.0%  {block * 24}$", text, re.MULTILINE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize(
    "arguments",
    [
        *(["mix", GOOD], ["mix", GOOD, "-o", "/dev/full"], ["diff", GOOD, MATRIX], ["archs"], ["explain", "EXIT"]),
        *(["--help"], ["mix", "--help"], ["--version"], ["check", GOOD]),
    ],
    ids=lambda arguments: " ".join(map(str, arguments)),
)
def test_an_output_that_is_full_is_said(arguments: list[str | Path], unbuffered: dict[str, str]) -> None:
    command = [sys.executable, "-m", "sassmix.cli", *map(str, arguments)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=plain() | unbuffered
        )
    where = arguments[-1] if "-o" in arguments else "standard output"
    message = f"sassmix: error: {where} cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_standard_input_is_an_input() -> None:
    for form, options in (("json", ["mix", "-", str(CALLS)]), ("text", ["mix", "-", "-"])):
        command = [sys.executable, "-m", "sassmix.cli", *options, "--format", form]
        with GOOD.open("rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False, env=plain())
        assert (done.returncode, done.stderr) == (0, "")
        assert "<stdin>" in done.stdout and "sassmix-" not in done.stdout.replace(str(CALLS), "")
        if form == "json":
            report, alone = json.loads(done.stdout), sassmix.mix([GOOD, CALLS]).to_dict()
            assert [item["path"] for item in report["inputs"]] == ["<stdin>", str(CALLS)]
            assert {name for kernel in report["kernels"] for name in kernel["inputs"]} == {"<stdin>", str(CALLS)}
            for kernel in (*report["kernels"], *alone["kernels"]):
                del kernel["inputs"]
            assert report["kernels"] == alone["kernels"]


@pytest.mark.parametrize(("content", "words"), UNUSABLE.values(), ids=UNUSABLE)
def test_standard_input_that_is_unusable_is_said(content: bytes, words: str) -> None:
    command = [sys.executable, "-m", "sassmix.cli", "mix", "-"]
    done = subprocess.run(command, input=content, capture_output=True, check=False, env=plain())
    assert done.returncode in {2, 3} and words in done.stderr.decode()
    assert b"<stdin>" in done.stderr or content == UNUSABLE["PTX"][0]
    assert tempfile.gettempdir().encode() not in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_a_device_or_fifo_is_refused_and_not_waited_for(command: Command, tmp_path: Path) -> None:
    os.mkfifo(fifo := tmp_path / "fifo")
    for path in (fifo, Path(os.devnull)):
        run = command("mix", path)
        assert run.status == 2 and "is not a regular file; use - for standard input" in complaint(run)


def test_many_kernels_start_with_a_table(command: Command) -> None:
    out = command("mix", GOOD).out
    for words in ("vec_add", "saxpy"):
        assert re.search(rf"^ {words}.* sm_90a +kernel +\d+ +no/unknown +high +pass$", out, re.MULTILINE)
    assert "worst check" not in command("mix", GOOD, "--kernel", "saxpy").out
    assert ", 3 functions\n" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SIMPLE, ", sm_90a, 1 function k "),
        (written(Body("k", ["EXIT"]), arch=None), ", no architecture named, 1 function k "),
        (SIMPLE + written(Body("q", ["EXIT"]), arch="sm_80"), ", sm_80, sm_90a, 2 functions tensor "),
    ],
)
def test_the_line_of_an_input_names_its_architectures(command: Command, save: Save, text: str, words: str) -> None:
    assert words in " ".join(command("mix", save(text)).out.split())


def test_diff_shows_demangled_names(command: Command) -> None:
    report = command("diff", GOOD, MATRIX, "--format", "json").json
    names = {kernel["name"]: kernel["demangled"] for kernel in report["kernels"]}
    assert names["_Z7vec_addPKdS0_Pdi"] == "vec_add(double const*, double const*, double*, int)"
    assert names["hgmma_sparse"] is None
    shown = {row["kernel"] for row in rows(command("diff", GOOD, MATRIX, "--format", "csv").out)}
    assert shown == {demangled or name for name, demangled in names.items()}


def test_the_exit_status_reaches_the_shell(save: Save) -> None:
    process = python("-m", "sassmix.cli", "mix", str(save(PTX)), "--format", "json")
    out, err = process.communicate()
    assert process.returncode == 3 and json.loads(out)["kernels"] == [] and b"Traceback" not in err


def test_mix_needs_no_pandas_and_no_metadata_of_other_tools() -> None:
    source = "import sys; from sassmix.cli import main; s = main(sys.argv[1:]); print(s, *sys.modules, file=sys.stderr)"
    process = python("-c", source, "mix", str(GOOD))
    status, *modules = process.communicate()[1].decode().split()
    assert status == "0" and {"pandas", "numpy", "pytest", "arch_plugins.hopper"} & set(modules) == {
        "arch_plugins.hopper"
    }


HEAVY = {"duckdb", "difflib", "email", "importlib.metadata", "jinja2", "lark", "pandas", "pluggy", "rich"}
HEAVY |= {"rich.console", "rich.text", "zstandard"}


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["--version"], set[str]()),
        (["mix", GOOD, "--no-config", "--format", "json"], {"pluggy"}),
        (["mix", GOOD, "--no-config"], {"pluggy", "rich"}),
    ],
    ids=["version", "json", "text"],
)
def test_a_command_loads_what_it_needs_and_no_more(words: list[str | Path], needed: set[str]) -> None:
    source = "import sys; from sassmix.cli import main\ntry: main(sys.argv[1:])\nfinally: "
    process = python("-c", source + "print(*sys.modules, file=sys.stderr)", *map(str, words))
    loaded = set(process.communicate()[1].decode().split())
    assert "sassmix.cli" in loaded and loaded & HEAVY == needed
    assert ("sassmix.report" in loaded) is ("mix" in words)
    assert ("sassmix.commands.diff" in loaded) is ("mix" not in words)
    assert not loaded & {"sassmix.counts", "sassmix.matching", "sassmix.dynamic", "tomllib"}


def test_the_version_is_that_of_the_distribution(command: Command) -> None:
    run = command("--version")
    assert (run.status, run.out) == (0, f"sassmix {metadata.version('sassmix')}\n")


@pytest.mark.parametrize("name", ["mix", "diff", "explain", "archs"])
def test_every_command_has_help(command: Command, name: str) -> None:
    run = command(name, "--help")
    assert "Exit status: 0 " in " ".join(command("--help").out.split())
    assert run.status == 0 and "--format" in run.out and name in command("--help").out


JUDGEMENT = re.compile(
    r"bottleneck|(memory|compute|latency|bandwidth)[- ]bound|\b(time|slow|fast)\w* (spent|is|was)\b", re.IGNORECASE
)
SAID: dict[str, list[str | Path]] = {
    **{f"mix {form}": ["mix", GOOD, MATRIX, CALLS, "--format", form] for form in FORMATS},
    **{f"archs {form}": ["archs", "--format", form] for form in ("text", "json")},
    "explain": ["explain", "--arch=90a", *sorted(default_plugins().registry.require("sm_90a").opcodes)],
    "diff": ["diff", GOOD, MATRIX],
    "help": ["--help"],
    "help of mix": ["mix", "--help"],
    "nothing": ["mix", FIXTURES / "none"],
}


@pytest.mark.parametrize("arguments", SAID.values(), ids=SAID)
def test_counts_are_never_turned_into_a_judgement_on_time(command: Command, arguments: Sequence[str | Path]) -> None:
    run = command(*arguments)
    assert run.out + run.err and not JUDGEMENT.search(run.out + run.err)
