"""Damage to a text of NVBit's: the right counts, or what is wrong and where; never a "no" where the whole says "yes".

The counts are an H200's. Behind the last launch the tool prints no mark, so a text cut between two launches, or in the
program's own output, looks like a whole one: that is not tried here. Nor is what turns a kernel's name into another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sassmix import mix
from sassmix.counts import Counts
from sassmix.errors import SassmixError
from sassmix.own_texts import mnemonic_of
from sassmix.readers import ncu_source, nvbit
from tests.conftest import FIXTURES

SETTINGS = (FIXTURES / "counts/nvbit/opcode_hist.txt").read_text().partition("Allocating")[0]
FIXED = [(FIXTURES / "counts/nvbit" / f"{name}.txt").read_text() for name in ("opcode_hist", "opcode_hist.threads")]
JUNK = ["step 1 loss 0.25", "\n", "Epoch 3\nacc 0.5\n", "12 files", "  N = 7"]
#: What the tools print, at the end of a line.
TOOLS = re.compile(r"kernel \d+ - .*instructions \d+$|^  [A-Z]\S* = \d+$| +[A-Z_]+ = \d+ - .*|^-+ NVBit .*")

Launch = tuple[str, dict[str, int]]


@cache
def profiled() -> dict[str, dict[str, int]]:
    """What an H200 executed, by kernel and mnemonic."""
    found: dict[str, dict[str, int]] = {}
    for counts in ncu_source.READER.read(FIXTURES / "counts/ncu/micro.source.csv"):
        assert isinstance(counts, Counts)
        sums: Counter[str] = Counter()
        for row in counts.rows:
            sums[row.mnemonic or mnemonic_of(row.sass or "") or ""] += row.issued
        found[(counts.names.best or "").partition("(")[0]] = {name: number for name, number in sums.items() if number}
    return found


def printed(*launches: Launch, between: Callable[[int], str] = lambda _: "", head: str = SETTINGS) -> str:
    """What ``opcode_hist`` prints, and the program in front of each launch."""
    text, sofar = head, 0
    for number, (name, opcodes) in enumerate(launches):
        count = sum(opcodes.values())
        sofar += count
        text += between(number) + f"kernel {number} - {name} - #thread-blocks 4,  kernel instructions {count}, "
        text += f"total instructions {sofar}\n" + "".join(f"  {o} = {n}\n" for o, n in sorted(opcodes.items()))
    return text


@cache
def captures() -> list[str]:
    none, mma, gmma, dfma = (profiled()[f"k_{name}"] for name in ("fadd", "wmma", "wgmma", "dfma"))
    mixed = printed(("_Z1kPfi", none), ("_Z1kPfi", mma), ("_Z1lPfi", dfma), ("_Z1kPfi", none))
    return [
        *FIXED,
        mixed + "Final sum = 1.0\n",
        printed(("_Z1lPfi", dfma), ("_Z1kPfi", none), ("_Z1kPfi", gmma)),
        printed(("void k<128>(float*)", none), ("void k<128>(float*)", mma)) + "N = 1\n  N = 1024\ndone\n",
        printed(("_Z1kPfi", none), ("_Z1kPfi", mma), between=lambda n: f"kernel {n} - 0.5 ms\nloss {n}: "),
        printed(("_Z1kPfi", none)) + printed(("_Z1kPfi", mma)),
    ]


#: What the whole captures say.
WHOLE: dict[str, tuple[dict[str, Counter[str]], dict[str, bool | None]]] = {}


def read(path: Path, text: str) -> list[Counts]:
    path.write_text(text)
    if not nvbit.READER.sniff(text.encode()[: 1 << 18]):
        return []
    try:
        return [counts for counts in nvbit.READER.read(path) if isinstance(counts, Counts)]
    except SassmixError:
        return []


def sums(found: list[Counts]) -> dict[str, Counter[str]]:
    """What was counted, by kernel and name."""
    result: dict[str, Counter[str]] = {}
    for counts in found:
        rows = result.setdefault(counts.names.best or "", Counter())
        for row in counts.rows:
            rows[(row.mnemonic or row.name or "").upper()] += row.issued
    return result


def verdicts(path: Path) -> dict[str, bool | None]:
    kernels = mix(path, arch="sm_90a").to_dict()["kernels"]
    assert isinstance(kernels, list)
    return {kernel["name"]: kernel["tensor_core_active"] for kernel in kernels}


def check(folder: Path, whole: str, damaged: str) -> None:
    """The right counts, or a problem with its line and a gap; no "no" for a "yes"; no count that was not there."""
    path = folder / "out.txt"
    if whole not in WHOLE:
        WHOLE[whole] = sums(read(path, whole)), verdicts(path)
    right, said = WHOLE[whole]
    found = read(path, damaged)
    if not found:
        return
    got = sums(found)
    for name, active in verdicts(path).items():
        assert active is not False or said.get(name) is not True, f"a false no for {name}"
    for name, rows in got.items():
        assert rows.total() <= (right[name].total() if name in right else sum(map(Counter.total, right.values())))
    assert sum(map(Counter.total, got.values())) <= sum(map(Counter.total, right.values()))
    if got != right:
        assert any(counts.gaps for counts in found)
        assert any(problem.line for counts in found for problem in counts.problems if problem.severity == "warning")


def lines_of_tool(text: str) -> list[tuple[int, int]]:
    """Where the tool's own text begins and ends, in each line of it; the last line of a launch ends it."""
    starts = [match.start() for match in re.finditer(r"^", text, re.MULTILINE)]
    found = [(at, TOOLS.search(text[at:].partition("\n")[0])) for at in starts]
    return [(at + match.start(), at + match.end()) for at, match in found if match]


