"""OperatorHub judged from memory: the same report, byte for byte, without a package judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.file_cache import FileCache
from remembering import freshly_judged, judged, much_later

pytestmark = pytest.mark.corpus


def test_what_is_remembered_of_every_package_is_what_a_fresh_look_finds(
    operatorhub: Path, tmp_path: Path
) -> None:
    cache = FileCache(tmp_path / "cache", much_later)
    fresh = freshly_judged(operatorhub)
    first, packages = judged(operatorhub, cache)
    assert len(packages) == 447
    second, again = judged(operatorhub, cache)
    assert again == []
    assert repr(first) == repr(second) == repr(fresh)
