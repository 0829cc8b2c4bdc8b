"""`version_suffix`: the version at the end of a name."""

from __future__ import annotations

import pytest

from everpath.versions import version_suffix


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("op.v1.2.3", "1.2.3"),
        ("op-1.2.3", "1.2.3"),
        ("op_v1.2.3", "1.2.3"),
        ("op.vv1.2.3", "1.2.3"),
        ("v1.2.3", "1.2.3"),
        ("1.2.3", "1.2.3"),
        ("op.v1.2.3-rc.1+b", "1.2.3-rc.1+b"),
        ("op-1.0.0.v2.0.0", "2.0.0"),
        ("op-1.0.0-2.0.0", "1.0.0-2.0.0"),
    ],
)
def test_version_suffix_follows_a_separator_and_preferably_a_v(name: str, version: str) -> None:
    assert version_suffix(name) == version


@pytest.mark.parametrize("name", ["", "op", "op.v1", "op.v1.2", "op1.2.3", "op.vlatest"])
def test_name_without_version_suffix(name: str) -> None:
    assert version_suffix(name) is None