@given(st.data())
def test_a_cut_within_a_launch_is_told(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(captures()))
    begin, end = data.draw(st.sampled_from([place for place in lines_of_tool(text) if "kernel 0" in text[: place[1]]]))
    bare = 1 if text[begin - 1 : begin] == "\n" else 4  # "ke" may as well be the program's, and so may dashes
    inside = begin + (14 if text.startswith("---", begin) else bare)
    check(tmp_path_factory.mktemp("cut"), text, text[: data.draw(st.integers(inside, end - 1))])


#: Damage to one line, cut in two parts at any place, with something of the program's to put in between.
DAMAGE: dict[str, Callable[[str, str, str], str]] = {
    "the rest is lost": lambda front, rest, junk: f"{front}{junk}\n",
    "the rest is lost with the line's end": lambda front, rest, junk: front + junk,
    "the rest comes later": lambda front, rest, junk: f"{front}{junk}{rest}\n",
    "the front is lost": lambda front, rest, junk: f"{rest}\n",
    "joined with the next": lambda front, rest, junk: front + rest,
    "not there": lambda front, rest, junk: "",
    "no indent": lambda front, rest, junk: f"{front + rest}\n".lstrip(" "),
    "small letters": lambda front, rest, junk: f"{front + rest}\n".lower(),
    "capitals": lambda front, rest, junk: f"{front + rest}\n".upper(),
    "numbers gone": lambda front, rest, junk: re.sub(r"(= |instructions |blocks )\d+", r"\1x", f"{front + rest}\n"),
    "numbers with a letter": lambda front, rest, junk: re.sub(r"(= |instructions )(\d)", r"\1\2x", f"{front + rest}\n"),
    "numbers below zero": lambda front, rest, junk: re.sub(r"(= |instructions )(\d)", r"\1-\2", f"{front + rest}\n"),
}


@pytest.mark.parametrize("kind", DAMAGE)
@given(st.data())
def test_damage_to_a_line_is_told(tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(captures()))
    begin, end = data.draw(st.sampled_from(lines_of_tool(text)))
    at = data.draw(st.integers(begin, end - 1))
    assume("kernel" not in text[begin:end] or "_Z" in text[begin:end])  # else a kernel's name becomes another
    damaged = DAMAGE[kind](text[begin:at], text[at:end], data.draw(st.sampled_from(JUNK)))
    check(tmp_path_factory.mktemp("line"), text, text[:begin] + damaged + text[end + 1 :])


REWRITTEN: dict[str, Callable[[str], str]] = {
    "no indent": str.lstrip,
    "small letters": lambda line: line.lower() if re.match(r"  [A-Z]\S* = \d+$", line) else line,
    "a number in front": lambda line: f"[1,0]<stdout>:{line}",
}


