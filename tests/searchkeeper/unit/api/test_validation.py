"""Validation of manifests: the errors are those of the API server, with hints for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from searchkeeper.api.crds import NAME_LENGTH_RULE, NAME_RULE, SECRET_NAME_RULE, crds
from searchkeeper.api.schema import Rule
from searchkeeper.api.spec import HAS_MANAGERS_RULE, SEARCH_RULE, WARM_RULE
from searchkeeper.api.validation import EXAMPLES, RULES, FieldError, schema_errors, spec_errors
from searchkeeper.releases import newest
from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_runs import new_cluster, reconcile_until_converged

MANAGERS = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}


def cluster(name: str = "logs", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "search.everpath.dev/v1alpha1",
        "kind": "SearchCluster",
        "metadata": {"name": name},
        "spec": {"version": "2.19.4", "pools": [MANAGERS], **spec},
    }


def with_pool(**changes: Any) -> dict[str, Any]:
    return cluster(pools=[MANAGERS, {"name": "data", "roles": ["data"], "replicas": 2, **changes}])


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        ({**cluster(), "spec": None}, "spec: Required value"),
        (cluster(version=None), "spec.version: Required value"),
        (cluster(version=3), "spec.version: Invalid value: 3: must be a string like 2.19.4"),
        (cluster(version=2.19), "spec.version: Invalid value: 2.19: must be a string like 2.19.4"),
        (cluster(version="3.x"), 'spec.version: Invalid value: "3.x": must be like 2.19.4'),
        (cluster(version="2.19.4\n"), r'spec.version: Invalid value: "2.19.4\n": must be like 2.19.4'),
        (cluster(version="2.19.٤"), 'spec.version: Invalid value: "2.19.٤": must be like 2.19.4'),
        (
            with_pool(storage={"size": "100 GB"}),
            'spec.pools[1].storage.size: Invalid value: "100 GB": must be like 100Gi',
        ),
        (
            with_pool(storage={"size": 100}),
            (
                "spec.pools[1].storage.size: Invalid value: 100: must be a string like 100Gi; "
                'write "100" with quotes'
            ),
        ),
        (cluster(pools="x"), 'spec.pools: Invalid value: "x": must be a list'),
        (cluster(pools=[None]), "spec.pools[0]: Invalid value: null: must be an object"),
        (cluster(pools={}), "spec.pools: Invalid value: object: must be a list"),
        (cluster(version=[]), "spec.version: Invalid value: list: must be a string like 2.19.4"),
        (cluster(pools=[]), "spec.pools: Invalid value: 0 items: should have at least 1 items"),
        (
            cluster(pools=[{**MANAGERS, "name": f"p{number}"} for number in range(33)]),
            "spec.pools: Too many: 33: must have at most 32 items",
        ),
        (cluster(pools=[MANAGERS] * 2), 'spec.pools[1]: Duplicate value: {"name": "managers"}'),
        (with_pool(roles=["data", "data"]), 'spec.pools[1].roles[1]: Duplicate value: "data"'),
        (
            with_pool(roles=["wizard"]),
            (
                'spec.pools[1].roles[0]: Unsupported value: "wizard": supported values: '
                '"cluster_manager", "data", "ingest", "ml", "coordinating", '
                '"remote_cluster_client", "search", "warm"'
            ),
        ),
        (
            with_pool(replicas=-1),
            "spec.pools[1].replicas: Invalid value: -1: should be greater than or equal to 0",
        ),
        (
            with_pool(replicas=201),
            "spec.pools[1].replicas: Invalid value: 201: should be less than or equal to 200",
        ),
        (with_pool(replicas=True), "spec.pools[1].replicas: Invalid value: true: must be an integer"),
        (with_pool(replicas="two"), 'spec.pools[1].replicas: Invalid value: "two": must be an integer'),
        (
            with_pool(replicas="2"),
            'spec.pools[1].replicas: Invalid value: "2": must be an integer; write 2 without quotes',
        ),
        (with_pool(name="d" * 25), "spec.pools[1].name: Too long: may not be more than 24 characters"),
        (
            with_pool(name="Cold"),
            (
                'spec.pools[1].name: Invalid value: "Cold": must be like data-hot, '
                "with only lowercase letters, digits and hyphens"
            ),
        ),
        (
            with_pool(storage={"storageClass": ""}),
            'spec.pools[1].storage.storageClass: Invalid value: "": should be at least 1 chars long',
        ),
        (with_pool(storag={}), 'spec.pools[1].storag: unknown field; did you mean "storage"?'),
        (with_pool(storag=None), 'spec.pools[1].storag: unknown field; did you mean "storage"?'),
        (with_pool(wizards=1), "spec.pools[1].wizards: unknown field"),
        (
            cluster(upgrade={"healthDeadlineSeconds": 2**31}),
            (
                "spec.upgrade.healthDeadlineSeconds: Invalid value: 2147483648: "
                "should be less than or equal to 2147483647"
            ),
        ),
        (
            cluster(upgrade={"snapshotRepository": "../etc"}),
            'spec.upgrade.snapshotRepository: Invalid value: "../etc": must be like nightly',
        ),
        (
            cluster(upgrade={"paused": "false"}),
            'spec.upgrade.paused: Invalid value: "false": must be true or false; write false without quotes',
        ),
        (
            cluster(upgrade={"paused": "yes"}),
            'spec.upgrade.paused: Invalid value: "yes": must be true or false; write true without quotes',
        ),
        (
            cluster(upgrade={"paused": "soon"}),
            'spec.upgrade.paused: Invalid value: "soon": must be true or false',
        ),
        (
            cluster(upgrade={"rollback": False}),
            (
                'spec.upgrade.rollback: Invalid value: false: must be a string; write "Off" with quotes, '
                "because YAML reads Off as false"
            ),
        ),
        (
            cluster(upgrade={"rollback": True}),
            "spec.upgrade.rollback: Invalid value: true: must be a string",
        ),
        (
            cluster(pools=[{**MANAGERS, "replicas": 0}]),
            f"spec.pools: Invalid value: {HAS_MANAGERS_RULE.message}",
        ),
        (cluster("1st"), NAME_RULE.message),
        (cluster("l" * 44), NAME_LENGTH_RULE.message),
        (cluster(security={"credentialsSecret": "logs-config"}), SECRET_NAME_RULE.message),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_error_has_the_path_and_the_message(manifest: Mapping[str, Any], error: str) -> None:
    assert error in [str(each) for each in schema_errors(manifest)]


def test_error_without_a_path_is_its_message() -> None:
    assert schema_errors(cluster("1st")) == [FieldError("", NAME_RULE.message)]
    assert schema_errors(with_pool(replicas=None)) == [FieldError("spec.pools[1].replicas", "Required value")]


def test_null_field_counts_as_missing() -> None:
    assert schema_errors(cluster(dashboards=None, security=None)) == []


def test_integer_may_have_a_decimal_point() -> None:
    assert schema_errors(with_pool(replicas=2.0)) == []
    assert schema_errors(with_pool(replicas=2.5)) != []


def test_names_of_the_maximum_length_are_valid() -> None:
    assert schema_errors(cluster("l" * 43)) == []
    assert schema_errors(cluster(security={"credentialsSecret": "logs-admin"})) == []


def test_other_kinds_are_not_validated() -> None:
    assert schema_errors({"apiVersion": "v1", "kind": "Pod"}) == []


def test_samples_and_objects_of_the_operator_are_valid() -> None:
    fake = new_cluster()
    reconcile_until_converged(fake, newest().version)
    files = (ROOT / "operator/config/samples").glob("*.yaml")
    samples = [each for file in files for each in yaml.safe_load_all(file.read_text(encoding="utf-8"))]

    assert [schema_errors(each) for each in samples if schema_errors(each)] == []
    assert [schema_errors(each) for each in fake.state.cluster.objects.values() if schema_errors(each)] == []


def patterns(schema: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The fields that have a pattern, with their patterns."""
    if "pattern" in schema:
        yield name, schema["pattern"]
    for inner, each in schema.get("properties", {}).items():
        yield from patterns(each, inner)
    if "items" in schema:
        yield from patterns(schema["items"], name)


