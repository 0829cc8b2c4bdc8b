"""The engine clients that `--engine` selects."""

from __future__ import annotations

__all__ = ["EMBEDDED", "select_engine_clients"]

from collections.abc import Callable
from typing import Final

from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager.engine_clients import engine_clients
from searchkeeper.opensearch.client import EngineClient

# A fake engine in the pods of the cluster, instead of a URL.
EMBEDDED: Final = "embedded"


def select_engine_clients(kube: KubernetesApi, engine: str | None) -> Callable[[Key], EngineClient]:
    """Return the engine client of each cluster: OpenSearch at its Service or at a URL, or a fake engine."""
    if engine != EMBEDDED:
        return engine_clients(kube, engine)
    from searchkeeper.testing.fake_engine_client import fake_engine_clients  # noqa: PLC0415 - a test double

    return fake_engine_clients(kube)