@pytest.mark.parametrize("kind", REWRITTEN)
def test_a_text_written_otherwise_counts_as_the_totals_prove(tmp_path: Path, kind: str) -> None:
    for text in (printed(*(("_Z1kPfi", profiled()[name]) for name in ("k_fadd", "k_wmma", "k_wgmma"))), *FIXED):
        launches = text[text.index("kernel 0") :]
        changed = "".join(REWRITTEN[kind](line) + "\n" for line in launches.splitlines())
        right, found = read(tmp_path / "a", launches), read(tmp_path / "b", changed)
        assert sums(found) == sums(right)
        assert [counts.gaps for counts in found] == [counts.gaps for counts in right]
        assert all("as the tool writes them" in " ".join(p.message for p in counts.problems) for counts in found)


#: What programs print between launches.
CHATTER: dict[str, Callable[[int], str]] = {
    "a line": lambda n: f"step {n}\n\n",
    "no end of a line": lambda n: f"step {n}...",
    "sizes": lambda n: "  M = 512\n  N = 1024\n\tSM = 9.0\n",
    "results": lambda n: "ret = 0\nexit = false\n  ret = -1\nset = {1, 2}\nHMMA = 512 TFLOPS\n",
    "kernels from 0": lambda n: f"kernel {n - 1} - done\n" if n else "",
    "kernels from 1": lambda n: f"kernel {n} - done...\n" if n else "",
    "launches": lambda n: f"launching kernel {n} - k\n",
    "totals": lambda n: "Total instructions = 500\ntotal instructions 500\n#threads: 8\n",
    "verbose": lambda n: (
        "inspecting k - num instrs 8\nInstr 0 @ 0x0 (0) - MOV R1, R2 ;\n  opcode = STG.E\n  imm = 20\n"
    ),
}


@pytest.mark.parametrize("ending", ["", "ok", "stopped worker", "It did take", "-----", "N = 100"])
@pytest.mark.parametrize("head", [SETTINGS, ""], ids=["settings", "none"])
@pytest.mark.parametrize("chatter", CHATTER)
def test_output_of_the_program_takes_nothing_away(tmp_path: Path, chatter: str, head: str, ending: str) -> None:
    launches = [(f"_Z1{name}Pfi", profiled()[kernel]) for name, kernel in [("k", "k_fadd"), ("l", "k_dfma")] * 2]
    say = CHATTER[chatter]
    found = read(tmp_path / "a", printed(*launches, between=say, head=head) + say(len(launches)) + ending)
    right = read(tmp_path / "b", printed(*launches, head=head))
    assert [(counts.names.best, counts.rows, counts.gaps) for counts in found] == [
        (counts.names.best, counts.rows, []) for counts in right
    ]


A, B, C = ({"EXIT": 8, "FADD": 32}, {"EXIT": 4, "HMMA.16816.F32": 64}, {"BRA": 3, "EXIT": 1})
THREE = printed(("_Z1kv", A), ("_Z1lv", B), ("_Z1mv", C))
#: The line of launch 1.
LINE = THREE[THREE.index("kernel 1") :].partition("\n")[0]


@pytest.mark.parametrize("kept", range(len(LINE) - len(",  kernel instructions 68, total instructions 108")))
def test_opcodes_behind_a_torn_line_are_not_the_launchs_before(tmp_path: Path, kept: int) -> None:
    found = read(tmp_path / "x", THREE.replace(LINE, LINE[:kept] + "loss 0.3"))
    assert [sum(row.issued for row in counts.rows) for counts in found] == [40, 68, 4]
    named = kept > LINE.index(" - #") + 3
    assert [counts.names.best for counts in found] == ["_Z1kv", "_Z1lv" if named else None, "_Z1mv"]
    assert [bool(counts.gaps) for counts in found] == [not named, True, not named]
    assert [p.line for p in found[1].problems if p.severity == "warning"] == [
        THREE[: THREE.index(LINE)].count("\n") + 1 + (not LINE[:kept].startswith("kernel 1 - "))
    ]


