"""The files of a bundle, and the classification of manifests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.bundlegen import bundle_files, classify_manifests, manifest_sources
from everpath.errors import UnreadableInput
from everpath.model.bundle_contents import Manifest
from tests.support.everpath.operator_projects import RELEASE, base, crd, deployment, files, manifest, operator

MANIFESTS = (
    base(),
    deployment(),
    crd(),
    crd("Gadget"),
    manifest("Widget", "one", "acme.io/v1"),
    manifest("Service", "metrics", spec={"ports": []}),
    manifest("ConfigMap", "settings"),
)


@given(st.permutations(MANIFESTS))
def test_the_order_of_manifests_does_not_matter(shuffled: list[Manifest]) -> None:
    bundle = bundle_files(classify_manifests(shuffled), RELEASE)
    assert list(bundle.items()) == list(files(*MANIFESTS).items())


def test_annotations_describe_the_bundle() -> None:
    release = RELEASE._replace(
        channels=("stable", "fast"), annotations={"com.redhat.openshift.versions": "v4.18"}
    )
    assert files(release=release)["metadata/annotations.yaml"]["annotations"] == {
        "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
        "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
        "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
        "operators.operatorframework.io.bundle.package.v1": "acme",
        "operators.operatorframework.io.bundle.channels.v1": "stable,fast",
        "operators.operatorframework.io.bundle.channel.default.v1": "stable",
        "com.redhat.openshift.versions": "v4.18",
    }


def test_a_release_without_a_default_channel_has_no_annotation_for_it() -> None:
    annotations = files(release=RELEASE._replace(default_channel=""))["metadata/annotations.yaml"][
        "annotations"
    ]
    assert not [key for key in annotations if key.endswith("channel.default.v1")]


def test_the_first_of_several_scorecard_configurations_is_used() -> None:
    version = "scorecard.operatorframework.io/v1alpha3"
    bundle = files(*(manifest("Configuration", name, version) for name in ("one", "two")))
    assert bundle["tests/scorecard/config.yaml"]["metadata"]["name"] == "one"


def test_a_scorecard_configuration_is_written_and_annotated() -> None:
    scorecard = manifest("Configuration", "config", "scorecard.operatorframework.io/v1alpha3")
    bundle = files(scorecard)
    annotations = bundle["metadata/annotations.yaml"]["annotations"]
    assert bundle["tests/scorecard/config.yaml"]["kind"] == "Configuration"
    assert annotations["operators.operatorframework.io.test.config.v1"] == "tests/scorecard/"
    assert annotations["operators.operatorframework.io.test.mediatype.v1"] == "scorecard+v1"


def test_dependencies_and_properties_are_written_to_files() -> None:
    needed = {"type": "olm.package", "value": {"packageName": "x", "version": ">1.0.0"}}
    bundle = files(release=RELEASE._replace(dependencies=(needed,)))
    assert bundle["metadata/dependencies.yaml"] == {"dependencies": [needed]}
    assert "metadata/properties.yaml" not in bundle
    stated = {"type": "olm.maxOpenShiftVersion", "value": "4.19"}
    bundle = files(release=RELEASE._replace(properties=(stated,)))
    assert bundle["metadata/properties.yaml"] == {"properties": [stated]}
    assert "metadata/dependencies.yaml" not in bundle


def test_crds_and_other_objects_are_written_to_files_with_their_names() -> None:
    shipped = [path for path in files(*MANIFESTS) if path.startswith("manifests/")]
    assert shipped == [
        "manifests/acme.clusterserviceversion.yaml",
        "manifests/gadgets.acme.io_customresourcedefinition.yaml",
        "manifests/metrics_service.yaml",
        "manifests/settings_configmap.yaml",
        "manifests/widgets.acme.io_customresourcedefinition.yaml",
    ]


def test_characters_that_file_names_must_not_have_are_replaced() -> None:
    assert "manifests/a_b_c_configmap.yaml" in files(manifest("ConfigMap", "a:b/c"))


def test_every_manifest_has_its_source_file() -> None:
    manifests = operator(base(), crd(), manifest("ConfigMap", "settings", file="more.yaml"))
    assert manifest_sources(manifests, RELEASE) == {
        "manifests/acme.clusterserviceversion.yaml": "ClusterServiceVersion-acme.yaml",
        "manifests/widgets.acme.io_customresourcedefinition.yaml": (
            "CustomResourceDefinition-widgets.acme.io.yaml"
        ),
        "manifests/settings_configmap.yaml": "more.yaml",
    }


def test_fields_of_the_api_server_are_dropped() -> None:
    added = {"uid": "1", "creationTimestamp": None, "resourceVersion": "7", "generation": 2}
    metadata = {"name": "metrics", **added, "managedFields": ["a"], "labels": {"a": "b"}}
    service = manifest("Service", "metrics", status={"x": 1}, metadata=metadata)
    written = files(service)["manifests/metrics_service.yaml"]
    assert written["metadata"] == {"name": "metrics", "labels": {"a": "b"}}
    assert "status" not in written


def test_a_missing_base_csv_is_reported_with_a_hint() -> None:
    with pytest.raises(UnreadableInput, match="no base ClusterServiceVersion") as refused:
        classify_manifests([deployment()])
    assert refused.value.hint is not None
    assert "everpath init" in refused.value.hint


def test_two_base_csvs_are_refused() -> None:
    other = manifest("ClusterServiceVersion", "other", file="other.yaml")
    with pytest.raises(UnreadableInput, match=r"2 ClusterServiceVersions: .*other\.yaml") as refused:
        classify_manifests([base(), other])
    assert refused.value.hint is not None


def test_a_patch_in_addition_to_its_object_is_refused() -> None:
    patch = manifest("Deployment", "acme", "apps/v1", file="patch.yaml")
    with pytest.raises(UnreadableInput, match=r"Deployment 'acme' is in .* and in patch\.yaml") as refused:
        classify_manifests([base(), deployment(), patch])
    assert refused.value.file == "patch.yaml"
    assert "kustomize build" in (refused.value.hint or "")


def test_a_duplicate_is_found_despite_an_equal_name_in_another_group() -> None:
    groups = {"a.yaml": "a.io/v1", "b.yaml": "b.io/v1", "c.yaml": "a.io/v1"}
    routes = [manifest("Route", "ui", group, file=file) for file, group in groups.items()]
    with pytest.raises(UnreadableInput, match=r"Route 'ui' is in a\.yaml and in c\.yaml"):
        classify_manifests([base(), *routes])


def test_equal_names_in_several_groups_are_numbered_by_group() -> None:
    one, other = (("a.io/v1", "b.io/v1"), ("b.io/v1", "a.io/v1"))
    bundles = [
        files(*(manifest("Route", "ui", g, file=f) for g, f in zip(pair, "xy", strict=True)))
        for pair in (one, other)
    ]
    assert bundles[0] == bundles[1]


def test_only_objects_of_the_operators_groups_are_samples() -> None:
    manifests = operator(
        crd(), manifest("Widget", "one", "acme.io/v1"), manifest("Certificate", "c", "other.io/v1")
    )
    assert [sample.kind for sample in manifests.samples] == ["Widget"]
    assert [other.kind for other in manifests.others] == ["Certificate"]


MALFORMED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["spec", "template", "containers", "env", "name"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
KINDS = ["Deployment", "Role", "RoleBinding", "ClusterRole", "CustomResourceDefinition", "Service"]


@given(st.sampled_from(KINDS), MALFORMED, MALFORMED)
def test_malformed_manifests_do_not_raise(kind: str, spec: object, other: object) -> None:
    malformed = manifest(kind, "odd", spec=spec, rules=other, subjects=other, roleRef=spec)
    assert files(deployment(), malformed)


def test_objects_of_a_bundle_have_no_namespace() -> None:
    placed = manifest("Service", "metrics", spec={})
    placed.body["metadata"]["namespace"] = "system"
    assert files(deployment(), placed)["manifests/metrics_service.yaml"]["metadata"] == {"name": "metrics"}


def test_two_objects_without_a_name_are_refused() -> None:
    duplicates = [manifest("Service", "", file="a.yaml"), manifest("Service", "", file="b.yaml")]
    for order in (duplicates, duplicates[::-1]):
        with pytest.raises(UnreadableInput, match=r"a\.yaml: the Service has no name") as refused:
            operator(*order)
        assert refused.value.file == "a.yaml"


@pytest.mark.parametrize("kind", ["Kustomization", "Component", ""])
def test_kustomizations_and_objects_without_a_kind_are_ignored(kind: str) -> None:
    found = operator(manifest(kind, "", file="a.yaml"), deployment())
    assert found.others == ()


@pytest.mark.parametrize("kind", ["Kustomization", "Component"])
def test_several_kustomizations_are_not_duplicates(kind: str) -> None:
    duplicates = [manifest(kind, "", file=f"{letter}.yaml") for letter in "ab"]
    assert operator(*duplicates, deployment()).others == ()


def test_objects_of_a_group_without_a_crd_are_not_samples() -> None:
    service = manifest("APIService", "v1.policy", spec={"group": "policy"})
    budget = manifest("PodDisruptionBudget", "acme", "policy/v1")
    found = operator(service, budget)
    assert found.samples == ()
    assert found.others == (service, budget)


def test_an_object_of_the_core_group_is_not_a_sample_of_a_crd_without_a_group() -> None:
    broken = crd()
    del broken.body["spec"]["group"]
    found = operator(broken, manifest("ConfigMap", "settings", ""))
    assert found.samples == ()


def test_objects_with_equal_names_in_several_groups_are_all_written() -> None:
    groups = ["a.io/v1", "b.io/v1", "route.openshift.io/v1"]
    bundle = files(*(manifest("Route", "ui", group) for group in groups))
    versions = [bundle[f"manifests/ui_route{number}.yaml"]["apiVersion"] for number in ("", "-2", "-3")]
    assert sorted(versions) == groups


def test_a_crd_without_a_name_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="the CustomResourceDefinition has no name") as refused:
        classify_manifests([base(), manifest("CustomResourceDefinition", "", "apiextensions.k8s.io/v1")])
    assert refused.value.hint == "add metadata.name"
