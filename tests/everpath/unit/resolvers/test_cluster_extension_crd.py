"""Version ranges that the API server rejects in a ClusterExtension; tests/e2e uses the same texts."""

from __future__ import annotations

import pytest

from everpath.resolvers.cluster_extension_crd import version_range_error


@pytest.mark.parametrize(
    "text", ["1.2.3", "1.x", "1.*", "*", "^1 || ^3", ">=1.0.0, <2.0.0", ">=1.0.0 <2.0.0", "1" * 64]
)
def test_common_version_ranges_are_accepted(text: str) -> None:
    assert version_range_error(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "1.0.0 - 2.0.0",
            "invalid version expression; hyphen ranges are not accepted: write '>=1.0.0, <=2.0.0'",
        ),
        ("1.*.1", "invalid version expression; * is only accepted in some positions: write x"),
        ("01.0.0", "invalid version expression"),
        ("1.0.0\v", "invalid version expression"),
        ("٣.0.0", "invalid version expression"),
        ("1" * 65, "version is longer than 64 characters"),
    ],
)
def test_rejected_version_range_has_a_reason(text: str, reason: str) -> None:
    assert version_range_error(text) == reason
