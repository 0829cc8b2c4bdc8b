"""Every test of the command line runs without the developer's environment."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _plain_environment(plain_environment: None) -> None:
    """Use the fixture in every test."""
