"""What the tests share: Hypothesis profiles, small architectures, listings written by hand, the command in-process."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

import sassmix
from sassmix.arch import Architecture, ModifierRule, Opcode, sm
from sassmix.cli import main
from sassmix.errors import PluginError
from sassmix.plugins import Candidate, Plugins, default_plugins
from sassmix.registry import Origin, Registry

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
LISTINGS = sorted((FIXTURES / "listings").glob("*.sass"))

settings.register_profile("dev", deadline=None)
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=40,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", deadline=None, max_examples=1000)
#: For tests that run against code with a fault in it: whether one fails is all that matters, not the simplest example.
settings.register_profile("faults", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("ci" if os.environ.get("CI") == "true" else "dev")


def row(opcode: str, category: str = "control", **facets: str) -> Opcode:
    """A row of an opcode table, complete but for what the test is about."""
    return Opcode(opcode=opcode, category=category, **{"knowledge": "observed", "source": "a test", **facets})


def rule(opcode: str, modifier: str = "", **facets: str) -> ModifierRule:
    """A modifier rule."""
    return ModifierRule(opcode=opcode, modifier=modifier, facets=facets)


def architecture(
    name: str,
    *targets: int | str,
    extends: str | None = None,
    rows: Iterable[Opcode] = (),
    remove: Iterable[str] = (),
    rules: Iterable[ModifierRule] = (),
) -> Architecture:
    """An architecture in short."""
    return Architecture(
        name=name,
        sm=sm(*targets),
        extends=extends,
        opcodes=tuple(rows),
        remove=tuple(remove),
        modifier_rules=tuple(rules),
    )


def origin(plugin: str) -> Origin:
    """The origin of a plugin of a test."""
    return Origin(plugin, f"{plugin}-dist", "1.2")


def registered(*architectures: Architecture) -> tuple[Registry, list[PluginError]]:
    """A registry of architectures, each of a plugin ``NAME-plugin``, and the errors."""
    registry = Registry()
    errors = registry.register([(origin(f"{a.name}-plugin"), [a]) for a in architectures])
    return registry, errors


def plugin(**functions: Callable[..., Any]) -> Any:
    """A plugin of the functions given, each marked as the implementation of the hook whose name it has."""
    for name, function in functions.items():
        function.__name__ = name
        sassmix.hookimpl(function)
    return SimpleNamespace(**functions)


def candidate(name: str, loaded: Any) -> Candidate:
    """A plugin that loads without fail."""
    return origin(name), lambda: loaded


def with_architectures(name: str, *architectures: Architecture) -> Candidate:
    """A plugin that registers architectures and nothing else."""
    return candidate(name, plugin(sassmix_architectures=lambda: list(architectures)))


def offsets(arch: str | None) -> Iterator[int]:
    """The addresses of instructions: before sm_70 every fourth word holds control fields instead of one."""
    if int((arch or "sm_90").rstrip("af").removeprefix("sm_")) >= 70:
        return itertools.count(0, 16)
    return (offset for offset in itertools.count(0, 8) if offset % 32)


@dataclass(frozen=True)
class Body:
    """A function to write, with the helpers that stand in its section behind it."""

    name: str
    code: Sequence[str]
    kernel: bool = True
    helpers: Sequence[Body] = ()


def _code(lines: Sequence[str], places: Iterator[int]) -> Iterator[str]:
    for line in lines:
        if line.endswith(":"):
            yield line
        else:
            yield f"        /*{next(places):04x}*/                   {line} ;"


def section(body: Body, arch: str | None) -> Iterator[str]:
    """The lines of a function's section as nvdisasm prints them."""
    name, end = body.name, f".L_end_{body.name}"
    places = offsets(arch)
    yield f'\t.section\t.text.{name},"ax",@progbits'
    yield f"        .type           {name},@function"
    yield f"        .size           {name},({end} - {name})"
    if body.kernel:
        yield f'        .other          {name},@"STO_CUDA_ENTRY STV_DEFAULT"'
    yield from (f"{name}:", f".text.{name}:")
    yield from _code(body.code, places)
    for helper in body.helpers:
        yield f"        .type           {helper.name},@function"
        yield f"        .size           {helper.name},({end} - {helper.name})"
        yield f"{helper.name}:"
        yield from _code(helper.code, places)
    yield from (f"{end}:", "", "")


def written(*bodies: Body, arch: str | None = "sm_90a") -> str:
    """A listing of functions; without an architecture, one that does not name it."""
    head = [f"\t.target\t{arch}", ""] if arch else []
    return "\n".join([*head, *(line for body in bodies for line in section(body, arch))]) + "\n"


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write a text to a file of the test's folder."""

    def write(text: str | bytes, name: str = "k.sass") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        return path

    return write


@dataclass(frozen=True)
class Run:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The report."""
        return json.loads(self.out)


Command = Callable[..., Run]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``sassmix`` in this process."""

    def run(*arguments: str | Path) -> Run:
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        captured = capsys.readouterr()
        return Run(status, captured.out, captured.err)

    return run


@pytest.fixture
def fresh_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plugins are discovered anew in the test, and anew after it."""
    monkeypatch.delenv("SASSMIX_PLUGINS", raising=False)
    default_plugins.cache_clear()
    yield
    default_plugins.cache_clear()


class Distribution:
    """A distribution in a folder on ``sys.path``, as pip leaves it: modules, metadata and entry points."""

    def __init__(self, folder: Path, name: str, version: str) -> None:
        self.folder = folder
        self.info = folder / f"{name}-{version}.dist-info"
        self.info.mkdir()
        (self.info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    def add(self, point: str, module: str, source: str) -> None:
        """Write a module and an entry point for it."""
        (self.folder / f"{module}.py").write_text(source)
        with (self.info / "entry_points.txt").open("a") as file:
            file.write(f"[sassmix]\n{point} = {module}\n" if not file.tell() else f"{point} = {module}\n")


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_plugins: None) -> Iterator[Distribution]:
    """An empty distribution ``acme`` 1.2; its modules are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    yield Distribution(folder, "acme", "1.2")
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def loaded(*candidates: Candidate) -> Plugins:
    """Plugins of these candidates only."""
    return Plugins(candidates)
