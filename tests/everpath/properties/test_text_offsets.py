"""Bytes and characters are turned into each other as decoding all of the text would."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.parsing import text_offsets
from everpath.parsing.text_offsets import OffsetMap

_pieces = st.sampled_from(
    [b"a", "é".encode(), "€".encode(), "𝄞".encode(), b"\x80", b"\xe2\x82", b"\xf0", b"\xff"]
)
_texts = st.lists(_pieces, max_size=40).map(b"".join)


def test_a_byte_order_mark_is_no_character() -> None:
    offsets = OffsetMap(b"\xef\xbb\xbfa\xc3\xa9b", "surrogateescape")
    assert [offsets.characters(size) for size in (0, 3, 4, 6, 7, 9)] == [0, 0, 1, 2, 3, 3]
    assert [offsets.bytes(count) for count in range(4)] == [3, 4, 6, 7]


@pytest.mark.parametrize("errors", ["replace", "surrogateescape"])
@given(text=_texts, size=st.integers(-1, 170), stretch=st.sampled_from((4, 5, 8, 4096)))
def test_the_characters_of_the_first_bytes(
    errors: Literal["replace", "surrogateescape"], text: bytes, size: int, stretch: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_offsets, "_BLOCK", stretch)
        assert OffsetMap(text, errors).characters(size) == len(text[: max(0, size)].decode("utf-8", errors))


@given(text=_texts, share=st.floats(0, 1), stretch=st.sampled_from((4, 5, 8, 4096)))
def test_the_bytes_of_the_first_characters(text: bytes, share: float, stretch: int) -> None:
    decoded = text.decode("utf-8", "surrogateescape")
    count = round(share * len(decoded))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_offsets, "_BLOCK", stretch)
        expected = len(decoded[:count].encode("utf-8", "surrogateescape"))
        assert OffsetMap(text, "surrogateescape").bytes(count) == expected