def test_every_pattern_has_an_example_that_matches() -> None:
    versions = [version for each in crds().values() for version in each["spec"]["versions"]]
    found = {each for version in versions for each in patterns(version["schema"]["openAPIV3Schema"])}

    assert {name for name, _ in found} == set(EXAMPLES)
    assert [name for name, pattern in found if not re.search(pattern, EXAMPLES[name])] == []


def rules(schema: Any) -> set[str]:
    if isinstance(schema, Mapping):
        here = {each["rule"] for each in schema.get("x-kubernetes-validations", ())}
        return here.union(*(rules(each) for each in schema.values()))
    return set().union(*(rules(each) for each in schema)) if isinstance(schema, list) else set()


def test_every_rule_without_old_self_has_a_python_function() -> None:
    without_old_self = {rule for rule in rules(crds()) if "oldSelf" not in rule}

    assert {rule.expression for rule in RULES} == without_old_self


@pytest.mark.parametrize(
    ("version", "roles", "rule"),
    [
        ("2.19.4", ["warm"], WARM_RULE),
        ("2.19.4", ["data", "search"], None),
        ("3.4.0", ["data", "search"], SEARCH_RULE),
        ("3.4.0", ["search"], None),
        ("3.4.0", ["warm", "data"], None),
        ("10.0.0", ["warm"], None),
        ("2.19.4", ["remote_cluster_client", "data"], None),
    ],
)
def test_roles_depend_on_the_version(version: str, roles: list[str], rule: Rule | None) -> None:
    manifest = {**with_pool(roles=roles)}
    manifest["spec"] = {**manifest["spec"], "version": version}
    expected = [] if rule is None else [FieldError("spec", f"Invalid value: {rule.message}")]
    assert schema_errors(manifest) == spec_errors(manifest) == expected