@pytest.mark.parametrize(
    "text", ["k", "kern", "kernel", "kernel ", "kernel 1", "kernel 1 ", "kernel 1 -", "kernel 1 - "]
)
@pytest.mark.parametrize("front", ["", "loss 0.3: "])
def test_a_text_that_ends_within_a_launchs_first_words(tmp_path: Path, text: str, front: str) -> None:
    """Behind output of the program, a letter may be the program's."""
    [counts, *lost] = read(tmp_path / "x", printed(("_Z1kv", A)) + front + text)
    assert bool(counts.gaps) == (not front or len(text) > 3)
    assert not any(item.rows for item in lost)


@pytest.mark.parametrize(
    "text",
    [
        "------------- ",
        "------------- NVBit (NVidia Bin",
        SETTINGS.partition("\n")[0],
        SETTINGS[:-10],
        "kernel 0",
        "kernel 0 - _Z1",
        f"{LINE}".replace("kernel 1", "kernel 0"),
        f"{LINE}\n  HMMA.168".replace("kernel 1", "kernel 0"),
        f"{LINE}\n  HMMA.16816.F32 = 64\n  EXI".replace("kernel 1", "kernel 0"),
    ],
)
def test_a_text_that_ends_within_the_next_run(tmp_path: Path, text: str) -> None:
    found = read(tmp_path / "x", printed(("_Z1kv", A)) + text)
    assert found[0].gaps
    assert any(problem.severity == "warning" and problem.line for counts in found for problem in counts.problems)


@pytest.mark.parametrize("behind", ["", "loss 0.3\n", "done"])
@pytest.mark.parametrize(
    "half",
    [
        "kernel 1 - _Z1lvstep 2",
        LINE[: LINE.index(",")],
        LINE[LINE.index("v - #") :],
        LINE[LINE.index("kernel i") :],
        LINE[LINE.index(", total") :],
        LINE.upper(),
        LINE.replace("_Z", "_z"),
        f"{LINE[: LINE.index('-bl')]}step 2\n{LINE[LINE.index('locks') :]}",
        f"kernel 1 - _Zstep 2\n{LINE[LINE.index('lv -') :]}",
        f"{LINE[: LINE.index('uctions 68')]}step 2\n{LINE[LINE.index('uctions 68') :]}",
    ],
)
def test_half_a_line_is_one_launch(tmp_path: Path, half: str, behind: str) -> None:
    """Also as the last one, without its opcodes."""
    first, last = read(tmp_path / "x", printed(("_Z1kv", A)) + half + "\n" + behind)
    assert (first.total, last.total, bool(first.gaps), bool(last.lost)) == (40, 0, True, True)
    assert last.lost[0] in last.gaps
    assert any(problem.severity == "warning" and problem.line for problem in last.problems)


def test_a_launch_that_is_lost_but_for_its_name_is_of_that_kernel(tmp_path: Path) -> None:
    torn = THREE.replace(LINE, LINE[: LINE.index("ead-")] + "loss 0.3").replace(
        "  EXIT = 4\n  HMMA.16816.F32 = 64\n", ""
    )
    found = read(tmp_path / "x", torn)
    assert [(counts.names.best, bool(counts.gaps)) for counts in found] == [
        ("_Z1kv", False),
        ("_Z1lv", True),
        ("_Z1mv", False),
    ]


def test_words_below_a_launch_without_a_total_are_no_opcodes(tmp_path: Path) -> None:
    text = printed(("_Z1kv", A)).replace("kernel instructions 40", "kernel instructions 4x0")
    [counts] = read(tmp_path / "x", text + CHATTER["sizes"](0))
    assert sums([counts]) == {"_Z1kv": A}
    assert [p.line for p in counts.problems if "left out" in p.message] == [n + text.count("\n") for n in (1, 2, 3)]
    assert [gap for gap in counts.gaps if "3 lines" in gap]


def test_sizes_below_a_total_are_no_opcodes(tmp_path: Path) -> None:
    """Of a tool that counts no opcodes."""
    text = printed(("_Z1kv", A)).replace("  EXIT = 8\n  FADD = 32\n", CHATTER["sizes"](0))
    [counts] = read(tmp_path / "x", text)
    assert sums([counts]) == {"_Z1kv": {"ALL INSTRUCTIONS": 40}}


