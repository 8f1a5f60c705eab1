"""Options from ``sassmix.toml``, or from ``[tool.sassmix]`` in ``pyproject.toml``: data only, nothing in it is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sassmix.errors import SassmixError, did_you_mean

OWN, SHARED = "sassmix.toml", "pyproject.toml"
#: Every key with the kind of its value: a text, true or false, or a list of texts (one text alone is a list too).
KEYS: Mapping[str, type] = {
    "arch": str,
    "by": str,
    "counts": str,
    "forbid": list,
    "format": str,
    "include-padding": bool,
    "kernel": list,
    "max-increase": list,
    "require": list,
    "tolerance": str,
}
_KINDS = {str: "a text", bool: "true or false", list: "a list of texts"}


class Config(NamedTuple):
    """What a file says: values by key, and the file's name; empty where there is none."""

    path: str | None = None
    values: Mapping[str, Any] = MappingProxyType({})


def load(path: str | None = None, folder: Path | None = None) -> Config:
    """Read the file at ``path``, else the nearest one from ``folder`` (the working directory) upwards.

    :raises SassmixError: for a file that cannot be read, a key that there is not, a value of the wrong kind.
    """
    if path is not None:
        found = _read(Path(path))
        if found is None:
            raise SassmixError(f"{path}: there is no [tool.sassmix] in it")
        return found
    for place in _upwards(folder or Path.cwd()):
        for name in (OWN, SHARED):
            if (place / name).is_file() and (found := _read(place / name)):
                return found
    return Config()


def _upwards(start: Path) -> Iterator[Path]:
    """From a folder to the root of its repository, else to the home folder, and no further than what is one's own."""
    above = [start, *start.parents]
    roots = [place for place in above if (place / ".git").exists()] or [place for place in above if place == _home()]
    yield from above[: above.index(roots[0]) + 1] if roots else [start]


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user without one
        return None


def _read(path: Path) -> Config | None:
    """The options of a file; None for a ``pyproject.toml`` that says nothing of sassmix."""
    import tomllib  # most folders hold no such file

    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SassmixError(f"{path}: the options cannot be read: {why}; mend it or give --no-config") from error
    if path.name == SHARED:
        tools = data.get("tool", {})
        if not isinstance(tools, dict) or "sassmix" not in tools:
            return None
        data = tools["sassmix"]
        if not isinstance(data, dict):
            raise SassmixError(f"{path}: tool.sassmix is not a table; write [tool.sassmix]")
    return Config(str(path), {key: _checked(path, key, value) for key, value in data.items()})


def _checked(path: Path, key: str, value: Any) -> Any:
    if key == "tool":
        raise SassmixError(f"{path}: leave the heading [tool.sassmix] out; this file holds nothing but options")
    if key not in KEYS:
        near = did_you_mean(key, KEYS) or f"; there are {', '.join(KEYS)}"
        raise SassmixError(f"{path}: no option is called {key!r}{near}")
    kind = KEYS[key]
    if kind is list and isinstance(value, str):
        value = [value]
    texts = kind is not list or (isinstance(value, list) and all(isinstance(item, str) for item in value))
    if not isinstance(value, kind) or not texts:
        raise SassmixError(f"{path}: {key} is {value!r:.80}, not {_KINDS[kind]}")
    return value
