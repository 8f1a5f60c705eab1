"""Opcode tables: every way to get one wrong is an error that names file, row and remedy; a good one is read as is."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix.arch import CATEGORIES, DATAPATHS, KNOWLEDGE, PIPES, SPACES, Opcode, load_opcodes
from sassmix.errors import PluginError
from tests.conftest import ROOT

COLUMNS = [field.name for field in fields(Opcode)]
GOOD = {
    "opcode": "HMMA",
    "category": "tensor",
    "group": "Floating Point",
    "datapath": "vector",
    "space": "",
    "dtype": "f16",
    "pipe": "tensor",
    "knowledge": "documented",
    "source": "a manual, page 3",
    "description": "a matrix multiply",
}
Save = Callable[..., Path]


def table(rows: Sequence[dict[str, str]], columns: Sequence[str] = COLUMNS, end: str = "\n") -> str:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, extrasaction="ignore", lineterminator=end)
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def refused(path: Path, *words: str) -> str:
    with pytest.raises(PluginError) as caught:
        load_opcodes(path)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    return message


#: Names as opcodes have them; texts of any other kind, line ends included.
names = st.from_regex(r"[A-Z][A-Z0-9_]{0,9}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\r"), max_size=12)
opcodes = st.builds(
    Opcode,
    opcode=names,
    category=st.sampled_from(sorted(CATEGORIES)),
    group=texts,
    datapath=st.sampled_from(sorted(DATAPATHS)),
    space=st.sampled_from(["", *sorted(SPACES)]),
    dtype=texts,
    pipe=st.sampled_from(["", *sorted(PIPES)]),
    knowledge=st.sampled_from(sorted(KNOWLEDGE)),
    source=texts.filter(lambda text: bool(text.strip())),
    description=texts,
)


@given(rows=st.lists(opcodes, unique_by=lambda row: row.opcode, max_size=6), columns=st.permutations(COLUMNS))
def test_a_table_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Opcode], columns: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.csv"
    path.write_text(table([asdict(row) for row in rows], columns, "\r\n"), encoding="utf-8", newline="")
    assert load_opcodes(path) == tuple(rows)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_system_and_blank_lines_are_read(save: Save, end: str) -> None:
    text = table([GOOD, {**GOOD, "opcode": "IMMA"}]).replace("\n", end) + end
    assert [row.opcode for row in load_opcodes(save(text, "t.csv"))] == ["HMMA", "IMMA"]


@pytest.mark.parametrize("column", ["group", "datapath", "space", "dtype", "pipe", "description"])
def test_a_column_that_has_a_default_may_be_left_out(save: Save, column: str) -> None:
    (row,) = load_opcodes(save(table([GOOD], [c for c in COLUMNS if c != column]), "t.csv"))
    default = "vector" if column == "datapath" else ""
    assert asdict(row) == {**GOOD, column: default}


@pytest.mark.parametrize("column", ["opcode", "category", "knowledge", "source"])
def test_a_missing_column_is_named(save: Save, column: str) -> None:
    refused(
        save(table([GOOD], [c for c in COLUMNS if c != column]), "t.csv"),
        "t.csv, row 1: ",
        f"the column '{column}' is missing; add it",
    )


@pytest.mark.parametrize("column", COLUMNS)
def test_a_misspelt_column_has_near_names(save: Save, column: str) -> None:
    wrong = column[:-2] + column[-1] + column[-2]
    text = table([GOOD]).replace(column, wrong, 1)
    refused(save(text, "t.csv"), "t.csv", f"'{wrong}'", f"did you mean {column}")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_another_separator_is_an_error(save: Save, separator: str) -> None:
    refused(save(table([GOOD]).replace(",", separator), "t.csv"), "t.csv", "no column", "separate by commas")


def test_a_byte_order_mark_is_an_error_that_says_so(save: Save) -> None:
    refused(save("\ufeff" + table([GOOD]), "t.csv"), "t.csv, row 1: a byte-order mark", "save the table as utf-8")


@pytest.mark.parametrize("column", [*COLUMNS])
def test_a_nul_character_is_an_error_wherever_it_stands(save: Save, column: str) -> None:
    rows = [GOOD, {**GOOD, "opcode": "IMMA"}]
    rows[1] = {**rows[1], column: rows[1][column] + "\0"}
    refused(save(table(rows), "t.csv"), "t.csv, row 3: holds a NUL character", "save the table as utf-8")


def test_a_row_knows_its_place_and_is_equal_to_one_that_stands_elsewhere(save: Save) -> None:
    first, second = load_opcodes(save(table([GOOD, {**GOOD, "opcode": "IMMA", "source": "a\nb"}]), "t.csv"))
    assert (first.place, second.place) == ("t.csv, row 2", "t.csv, row 3")
    assert first == Opcode(**GOOD) and Opcode(**GOOD).place == "" and "place" not in repr(first)


@pytest.mark.parametrize(
    ("column", "wrong", "meant"),
    [
        ("category", "float.fp46", "float.fp64"),
        ("category", "Tensor", "tensor"),
        ("datapath", "vectro", "vector"),
        ("space", "globl", "global"),
        ("pipe", "tensr", "tensor"),
        ("knowledge", "obsevred", "observed"),
    ],
)
@pytest.mark.parametrize("number", [2, 4])
def test_a_wrong_facet_has_near_values(save: Save, column: str, wrong: str, meant: str, number: int) -> None:
    rows = [{**GOOD, "opcode": f"X{n}"} for n in range(2, 6)]
    rows[number - 2][column] = wrong
    where = (f"t.csv, row {number}", f"opcode X{number}", f"{column} '{wrong}'", f"did you mean {meant}")
    refused(save(table(rows), "t.csv"), *where)


@pytest.mark.parametrize("column", ["category", "datapath", "knowledge"])
def test_a_facet_that_every_row_needs_may_not_be_empty(save: Save, column: str) -> None:
    refused(save(table([{**GOOD, column: ""}]), "t.csv"), "t.csv, row 2", f"{column} ''")


@pytest.mark.parametrize("source", ["", "   ", "\n"])
def test_a_row_says_where_its_facts_come_from(save: Save, source: str) -> None:
    refused(save(table([{**GOOD, "source": source}]), "t.csv"), "t.csv, row ", "HMMA", "source is missing", "say where")


@pytest.mark.parametrize("category", ["tensor", "sync"])
def test_an_opcode_stands_in_one_row(save: Save, category: str) -> None:
    rows = [GOOD, {**GOOD, "opcode": "IMMA"}, {**GOOD, "category": category}]
    refused(save(table(rows), "t.csv"), "t.csv, row 4", "HMMA stands in row 2 already")


@pytest.mark.parametrize(
    "line", ["HMMA,tensor", "HMMA,tensor,,vector,,,,documented,a manual, page 3,text", "A" + "," * 40]
)
def test_a_row_has_a_cell_for_each_column(save: Save, line: str) -> None:
    text = table([{**GOOD, "opcode": "IMMA"}]) + line + "\n"
    refused(save(text, "t.csv"), "t.csv, row 3", "as many cells as the header", "quote a cell that holds a comma")


@pytest.mark.parametrize("line", ['"HMMA"x,tensor', '"HMMA,tensor', '"HMMA,tensor\nIMMA,tensor\n'])
def test_wrong_quotes_are_an_error_of_the_row_where_they_start(save: Save, line: str) -> None:
    first = {**GOOD, "opcode": "IMMA", "source": "two\nlines"}
    refused(save(table([first]) + line + "\n", "t.csv"), "t.csv, row 4: ", "quote a cell as a whole")


def test_a_quoted_cell_may_hold_what_it_likes(save: Save) -> None:
    (row,) = load_opcodes(save(table([{**GOOD, "source": 'a "b", c\nd'}]), "t.csv"))
    assert row.source == 'a "b", c\nd'


def test_a_row_behind_a_cell_of_two_lines_has_the_number_of_its_line(save: Save) -> None:
    rows = [{**GOOD, "source": "two\nlines"}, {**GOOD, "opcode": "IMMA", "pipe": "no"}]
    refused(save(table(rows), "t.csv"), "t.csv, row 4")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (table([GOOD]).encode("utf-16"), 1),
        (b"opcode,\xff\n", 1),
        (b"opcode,category\n\xe9,a\n", 2),
        (table([GOOD], end="\r").encode() + b"\r\n\xe9", 4),
    ],
)
def test_other_encodings_are_an_error(save: Save, text: bytes, number: int) -> None:
    refused(save(text, "t.csv"), f"t.csv, row {number}: ", "save the table as utf-8")


@pytest.mark.parametrize("text", ["", "\n", "\r\n\n"])
def test_a_table_without_a_row_is_an_error_that_says_what_the_first_one_holds(save: Save, text: str) -> None:
    refused(save(text, "t.csv"), "t.csv holds no row", ",".join(COLUMNS))


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_that_stands_twice_is_an_error(save: Save, column: str) -> None:
    refused(save(table([GOOD], [*COLUMNS, column]), "t.csv"), "t.csv, row 1: ", f"'{column}' stands twice")


@pytest.mark.parametrize(
    "opcode", ["", " ", "hmma", "HMMA.16816", " HMMA", "HMMA ", "HMMA\n", "1HMMA", "H-MMA", "ÄMMA"]
)
def test_an_opcode_that_matches_no_instruction_is_an_error(save: Save, opcode: str) -> None:
    refused(save(table([{**GOOD, "opcode": "IMMA"}, {**GOOD, "opcode": opcode}]), "t.csv"), "t.csv, row 3: ", "as HMMA")


@given(opcode=texts | names)
def test_an_opcode_is_a_base_mnemonic_and_nothing_else(opcode: str) -> None:
    row = {**GOOD, "opcode": opcode}
    if re.fullmatch("[A-Z_][A-Z0-9_]*", opcode):
        assert Opcode(**row).opcode == opcode
    else:
        with pytest.raises(PluginError, match="base mnemonic"):
            Opcode(**row)


@given(data=st.data())
def test_any_file_is_a_table_or_an_error_that_names_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    good = table([GOOD, {**GOOD, "opcode": "IMMA"}]).encode()
    start, end = (data.draw(st.integers(0, len(good))) for _ in range(2))
    odd = st.binary(max_size=20) | st.sampled_from([b'"', b",", b"\n", b"\r", b"\0", b"\xef\xbb\xbf", b"a" * 200_000])
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(good[:start] + data.draw(odd) + good[end:])
    try:
        rows = load_opcodes(path)
    except PluginError as error:
        assert re.match(r"fuzz\.csv(, row \d+: | holds no row; )", error.message) and "; " in error.message, (
            error.message
        )
    else:
        assert all(re.fullmatch(r"fuzz\.csv, row \d+", row.place) for row in rows)


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    refused(tmp_path / "none.csv", "none.csv cannot be read", "No such file", "is it packaged?")
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "folder.csv cannot be read")


def test_the_table_lies_beside_the_module(save: Save, tmp_path: Path) -> None:
    save(table([GOOD]), "chip.csv")
    save(table([{**GOOD, "opcode": "IMMA"}]), "other.csv")
    assert [row.opcode for row in load_opcodes(str(tmp_path / "chip.py"))] == ["HMMA"]
    assert [row.opcode for row in load_opcodes(tmp_path / "chip.py", "other.csv")] == ["IMMA"]
    assert [row.opcode for row in load_opcodes(tmp_path / "other.csv")] == ["IMMA"]


@pytest.mark.parametrize("path", sorted((ROOT / "arch_plugins").glob("*.csv")), ids=lambda path: path.stem)
def test_every_row_of_the_own_tables_is_loaded(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [asdict(row) for row in load_opcodes(path)] == rows


def test_the_examples_of_each_level_of_knowledge_are_rows_of_that_level() -> None:
    section = (ROOT / "docs/opcode-tables.md").read_text(encoding="utf-8").partition("\n## knowledge\n")[2]
    decisions = re.findall(r"^\| [^|]+\? \| `(\w+)` \| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
    assert {level for level, _ in decisions} == KNOWLEDGE
    for level, examples in decisions:
        named = re.findall(r"`(\w+)` in `([\w-]+\.csv)`", examples)
        assert named
        for opcode, file in named:
            rows = {row.opcode: row for row in load_opcodes(ROOT / "arch_plugins" / file)}
            assert rows[opcode].knowledge == level, f"{opcode} in {file}"
