"""A command on a fake cluster instead of the cluster of a kubeconfig."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import Result

from searchkeeper.cli.sources import fake_cluster_source
from searchkeeper.releases import newest
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_scenarios import UnreachableEnginePorts
from tests.support.searchkeeper.searchkeeper_commands import InvokeOn, invoke


@pytest.fixture
def invoke_on(monkeypatch: pytest.MonkeyPatch) -> InvokeOn:
    def invoke_command(
        cluster: FakeCluster, *arguments: str, is_unreachable: bool = False, is_remote: bool = False
    ) -> Result:
        source = fake_cluster_source(cluster, newest())
        if is_unreachable or is_remote:
            source = replace(
                source, engine_client=lambda _: UnreachableEnginePorts(cluster), is_remote=is_remote
            )
        for command in ("plan", "status", "versions"):
            monkeypatch.setattr(f"searchkeeper.cli.{command}.open_source", lambda **_: source)
        return invoke(*arguments)

    return invoke_command
