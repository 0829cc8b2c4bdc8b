"""What we say of our resources and what a real API server says: its schemas and CEL, and their twins here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from http import HTTPStatus
from random import Random
from typing import Any

import pytest

from e2e.installed_crds import group_path, install_crds
from e2e.servers.api import Api, ApiError, Object
from e2e.servers.control_plane import ControlPlane
from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.crds import CLUSTERS, POOLS, crds
from searchkeeper.api.spec import ROLES
from searchkeeper.api.validation import schema_errors
from searchkeeper.desired.quantities import is_less

GROUP = group_path("agreement")
SEED = 20
CREATED, CHANGED = 600, 200
# The very first and the very last that are taken, their neighbours, and what is of another kind altogether.
TEXTS = ["", "x", "X", "a-b", "-a", "a.b", "a/b", "a_b", "1st", "data", "hot", "2.19.4", "3.4", "2.19.4-rc.1"]
TEXTS += ["v3.4.0", "10Gi", "0Gi", "1.5Ti", "1e3", "1Ei", "Manual", "manual", "true", "logs-config", "ingest"]
# What Python and Go read differently, unless they are told not to.
TEXTS += ["2.19.4\n", "data\n", "10Gi\n", "٢.19.4", "d\u00e4ta"]
TEXTS += [
    each * count for each, count in (("x", 24), ("x", 25), ("1", 32), ("1", 33), ("x", 253), ("x", 254))
]
NUMBERS = [-1, 0, 1, 2, 29, 30, 31, 199, 200, 201, 2**31 - 1, 2**31, 2**63 - 1, 2.0, 1.5]
OTHERS: list[Any] = [None, True, False, [], {}, ["data"], ["data", "data"], [None], {"size": "1Gi"}]
NAMES = ["logs", "logs", "logs", "l", "1st", "a.b", "x" * 43, "x" * 44, "x" * 26, "x" * 27, "a-1", "a--b"]


@pytest.fixture(scope="module")
def api(plane: ControlPlane) -> Iterator[Api]:
    with install_crds(plane, "agreement") as own:
        yield own


def storage(chance: Random) -> Object:
    made = {"size": chance.choice(["1Gi", "2.5Ti", "1", "100M"]), "ephemeral": chance.random() < 0.3}
    return {**made, **({"storageClass": "fast"} if chance.random() < 0.3 else {})}


def pool(chance: Random, name: str, *roles: str) -> Object:
    more = chance.sample(sorted({*ROLES} - {*roles}), chance.randrange(3))
    made = {"name": name, "roles": [*roles, *more], "replicas": chance.choice([1, 2, 3, 200])}
    return {**made, **({"storage": storage(chance)} if chance.random() < 0.6 else {})}


def cluster(chance: Random) -> Object:
    """One that is taken, with or without what may be left out."""
    names = chance.sample(["data", "hot", "cold", "x" * 24], chance.randrange(4))
    pools = [pool(chance, "managers", "cluster_manager"), *(pool(chance, name, "data") for name in names)]
    more = {
        "dashboards": {"enabled": chance.random() < 0.5, "replicas": chance.choice([0, 1, 200])},
        "upgrade": {"maxBatch": 3, "healthDeadlineSeconds": 30, "paused": False, "rollback": "Off"},
        "security": {"tlsSecret": "certificates", "credentialsSecret": "admin.of.us"},
    }
    kept = {name: each for name, each in more.items() if chance.random() < 0.6}
    name = chance.choice(NAMES[:4])
    return resource(CLUSTERS.kind, name, {"version": "2.19.4", "pools": pools, **kept})


def child(chance: Random) -> Object:
    made = pool(chance, "data", "data")
    del made["name"]
    return resource(POOLS.kind, "logs-data", {"cluster": "logs", "engineVersion": "2.19.4", **made})


def resource(kind: str, name: str, spec: Object) -> Object:
    api_version = "search.everpath.dev/v1alpha1"
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def places(thing: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Every place of a spec where something is, or could be: what holds it, and by which key."""
    if isinstance(thing, dict):
        known = schema.get("properties", {})
        for name in sorted({*thing, *known, "unheard"}):
            yield thing, name
            if name in thing and name in known:
                yield from places(thing[name], known[name])
    elif isinstance(thing, list):
        for number, each in enumerate(thing):
            yield thing, number
            yield from places(each, schema.get("items", {}))


def broken(chance: Random, good: Object) -> Object:
    """In one place, or in two; now and then in none that matters."""
    made = deepcopy(good)
    definition = next(each for each in crds().values() if each["spec"]["names"]["kind"] == made["kind"])
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for _ in range(chance.choice([1, 1, 2])):
        holder, key = chance.choice([*places(made["spec"], schema)])
        chance.choice([put, put, put, left_out, doubled])(chance, holder, key)
    if made["kind"] == CLUSTERS.kind and chance.random() < 0.2:
        made["metadata"]["name"] = chance.choice(NAMES)
    return made


