"""Where plugins are found: folders and entry points, each with its origin, and what an entry point may name."""

from __future__ import annotations

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
