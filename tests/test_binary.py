"""Binary inputs: the real tools of the installed packages, and scripts in their place for all that goes wrong."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import sassmix
from sassmix import tools
from sassmix.errors import InputError, SassmixError, ToolError
from sassmix.listing import Function, Listing
from sassmix.parsing import parse
from sassmix.readers import binary, library, open_input
from sassmix.readers.elf import open_elf
from sassmix.tools import ToolTimeout, find_tools

FIXTURES = Path(__file__).parent.parent / "fixtures"
CUBIN = FIXTURES / "cubins" / "saxpy.sm_90a.cubin"
FATBIN = FIXTURES / "binaries" / "saxpy.fatbin"
LIBRARY = FIXTURES / "binaries" / "libsaxpy.so"
CUBINS = sorted((FIXTURES / "cubins").glob("*.cubin"))
REAL = {name: find_tools(name)[0].path for name in ("nvdisasm", "cuobjdump")}
LISTING = "\t.target\tsm_90a\n\n.text.k:\n        /*0000*/                   EXIT ;\n"
# Every architecture, ABI and shape of a cubin; the other sources only differ in their instructions.
VARIED = [
    path for path in CUBINS if path.name.startswith(("saxpy", "calls", "switch", "data-rdc", "names", "oddnames"))
]
HOSTILE = ["-o x", "a b\nc", 'q"$(touch pwned)"', "comma,name.so", "-xelf", "ü.cubin", "the-file.1.sm_90a.cubin"]
WAIT = 30.0


@pytest.fixture
def no_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No tool is installed anywhere; a folder `cuda/bin` is what CUDA_HOME points to."""

    def none(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    folder = tmp_path / "cuda" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr(metadata, "distribution", none)
    monkeypatch.setenv("CUDA_HOME", str(folder.parent))
    for name in ("CUDA_PATH", "NVDISASM_PATH", tools.TIMEOUT_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    return folder


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder for temporary files; a test that leaves something there fails."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


def fake(folder: Path, script: str, name: str = "nvdisasm", version: str = "99.1.2") -> Path:
    """A tool written in Python; `script` is what it does for anything but --version."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    header = f"#!{sys.executable}\nimport os, signal, sys, time\nif '--version' in sys.argv:\n"
    path.write_text(f"{header}    sys.exit(print('Cuda compilation tools, release 99.1, V{version}'))\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def parts(path: Path) -> Iterator[Listing]:
    """The listings of a file, one after the other."""
    for part in open_input(path).parts():
        assert isinstance(part, Listing)
        yield part


def read(path: Path) -> list[Listing]:
    """All listings of a file, its kind decided by content."""
    return list(parts(path))


def shape(function: Function) -> tuple[object, ...]:
    """Everything a function says of itself."""
    rows = [(i.offset, i.guard, i.mnemonic, i.operand_text) for i in function]
    return (function.name, function.arch, function.role, function.section, rows, function.labels, function.damage)


def say(text: str) -> str:
    """A script that prints a text."""
    return f"sys.stdout.write({text!r})"


# Discovery


def test_packages_come_first_then_cuda_home_then_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = [fake(tmp_path / name / "bin", "") for name in ("home", "path")]
    on_path = fake(tmp_path / "p", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "path"))
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", str(tmp_path / "home" / "bin"), str(on_path.parent)]))
    monkeypatch.chdir(on_path.parent)
    found = find_tools("nvdisasm")
    assert "site-packages" in str(found[0].path)
    assert [tool.path for tool in found[1:]] == [*homes, on_path]
    assert found[0].version == metadata.version("nvidia-cuda-nvdisasm")
    assert str(found[1]) == "nvdisasm 99.1.2"


def test_what_cannot_be_run_is_no_tool(no_packages: Path) -> None:
    (no_packages / "nvdisasm").mkdir()
    (no_packages / "cuobjdump").write_text("text")
    assert find_tools("nvdisasm") == find_tools("cuobjdump") == []


def test_a_missing_tool_says_what_to_install(no_packages: Path) -> None:
    for path, name in ((CUBIN, "nvdisasm"), (FATBIN, "cuobjdump")):
        with pytest.raises(
            ToolError, match=r": needs " + name + r".*pip install nvidia-cuda-nvdisasm \S+, or set CUDA_HOME"
        ):
            read(path)


def test_cuobjdump_stands_in_where_it_is_told_of_an_nvdisasm(
    no_packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVDISASM_PATH", "/x")
    fake(no_packages, f"assert sys.argv[1] == '-sass'\n{say(LISTING)}", "cuobjdump")
    (listing,) = read(CUBIN)
    assert (listing.kind, listing.tool) == ("cubin", "cuobjdump 99.1.2")


# Cubins


@pytest.mark.parametrize("path", VARIED, ids=lambda path: path.stem)
def test_a_cubin_is_what_nvdisasm_prints(path: Path) -> None:
    done = subprocess.run([REAL["nvdisasm"], "-c", path], capture_output=True, text=True, check=False)
    if done.returncode:
        if len(find_tools("nvdisasm")) == 1:
            with pytest.raises(ToolError, match="older CUDA toolkit"):
                read(path)
        return
    (listing,) = read(path)
    expected = parse(done.stdout, path=str(path))
    assert [shape(f) for f in listing.functions] == [shape(f) for f in expected.functions]
    assert listing.arch == path.stem.rpartition(".")[2] == expected.arch
    assert listing.kind == "cubin" and listing.path == str(path)
    assert listing.tool == f"nvdisasm {metadata.version('nvidia-cuda-nvdisasm')}"
    assert len(listing.problems) == len(done.stderr.splitlines()) + len(expected.problems)


@pytest.mark.parametrize("path", CUBINS, ids=lambda path: path.stem)
def test_the_elf_header_names_the_architecture(path: Path) -> None:
    elf = open_elf(path, "x")[1]
    assert elf and elf.arch == path.stem.rpartition(".")[2] and elf.has_code


def test_the_architecture_of_an_older_tool_is_made_exact(no_packages: Path) -> None:
    for printed in ("\t.target\tsm_90\n\n", ""):
        fake(no_packages, say(LISTING.replace("\t.target\tsm_90a\n\n", printed)))
        (listing,) = read(CUBIN)
        assert listing.arch == listing.functions[0].arch == "sm_90a"
    fake(no_packages, say(LISTING.replace("sm_90a", "sm_80")))
    assert read(CUBIN)[0].arch == "sm_80"


def test_the_toolkit_is_that_of_the_notes() -> None:
    (listing,) = read(CUBIN)
    assert listing.toolkit == "13.0.88"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_a_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for source, functions in ((CUBIN, 3), (FATBIN, 6)):
        shutil.copyfile(source, tmp_path / name)
        listings = read(Path(name))
        assert sum(len(listing.functions) for listing in listings) == functions
        assert all((listing.path or "").startswith(name) for listing in listings)
    assert {path.name for path in tmp_path.iterdir()} == {name, temporary.name}


# A tool that does not do its work

FAILURES: dict[str, tuple[str, str]] = {
    "status": ("sys.exit('nvdisasm fatal   : no such luck')", r"failed, saying 'nvdisasm fatal   : no such luck'"),
    "silent": ("sys.exit(3)", r"failed with status 3 and said nothing"),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed \(Segmentation fault\)"),
    "empty": ("", r"printed no listing; try another version"),
    "garbage": ("print('hello, world')", r"printed no listing but 'hello, world'"),
    "binary": ("os.write(1, bytes(range(256)) * 9)", r"printed no listing but"),
    "old file": (
        "sys.exit('fatal : CUDA architecture \"SM61\" is deprecated.')",
        r"CUDA_HOME to an older CUDA toolkit",
    ),
    "new file": ("sys.exit(\"fatal : Cannot decode architecture 'SM999'\")", r"install a newer one: pip install -U"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failing_tool_is_an_error_and_the_next_one_is_tried(
    case: str, no_packages: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    script, message = FAILURES[case]
    fake(no_packages, script)
    with pytest.raises(ToolError, match=message) as caught:
        read(CUBIN)
    assert str(caught.value).startswith(f"{CUBIN}: nvdisasm 99.1.2 ") and "\n" not in str(caught.value)
    second = fake(no_packages.parent.parent / "second", say(LISTING), version="12.8.1")
    monkeypatch.setenv("PATH", str(second.parent))
    (listing,) = read(CUBIN)
    assert listing.tool == "nvdisasm 12.8.1"
    assert [p.severity for p in listing.problems] == ([] if case.endswith("file") else ["warning"])
    fake(second.parent, "sys.exit('broken too')")
    with pytest.raises(ToolError, match=message + r".*failed too"):
        read(CUBIN)


def test_a_file_that_is_no_program_is_an_error(no_packages: Path) -> None:
    path = fake(no_packages, "")
    path.write_bytes(b"\x7fELF nonsense")
    with pytest.raises(ToolError, match="cannot be started"):
        read(CUBIN)


def test_a_hanging_tool_is_stopped_with_all_it_started(
    no_packages: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, temporary: Path
) -> None:
    mark = tmp_path / "mark"
    script = f"if not os.fork():\n    time.sleep(3)\n    open({str(mark)!r}, 'w')\ntime.sleep({WAIT})"
    fake(no_packages, script)
    monkeypatch.setenv(tools.TIMEOUT_VARIABLE, "0.7")
    start = time.monotonic()
    with pytest.raises(ToolTimeout, match=r"did not end within 0\.7 seconds and was stopped; set SASSMIX_TOOL_TIMEOUT"):
        read(CUBIN)
    assert time.monotonic() - start < WAIT / 2
    time.sleep(3)
    assert not mark.exists()


def test_a_tool_that_hangs_when_asked_for_its_version_has_none(
    no_packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fake(no_packages, say(LISTING))
    path.write_text(
        path.read_text().replace("if '--version'", f"if '--version' in sys.argv: time.sleep({WAIT})\nif '-V'")
    )
    monkeypatch.setenv(tools.TIMEOUT_VARIABLE, "0.7")
    assert read(CUBIN)[0].tool == "nvdisasm"


@pytest.mark.parametrize("text", ["abc", "0", "-1", "nan", "inf"])
def test_a_time_limit_that_is_none_is_an_error(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tools.TIMEOUT_VARIABLE, text)
    with pytest.raises(ToolError, match=r"SASSMIX_TOOL_TIMEOUT is .* no number of seconds above 0"):
        read(CUBIN)


def test_output_without_end_is_stopped(no_packages: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    fake(no_packages, "while True: os.write(1, b'x' * 65536)")
    monkeypatch.setattr(tools, "MOST_OUTPUT", 1 << 20)
    with pytest.raises(ToolError, match="was stopped, as it had printed"):
        read(CUBIN)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A shell starts what it runs in the background with Ctrl-C ignored, the tests too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stops_the_tool(no_packages: Path, tmp_path: Path, temporary: Path) -> None:
    mark = tmp_path / "mark"
    fake(no_packages, f"os.kill(os.getppid(), signal.SIGINT)\ntime.sleep(2)\nopen({str(mark)!r}, 'w')")
    with pytest.raises(KeyboardInterrupt):
        read(CUBIN)
    time.sleep(2)
    assert not mark.exists()


def test_warnings_become_problems_and_never_text(no_packages: Path) -> None:
    fake(no_packages, f"print('nvdisasm warning : odd', file=sys.stderr)\n{say(LISTING)}")
    (listing,) = read(CUBIN)
    assert [(p.severity, p.message) for p in listing.problems] == [("warning", "the tool says: nvdisasm warning : odd")]
    assert [f.name for f in listing.functions] == ["k"]


def test_messages_name_the_file_once_and_not_the_link(no_packages: Path) -> None:
    fake(no_packages, "sys.exit(f\"nvdisasm fatal : cannot read '{os.path.abspath(sys.argv[-1])}'\")")
    with pytest.raises(ToolError) as caught:
        read(CUBIN)
    message = str(caught.value)
    assert "/sassmix-" not in message and "cannot read the file" in message and message.count(str(CUBIN)) == 1


# Files that are not whole


def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path, temporary: Path) -> None:
    path = tmp_path / "cut"
    for source in (CUBIN, FATBIN, LIBRARY):
        data = source.read_bytes()
        for size in (6, 40, 100, len(data) // 2, len(data) - 9):
            path.write_bytes(data[:size])
            with pytest.raises(SassmixError):
                read(path)
    path.write_bytes(CUBIN.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"cut off: its (section|program) headers reach to byte \d+"):
        read(path)


def test_a_damaged_header_is_never_a_crash(tmp_path: Path) -> None:
    path, data, draw = tmp_path / "damaged", CUBIN.read_bytes(), random.Random(7)
    table = int.from_bytes(data[40:48], "little")
    for _ in range(500):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            damaged[draw.choice([draw.randrange(4, 64), draw.randrange(table, len(data))])] = draw.randrange(256)
        path.write_bytes(damaged)
        try:
            elf = open_elf(path, "x")[1]
            assert elf and elf.arch.startswith("sm_") and elf.toolkit != ""
        except InputError:
            pass


def test_a_file_without_device_code_needs_no_tool(no_packages: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.a"
    archive.write_bytes(b"!<arch>\n")
    for path in (Path(sys.executable).resolve(), archive):
        with pytest.raises(InputError, match="holds no device code"):
            read(path)


# Members


@pytest.mark.parametrize("arch", [None, "sm_75", "sm_90a", "sm_80"])
def test_of_several_architectures_the_one_that_is_asked_for_is_reported(arch: str | None) -> None:
    report = sassmix.mix(FATBIN, arch=arch)
    listed = {(entry["name"], entry["arch"]) for entry in report.inputs[0].functions}
    there = {"sm_75", "sm_90a"}
    if arch in there:
        assert {kernel.arch for kernel in report.kernels} == {arch} and {of for _, of in listed} == there
        assert all(item.status == "pass" for kernel in report.kernels for item in kernel.evidence)
        (left,) = (problem.message for problem in report.problems if "left out" in problem.message)
        (other,) = there - {arch}
        assert f"3 functions for {other}" in left and arch in left
    else:
        assert {kernel.arch for kernel in report.kernels} == ({arch} if arch else there)
        assert not any("left out" in problem.message for problem in report.problems)
        assert {(kernel.name, kernel.arch) for kernel in report.kernels} == listed


def test_each_kernel_names_the_member_that_it_is_of() -> None:
    report = sassmix.mix([FATBIN, FIXTURES / "cubins" / "saxpy.sm_80.cubin"])
    assert len({(kernel.name, *kernel.inputs) for kernel in report.kernels}) == len(report.kernels) == 9
    assert all(kernel.inputs[0].startswith((str(FATBIN), str(FIXTURES / "cubins"))) for kernel in report.kernels)


@pytest.mark.parametrize(("path", "kind"), [(FATBIN, "fatbin"), (LIBRARY, "elf"), (FATBIN.with_name("saxpy.o"), "elf")])
def test_every_member_is_a_listing(path: Path, kind: str, temporary: Path) -> None:
    first, second = read(path)
    assert (first.arch, second.arch) == ("sm_75", "sm_90a")
    assert {first.kind, second.kind} == {kind}
    assert first.path == f"{path}({path.stem}.1.sm_75.cubin)"
    assert [f.name for f in first.functions] == [f.name for f in second.functions]
    assert {f.arch for f in second.functions} == {"sm_90a"} and {f.role for f in first.functions} == {"kernel"}
    notes = [(p.severity, p.message) for p in (*first.problems, *second.problems)]
    assert notes == [("info", "1 PTX member for sm_90: no SASS, not counted")]


def archive(path: Path, *members: tuple[str, Path]) -> Path:
    """An ar archive, written by hand so that no binutils are needed."""
    parts = [b"!<arch>\n"]
    for name, file in members:
        data = file.read_bytes()
        parts.append(f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(data):<10}`\n".encode())
        parts.append(data + b"\n" * (len(data) % 2))
    path.write_bytes(b"".join(parts))
    return path


def test_the_members_of_an_archive_are_told_apart_though_names_repeat(tmp_path: Path) -> None:
    file = FATBIN.with_name("saxpy.o")
    listings = read(archive(tmp_path / "lib.a", ("a.o", file), ("a.o", file)))
    assert len({listing.path for listing in listings}) == len(listings) == 4
    assert listings[3].path == f"{tmp_path / 'lib.a'}(a.o:lib.4.sm_90a.cubin)"
    assert [f.name for f in listings[0].functions] == [f.name for f in listings[2].functions]


def fake_cuobjdump(folder: Path, members: dict[str, Path | None], ptx: int = 0) -> None:
    """A cuobjdump whose file has these members; it fails on taking out those that are None."""
    script = (
        f"members = { ({name: str(path) for name, path in members.items() if path})!r}\nnames = {list(members)!r}\n"
    )
    script += "if '-lelf' in sys.argv: print(*(f'ELF file {i}: {n}' for i, n in enumerate(names, 1)), sep='\\n')\n"
    script += f"if '-lptx' in sys.argv: print('PTX file 1: the-file.1.sm_90.ptx\\n' * {ptx})\n"
    script += "if '-xelf' in sys.argv:\n    import shutil\n"
    script += "    for n in sys.argv[2].split(','): shutil.copyfile(members[n], n)"
    fake(folder, script, "cuobjdump")


def use(folder: Path, name: str) -> None:
    """Put the real tool into a folder of fake ones."""
    (folder / name).symlink_to(REAL[name])


def test_a_member_that_fails_is_named_and_the_rest_is_read(no_packages: Path, tmp_path: Path, temporary: Path) -> None:
    use(no_packages, "nvdisasm")
    (tmp_path / "cut").write_bytes(CUBIN.read_bytes()[:3000])
    (tmp_path / "zero").touch()
    names = [f"the-file.{n}.sm_90a.cubin" for n in range(1, 6)]
    files = [CUBIN, tmp_path / "cut", CUBIN, tmp_path / "zero", None]
    fake_cuobjdump(no_packages, dict(zip(names, files, strict=True)))
    listings = read(FATBIN)
    assert [len(listing.functions) for listing in listings] == [3, 3, 0]
    errors = [p for listing in listings for p in listing.problems]
    assert [p.path for p in errors] == [f"{FATBIN}(saxpy.{n}.sm_90a.cubin)" for n in (2, 5, 4)]
    assert {p.severity for p in errors} == {"error"}
    assert "is cut off" in errors[0].message and "cuobjdump 99.1.2 failed" in errors[1].message


def test_if_every_member_fails_the_file_does(no_packages: Path, temporary: Path) -> None:
    fake(no_packages, "sys.exit('no such luck')")
    use(no_packages, "cuobjdump")
    with pytest.raises(ToolError, match=r"saxpy\.1\.sm_75\.cubin\).*no such luck"):
        read(FATBIN)


def test_ptx_alone_is_a_listing_without_functions(no_packages: Path) -> None:
    use(no_packages, "nvdisasm")
    fake_cuobjdump(no_packages, {}, ptx=2)
    (listing,) = read(FATBIN)
    assert (listing.kind, listing.functions, len(listing.problems)) == ("fatbin", [], 1)
    assert listing.problems[0].message == "2 PTX members for sm_90: no SASS, not counted"
    fake_cuobjdump(no_packages, {})
    with pytest.raises(InputError, match="holds no device code"):
        read(FATBIN)


@pytest.mark.parametrize("name", ["../evil.sm_90.cubin", "/etc/evil.sm_90.cubin", "a,b.sm_90.cubin", "--help/.."])
def test_a_member_with_a_hostile_name_is_not_taken_out(name: str, no_packages: Path, temporary: Path) -> None:
    use(no_packages, "nvdisasm")
    fake_cuobjdump(no_packages, {name: CUBIN})
    with pytest.raises(ToolError, match="a name that is none"):
        read(FATBIN)


def test_many_members_come_in_batches_and_leave_nothing_behind(
    no_packages: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    fake(no_packages, f"print('warning : the same', file=sys.stderr)\n{say(LISTING)}")
    fake_cuobjdump(no_packages, {f"the-file.{n}.sm_90a.cubin": CUBIN for n in range(1, 24)})
    monkeypatch.setattr(library, "_BATCH", 5)
    most, seen = 0, []
    for listing in parts(FATBIN):
        (private,) = temporary.glob("sassmix-*")
        most = max(most, len(list(private.iterdir())))
        seen.append((listing.path or "").rpartition("saxpy.")[2])
        assert len(listing.problems) == (len(seen) == 1), "what a tool says of every member is told once"
    assert seen == [f"{n}.sm_90a.cubin)" for n in range(1, 24)]
    assert most <= 1 + 2 * 5 + library._MOST_AT_ONCE


def test_who_stops_reading_stops_the_tools(no_packages: Path, tmp_path: Path, temporary: Path) -> None:
    script = f"time.sleep(2 * ('.1.' not in sys.argv[-1]))\nopen({str(tmp_path)!r} + '/' + sys.argv[-1], 'w')"
    fake(no_packages, f"{script}\n{say(LISTING)}")
    fake_cuobjdump(no_packages, {f"the-file.{n}.sm_90a.cubin": CUBIN for n in range(1, 6)})
    listings = iter(parts(FATBIN))
    next(listings)
    assert isinstance(listings, Iterator)
    del listings
    assert not list(temporary.iterdir())
    time.sleep(2.5)
    assert [path.name for path in tmp_path.glob("the-file.*")] == ["the-file.1.sm_90a.cubin"]


def test_an_older_cuobjdump_that_takes_over_is_not_trusted(
    no_packages: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(no_packages, "nvdisasm")
    fake(no_packages, "sys.exit('cuobjdump fatal   : Uncompress failed')", "cuobjdump")
    second = tmp_path / "second"
    second.mkdir()
    use(second, "cuobjdump")
    monkeypatch.setenv("PATH", str(second))
    problems = [p for listing in read(FATBIN) for p in listing.problems if p.severity == "warning"]
    assert len(problems) == 1 and "may leave out members" in problems[0].message


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_only_for_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    read(FATBIN)
    printed = capsys.readouterr().err
    assert ("disassembling member 2 of 2" in printed) == terminal
    assert not terminal or (printed.endswith(" \r") and "\n" not in printed)
    assert terminal or not printed


def test_a_listing_is_no_binary() -> None:
    assert not any(binary.READER.sniff(head) for head in (b"", b"\t.target", b"MZ", b"\x7fEL"))
    assert all(binary.READER.sniff(path.read_bytes()[:64]) for path in (CUBIN, FATBIN, LIBRARY))
