"""A registry for each test, and how to talk to it without waiting."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions
from everpath.oci.registry.options import RetryPolicy
from registry_server import Registry, registry


@pytest.fixture
def server() -> Iterator[Registry]:
    with registry() as made:
        yield made


@pytest.fixture
def slept() -> list[float]:
    """The pauses that were made."""
    return []


@pytest.fixture
def options(slept: list[float]) -> Callable[..., ClientOptions]:
    """Plain HTTP, nobody's credentials, and a clock that stands."""

    def made(**chosen: Any) -> ClientOptions:
        given: dict[str, Any] = {
            "insecure": True,
            "environment": {},
            "timeout": 60.0,
            "retry": RetryPolicy(sleep=slept.append, now=lambda: 1_000_000.0),
        }
        return ClientOptions(**{**given, **chosen})

    return made


@pytest.fixture
def reference(server: Registry) -> Reference:
    return Reference(server.address.removeprefix("http://"), "team/catalog", "v1")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
