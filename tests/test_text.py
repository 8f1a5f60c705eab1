"""The text report on every terminal: narrow and wide, with and without colour, and what a long job says meanwhile."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import sassmix
from sassmix.check import check
from sassmix.evidence import Evidence, Status, check_resolved
from sassmix.render import progress as progress_module
from sassmix.render import render
from sassmix.render.check import render_check
from sassmix.render.progress import progress
from sassmix.render.terminal import shortened
from sassmix.report import Report
from sassmix.tally import Tally
from tests import picture
from tests.conftest import FIXTURES, Body, Command, written

WIDTHS = (40, 60, 80, 120, 200)
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38;)[0-9;]*m")
COUNTED = ("counts/h200/micro.source.csv", "counts/h200/micro.sass")
LISTINGS = FIXTURES / "listings"
LONG = "_Z" + "".join(f"{n}part{n}" for n in range(1000, 1400)) + "v"
INPUTS = {
    "one": [LISTINGS / "saxpy.sm_90a.sass"],
    "several": [LISTINGS / "names.sm_75.sass", LISTINGS / "mem.sm_80.sass"],
    "counted": [FIXTURES / name for name in COUNTED],
    "odd": [LISTINGS / "oddnames.sm_75.sass"],
}


@pytest.fixture(scope="module", params=INPUTS)
def report(request: pytest.FixtureRequest) -> Report:
    return sassmix.mix(INPUTS[request.param])


def drawn(report: Report, width: int | None) -> list[str]:
    return ESCAPE.sub("", render(report, "text", width=width)).split("\n")


def squeezed(lines: list[str]) -> str:
    """Text without its line breaks and blanks, which differ with the width."""
    return "".join("".join(lines).split())


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(report: Report, width: int) -> None:
    assert max(map(cell_len, drawn(report, width))) <= width


@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_every_width_says_the_same(report: Report, width: int | None) -> None:
    lines = drawn(report, width)
    said, text = squeezed(lines), "\n".join(lines)
    for kernel in report.kernels:
        assert f"{kernel.tally.total:,}" in said
        for row in kernel.tally.mix():
            shown = rf"^ +{re.escape(row['category'])} +{row['count']:,} +{row['share']:.1%}"
            assert re.search(shown, text, re.MULTILINE), row
        for hint in kernel.hints[:4]:
            assert squeezed([f"{hint.because}: {hint.question}"]) in said
            assert hint.look_at in said
    assert len([line for line in lines if re.match(r" +unresolved +[0-9]", line)]) == len(report.kernels)
    assert len([line for line in lines if re.match(r" +unclassified +[0-9]", line)]) == len(report.kernels)


def overview(report: Report, width: int) -> list[str]:
    """The lines between those on the inputs and the first kernel."""
    lines = drawn(report, width)
    first, second, *_ = (number for number, line in enumerate(lines) if not line)
    return lines[first + 1 : second]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_overview_has_every_kernel_and_every_fact(width: int) -> None:
    made = sassmix.mix([*INPUTS["several"], *INPUTS["odd"]])
    said = squeezed(overview(made, width))
    assert not said.endswith("all:")
    for kernel in made.kernels:
        name = squeezed([kernel.demangled or kernel.name])
        assert name[:10] in said and name[-8:] in said
        for fact in (kernel.arch, kernel.role, str(kernel.tally.total), kernel.confidence):
            assert fact and fact in said


@pytest.mark.parametrize("width", WIDTHS)
def test_in_the_overview_names_that_differ_stay_different(tmp_path: Path, width: int) -> None:
    names = [f"{'front' * 9}{number}{'back' * 9}" for number in range(3)]
    path = tmp_path / "k.sass"
    path.write_text(written(*(Body(name, ["EXIT"]) for name in names)), encoding="utf-8")
    said = squeezed(overview(sassmix.mix([path]), width))
    assert all(f"front{number}" in said or f"{number}back" in said for number in range(3))


@pytest.mark.parametrize("twice", [False, True])
def test_kernels_of_one_name_tell_their_files_apart(tmp_path: Path, twice: bool) -> None:
    targets = ("sm_90a", "sm_90a" if twice else "sm_100a")
    paths = [tmp_path / f"{number}.{target}.sass" for number, target in enumerate(targets)]
    for path, target in zip(paths, targets, strict=True):
        path.write_text((FIXTURES / "listings" / f"saxpy.{target}.sass").read_text())
    head, _, rest = render(sassmix.mix(paths), "text").partition("\n\n")[2].partition("\n")
    table, *blocks = rest.split(", static: ")
    assert head.split().count("input") == twice and len(blocks) == 6
    for path in paths:
        assert sum(f"of {path}\n" in block for block in blocks) == 3 * twice
        assert table.count(path.name) == 3 * twice


def test_no_more_than_four_hints_are_shown(tmp_path: Path) -> None:
    code = ["LDL R1, [R2]", "LD.E R1, [R2]", "F2F.F64.F32 R2, R4", "HMMA.16816.F32 R4, R4, R8, R4"]
    path = tmp_path / "k.sass"
    path.write_text(written(Body("k", [*code, "LDGSTS.E [R2], [R4]", "EXIT"])), encoding="utf-8")
    made = sassmix.mix([path])
    assert len(made.kernels[0].hints) == 5
    assert len([line for line in drawn(made, 80) if line.startswith("  ?  ")]) == 4


def test_hints_are_in_text_and_all_of_them_in_json_and_markdown(command: Command) -> None:
    files = [str(path) for path in INPUTS["counted"]]
    kernels = command("mix", *files, "--format", "json").json["kernels"]
    text, markdown = (command("mix", *files, "--format", form).out for form in ("text", "markdown"))
    blocks = dict(zip((kernel["name"] for kernel in kernels), re.split(r"\n\n(?=\S)", text)[1:], strict=False))
    assert len(blocks) == len(kernels) and any(kernel["hints"] for kernel in kernels)
    for kernel in kernels:
        shown = re.findall(r"^  \?  ", blocks[kernel["name"]], re.MULTILINE)
        assert len(shown) == min(4, len(kernel["hints"])), kernel["name"]
    plain = markdown.replace("\\", "")
    for hint in (hint for kernel in kernels for hint in kernel["hints"]):
        assert set(hint) == {"question", "because", "look_at", "share"}
        assert all(hint[key] in plain for key in ("question", "because", "look_at"))


@given(text=st.text(st.characters(categories=("L", "N", "P"))), room=st.integers(8, 60))
def test_a_name_is_cut_in_the_middle_to_fit(text: str, room: int) -> None:
    cut = shortened(text, room)
    assert cell_len(cut) <= room
    if cell_len(text) <= room:
        assert cut == text
    else:
        head, tail = cut[: cut.index("...")], cut[cut.rindex("...") + 3 :]
        assert text.startswith(head) and text.endswith(tail) and head and tail


@pytest.mark.parametrize("width", WIDTHS)
def test_a_long_name_takes_few_lines_and_is_whole_in_json(tmp_path: Path, command: Command, width: int) -> None:
    path = tmp_path / "k.sass"
    path.write_text(written(Body(LONG, ["EXIT"]), Body("other", ["EXIT"])), encoding="utf-8")
    made = sassmix.mix([path])
    lines = drawn(made, width)
    assert max(map(cell_len, lines)) <= width and len([line for line in lines if "part" in line]) <= 10
    assert LONG in [kernel["name"] for kernel in command("mix", path, "--format", "json").json["kernels"]]


@pytest.mark.parametrize(
    ("environment", "escapes", "colours"),
    [
        ({"TERM": "xterm-256color"}, True, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "xterm", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, True, True),
    ],
    ids=["colour", "NO_COLOR", "dumb", "ascii"],
)
@pytest.mark.parametrize("width", [40, 80])
def test_on_a_real_terminal(environment: dict[str, str], escapes: bool, colours: bool, width: int) -> None:
    status, out = on_terminal(["mix", str(LISTINGS / "mem.sm_80.sass"), "--kernel", "s*"], environment, width)
    lines = ESCAPE.sub("", out).replace("\r", "").split("\n")
    assert status == 0 and max(map(cell_len, lines)) <= width and any("unclassified" in line for line in lines)
    assert (bool(ESCAPE.search(out)), bool(COLOUR.search(out))) == (escapes, colours)
    assert out.isascii() or "PYTHONIOENCODING" not in environment


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"])
def test_a_pipe_gets_plain_text_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    made = sassmix.mix(INPUTS["one"])
    plain = render(made, "text")
    monkeypatch.setenv(variable, "1")
    assert render(made, "text") == plain and not ESCAPE.search(plain)


def on_terminal(arguments: list[str], environment: dict[str, str], width: int = 80) -> tuple[int, str]:
    """Run the command with standard output and error on a terminal; what is shown there."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "LINES", "NO_COLOR", "COLORTERM"}}
    command = [sys.executable, "-m", "sassmix.cli", *arguments]
    process = subprocess.Popen(command, stdout=side, stderr=side, stdin=subprocess.DEVNULL, env=kept | environment)
    os.close(side)
    shown = b""
    try:
        while part := os.read(main, 65536):
            shown += part
    except OSError:
        pass  # Linux's way to say that the other side is closed
    finally:
        os.close(main)
    return process.wait(), shown.decode("utf-8", "replace")


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self) -> bool:
        return True


