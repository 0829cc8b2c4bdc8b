"""The standard tests of operator-sdk's scorecard: all are configured, and the newest bundle passes them.

The checks follow internal/scorecard/tests/{basic,olm}.go of operator-sdk 1.42. `olm-bundle-validation` is
`everpath bundle validate`, which tests/everpath/unit/releases/test_searchkeeper_releases.py runs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from searchkeeper.releases import newest
from tests.support.commandline import ROOT

BUNDLE = ROOT / "bundles/searchkeeper" / newest().version
STANDARD = {
    "basic-check-spec": "basic",
    "olm-bundle-validation": "olm",
    "olm-crds-have-resources": "olm",
    "olm-crds-have-validation": "olm",
    "olm-spec-descriptors": "olm",
    "olm-status-descriptors": "olm",
}


def load(path: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((BUNDLE / path).read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def csv() -> dict[str, Any]:
    return load("manifests/searchkeeper.clusterserviceversion.yaml")


@pytest.fixture(scope="module")
def examples(csv: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    return found


@pytest.fixture(scope="module")
def owned(csv: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in csv["spec"]["customresourcedefinitions"]["owned"]}


def schema(kind: str) -> dict[str, Any]:
    crd = load(f"manifests/{kind.lower()}s.search.everpath.dev_customresourcedefinition.yaml")
    [version] = crd["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]
    return found


def test_every_standard_test_is_configured() -> None:
    configuration = load("tests/scorecard/config.yaml")
    tests = [each for stage in configuration["stages"] for each in stage["tests"]]
    assert {each["entrypoint"][1]: each["labels"]["suite"] for each in tests} == STANDARD
    assert all(each["labels"]["test"] == f"{each['entrypoint'][1]}-test" for each in tests)
    assert len({each["image"] for each in tests}) == 1


def test_basic_check_spec(examples: list[dict[str, Any]]) -> None:
    assert examples
    assert all(each["spec"] for each in examples)


def test_olm_crds_have_validation(examples: list[dict[str, Any]]) -> None:
    for example in examples:
        assert example["spec"].keys() <= schema(example["kind"])["spec"]["properties"].keys()


def test_olm_crds_have_resources(owned: dict[str, dict[str, Any]]) -> None:
    assert all(each["resources"] for each in owned.values())


def test_olm_spec_descriptors(examples: list[dict[str, Any]], owned: dict[str, dict[str, Any]]) -> None:
    for example in examples:
        paths = {each["path"] for each in owned[example["kind"]]["specDescriptors"]}
        assert example["spec"].keys() <= paths


def test_olm_status_descriptors(owned: dict[str, dict[str, Any]]) -> None:
    assert all(each["statusDescriptors"] for each in owned.values())


@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_has_a_descriptor_and_every_descriptor_a_field(
    owned: dict[str, dict[str, Any]], part: str
) -> None:
    """Stricter than the scorecard, which looks at the fields of the examples only."""
    for kind, item in owned.items():
        fields = schema(kind)[part]["properties"]
        paths = [each["path"] for each in item[f"{part}Descriptors"]]
        assert {path.partition(".")[0] for path in paths} == fields.keys()
        for path in paths:
            name, _, rest = path.partition(".")
            assert not rest or rest in fields[name]["properties"], path


def test_every_descriptor_is_described(owned: dict[str, dict[str, Any]]) -> None:
    for item in owned.values():
        for each in (*item["specDescriptors"], *item["statusDescriptors"]):
            assert each["displayName"]
            assert each["description"]
