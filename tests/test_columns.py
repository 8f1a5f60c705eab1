"""Packed texts are a sequence like a list of them, whatever piece is asked for."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sassmix import columns
from sassmix.columns import Packed

TEXTS = st.lists(st.text(st.characters(exclude_characters="\n"), max_size=3), min_size=1, max_size=9)


@given(packs=st.lists(TEXTS, max_size=4), piece=st.integers(1, 4), data=st.data())
def test_packed_texts_are_the_sequence_of_all_texts(packs: list[list[str]], piece: int, data: st.DataObject) -> None:
    packed = Packed()
    with mock.patch.object(columns, "_PIECE", piece):
        assert [packed.pack(texts) for texts in packs] == ["\n".join(texts) for texts in packs]
    texts = [text for pack in packs for text in pack]
    assert list(packed) == texts and len(packed) == len(texts)
    places = st.integers(-len(texts), len(texts) - 1)
    for place in data.draw(st.lists(places, max_size=9)) if texts else ():
        assert packed[place] == texts[place]
    part = data.draw(st.slices(len(texts)))
    assert packed[part] == texts[part]
    for beyond in (len(texts), -len(texts) - 1):
        with pytest.raises(IndexError):
            packed[beyond]