@contextmanager
def working(term: str = "xterm", patience: float = 60) -> Iterator[tuple[Callable[[str], None] | None, Terminal]]:
    """A job on a terminal; not a fixture, since pytest changes standard error between set-up and test."""
    shown = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", shown)
        patch.setenv("TERM", term)
        patch.setattr(progress_module, "PATIENCE", patience)
        with progress() as tell:
            yield tell, shown


def is_told(shown: Terminal, words: str) -> bool:
    """Whether something is shown within a few seconds."""
    end = time.monotonic() + 10
    while words not in shown.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    return words in shown.getvalue()


def test_a_long_job_says_what_it_is_at_and_leaves_nothing() -> None:
    with working(patience=0) as (tell, shown):
        assert tell
        tell("reading \x1b[2J 1 of 2")
        assert is_told(shown, "1 of 2")
        tell("reading 2 of 2")
    assert "\x1b[2J" not in shown.getvalue() and shown.getvalue().endswith("\x1b[2K")


def test_a_step_that_takes_long_is_told_too() -> None:
    with working(patience=0.1) as (tell, shown):
        assert tell
        tell("reading 1 of 1")
        assert is_told(shown, "1 of 1")


def test_a_job_that_ends_as_the_line_begins_leaves_none() -> None:
    with working() as (tell, shown):
        assert tell
    line = tell.__self__  # type: ignore[attr-defined]
    line._begin()
    assert shown.getvalue() == ""


