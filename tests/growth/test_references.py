"""A reference of any length is judged at once."""

from __future__ import annotations

import pytest

from everpath.rules import image_references
from everpath.rules.image_references import corrected_reference, reference_error


class _Untouched:
    """A pattern that may not be asked."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(name)


@pytest.mark.parametrize("text", ["a" * 30_000, "a." * 15_000, "a://" * 8_000])
def test_no_pattern_searches_a_text_too_long_to_be_meant(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_references, "_SCHEME", _Untouched())
    monkeypatch.setattr(image_references, "_REFERENCE", _Untouched())
    assert reference_error(text) == f"no reference has {len(text)} characters"
    assert corrected_reference(text) is None


def test_blanks_around_a_reference_may_be_many() -> None:
    assert corrected_reference(f"{' ' * 5000}https://quay.io/a/b/ ") == "quay.io/a/b"
