"""The documentation against the code: what is named is there, what is there is named, what is printed is run."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from sassmix import arch, check, cli, evidence, grammar, hookspecs, matching, report, tally
from sassmix.counts import KernelNames
from sassmix.plugins import default_plugins, hook_names

ROOT = Path(__file__).parent.parent
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^<!-- run -->\n```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]\n]+\]\(([^)\s]+)\)")
#: Every kind of input that a report may name.
KINDS = tuple(
    """nvdisasm-text nvdisasm-json cuobjdump-sass annotated-listing cubin fatbin elf cutracer-hist cutracer-trace
    cutracer-launches ncu-source ncu-raw nvbit-hist""".split()
)
_COUNTED = ("fixtures/counts/ncu/vecadd.source.csv", "fixtures/counts/ncu/vecadd_op.raw.csv")
_KIND = re.compile(r'\b(?:kind(?:: [^=\n]+)? = |kind=)"([\w-]+)"')
#: Words for what limits a kernel; the documentation may only explain why no report uses them.
_LIMIT = re.compile(r"bottleneck|(?:memory|compute|latency|bandwidth)[- ]bound", re.IGNORECASE)
_MACHINE_PATH = re.compile(r"(?<![\w.>*])/(?:work|tmp|root|home|mnt|opt|Users)\b")


def text(name: str) -> str:
    """A document."""
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The code blocks of a document in one language."""
    return [body for of, body in _FENCE.findall(text(name)) if of == language]


