"""Where plugins are found: folders and entry points, each with its origin, and what an entry point may name."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from sassmix import discovery
from sassmix.errors import PluginError
from sassmix.registry import Origin
from tests.conftest import Distribution

Points = Callable[..., None]


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Points:
    """Entry points, name to value, of no distribution, instead of what is installed."""
    monkeypatch.delenv("SASSMIX_PLUGINS", raising=False)

    def install(**values: str) -> None:
        found = metadata.EntryPoints(metadata.EntryPoint(n, v, "sassmix") for n, v in values.items())
        monkeypatch.setattr(metadata, "entry_points", lambda group: found.select(group=group))
        monkeypatch.setattr(discovery, "may_be_installed", lambda: True)

    return install


def refused(load: Callable[[], object]) -> str:
    with pytest.raises(PluginError) as caught:
        load()
    return caught.value.message


def test_modules_of_several_folders_come_in_the_order_of_their_names(
    distribution: Distribution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """arch_plugins has no ``__init__.py``, so that several folders may be one package."""
    monkeypatch.syspath_prepend(str(tmp_path / "more"))
    for folder, names in ((distribution.folder, "bd"), (tmp_path / "more", "ac")):
        (folder / "chips_of_two").mkdir(parents=True)
        for name in names:
            (folder / "chips_of_two" / f"{name}_x.py").write_text("")
    monkeypatch.setattr(discovery, "FOLDER", "chips_of_two")
    found = [origin for origin, _ in discovery.of_folder("7")]
    assert found == [Origin(f"nvidia-{name}-x", "sassmix", "7") for name in "abcd"]
    assert [origin.module for origin in found] == [f"chips_of_two.{name}_x" for name in "abcd"]
    sys.modules.pop("chips_of_two", None)


def test_an_entry_point_of_no_distribution_is_of_an_unknown_one(points: Points) -> None:
    points(acme="acme.chips:PLUGIN", other="other")
    found, excluded = discovery.of_entry_points()
    assert [origin for origin, _ in found] == [Origin(name, "unknown", "unknown") for name in ("acme", "other")]
    assert [origin.module for origin, _ in found] == ["acme.chips:PLUGIN", "other"] and excluded == []


def in_folder(info: str) -> Callable[[Path], Path]:
    def install(site: Path) -> Path:
        (site / info).mkdir(parents=True)
        (site / info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
        (site / info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
        (site / info / "entry_points.txt").write_text("[console_scripts]\na = b:c\n\n [sassmix] \nacme = acme.chips\n")
        return site

    return install


def in_egg(site: Path) -> Path:
    return in_folder("EGG-INFO")(site.with_name("acme-1-py3.egg"))


def in_archive(site: Path) -> Path:
    in_folder("acme-1.dist-info")(site)
    return Path(shutil.make_archive(str(site), "zip", site))


WAYS = {
    "wheel": in_folder("acme-1.dist-info"),
    "develop": in_folder("acme.egg-info"),
    "capitals": in_folder("ACME-1.Dist-Info"),
    "egg": in_egg,
    "archive": in_archive,
}


@pytest.mark.parametrize("way", WAYS)
def test_wherever_a_package_is_its_entry_points_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The quick look that spares a start without plugins the rest must see whatever the slow one sees."""
    monkeypatch.delenv("SASSMIX_PLUGINS", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), str(WAYS[way](tmp_path / "site"))])
    assert [(point.name, point.value) for point in metadata.entry_points(group="sassmix")] == [("acme", "acme.chips")]
    assert [origin.module for origin, _ in discovery.of_entry_points()[0]] == ["acme.chips"]


def test_the_folder_at_hand_holds_packages_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(WAYS["wheel"](tmp_path / "site"))
    monkeypatch.setattr(sys, "path", [""])
    assert discovery.may_be_installed()


def test_whoever_else_finds_packages_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder(metadata.DistributionFinder):
        def find_distributions(self, context: object = None) -> list[metadata.Distribution]:
            return []

    monkeypatch.setattr(sys, "path", [])
    assert not discovery.may_be_installed()
    monkeypatch.setattr(sys, "meta_path", [Finder()])
    assert discovery.may_be_installed()


