"""The validators of operator-framework/api accept a generated bundle with webhooks."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from everpath.bundlegen import ReleaseMetadata, bundle_files
from everpath.loaders.operator_manifests import load_operator_manifests
from everpath.loaders.sources import Sources
from everpath.parsing.yaml_writer import yaml_text
from tests.everpath.conformance.bundle_verdicts import said_upstream
from tests.everpath.conformance.oracle import Oracle
from tests.support.everpath.operator_sdk_projects import write_webhook

pytestmark = pytest.mark.conformance

_PARTS: Final = ("manifests/bases", "crd/bases", "rbac", "manager", "webhook", "samples")
_RELEASE: Final = ReleaseMetadata(
    "memcached-operator",
    "memcached-operator.v0.1.0",
    "0.1.0",
    ("stable",),
    "stable",
    min_kube_version="1.29.0",
)


def test_validators_of_upstream_accept_webhooks(oracle: Oracle, tmp_path: Path) -> None:
    write_webhook(tmp_path)
    operator = load_operator_manifests([str(tmp_path / "config" / part) for part in _PARTS], Sources())
    bundle = tmp_path / "bundle"
    for name, body in bundle_files(operator, _RELEASE).items():
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_text(yaml_text(body))
    assert len(list(bundle.glob("manifests/*clusterserviceversion.yaml"))) == 1
    said = said_upstream(oracle.ask({"ask": "bundle", "folder": str(bundle)}))
    assert {(each.rule, each.severity) for each in said} == {("EP665", "warning")}