def test_roles_of_a_version_that_is_none_are_not_judged() -> None:
    """The version policy refuses it."""
    manifest = with_pool(roles=["data"])
    assert spec_errors({**manifest, "spec": {**manifest["spec"], "version": "newest"}}) == []


@pytest.mark.parametrize("plugin", ["", "-v", "a b", "a\n", " a"])
def test_plugin_is_one_word(plugin: str) -> None:
    [error] = spec_errors(cluster(plugins=["analysis-icu", plugin]))
    assert error.path == "spec.plugins[1]"
    assert error.message.endswith("must be like analysis-icu, without spaces")
    assert schema_errors(cluster(plugins=["analysis-icu"], keystoreSecret="logs-keystore")) == []


@pytest.mark.parametrize(
    "key", ["topology.kubernetes.io/zone", "rack", "a.b/C_d.e-f", "x" * 63, f"{'a.' * 126}b/{'x' * 63}"]
)
def test_topology_key_is_the_key_of_a_label(key: str) -> None:
    assert schema_errors(cluster(topologyKey=key)) == spec_errors(cluster(topologyKey=key)) == []


@pytest.mark.parametrize("key", ["", "a/b/c", "Zone/x", "/x", "x/", "-x", "x']", "x" * 64, "a..b/c", "a b"])
def test_other_text_is_no_topology_key(key: str) -> None:
    for errors in (schema_errors, spec_errors):
        error = errors(cluster(topologyKey=key))[-1]
        assert error.path == "spec.topologyKey"
        assert error.message.endswith("must be like topology.kubernetes.io/zone")


def test_topology_key_has_a_limited_length() -> None:
    [error] = schema_errors(cluster(topologyKey=f"{'a.' * 127}b/{'x' * 62}"))
    assert str(error) == "spec.topologyKey: Too long: may not be more than 317 characters"


@pytest.mark.parametrize("key", ["app.kubernetes.io/instance", "search.everpath.dev/x", "pool"])
def test_label_of_the_operator_is_no_topology_key(key: str) -> None:
    [error] = spec_errors(cluster(topologyKey=key))
    assert str(error) == (
        "spec.topologyKey: Forbidden: the operator sets this label of pods: use a label of Kubernetes nodes"
    )