def test_a_short_job_says_nothing() -> None:
    with working() as (tell, shown):
        assert tell
        tell("reading 1 of 1")
    assert shown.getvalue() == ""


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_cannot_take_a_line_back_gets_none(term: str) -> None:
    with working(term) as (tell, _):
        assert tell is None


def test_an_error_ends_the_line_too() -> None:
    with pytest.raises(KeyboardInterrupt), working(patience=0) as (tell, shown):
        assert tell
        tell("reading 1 of 1")
        assert is_told(shown, "1 of 1")
        raise KeyboardInterrupt
    said = shown.getvalue()
    time.sleep(0.3)
    assert shown.getvalue() == said


def test_without_a_terminal_nothing_of_it_is_loaded() -> None:
    program = "import sys; from sassmix.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, "mix", str(INPUTS["one"][0])], capture_output=True, text=True, check=True
    )
    assert not {"rich.status", "rich.live", "rich.progress", "pandas", "lark", "duckdb"} & set(done.stderr.split())


def test_what_is_read_is_told() -> None:
    said: list[str] = []
    sassmix.mix(INPUTS["several"], tell=said.append)
    assert [text for text in said if text.startswith("reading")] == [
        f"reading {number} of 2: {path}" for number, path in enumerate(INPUTS["several"], 1)
    ]


def test_the_picture_of_the_tutorial_is_the_report() -> None:
    kept = picture.PATH.read_text(encoding="utf-8")
    assert picture.words(kept) == "".join(ESCAPE.sub("", picture.report()).split()), "run `python -m tests.picture`"
    assert len(kept) < 100_000 and "@font-face" not in kept


