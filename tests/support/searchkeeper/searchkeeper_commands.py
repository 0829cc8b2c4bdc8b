"""Run searchkeeper commands in this process, and clusters to run them on."""

from __future__ import annotations

__all__ = [
    "NEW",
    "NEWEST",
    "OLD",
    "VALID",
    "InvokeOn",
    "cluster_to_upgrade",
    "invoke",
    "invoke_json",
    "manifests_of",
    "sample",
]

import json
from typing import Any, Final, Protocol

import yaml
from click.testing import CliRunner, Result

from searchkeeper.cli.app import cli
from searchkeeper.releases import newest
from searchkeeper.testing.demo import sample_cluster
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import edit_spec, new_cluster, reconcile_until_converged

NEWEST: Final = newest().version
OLD: Final = "2.19.4"
NEW: Final = "3.4.0"
VALID: Final = """\
apiVersion: search.everpath.dev/v1alpha1
kind: SearchCluster
metadata: {name: logs}
spec:
  version: 2.19.4
  pools:
  - {name: all, roles: [data, cluster_manager], replicas: 3}
"""


class InvokeOn(Protocol):
    """Run a command on a fake cluster.

    With `is_unreachable` the engine answers neither this client nor the operator; with `is_remote` only this
    client cannot reach it.
    """

    def __call__(
        self, cluster: FakeCluster, *arguments: str, is_unreachable: bool = False, is_remote: bool = False
    ) -> Result: ...


def invoke(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(cli, arguments, input=stdin)


def invoke_json(*arguments: str, stdin: str = "") -> Any:
    result = invoke(*arguments, "-o", "json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def cluster_to_upgrade() -> FakeCluster:
    """A running cluster whose spec has a newer version; its upgrade has not started."""
    cluster = new_cluster()
    reconcile_until_converged(cluster, NEWEST)
    return edit_spec(cluster, version=NEW)


def manifests_of(cluster: FakeCluster) -> str:
    return yaml.safe_dump_all(json.loads(json.dumps(list(cluster.state.cluster.objects.values()))))


def sample(version: str = OLD) -> FakeCluster:
    """The sample cluster of `--embedded`, before an upgrade."""
    return sample_cluster(newest(), version)