def test_packages_without_plugins_are_not_read_any_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = WAYS["wheel"](tmp_path / "site")
    for text in (
        "[console_scripts]\nsassmix = sassmix.cli:main\n[pytest11]\nsassmix = s\n",
        "",
        "[sassmix.x]\na = b\n",
    ):
        (site / "acme-1.dist-info" / "entry_points.txt").write_text(text)
        monkeypatch.setattr(sys, "path", [str(site), str(tmp_path / "none")])
        assert not discovery.may_be_installed() and not metadata.entry_points(group="sassmix")


def test_what_cannot_be_looked_at_may_hold_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = WAYS["wheel"](tmp_path / "site")
    (site / "acme-1.dist-info" / "entry_points.txt").unlink()
    (site / "acme-1.dist-info" / "entry_points.txt").mkdir()
    for folder in (str(site), "nul\0"):
        monkeypatch.setattr(sys, "path", [folder])
        assert discovery.may_be_installed()


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ("acme_gone", "acme_gone"),
        ("acme_gone.chips.deep", "acme_gone"),
        ("json.chips", "json.chips"),
        ("json.chips:PLUGIN", "json.chips"),
    ],
)
def test_a_module_that_is_not_there_is_named_with_its_entry_point(points: Points, value: str, missing: str) -> None:
    points(acme=value)
    ((_, load),) = discovery.of_entry_points()[0]
    message = refused(load)
    assert message.startswith(f"its entry point {value!r} names the module {missing!r}, which is not installed; ")


@pytest.mark.parametrize("gone", ["acme_x", "acme_chip_more", "other", None])
def test_what_a_module_itself_misses_is_an_error_of_the_module(
    distribution: Distribution, points: Points, gone: str | None
) -> None:
    """Also where its name begins as the module's own does, or the error names none."""
    (distribution.folder / "acme_chip.py").write_text(f"raise ModuleNotFoundError('x', name={gone!r})\n")
    points(acme="acme_chip")
    ((_, load),) = discovery.of_entry_points()[0]
    with pytest.raises(ModuleNotFoundError) as caught:
        load()
    assert caught.value.name == gone


@pytest.mark.parametrize(
    ("value", "found"), [("json", "json"), ("json:decoder", "json.decoder"), ("json : decoder.scanner", "json.scanner")]
)
def test_an_entry_point_names_a_module_or_what_is_in_it(points: Points, value: str, found: str) -> None:
    points(acme=value)
    ((_, load),) = discovery.of_entry_points()[0]
    assert load() is sys.modules[found]


@pytest.mark.parametrize(
    ("installed", "limit", "said"),
    [
        ({}, "b-chip,a", {"a": "; install its package", "b-chip": "; install its package"}),
        ({"x": "x", "chip": "c"}, "chop", {"chop": "; did you mean chip?"}),
        ({"x": "x", "chip": "c"}, " zzz ,, x", {"zzz": "; there are chip, x"}),
        ({"x": "x"}, "", {}),
    ],
)
def test_a_limit_to_what_is_not_installed_says_what_is(
    points: Points, monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], limit: str, said: dict[str, str]
) -> None:
    points(**installed)
    monkeypatch.setenv("SASSMIX_PLUGINS", limit)
    found, excluded = discovery.of_entry_points()
    wanted = {name.strip() for name in limit.split(",")}
    missing = {origin: load for origin, load in found if origin.plugin not in installed}
    assert list(missing) == [Origin(name, "", "") for name in said]
    for origin, load in missing.items():
        message = refused(load)
        assert message.startswith("SASSMIX_PLUGINS names it, but ") and message.endswith(said[origin.plugin])
    assert {origin.plugin for origin, _ in found} & {*installed} == wanted & {*installed}
    assert [origin.plugin for origin in excluded] == [name for name in installed if name not in wanted]