def test_of_very_many_kernels_all_are_named_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Details are bounded; the totals of every kernel, and how many have no details, are not."""
    report = sassmix.mix(FIXTURES / "listings" / "control.sm_90a.sass")
    monkeypatch.setattr("sassmix.render.text._MOST_DETAILED", 1)
    shown = render(report, "text")
    assert all(str(kernel.demangled or kernel.name)[:20] in shown for kernel in report.kernels)
    assert shown.count("tensor cores  present") == 1
    assert f"{len(report.kernels) - 1} more kernel" in shown
    checked = render_check(check(report), "text")
    assert f"{len(report.kernels) - 1} more kernel" in checked and checked.endswith("verdict: pass\n")


@given(st.lists(st.sampled_from(["pass", "warn", "fail"]), min_size=2, max_size=8), st.integers(1, 9))
def test_what_does_not_pass_comes_first_where_not_all_is_shown(statuses: list[Status], room: int) -> None:
    made = judged(statuses)
    names = [kernel.name for kernel in made.kernels]
    if len(names) > room:
        names.sort(key=lambda name: -["pass", "warn", "fail"].index(statuses[int(name[1:])]))
    rest = [{"pass": "high", "warn": "medium", "fail": "low"}[statuses[int(name[1:])]] for name in names[room:]]
    told = ", ".join(f"{rest.count(level)} {level}" for level in ("low", "medium", "high") if level in rest)
    with patch("sassmix.render.text._MOST_DETAILED", room):
        for shown in (render(made, "text"), render_check(check(made), "text")):
            assert re.findall(r"^k\d", shown, re.MULTILINE) == names[:room]
            assert (f"{len(rest)} more kernel" in shown and f"({told})" in shown) if rest else "more" not in shown
        assert re.findall(r"^ (k\d) ", render(made, "text"), re.MULTILINE) == names


def judged(statuses: list[Status]) -> Report:
    """A kernel ``k0``, ``k1`` ... for each outcome of a check."""
    (base,) = sassmix.mix(INPUTS["one"], kernels=["saxpy"]).kernels
    kernels = [
        replace(base, name=f"k{number}", demangled=None, evidence=[Evidence("complete", status, "so it is")])
        for number, status in enumerate(statuses)
    ]
    return Report(inputs=[], kernels=kernels, problems=[])


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json", "csv"])
@pytest.mark.parametrize("kernels", [1, 2])
def test_people_read_thousands_and_programs_digits(form: str, kernels: int) -> None:
    made = judged(["pass"] * kernels)
    for kernel in made.kernels:
        kernel.tally = Tally([replace(row, count=1_081_344 * row.count) for row in kernel.tally.rows])
        kernel.evidence = [check_resolved(kernel.tally)]
    shown = re.sub(r"<script>.*?</script>", "", render(made, form), flags=re.DOTALL)
    plain, parted = (bool(re.search(number, shown)) for number in (r"(?<![\d.])\d{7,}", r"\b\d{1,3}(,\d{3}){2,}"))
    assert (plain, parted) == ((True, form == "json") if form in {"json", "csv"} else (False, True))


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_one_instruction_is_one(form: str) -> None:
    made = judged(["pass"])
    unit = made.kernels[0].unit
    made.kernels[0].tally = Tally([replace(made.kernels[0].tally.rows[0], count=1)])
    shown = render(made, form)
    assert f"1 {unit.replace('instructions', 'instruction')}" in shown and f"1 {unit}" not in shown


def test_a_kernel_and_a_report_are_one_short_line_in_python(report: Report) -> None:
    for kernel in report.kernels:
        told = (
            kernel.name,
            str(kernel.arch),
            kernel.basis,
            f"{kernel.tally.total:,}",
            f"present {kernel.tensor.present}",
        )
        assert all(word in repr(kernel) for word in (*told, f"active {kernel.tensor.active}", kernel.confidence))
    for item in (report, *report.kernels, *report.inputs):
        assert "\n" not in repr(item) and len(repr(item)) < 600 + len(getattr(item, "name", ""))
