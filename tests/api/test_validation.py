"""What an API server would refuse of our resources, said by ourselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from commandline import ROOT
from operators_at_work import asked_for, settled
from searchkeeper.api.crds import NAME_LENGTH_RULE, NAME_RULE, SECRET_NAME_RULE, crds
from searchkeeper.api.spec import HAS_MANAGERS_RULE
from searchkeeper.api.validation import EXAMPLES, RULES, schema_errors
from searchkeeper.releases import newest

MANAGERS = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}


def cluster(name: str = "logs", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "search.everpath.dev/v1alpha1",
        "kind": "SearchCluster",
        "metadata": {"name": name},
        "spec": {"version": "2.19.4", "pools": [MANAGERS], **spec},
    }


def pool(**changes: Any) -> dict[str, Any]:
    return cluster(pools=[MANAGERS, {"name": "data", "roles": ["data"], "replicas": 2, **changes}])


@pytest.mark.parametrize(
    ("manifest", "objection"),
    [
        ({**cluster(), "spec": None}, "spec: is missing"),
        (cluster(version=None), "spec.version: is missing"),
        (cluster(version=3), "spec.version: must be text like 2.19.4, and is the number 3"),
        (cluster(version=2.19), "spec.version: must be text like 2.19.4, and is the number 2.19"),
        (cluster(version="3.x"), "spec.version: 3.x is not like 2.19.4"),
        (cluster(version="2.19.4\n"), r'spec.version: the text "2.19.4\n" is not like 2.19.4'),
        (cluster(version="2.19.٤"), "spec.version: 2.19.٤ is not like 2.19.4"),
        (pool(storage={"size": "100 GB"}), "spec.pools[1].storage.size: 100 GB is not like 100Gi"),
        (
            pool(storage={"size": 100}),
            (
                "spec.pools[1].storage.size: must be text like 100Gi, and is the number 100: "
                'write "100", with quotes'
            ),
        ),
        (cluster(pools="x"), 'spec.pools: must be a list, and is the text "x"'),
        (cluster(pools=[None]), "spec.pools[0]: must be a mapping, and is null"),
        (cluster(pools={}), "spec.pools: must be a list, and is a mapping"),
        (cluster(pools=[]), "spec.pools: has 0 items, and must have 1 at least"),
        (cluster(pools=[MANAGERS] * 2), "spec.pools: managers is there twice"),
        (pool(roles=["data", "data"]), "spec.pools[1].roles: data is there twice"),
        (
            pool(roles=["wizard"]),
            "spec.pools[1].roles[0]: wizard is none of cluster_manager, data, ingest, ml, coordinating",
        ),
        (pool(replicas=-1), "spec.pools[1].replicas: -1 is less than 0"),
        (pool(replicas=201), "spec.pools[1].replicas: 201 is more than 200"),
        (pool(replicas=True), "spec.pools[1].replicas: must be a whole number, and is true"),
        (pool(replicas="two"), 'spec.pools[1].replicas: must be a whole number, and is the text "two"'),
        (
            pool(replicas="2"),
            'spec.pools[1].replicas: must be a whole number, and is the text "2": write 2, without quotes',
        ),
        (pool(name="d" * 25), f"spec.pools[1].name: {'d' * 25} has 25 characters, which is too many"),
        (
            pool(storage={"storageClass": ""}),
            "spec.pools[1].storage.storageClass: empty text has 0 characters, which is too few",
        ),
        (pool(storag={}), "spec.pools[1].storag: there is no such field: did you mean storage?"),
        (pool(storag=None), "spec.pools[1].storag: there is no such field: did you mean storage?"),
        (pool(wizards=1), "spec.pools[1].wizards: there is no such field"),
        (cluster(upgrade={"maxBatch": 2**31}), "spec.upgrade.maxBatch: 2147483648 is more than 2147483647"),
        (
            cluster(upgrade={"paused": "false"}),
            (
                'spec.upgrade.paused: must be true or false, and is the text "false": '
                "write false, without quotes"
            ),
        ),
        (
            cluster(upgrade={"paused": "yes"}),
            'spec.upgrade.paused: must be true or false, and is the text "yes": write true, without quotes',
        ),
        (
            cluster(upgrade={"paused": "soon"}),
            'spec.upgrade.paused: must be true or false, and is the text "soon"',
        ),
        (
            cluster(upgrade={"rollback": False}),
            (
                'spec.upgrade.rollback: must be text, and is false: write "Off", with quotes: '
                "YAML reads Off as false"
            ),
        ),
        (cluster(upgrade={"rollback": True}), "spec.upgrade.rollback: must be text, and is true"),
        (cluster(pools=[{**MANAGERS, "replicas": 0}]), f"spec.pools: {HAS_MANAGERS_RULE.message}"),
        (cluster("1st"), NAME_RULE.message),
        (cluster("l" * 44), NAME_LENGTH_RULE.message),
        (cluster(security={"credentialsSecret": "logs-config"}), SECRET_NAME_RULE.message),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_is_wrong_is_said_with_its_place(manifest: Mapping[str, Any], objection: str) -> None:
    assert objection in schema_errors(manifest)


def test_what_is_not_set_counts_as_absent() -> None:
    assert schema_errors(cluster(dashboards=None, security=None)) == []


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert schema_errors(pool(replicas=2.0)) == []
    assert schema_errors(pool(replicas=2.5)) != []


def test_names_that_just_fit_are_taken() -> None:
    assert schema_errors(cluster("l" * 43)) == []
    assert schema_errors(cluster(security={"credentialsSecret": "logs-admin"})) == []


def test_other_kinds_are_not_ours_to_judge() -> None:
    assert schema_errors({"apiVersion": "v1", "kind": "Pod"}) == []


def test_samples_and_whatever_the_operator_writes_are_taken() -> None:
    world = asked_for()
    settled(world, newest().version)
    samples = (ROOT / "operator/config/samples").glob("*.yaml")
    written = [each for file in samples for each in yaml.safe_load_all(file.read_text(encoding="utf-8"))]

    assert [schema_errors(each) for each in written if schema_errors(each)] == []
    assert [schema_errors(each) for each in world.state.cluster.objects.values() if schema_errors(each)] == []


def patterned(schema: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if "pattern" in schema:
        yield name, schema["pattern"]
    for inner, each in schema.get("properties", {}).items():
        yield from patterned(each, inner)
    if "items" in schema:
        yield from patterned(schema["items"], name)


def test_what_a_text_should_look_like_is_shown_by_one_that_does() -> None:
    versions = [version for each in crds().values() for version in each["spec"]["versions"]]
    found = {each for version in versions for each in patterned(version["schema"]["openAPIV3Schema"])}

    assert {name for name, _ in found} == set(EXAMPLES)
    assert [name for name, pattern in found if not re.search(pattern, EXAMPLES[name])] == []


def rules(schema: Any) -> set[str]:
    if isinstance(schema, Mapping):
        here = {each["rule"] for each in schema.get("x-kubernetes-validations", ())}
        return here.union(*(rules(each) for each in schema.values()))
    return set().union(*(rules(each) for each in schema)) if isinstance(schema, list) else set()


def test_every_rule_that_is_not_about_a_change_is_known_here_too() -> None:
    about_states = {rule for rule in rules(crds()) if "oldSelf" not in rule}

    assert {rule.holds for rule in RULES} == about_states
