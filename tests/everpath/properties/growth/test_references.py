"""An image reference of any length is checked in constant time."""

from __future__ import annotations

import pytest

from everpath.rules import image_references
from everpath.rules.image_references import corrected_reference, reference_error


class _Untouched:
    """A pattern that must not be used."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(name)


@pytest.mark.parametrize("text", ["a" * 30_000, "a." * 15_000, "a://" * 8_000])
def test_no_pattern_searches_a_text_that_is_too_long(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_references, "_SCHEME", _Untouched())
    monkeypatch.setattr(image_references, "_REFERENCE", _Untouched())
    assert reference_error(text) == f"it has {len(text)} characters, more than 520"
    assert corrected_reference(text) is None


def test_reference_with_many_blanks_around_it_is_quick() -> None:
    assert corrected_reference(f"{' ' * 5000}https://quay.io/a/b/ ") == "quay.io/a/b"
