"""What the distribution promises: the plugin of kubectl, and the extra that brings the client."""

from __future__ import annotations

import tomllib

from commandline import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_kubectl_finds_it_as_a_plugin() -> None:
    assert PROJECT["scripts"]["kubectl-everpath"] == PROJECT["scripts"]["everpath"]


def test_the_client_comes_with_an_extra_and_to_whoever_runs_the_tests() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras["cluster"]
    assert set(extras["cluster"]) <= set(extras["dev"])
    assert not [one for one in PROJECT["dependencies"] if one.startswith("kubernetes")]
