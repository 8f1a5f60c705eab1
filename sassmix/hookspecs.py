"""The whole plugin API: four hooks. A plugin implements those it needs, marked with :data:`sassmix.hookimpl`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

if TYPE_CHECKING:
    from sassmix.arch import Architecture, OpcodeInfo
    from sassmix.labels import LabelRule
    from sassmix.readers import Reader

F = TypeVar("F", bound=Callable[..., Any])

_spec = pluggy.HookspecMarker("sassmix")
_impl = pluggy.HookimplMarker("sassmix")


def hookimpl(function: F) -> F:
    """Mark a function or method of a plugin as the implementation of the hook whose name it has."""
    return _impl(function)


@_spec
def sassmix_architectures() -> Iterable[Architecture]:
    """Register architectures: targets, opcode tables and rules.

    All answers are kept. A target that two architectures claim is an error that names both plugins.
    """
    raise NotImplementedError


@_spec(firstresult=True)
def sassmix_classify(mnemonic: str, arch: str) -> OpcodeInfo | None:
    """Say what a mnemonic is on an architecture, where a table cannot.

    Asked once for each distinct mnemonic; the first answer that is not None counts, the tables answer last.

    :param mnemonic: the full dotted text, ``HMMA.16816.F32``.
    :param arch: a target such as ``sm_90a``.
    """
    raise NotImplementedError


@_spec
def sassmix_readers() -> Iterable[Reader]:
    """Register kinds of input: how each is recognised by its content, and how it is read."""
    raise NotImplementedError


@_spec
def sassmix_label_rules() -> Iterable[LabelRule]:
    """Register rules that make the name of a function readable, asked in the order of registration."""
    raise NotImplementedError
