"""searchkeeper.api.validation accepts the same resources as a real API server with our CRDs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from http import HTTPStatus
from random import Random
from typing import Any

import pytest

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.crds import CLUSTERS, POOLS, crds
from searchkeeper.api.spec import ROLES
from searchkeeper.api.validation import schema_errors
from searchkeeper.desired.quantities import is_less
from tests.e2e.installed_crds import group_path, install_crds
from tests.e2e.servers.api import Api, ApiError, Object
from tests.e2e.servers.control_plane import ControlPlane

pytestmark = pytest.mark.e2e

GROUP = group_path("agreement")
SEED = 20
CREATED, CHANGED = 600, 200
# Limits of the schemas, values just outside of them, and values of other types.
TEXTS = ["", "x", "X", "a-b", "-a", "a.b", "a/b", "a_b", "1st", "data", "hot", "2.19.4", "3.4", "2.19.4-rc.1"]
TEXTS += ["v3.4.0", "10Gi", "0Gi", "1.5Ti", "1e3", "1Ei", "Manual", "manual", "true", "logs-config", "ingest"]
# Text that regular expressions of Python and Go match differently by default.
TEXTS += ["2.19.4\n", "data\n", "10Gi\n", "٢.19.4", "d\u00e4ta"]
TEXTS += [
    each * count for each, count in (("x", 24), ("x", 25), ("1", 32), ("1", 33), ("x", 253), ("x", 254))
]
NUMBERS = [-1, 0, 1, 2, 29, 30, 31, 199, 200, 201, 2**31 - 1, 2**31, 2**63 - 1, 2.0, 1.5]
OTHERS: list[Any] = [None, True, False, [], {}, ["data"], ["data", "data"], [None], {"size": "1Gi"}]
NAMES = ["logs", "logs", "logs", "l", "1st", "a.b", "x" * 43, "x" * 44, "x" * 26, "x" * 27, "a-1", "a--b"]


@pytest.fixture(scope="module")
def api(plane: ControlPlane) -> Iterator[Api]:
    with install_crds(plane, "agreement") as connection:
        yield connection


def storage(random: Random) -> Object:
    fields = {"size": random.choice(["1Gi", "2.5Ti", "1", "100M"]), "ephemeral": random.random() < 0.3}
    return {**fields, **({"storageClass": "fast"} if random.random() < 0.3 else {})}


def pool(random: Random, name: str, *roles: str) -> Object:
    extra = random.sample(sorted({*ROLES} - {*roles}), random.randrange(3))
    fields = {"name": name, "roles": [*roles, *extra], "replicas": random.choice([1, 2, 3, 200])}
    return {**fields, **({"storage": storage(random)} if random.random() < 0.6 else {})}


def cluster(random: Random) -> Object:
    """Return a valid SearchCluster with random optional fields."""
    names = random.sample(["data", "hot", "cold", "x" * 24], random.randrange(4))
    pools = [pool(random, "managers", "cluster_manager"), *(pool(random, name, "data") for name in names)]
    extra = {
        "dashboards": {"enabled": random.random() < 0.5, "replicas": random.choice([0, 1, 200])},
        "upgrade": {"maxBatch": 3, "healthDeadlineSeconds": 30, "paused": False, "rollback": "Off"},
        "security": {"tlsSecret": "certificates", "credentialsSecret": "admin.of.us"},
    }
    optional = {name: each for name, each in extra.items() if random.random() < 0.6}
    name = random.choice(NAMES[:4])
    return resource(CLUSTERS.kind, name, {"version": "2.19.4", "pools": pools, **optional})


def search_pool(random: Random) -> Object:
    spec = pool(random, "data", "data")
    del spec["name"]
    return resource(POOLS.kind, "logs-data", {"cluster": "logs", "engineVersion": "2.19.4", **spec})


def resource(kind: str, name: str, spec: Object) -> Object:
    api_version = "search.everpath.dev/v1alpha1"
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def locations(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the container and the key of every value that a spec has or could have."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in sorted({*value, *known, "unknown"}):
            yield value, name
            if name in value and name in known:
                yield from locations(value[name], known[name])
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield value, number
            yield from locations(each, schema.get("items", {}))


def with_errors(random: Random, good: Object) -> Object:
    """Return a copy with one or two random changes, which may be valid."""
    manifest = deepcopy(good)
    crd = next(each for each in crds().values() if each["spec"]["names"]["kind"] == manifest["kind"])
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for _ in range(random.choice([1, 1, 2])):
        holder, key = random.choice([*locations(manifest["spec"], schema)])
        random.choice([set_value, set_value, set_value, remove_value, duplicate_value])(random, holder, key)
    if manifest["kind"] == CLUSTERS.kind and random.random() < 0.2:
        manifest["metadata"]["name"] = random.choice(NAMES)
    return manifest


def set_value(random: Random, holder: Any, key: Any) -> None:
    current = holder.get(key) if isinstance(holder, dict) else holder[key]
    kinds: list[list[Any]] = [TEXTS, NUMBERS, OTHERS]
    kinds += [TEXTS] * 3 if isinstance(current, str) else []
    holder[key] = deepcopy(random.choice(random.choice(kinds)))


def remove_value(_: Random, holder: Any, key: Any) -> None:
    if isinstance(holder, list) or key in holder:
        del holder[key]


def duplicate_value(_: Random, holder: Any, key: Any) -> None:
    if isinstance(holder, list):
        holder.append(deepcopy(holder[key]))
    elif isinstance(holder.get(key), list) and holder[key]:
        holder[key].append(deepcopy(holder[key][0]))


def rejection(request: Callable[[], Object]) -> str | None:
    """Send a request; return the message if the API server rejects it as invalid, else None."""
    try:
        request()
    except ApiError as error:
        if error.code not in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
            raise
        return error.message
    return None


# The schema accepts 2.0 as an integer, but a CEL rule about that field does not.
FLOAT_ERROR = "expected int, got float64"
# The schema accepts any content of these fields. We reject what the operator sets itself.
FIELDS_WITHOUT_SCHEMA = (".config.", ".podTemplate.")


def disagreement(manifest: Object, api_server_error: str | None, our_errors: list[str]) -> list[str]:
    text = json.dumps({"name": manifest["metadata"]["name"], **manifest["spec"]})
    if FLOAT_ERROR in (api_server_error or "") or (
        api_server_error is None
        and all(any(each in error for each in FIELDS_WITHOUT_SCHEMA) for error in our_errors)
    ):
        return []
    if bool(api_server_error) == bool(our_errors):
        return []
    return [f"{text}\n  API server: {api_server_error}\n  searchkeeper: {our_errors}"]


@pytest.mark.parametrize(
    ("kind", "make"), [(CLUSTERS, cluster), (POOLS, search_pool)], ids=["cluster", "pool"]
)
def test_created_resource_is_accepted_by_both_or_neither(
    api: Api, kind: Any, make: Callable[[Random], Object]
) -> None:
    random, path = Random(SEED), f"{GROUP}/{kind.plural}?dryRun=All&fieldValidation=Strict"
    disagreements, accepted = [], 0
    for number in range(CREATED):
        good = make(random)
        manifest = with_errors(random, good) if number % 4 else good
        api_server_error = rejection(lambda manifest=manifest: api.create(path, manifest))  # type: ignore[misc]
        disagreements += disagreement(
            manifest, api_server_error, [str(each) for each in schema_errors(manifest)]
        )
        accepted += api_server_error is None
    assert not disagreements, "\n".join(disagreements)
    # Both valid and invalid resources occur.
    assert CREATED // 4 < accepted < CREATED * 3 // 4


def changes(random: Random, stored: Object) -> Object:
    """Return a random edit: pools are changed, removed and reordered; some edits have errors."""
    spec = deepcopy(stored["spec"])
    pools = spec["pools"]
    for each in pools:
        if random.random() < 0.25:
            each["storage"] = random.choice([storage(random), deepcopy(each["storage"])])
        if random.random() < 0.3:
            each["roles"] = random.sample(ROLES, random.randrange(1, 4))
    if random.random() < 0.3:
        pools.remove(random.choice(pools))
    random.shuffle(pools)
    manifest = {**stored, "spec": spec}
    return with_errors(random, manifest) if random.random() < 0.2 else manifest


def change_errors(before: Object, after: Object) -> list[str]:
    """Return the pools that violate a rule with `oldSelf`, after defaulting."""
    old, new = ({pool.name: pool for pool in decode_cluster_spec(each).pools} for each in (before, after))
    common = [(pool, new[name]) for name, pool in old.items() if name in new]
    changed_storage = [
        was.name
        for was, now in common
        if replace(now.storage, size=was.storage.size) != was.storage
        or is_less(now.storage.size, was.storage.size)
    ]
    lost_roles = [
        was.name
        for was, now in common
        if (was.roles - now.roles) & {"data", "search", "warm", "cluster_manager"}
    ]
    return [*changed_storage, *lost_roles]


def test_changed_resource_is_accepted_by_both_or_neither(api: Api) -> None:
    random, disagreements, accepted = Random(SEED), [], 0
    spec = {**cluster(random)["spec"], "pools": [pool(random, n, r) for n, r in POOL_ROLES.items()]}
    stored = api.create(f"{GROUP}/searchclusters", resource(CLUSTERS.kind, "kept", spec))
    path = f"{GROUP}/searchclusters/kept?dryRun=All&fieldValidation=Strict"
    for _ in range(CHANGED):
        manifest = changes(random, stored)
        manifest["metadata"] = stored["metadata"]
        api_server_error = rejection(lambda manifest=manifest: api.replace(path, manifest))  # type: ignore[misc]
        our_errors = [str(each) for each in schema_errors(manifest)] or change_errors(
            stored["spec"], manifest["spec"]
        )
        disagreements += disagreement(manifest, api_server_error, our_errors)
        accepted += api_server_error is None
    assert not disagreements, "\n".join(disagreements)
    assert CHANGED // 20 < accepted < CHANGED * 3 // 4


POOL_ROLES = {"managers": "cluster_manager", "data": "data", "hot": "data", "front": "ingest"}
