"""The distribution contains the kubectl plugin, and an extra with the Kubernetes client."""

from __future__ import annotations

import tomllib

from tests.support.commandline import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_kubectl_plugin_is_installed() -> None:
    assert PROJECT["scripts"]["kubectl-everpath"] == PROJECT["scripts"]["everpath"]


def test_kubernetes_client_is_in_the_extras_cluster_and_dev_only() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras["cluster"]
    assert set(extras["cluster"]) <= set(extras["dev"])
    assert not [each for each in PROJECT["dependencies"] if each.startswith("kubernetes")]
