"""A fake registry for each test, and client options without delays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions
from everpath.oci.registry.options import RetryPolicy
from tests.support.everpath.registry_server import FakeRegistry, run_registry


@pytest.fixture
def server() -> Iterator[FakeRegistry]:
    with run_registry() as server:
        yield server


@pytest.fixture
def sleeps() -> list[float]:
    """Return the list of delays that the client has slept."""
    return []


@pytest.fixture
def options(sleeps: list[float]) -> Callable[..., RegistryOptions]:
    """Return a factory of options: plain HTTP, no credentials, a fixed clock, and recorded delays."""

    def create_options(**overrides: Any) -> RegistryOptions:
        defaults: dict[str, Any] = {
            "insecure": True,
            "environment": {},
            "timeout": 60.0,
            "retry": RetryPolicy(sleep=sleeps.append, now=lambda: 1_000_000.0),
        }
        return RegistryOptions(**{**defaults, **overrides})

    return create_options


@pytest.fixture
def reference(server: FakeRegistry) -> Reference:
    return Reference(server.address.removeprefix("http://"), "team/catalog", "v1")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
