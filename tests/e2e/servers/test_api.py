"""Helpers of the API client that need no server."""

from __future__ import annotations

import pytest

from tests.e2e.servers.api import conditions


@pytest.mark.parametrize("manifest", [{}, {"status": {}}, {"status": {"conditions": None}}])
def test_new_object_has_no_conditions(manifest: dict[str, object]) -> None:
    assert conditions(manifest) == []
