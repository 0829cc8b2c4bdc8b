"""The CRDs: the committed files are current, and no field that is written gets dropped or rejected."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

import pytest
import yaml

import definitions as script
from searchkeeper.api.codec import decode_cluster_spec, decode_pool_spec
from searchkeeper.api.crds import CLUSTERS, POOLS, crds
from searchkeeper.api.spec import ClusterSpec, PoolSpec, Storage
from searchkeeper.kubernetes.operations import Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import resource_kind
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import newest, releases
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    CountingPorts,
    add_index,
    edit_spec,
    new_cluster,
    pool,
    reconcile_until_converged,
)
from tests.support.searchkeeper.structural_schemas import invalid_fields, pruned_fields

SAMPLES = sorted((ROOT / "operator/config/samples").glob("*.yaml"))
PLURALS = {"SearchCluster": "searchclusters", "SearchPool": "searchpools"}


@cache
def schema_for(kind: str) -> dict[str, Any]:
    version = crds()[PLURALS[kind]]["spec"]["versions"][0]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return {**schema, "properties": {**schema["properties"], "metadata": {"type": "object", **OPEN}}}


OPEN = {"x-kubernetes-preserve-unknown-fields": True}


def test_committed_crds_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main([]) == 0, capsys.readouterr().err
    files = {file.name for file in script.FOLDER.iterdir()} - {"kustomization.yaml"}
    assert files == {file.name for file in script.files()}


def test_edited_crd_is_reported(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "FOLDER", tmp_path)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert script.main(["--write"]) == 0
    assert script.main([]) == 0
    (tmp_path / "searchpools.yaml").write_text("edited")
    assert script.main([]) == 1
    assert capsys.readouterr().err == "searchpools.yaml is out of date: make generate\n"


def test_crd_names_match_the_rest_mapping() -> None:
    for crd in (CLUSTERS, POOLS):
        kind = resource_kind(CLUSTER.api, crd.kind)
        assert (kind.plural, kind.short_names) == (crd.plural, (crd.short_name,))


def test_every_property_has_a_description() -> None:
    def fields_without_description(schema: dict[str, Any], path: str) -> list[str]:
        paths = []
        for name, inner in schema.get("properties", {}).items():
            paths += [f"{path}.{name}"] if not inner.get("description") else []
            paths += fields_without_description(inner, f"{path}.{name}")
            paths += fields_without_description(inner.get("items", {}), f"{path}.{name}[]")
        return paths

    for plural, crd in crds().items():
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        described_by_kubernetes = {f"{plural}.{name}" for name in ("apiVersion", "kind", "metadata")}
        assert set(fields_without_description(schema, plural)) == described_by_kubernetes


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_no_field_of_a_sample_is_dropped_or_rejected(file: Any) -> None:
    for sample in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        assert list(pruned_fields(schema_for(sample["kind"]), sample)) == []
        assert list(invalid_fields(schema_for(sample["kind"]), sample)) == []


def test_samples_use_every_field_of_a_cluster() -> None:
    def names(schema: dict[str, Any], path: str = "") -> set[str]:
        # The fields of a pod template are those of Kubernetes.
        properties = {} if path.endswith(".podTemplate") else schema.get("properties", {})
        inner = [names(each, f"{path}.{name}") for name, each in properties.items()]
        return {path}.union(*inner, names(schema["items"], f"{path}[]") if "items" in schema else set())

    def field_paths(thing: Any, path: str = "") -> set[str]:
        if isinstance(thing, dict):
            return {path}.union(*(field_paths(each, f"{path}.{name}") for name, each in thing.items()))
        return (
            {path}.union(*(field_paths(each, f"{path}[]") for each in thing))
            if isinstance(thing, list)
            else {path}
        )

    documents = [each for file in SAMPLES for each in yaml.safe_load_all(file.read_text())]
    shown = [field_paths(each["spec"]) for each in documents if each["kind"] == "SearchCluster"]
    assert names(schema_for("SearchCluster")["properties"]["spec"]) <= set().union(*shown)


@pytest.mark.parametrize("name", ["../../vault/secrets/keys", "..", "A", "a b", "a?b", "-a"])
@pytest.mark.parametrize("field", ["tlsSecret", "credentialsSecret"])
def test_secret_name_cannot_be_a_path(field: str, name: str) -> None:
    schema = schema_for("SearchCluster")["properties"]["spec"]["properties"]["security"]
    assert list(invalid_fields(schema, {field: "some.secret-1"})) == []
    assert list(invalid_fields(schema, {field: name})) == [f".{field}"]


def other_value(schema: dict[str, Any]) -> Any:
    """A value that is not the default."""
    if "enum" in schema:
        return next(each for each in schema["enum"] if each != schema.get("default"))
    if schema["type"] == "array":
        return [other_value(schema["items"])]
    if schema["type"] == "object":
        properties = schema.get("properties", {"any": {"type": "string"}})
        return {name: other_value(inner) for name, inner in properties.items()}
    default = schema.get("default")
    if schema["type"] == "integer":
        return (default or 0) + 7
    return f"{default or ''}1" if schema["type"] == "string" else not default


def test_codec_reads_every_field_and_has_the_same_defaults() -> None:
    schema = schema_for("SearchCluster")["properties"]["spec"]
    plain = {"version": "2.19.4", "pools": [{"name": "a", "roles": ["data"], "replicas": 1}]}
    before = decode_cluster_spec(dict(plain))
    assert before == ClusterSpec("2.19.4", (PoolSpec("a", frozenset({"data"}), 1),))
    for name, inner in schema["properties"].items():
        if "properties" not in inner:
            assert decode_cluster_spec({**plain, name: other_value(inner)}) != before, name
            continue
        for each, leaf in inner["properties"].items():
            after = decode_cluster_spec({**plain, name: {each: other_value(leaf)}})
            assert getattr(after, name) != getattr(before, name), f"{name}.{each} is not decoded"
            if "default" in leaf:
                assert decode_cluster_spec({**plain, name: {each: leaf["default"]}}) == before


def test_codec_reads_every_field_of_a_pool() -> None:
    pools = schema_for("SearchCluster")["properties"]["spec"]["properties"]["pools"]["items"]
    whole = decode_pool_spec("b", other_value(pools))
    for each in fields(PoolSpec):
        assert getattr(whole, each.name) != getattr(PoolSpec("a", frozenset({"data"}), 1), each.name)
    assert whole.storage == replace(Storage(), size="10Gi1", storage_class="1", ephemeral=True)


@dataclass
class ManifestRecorder(CountingPorts):
    """Records every version of a SearchCluster or SearchPool that is stored."""

    stored: list[Manifest] = field(default_factory=list)

    def create(self, manifest: Manifest) -> Manifest:
        return self._record(super().create(manifest))

    def patch(self, patch: Patch) -> Manifest:
        return self._record(super().patch(patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._record(super().patch_status(patch))

    def _record(self, stored: Manifest) -> Manifest:
        self.stored += [stored] if stored["kind"] in PLURALS else []
        return stored


def stored_by(cluster: FakeCluster, version: str) -> list[Manifest]:
    """The SearchClusters and SearchPools that a release stores until it converges."""
    ports = ManifestRecorder(cluster)
    release = next(each for each in releases() if each.version == version)
    for _ in range(2000):
        result = reconcile(ports, ports, CLUSTER, release, cluster.state.now)
        if result.converged:
            return ports.stored
        if not result.wrote:
            cluster.tick()
    raise AssertionError(f"{version} does not converge")


@pytest.mark.exhaustive
def test_no_field_that_a_release_writes_is_dropped_or_rejected() -> None:
    ephemeral = {**pool("cache", 1, "ingest"), "storage": {"ephemeral": True, "size": "1Gi"}}
    cluster = new_cluster(pool("data", 2, "data"), pool("managers", 3, "cluster_manager"), ephemeral)
    stored: list[Manifest] = []
    for version in ("0.1.0", "0.2.2", "0.3.1", newest().version):
        stored += stored_by(cluster, version)
    stored += stored_by(edit_spec(add_index(cluster), version="3.4.0"), newest().version)
    assert {each["kind"] for each in stored} == set(PLURALS)
    for each in stored:
        assert list(pruned_fields(schema_for(each["kind"]), each)) == []
        assert list(invalid_fields(schema_for(each["kind"]), each)) == []


def test_status_of_a_refused_version_fits_the_schema() -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster, newest().version)
    ports = ManifestRecorder(edit_spec(cluster, version="9.0.0"))
    for _ in range(5):
        reconcile(ports, ports, CLUSTER, newest(), cluster.state.now)
    assert ports.stored
    for each in ports.stored:
        assert list(pruned_fields(schema_for(each["kind"]), each)) == []
        assert list(invalid_fields(schema_for(each["kind"]), each)) == []