@pytest.mark.parametrize("gone", [[0], [1], [0, 1]])
def test_a_number_left_out_is_a_launch_of_any_kernel(tmp_path: Path, gone: list[int]) -> None:
    heads = [match.start() for match in re.finditer("kernel [0-9]", THREE)]
    kept = [THREE[begin:end] for begin, end in zip(heads, [*heads[1:], None], strict=True)]
    found = read(tmp_path / "x", "".join(part for number, part in enumerate(kept) if number not in gone))
    assert found and all("not in the text" in counts.gaps[0] for counts in found)


def test_a_number_left_out_that_executed_nothing_is_no_gap(tmp_path: Path) -> None:
    text = printed(("_Z1kv", A), ("_Z1lv", B)).replace("kernel 1 ", "kernel 4 ")
    assert not any(counts.gaps for counts in read(tmp_path / "x", text))


@pytest.mark.parametrize("end", [108, 109])
def test_the_sum_at_the_end_is_compared(tmp_path: Path, end: int) -> None:
    text = printed(("_Z1kv", A), ("_Z1lv", B)) + f"Total app instructions: {end}\n"
    assert [bool(counts.gaps) for counts in read(tmp_path / "x", text)] == [end != 108] * 2


@pytest.mark.parametrize(
    "name", ["INSTR_BEGIN", "INSTR_END", "KERNEL_BEGIN", "KERNEL_END", "COUNT_WARP_LEVEL", "EXCLUDE_PRED_OFF"]
)
def test_a_setting_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    """Half of a pair was lost, and may have left instructions out; people leave out what does not matter to them."""
    text = re.sub(rf" *{name} = .*\n", "", printed(("_Z1kv", A)))
    [counts] = read(tmp_path / "x", text)
    assert [name in gap for gap in counts.gaps] == [True] * (name.endswith(("BEGIN", "END")))
    assert any(name in problem.message for problem in counts.problems)


@pytest.mark.parametrize(
    ("old", "new"), [("108\n  ", "108  "), ("= 32\nk", "= 32k"), ("108\n  EXIT = 4\n", "108\n  EXIT = 4  ")]
)
def test_lines_glued_together_are_read_where_the_total_proves_it(tmp_path: Path, old: str, new: str) -> None:
    found = read(tmp_path / "x", THREE.replace(old, new))
    right = sums(read(tmp_path / "y", THREE))
    assert (sums(found) == right) == (not any(counts.gaps for counts in found)) == (not new.endswith("4  "))


@pytest.mark.parametrize("end", ["", ", total instr", ", total instructions 1loss 0.3"])
def test_a_launchs_line_that_is_torn_behind_its_count_is_told(tmp_path: Path, end: str) -> None:
    """Its count and its opcodes are whole."""
    torn = THREE.replace(", total instructions 108", end or ",")
    found = read(tmp_path / "x", torn)
    assert sums(found) == sums(read(tmp_path / "y", THREE))
    line = torn[: torn.index("kernel 1")].count("\n") + 1
    assert [p.line for counts in found for p in counts.problems if p.severity == "warning"] == [line]


def test_two_launches_in_one_line(tmp_path: Path) -> None:
    text = "".join(
        line + "\n" for line in printed(("_Z1kv", A), ("_Z1lv", B)).splitlines() if " = " not in line or " - " in line
    )
    found = read(tmp_path / "x", text.replace("40\nkernel", "40kernel"))
    assert [(counts.names.best, counts.total) for counts in found] == [("_Z1kv", 40), ("_Z1lv", 68)]


@pytest.mark.parametrize("banner", [True, False])
def test_two_tools_in_one_text_are_two_sources(tmp_path: Path, banner: bool) -> None:
    """Totals of ``instr_count`` do not make the opcodes of ``opcode_hist`` incomplete, and are not added to them."""
    head = SETTINGS if banner else ""
    first = printed(("_Z1kv", A), ("_Z1lv", C), head=head)
    second = re.sub(r"(?m)^  [A-Z]\S* = \d+\n", "", first) + "Total app instructions: 44\n"
    for text in (first + second, second + first):
        found = read(tmp_path / "x", text)
        assert not any(counts.gaps for counts in found)
        kernels = mix(tmp_path / "x", arch="sm_90a").to_dict()["kernels"]
        assert isinstance(kernels, list)
        assert [(k["name"], k["counts"]["total"], k["tensor_core_active"]) for k in kernels] == [
            ("_Z1kv", 40, False),
            ("_Z1lv", 4, False),
        ]
