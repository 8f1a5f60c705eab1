"""The disassembler's own JSON is the oracle: opcodes, guards and counts per function, in every print mode.

The committed listings are compared with the committed JSON, which two versions of the tool printed: 13.5, and 12.8 for
the targets that 13 dropped. The tools of version 13, which are test dependencies, are run on the cubins too: each
in one mode, a few in all modes; ``make oracle`` runs all cubins in all modes. With ``SASSMIX_OLD_TOOLS``, a folder that
holds nvdisasm 12.8, that one is run on every cubin that it can read.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from sassmix.listing import Listing
from sassmix.parsing import parse
from sassmix.readers.nvdisasm_json import parse_json
from sassmix.testing.oracles import Code, code_of
from sassmix.tools import need_tools

FIXTURES = Path(__file__).parent.parent / "fixtures"
LISTINGS = sorted((FIXTURES / "listings").glob("*.sass"))
MODES = sorted((FIXTURES / "listings" / "modes").glob("*.sass"))
ALL_CUBINS = sorted((FIXTURES / "cubins").glob("*.cubin"))
DROPPED = re.compile(r"sm_(50|52|53|60|61|62|70|72|101a)\.")
UNKNOWN_TO_OLD = re.compile(r"sm_(88|103a|107a|110a|121a)\.")
CUBINS = [path for path in ALL_CUBINS if not DROPPED.search(path.name)]
OLD_TOOLS = os.environ.get("SASSMIX_OLD_TOOLS")
OLD_CUBINS = [path for path in ALL_CUBINS if OLD_TOOLS and not UNKNOWN_TO_OLD.search(path.name)]
#: The tool crashes on these when it prints JSON (relocations of separate compilation).
NO_JSON = frozenset(path.name for path in CUBINS if path.name.startswith("data-rdc"))
FLAGS: tuple[list[str], ...] = (
    ["-c"], [], ["-c", "-hex"], ["-hex"], ["-c", "-g"], ["-c", "-gi"], ["-c", "-gp"], ["-c", "-plr"],
    ["-c", "-plr", "-lrm", "narrow"], ["-c", "-plr", "-lrm", "count"], ["-c", "-sf"], ["-raw"], ["-c", "-raw"],
    ["-c", "-ndf"], ["-c", "-hex", "-gi"], ["cuobjdump"],
)  # fmt: skip
IN_ALL_MODES = ("switch-line.sm_75", "calls.sm_90a", "tcgen05.sm_100a", "blockscale.sm_120a")


def without_nops(code: Code) -> Code:
    """Without NOPs, which ``-plr`` does not print: those at the end, and in code that is not optimised others too."""
    return {name: [row for row in rows if row != ("", "NOP")] for name, rows in code.items()}


def unexpected(listing: Listing) -> list[str]:
    return [str(p) for p in listing.problems if "tool's message" not in p.message and "PTX member" not in p.message]


def run(tool: str, *arguments: str) -> str:
    command = [str(need_tools(tool, "the tests")[0].path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@cache
def oracle(cubin: Path) -> Code:
    listing = parse_json(run("nvdisasm", "-json", str(cubin)))
    assert not listing.problems
    return code_of(listing)


@pytest.mark.parametrize("path", sorted((FIXTURES / "json").glob("*.json")), ids=lambda p: p.stem)
def test_committed_listing_equals_committed_json(path: Path) -> None:
    by_json = parse_json(path.read_text())
    by_text = parse((FIXTURES / "listings" / f"{path.stem}.sass").read_text())
    assert unexpected(by_text) == unexpected(by_json) == []
    assert code_of(by_text) == code_of(by_json)
    assert {f.arch for f in by_text} == {f"sm_{path.stem.rpartition('.sm_')[2]}"} == {f.arch for f in by_json}


def test_both_versions_of_the_tool_are_among_the_committed_json() -> None:
    dropped = {path.stem for path in (FIXTURES / "json").glob("*.json") if DROPPED.search(path.name)}
    listed = {path.stem for path in LISTINGS if DROPPED.search(path.name) and not path.name.startswith("brief")}
    assert dropped and dropped >= listed, "every listing of 12.8 whose cubin is kept has its JSON"


@pytest.mark.parametrize("path", MODES, ids=lambda p: p.stem)
def test_every_print_mode_gives_the_same_code(path: Path) -> None:
    name, target = path.name.split(".")[:2]
    if target == "fatbin":
        wanted = None  # several architectures; compared by its functions below
    else:
        same = [p for p in MODES if p.name.startswith(f"{name}.{target}.")]
        reference = next((p for p in same if p.name.endswith(".c.sass")), same[0])
        wanted = code_of(parse(reference.read_text()))
    listing = parse(path.read_text())
    assert unexpected(listing) == []
    assert all(not f.damage and f.missing == 0 for f in listing)
    if wanted is None:
        assert len(listing.functions) == len({(f.name, f.arch) for f in listing}) > 2
        return
    found = code_of(listing)
    if "plr" in path.name or "lrm" in path.name:
        found, wanted = without_nops(found), without_nops(wanted)
    assert found == wanted


@pytest.mark.parametrize("path", LISTINGS + MODES, ids=lambda p: p.stem)
def test_every_opcode_of_the_fixtures_is_classified(path: Path) -> None:
    from sassmix import explain

    listing = parse(path.read_text())
    unknown = {(i.mnemonic, f.arch) for f in listing for i in f if not (f.arch and explain(i.mnemonic, f.arch).known)}
    assert unknown == set()


def every_mode() -> list[tuple[Path, list[str]]]:
    if os.environ.get("SASSMIX_ALL_MODES"):
        pairs = [(cubin, flags) for cubin in CUBINS for flags in FLAGS]
        return [(cubin, flags) for cubin, flags in pairs if not ("abi7" in cubin.name and "-plr" in flags)]  # it fails
    few = [cubin for cubin in CUBINS if cubin.name.removesuffix(".cubin") in IN_ALL_MODES]
    rest = [cubin for cubin in CUBINS if cubin not in few]
    return [(cubin, flags) for cubin in few for flags in FLAGS] + [(cubin, ["-c"]) for cubin in rest]


@pytest.mark.parametrize(("cubin", "flags"), every_mode(), ids=lambda v: v.stem if isinstance(v, Path) else " ".join(v))
def test_the_real_tools(cubin: Path, flags: list[str]) -> None:
    text = run("cuobjdump", "-sass", str(cubin)) if flags == ["cuobjdump"] else run("nvdisasm", *flags, str(cubin))
    listing = parse(text)
    assert unexpected(listing) == []
    assert all(not f.damage and (f.missing == 0 or "-plr" in flags) for f in listing)
    if cubin.name in NO_JSON:
        return
    found, wanted = code_of(listing), oracle(cubin)
    if "-plr" in flags:
        assert_left_out_is_missed(listing, found, wanted)
    else:
        assert found == wanted


@pytest.mark.skipif(not OLD_TOOLS, reason="SASSMIX_OLD_TOOLS names no folder with nvdisasm 12.8")
@pytest.mark.parametrize("cubin", OLD_CUBINS, ids=lambda p: p.stem)
def test_the_older_tool(cubin: Path) -> None:
    tool = str(Path(OLD_TOOLS or "") / "nvdisasm")
    printed = [
        subprocess.run([tool, mode, str(cubin)], capture_output=True, text=True, check=False)
        for mode in ("-c", "-json")
    ]
    listing = parse(printed[0].stdout)
    assert printed[0].returncode == 0 and unexpected(listing) == [] and len(listing.functions) > 0
    if cubin.name in NO_JSON or printed[1].returncode:
        return
    # What it cannot decode has no opcode in its JSON, and is left out of its text: there the gap is seen.
    wanted = code_of(parse_json(printed[1].stdout))
    assert sum(f.missing for f in listing) == sum(rows.count(("", "?")) for rows in wanted.values())
    assert code_of(listing) == {name: [row for row in rows if row != ("", "?")] for name, rows in wanted.items()}


def assert_left_out_is_missed(listing: Listing, found: Code, wanted: Code) -> None:
    """``-plr`` leaves out NOPs and what no path reaches: nothing else changes, and the gaps are seen."""
    for name, rows in without_nops(wanted).items():
        printed = without_nops(found)[name]
        rest = iter(rows)
        assert all(row in rest for row in printed), "in the same order"
        left_out = len(rows) - len(printed)
        assert sum(f.missing for f in listing if f.name == name) >= left_out


@pytest.mark.parametrize(
    ("printed", "guard", "operands"),
    [
        ('{"predicate":"@!P0","opcode":"EXIT"}', "@!P0", ""),
        ('{"predicate":"PR","opcode":"P2R","operands":"R3,RZ,0x1"}', "", "R3,RZ,0x1"),
        ('{"predicate":"@!P4","predicate":"PR","opcode":"P2R","operands":"R3,@!P4,RZ,0xf"}', "@!P4", "R3,RZ,0xf"),
        ('{"opcode":"LDG.E","operands":"R3desc,[UR4][R2.64]"}', "", "R3,desc[UR4][R2.64]"),
        ('{"opcode":"LDGSTS.E","operands":"[R9]desc[UR4][R2.64],P0"}', "", "[R9],desc[UR4][R2.64],P0"),
        ('{"opcode":"UTCCP.T.S","operands":"tmem[UR4],gdesc[UR6]"}', "", "tmem[UR4],gdesc[UR6]"),
        ('{"opcode":"CALL.REL.NOINC","operands":"$k$_Z3mixii"}', "", "`($k$_Z3mixii)"),
        ('{"opcode":"BRX","operands":"R2,-0xa0"}', "", "R2,-0xa0"),
    ],
)
def test_faults_of_the_tool_in_its_json_are_mended(printed: str, guard: str, operands: str) -> None:
    head = '{"ELF":{},"SM":{"version":{"major":9,"minor":0}}}'
    listing = parse_json(f'[{head},[{{"function-name":"k","start":0,"length":16,"sass-instructions":[{printed}]}}]]')
    assert listing.problems == []
    assert [(i.guard, i.operand_text) for i in listing.functions[0]] == [(guard, operands)]