def named_block(name: str, file: str) -> str:
    """The code block that a document introduces by the name of a file."""
    found = re.findall(rf"`{re.escape(file)}`[^\n]*:\n\n```\w+\n(.*?)^```$", text(name), re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{name}: {len(found)} blocks for {file}"
    return str(found[0])


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a document."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(path: Path) -> list[tuple[str, str]]:
    """The commands of the console blocks that are marked to be run, each with the output that the document shows."""
    found = []
    for body in _CONSOLE.findall(path.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def shown(pattern: str, output: str) -> bool:
    """Whether output is what a document shows, ``...`` standing for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", pattern, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*".join(parts), output) is not None


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on ``sys.path``; plugins in it are found by what follows, and forgotten at the end."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("SASSMIX_PLUGINS", raising=False)
    default_plugins.cache_clear()
    yield tmp_path
    default_plugins.cache_clear()
    sys.modules.pop("chip999", None)


def install(folder: Path, pyproject: str) -> None:
    """What an installer writes for a package: its metadata and its entry points."""
    project = tomllib.loads(pyproject)["project"]
    name, version = project.get("name", "chip999"), project.get("version", "1.0")
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    points = "".join(f"{key} = {value}\n" for key, value in project["entry-points"]["sassmix"].items())
    (info / "entry_points.txt").write_text(f"[sassmix]\n{points}", encoding="utf-8")


@pytest.mark.parametrize("hook", hook_names())
def test_every_hook_is_documented_with_its_signature(hook: str) -> None:
    signature = str(inspect.signature(getattr(hookspecs, hook))).replace("'", "")
    assert f"def {hook}{signature}\n" in text("docs/hooks.md")


def test_no_other_hook_is_documented() -> None:
    assert set(re.findall(r"^def (sassmix_\w+)", text("docs/hooks.md"), re.MULTILINE)) == set(hook_names())


@pytest.mark.parametrize(
    ("document", "values"),
    [
        ("docs/opcode-tables.md", arch.CATEGORIES),
        ("docs/opcode-tables.md", arch.DATAPATHS),
        ("docs/opcode-tables.md", arch.SPACES),
        ("docs/opcode-tables.md", arch.PIPES),
        ("docs/opcode-tables.md", arch.KNOWLEDGE),
        ("docs/opcode-tables.md", [field.name for field in fields(arch.Opcode)]),
        ("docs/glossary.md", arch.FACETS),
        ("README.md", (*arch.FACETS, "opcode")),
        ("README.md", cli.FORMATS),
        ("docs/report.md", evidence.CHECKS),
        ("docs/report.md", ("pass", "warn", "fail", "low", "medium", "high", "kernel", "device", "helper")),
        ("docs/report.md", KINDS),
        ("docs/report.md", (*report.UNITS.values(), "instructions in the listing", "static", "dynamic")),
        ("docs/counts.md", report.UNITS),
        ("README.md", report.UNITS),
        ("README.md", evidence.CHECKS),
        ("docs/report.md", {*tally.ABSENT.values(), tally.UNRESOLVED, tally.UNCLASSIFIED}),
        ("docs/report.md", [field.name for field in fields(arch.OpcodeInfo)]),
        ("docs/opcode-tables.md", [field.name for field in fields(arch.Architecture) if field.name != "name"]),
        ("docs/dependencies.md", [*PYPROJECT["project"]["optional-dependencies"]]),
    ],
)
def test_every_name_of_the_code_is_in_the_docs(document: str, values: list[str]) -> None:
    missing = [value for value in values if f"`{value}`" not in text(document)]
    assert not missing, f"{document} does not name {missing}"


def test_every_category_has_a_row() -> None:
    section = text("docs/opcode-tables.md").partition("\n## category\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)) == arch.CATEGORIES


def test_every_data_type_and_heading_of_the_tables_is_in_the_docs() -> None:
    tables = default_plugins().registry.tables()
    rows = [row for table in tables for row in table.opcodes.values()]
    values = {row.dtype for row in rows} | {row.group for row in rows}
    values |= {rule.facets.get("dtype", "") for table in tables for rule in table.rules}
    missing = sorted(value for value in values if value and f"`{value}`" not in text("docs/opcode-tables.md"))
    assert not missing


def test_every_kind_of_operand_is_in_the_glossary() -> None:
    kinds = re.findall(r"``(\w+)``", (inspect.getdoc(grammar.Operand) or "").partition("``text``")[0])
    assert {"register", "undefined"} <= set(kinds)
    assert not [kind for kind in kinds if kind != "kind" and f"| `{kind}` |" not in text("docs/glossary.md")]


def test_every_field_of_a_report_is_documented() -> None:
    from sassmix.analysis import mix

    def names(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, item in value.items():
                yield str(key)
                if key not in {"plugins", "lines", "forms"}:
                    yield from names(item)
        elif isinstance(value, list):
            for item in value:
                yield from names(item)

    data = mix([ROOT / "fixtures/listings/saxpy.sm_90a.sass"], arch="sm_75").to_dict()
    missing = sorted({name for name in names(data) if f"`{name}`" not in text("docs/report.md")})
    assert not missing


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input_is_documented(kind: str) -> None:
    assert f"`{kind}`" in text("docs/counts.md") + text("docs/listings.md")


def test_no_other_kind_is_read() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "sassmix").rglob("*.py")]
    assert all(any(f'"{kind}"' in source for source in sources) for kind in KINDS)
    found = {kind for source in sources for kind in _KIND.findall(source)}
    assert {"cutracer-trace", "ncu-source"} <= found <= set(KINDS)


@pytest.mark.parametrize("document", ["docs/report.md", "docs/counts.md"])
def test_every_way_of_matching_is_documented(document: str) -> None:
    source = inspect.getsource(matching)
    ways = {*re.findall(r'yield "([\w-]+)"', source), *re.findall(r'Match\("([\w-]+)"', source), *matching.CERTAIN}
    assert {"exact", "only-function", "none"} <= ways
    section = text(document).partition("\n## " + ("`kernels`" if "report" in document else "Which function") + "\n")[2]
    assert set(re.findall(r"^\| `([\w-]+)` \|", section.partition("\n## ")[0], re.MULTILINE)) >= ways


def test_what_the_docs_say_is_never_matched_is_never_matched() -> None:
    from sassmix.parsing import parse

    def known(*names: str) -> matching.Match:
        functions = [f for n in names[1:] for f in parse(f".text.{n}:\n /*0000*/ EXIT ;\n").functions]
        assert len(functions) == len(names) - 1
        return matching.match(KernelNames(file=names[0]), None, functions)

    assert known("_Z6vecAddPf", "_Z6vecAddPf").how == "exact"
    assert known("_Z6vecaddPf", "_Z6vecAddPf").how == "none"
    assert known("add", "vecadd").how == "none"
    assert known("gemm", "_Z4gemmIfEvPT_").how == "demangled"
    assert known("gemm", "_Z4gemmIfEvPT_", "_Z4gemmIdEvPT_").candidates == ("_Z4gemmIfEvPT_", "_Z4gemmIdEvPT_")


def test_every_field_of_a_dynamic_report_and_of_check_is_documented() -> None:
    from sassmix.analysis import mix

    report = mix([ROOT / name for name in (*_COUNTED, "fixtures/counts/ncu/vecadd.cubin")])
    kernels = report.to_dict()["kernels"]
    assert {kernel["basis"] for kernel in kernels} == {"dynamic"}
    found = check.check(report)
    names = {*kernels[0], *kernels[0]["listing"], *found, *found["kernels"][0], *found["kernels"][0]["evidence"][0]}
    assert not sorted(name for name in names if f"`{name}`" not in text("docs/report.md"))


def test_check_asks_what_the_docs_say_in_their_order() -> None:
    section = text("docs/report.md").partition("\n## `check`\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+\?) \|$", section, re.MULTILINE)
    assert rows == [(name, check.QUESTIONS[name]) for name in evidence.CHECKS]


@pytest.mark.parametrize("basis", ["static", "dynamic"])
def test_every_check_has_its_row_for_each_basis(basis: str) -> None:
    table = text("docs/report.md").partition(f"\nIn a {basis} report:\n")[2].lstrip().partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(evidence.CHECKS)


def test_every_module_has_its_place_in_the_design() -> None:
    modules = [path.name for path in (ROOT / "sassmix").glob("*.py") if path.name != "__init__.py"]
    assert not sorted(name for name in modules if f"`{name}`" not in text("docs/design.md"))


def test_no_document_names_what_limits_a_kernel() -> None:
    assert not [path.name for path in DOCS if _LIMIT.search(path.read_text(encoding="utf-8"))]


def test_every_dependency_has_its_line() -> None:
    project = PYPROJECT["project"]
    wanted = [*project["dependencies"], *(item for group in PYPROJECT["dependency-groups"].values() for item in group)]
    wanted += [item for extra in project["optional-dependencies"].values() for item in extra]
    rows = set(re.findall(r"^\| `([\w-]+)` \| \S", text("docs/dependencies.md"), re.MULTILINE))
    assert rows == {re.split(r"[<>=!~ \[]", item)[0] for item in wanted}


def test_readme_names_every_target_and_its_plugin() -> None:
    lines = text("README.md").splitlines()
    for target, table in default_plugins().registry:
        plain = target.rstrip("af")
        row = [ln for ln in lines if ln.startswith("| ") and re.search(rf"\b{plain}\b", ln) and "`nvidia-" in ln]
        assert len(row) == 1, f"{target}: {len(row)} rows"
        assert f"`{table.origin.plugin}`" in row[0]
        assert row[0].startswith(f"| {table.architecture.family} |")
        assert not table.matrix_opcodes or all(opcode in row[0] for opcode in table.matrix_opcodes), target


def test_readme_starts_with_the_two_commands_and_stays_short() -> None:
    lines = text("README.md").splitlines()
    assert len(lines) < 200
    assert any(line.startswith("make demo") for line in lines[:10])
    assert any(line.startswith("make test") for line in lines[:10])


def test_the_makefile_has_every_target_that_is_named_and_its_files() -> None:
    makefile = text("Makefile")
    for path in DOCS:
        for target in re.findall(r"`make (?:PYTHON=\S+ )?([a-z ]+)`", path.read_text(encoding="utf-8")):
            assert all(f"\n{word}:" in makefile for word in target.split()), f"{path.name}: make {target}"
    for file in re.findall(r"fixtures/\S+", makefile):
        assert (ROOT / file).exists(), f"Makefile: {file}"


@pytest.mark.parametrize("document", ["README.md", "docs/listings.md", "docs/counts.md"])
def test_python_examples_run_as_they_stand(document: str) -> None:
    examples = [body for body in blocks(document, "python") if "hookimpl" not in body]
    assert examples
    for body in examples:
        done = subprocess.run([sys.executable, "-c", body], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        for line, said in re.findall(r"^(print\(.*?)  # (.*)$", body, re.MULTILINE):
            assert said in done.stdout or said.startswith("a "), line


def test_readme_plugin_works_as_it_stands(installed: Path) -> None:
    (installed / "chip999.py").write_text(named_block("README.md", "chip999.py"), encoding="utf-8")
    points = next(body for body in blocks("README.md", "toml") if "entry-points" in body)
    install(installed, f"[project]\n{points}")
    from sassmix.api import explain

    assert default_plugins().errors == []
    assert explain("XGMMA", arch="sm_999").plugin == "chip999"
    assert explain("XGMMA", arch="sm_999").tensor
    assert not explain("HGMMA", arch="sm_999").known
    assert explain("HMMA", arch="sm_999").tensor


def test_plugin_of_the_tutorial_works_as_it_stands(installed: Path) -> None:
    for file in ("chip999.py", "chip999.csv"):
        (installed / file).write_text(named_block("docs/tutorial.md", file), encoding="utf-8")
    pyproject = named_block("docs/tutorial.md", "pyproject.toml")
    install(installed, pyproject)
    carried = tomllib.loads(pyproject)["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert carried == ["chip999.py", "chip999.csv"]
    assert default_plugins().errors == []
    assert default_plugins().origins["chip999"].distribution == "sassmix-chip999"
    example = next(body for body in blocks("docs/tutorial.md", "python") if "hookimpl" not in body)
    exec(compile(example, "docs/tutorial.md", "exec"), {})
    assert "sm_999" in [target for target, _ in default_plugins().registry]


def test_plugin_of_the_tutorial_is_as_short_as_it_says() -> None:
    files = [named_block("docs/tutorial.md", file) for file in ("chip999.py", "chip999.csv")]
    assert len([line for file in files for line in file.splitlines() if line.strip()]) == 15


@pytest.mark.parametrize(("path", "number"), [(path, n) for path in DOCS for n in range(len(commands(path)))])
def test_commands_print_what_is_shown(
    path: Path, number: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    known = commands(path)
    command, output = known[number]
    status_only = command == "echo $?"
    status = cli.main(shlex.split(known[number - 1][0] if status_only else command)[1:])
    printed = capsys.readouterr()
    if status_only:
        assert f"{status}\n" == output
    else:
        assert command.startswith("sassmix ")
        assert shown(output, printed.out + printed.err), f"$ {command}\n{printed.out}{printed.err}"


def test_every_console_block_is_run() -> None:
    for path in DOCS:
        assert len(blocks(str(path.relative_to(ROOT)), "console")) == len(
            _CONSOLE.findall(path.read_text(encoding="utf-8"))
        ), f"{path.name}: put <!-- run --> in front of a console block"


#: Bounds that the first table of docs/limits.md has, by what they bound.
_NAMED_IN_WORDS = {
    *("faults.py _MOST_PROBLEMS", "parsing.py _LONGEST", "_csv_lines.py _LONGEST", "_trace_lines.py _MOST_LINES"),
    *("elf.py _LONGEST_NOTE", "library.py _LONGEST_NAME"),
    *(f"labels.py {name}" for name in ("_LONGEST", "_MOST_WRITTEN", "_LONGEST_DECLARATION")),
}


def test_every_bound_is_documented() -> None:
    bounds: dict[str, list[str]] = {}
    for path in sorted((ROOT / "sassmix").rglob("*.py")):
        for name in re.findall(
            r"^(?:\w+, )?(_(?:MOST|LONGEST)\w*)\b.* = ", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            if f"{path.name} {name}" not in _NAMED_IN_WORDS:
                bounds.setdefault(path.name, []).append(f"`{name}`")
    rows = re.findall(r"\| `(\w+\.py)` ([^|]*) \|$", text("docs/limits.md"), re.MULTILINE)
    told: dict[str, list[str]] = {}
    for file, names in rows:
        told.setdefault(file, []).extend(names.split(", "))
    assert {file: sorted(names) for file, names in told.items()} == {f: sorted(names) for f, names in bounds.items()}


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", path.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{path.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{path.name}: {link}"


def test_every_document_is_linked_from_the_readme() -> None:
    links = {link.partition("#")[0] for link in _LINK.findall(text("README.md"))}
    assert {str(path.relative_to(ROOT)) for path in DOCS[1:]} <= links


@pytest.mark.parametrize(
    "path", [*DOCS, ROOT / "fixtures" / "README.md"], ids=lambda path: path.parent.name + path.name
)
def test_no_path_of_a_machine(path: Path) -> None:
    found = _MACHINE_PATH.findall(path.read_text(encoding="utf-8"))
    assert not found


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    named = re.findall(
        r"`((?:fixtures|grammars|tests|arch_plugins|sassmix)/[\w./-]+)`", path.read_text(encoding="utf-8")
    )
    assert not [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