def put(chance: Random, holder: Any, key: Any) -> None:
    there = holder.get(key) if isinstance(holder, dict) else holder[key]
    kinds: list[list[Any]] = [TEXTS, NUMBERS, OTHERS]
    kinds += [TEXTS] * 3 if isinstance(there, str) else []
    holder[key] = deepcopy(chance.choice(chance.choice(kinds)))


def left_out(_: Random, holder: Any, key: Any) -> None:
    if isinstance(holder, list) or key in holder:
        del holder[key]


def doubled(_: Random, holder: Any, key: Any) -> None:
    if isinstance(holder, list):
        holder.append(deepcopy(holder[key]))
    elif isinstance(holder.get(key), list) and holder[key]:
        holder[key].append(deepcopy(holder[key][0]))


def refusal(ask: Callable[[], Object]) -> str | None:
    """What the server says against it; None where it takes it. Strictly: what it would drop is refused."""
    try:
        ask()
    except ApiError as error:
        if error.code not in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
            raise
        return error.message
    return None


# The schema takes 2.0 for a whole number; a rule about that number does not.
FLOAT = "expected int, got float64"
# The schema takes whatever is in these. We refuse what the operator sets itself.
OPEN = (".config.", ".podTemplate.")


def disagreement(made: Object, theirs: str | None, ours: list[str]) -> list[str]:
    told = json.dumps({"name": made["metadata"]["name"], **made["spec"]})
    if FLOAT in (theirs or "") or (
        theirs is None and all(any(each in error for each in OPEN) for error in ours)
    ):
        return []
    return [] if bool(theirs) == bool(ours) else [f"{told}\n  API server: {theirs}\n  we: {ours}"]


@pytest.mark.parametrize(("kind", "make"), [(CLUSTERS, cluster), (POOLS, child)], ids=["cluster", "pool"])
def test_whatever_is_written_is_refused_by_both_or_by_neither(
    api: Api, kind: Any, make: Callable[[Random], Object]
) -> None:
    chance, path = Random(SEED), f"{GROUP}/{kind.plural}?dryRun=All&fieldValidation=Strict"
    found, taken = [], 0
    for number in range(CREATED):
        good = make(chance)
        made = broken(chance, good) if number % 4 else good
        theirs = refusal(lambda made=made: api.create(path, made))  # type: ignore[misc]
        found += disagreement(made, theirs, [str(each) for each in schema_errors(made)])
        taken += theirs is None
    assert not found, "\n".join(found)
    # Neither is all of it good, nor all of it bad.
    assert CREATED // 4 < taken < CREATED * 3 // 4


def changes(chance: Random, stored: Object) -> Object:
    """An edit of what is there: pools come, go, and become others; sometimes it is nonsense besides."""
    spec = deepcopy(stored["spec"])
    pools = spec["pools"]
    for each in pools:
        if chance.random() < 0.25:
            each["storage"] = chance.choice([storage(chance), deepcopy(each["storage"])])
        if chance.random() < 0.3:
            each["roles"] = chance.sample(ROLES, chance.randrange(1, 4))
    if chance.random() < 0.3:
        pools.remove(chance.choice(pools))
    chance.shuffle(pools)
    made = {**stored, "spec": spec}
    return broken(chance, made) if chance.random() < 0.2 else made


def about_changes(before: Object, after: Object) -> list[str]:
    """What the rules with `oldSelf` say, of pools that are there before and after, with what is filled in."""
    old, new = ({pool.name: pool for pool in decode_cluster_spec(each).pools} for each in (before, after))
    kept = [(pool, new[name]) for name, pool in old.items() if name in new]
    moved = [
        was.name
        for was, now in kept
        if replace(now.storage, size=was.storage.size) != was.storage
        or is_less(now.storage.size, was.storage.size)
    ]
    lost = [
        was.name
        for was, now in kept
        if (was.roles - now.roles) & {"data", "search", "warm", "cluster_manager"}
    ]
    return [*moved, *lost]


def test_whatever_is_changed_is_refused_by_both_or_by_neither(api: Api) -> None:
    chance, found, taken = Random(SEED), [], 0
    spec = {**cluster(chance)["spec"], "pools": [pool(chance, n, r) for n, r in FOUR.items()]}
    stored = api.create(f"{GROUP}/searchclusters", resource(CLUSTERS.kind, "kept", spec))
    path = f"{GROUP}/searchclusters/kept?dryRun=All&fieldValidation=Strict"
    for _ in range(CHANGED):
        made = changes(chance, stored)
        made["metadata"] = stored["metadata"]
        theirs = refusal(lambda made=made: api.replace(path, made))  # type: ignore[misc]
        ours = [str(each) for each in schema_errors(made)] or about_changes(stored["spec"], made["spec"])
        found += disagreement(made, theirs, ours)
        taken += theirs is None
    assert not found, "\n".join(found)
    assert CHANGED // 20 < taken < CHANGED * 3 // 4


FOUR = {"managers": "cluster_manager", "data": "data", "hot": "data", "front": "ingest"}
