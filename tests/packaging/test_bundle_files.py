"""The files of a bundle, and the manifests it is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.bundlegen import bundle_files, origins, sorted_out
from everpath.errors import UnreadableInput
from everpath.model.bundle_contents import Manifest
from operators import RELEASE, base, crd, deployment, files, manifest, operator

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
def test_the_order_of_the_manifests_means_nothing(shuffled: list[Manifest]) -> None:
    made = bundle_files(sorted_out(shuffled), RELEASE)
    assert list(made.items()) == list(files(*MANIFESTS).items())


def test_the_annotations_say_what_and_where_the_bundle_is() -> None:
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


def test_a_release_without_a_default_channel_announces_none() -> None:
    annotations = files(release=RELEASE._replace(default_channel=""))["metadata/annotations.yaml"][
        "annotations"
    ]
    assert not [key for key in annotations if key.endswith("channel.default.v1")]


def test_of_several_scorecard_configurations_the_first_is_placed() -> None:
    version = "scorecard.operatorframework.io/v1alpha3"
    made = files(*(manifest("Configuration", name, version) for name in ("one", "two")))
    assert made["tests/scorecard/config.yaml"]["metadata"]["name"] == "one"


def test_a_scorecard_configuration_is_placed_and_announced() -> None:
    given = manifest("Configuration", "config", "scorecard.operatorframework.io/v1alpha3")
    made = files(given)
    annotations = made["metadata/annotations.yaml"]["annotations"]
    assert made["tests/scorecard/config.yaml"]["kind"] == "Configuration"
    assert annotations["operators.operatorframework.io.test.config.v1"] == "tests/scorecard/"
    assert annotations["operators.operatorframework.io.test.mediatype.v1"] == "scorecard+v1"


def test_dependencies_and_properties_have_files_of_their_own_where_there_are_any() -> None:
    needed = {"type": "olm.package", "value": {"packageName": "x", "version": ">1.0.0"}}
    made = files(release=RELEASE._replace(dependencies=(needed,)))
    assert made["metadata/dependencies.yaml"] == {"dependencies": [needed]}
    assert "metadata/properties.yaml" not in made
    stated = {"type": "olm.maxOpenShiftVersion", "value": "4.19"}
    made = files(release=RELEASE._replace(properties=(stated,)))
    assert made["metadata/properties.yaml"] == {"properties": [stated]}
    assert "metadata/dependencies.yaml" not in made


def test_definitions_and_other_objects_are_shipped_under_their_names() -> None:
    shipped = [path for path in files(*MANIFESTS) if path.startswith("manifests/")]
    assert shipped == [
        "manifests/acme.clusterserviceversion.yaml",
        "manifests/gadgets.acme.io_customresourcedefinition.yaml",
        "manifests/metrics_service.yaml",
        "manifests/settings_configmap.yaml",
        "manifests/widgets.acme.io_customresourcedefinition.yaml",
    ]


def test_a_name_with_signs_that_no_file_may_have_is_written_without() -> None:
    assert "manifests/a_b_c_configmap.yaml" in files(manifest("ConfigMap", "a:b/c"))


def test_every_manifest_of_a_bundle_has_its_origin() -> None:
    given = operator(base(), crd(), manifest("ConfigMap", "settings", file="more.yaml"))
    assert origins(given, RELEASE) == {
        "manifests/acme.clusterserviceversion.yaml": "ClusterServiceVersion-acme.yaml",
        "manifests/widgets.acme.io_customresourcedefinition.yaml": (
            "CustomResourceDefinition-widgets.acme.io.yaml"
        ),
        "manifests/settings_configmap.yaml": "more.yaml",
    }


def test_what_a_server_wrote_into_an_object_is_left_out() -> None:
    added = {"uid": "1", "creationTimestamp": None, "resourceVersion": "7", "generation": 2}
    metadata = {"name": "metrics", **added, "managedFields": ["a"], "labels": {"a": "b"}}
    given = manifest("Service", "metrics", status={"x": 1}, metadata=metadata)
    made = files(given)["manifests/metrics_service.yaml"]
    assert made["metadata"] == {"name": "metrics", "labels": {"a": "b"}}
    assert "status" not in made


def test_an_operator_without_a_base_is_told_how_to_get_one() -> None:
    with pytest.raises(UnreadableInput, match="no ClusterServiceVersion to start from") as refused:
        sorted_out([deployment()])
    assert refused.value.hint is not None
    assert "everpath init" in refused.value.hint


def test_two_bases_are_refused_by_file() -> None:
    other = manifest("ClusterServiceVersion", "other", file="other.yaml")
    with pytest.raises(UnreadableInput, match=r"2 ClusterServiceVersions: .*other\.yaml") as refused:
        sorted_out([base(), other])
    assert refused.value.hint is not None


def test_a_patch_beside_what_it_patches_is_refused_by_file() -> None:
    patch = manifest("Deployment", "acme", "apps/v1", file="patch.yaml")
    with pytest.raises(UnreadableInput, match=r"Deployment 'acme' is in .* and in patch\.yaml") as refused:
        sorted_out([base(), deployment(), patch])
    assert refused.value.file == "patch.yaml"
    assert "kustomize build" in (refused.value.hint or "")


def test_a_patch_is_found_though_a_namesake_of_another_group_stands_between() -> None:
    groups = {"a.yaml": "a.io/v1", "b.yaml": "b.io/v1", "c.yaml": "a.io/v1"}
    routes = [manifest("Route", "ui", group, file=file) for file, group in groups.items()]
    with pytest.raises(UnreadableInput, match=r"Route 'ui' is in a\.yaml and in c\.yaml"):
        sorted_out([base(), *routes])


def test_namesakes_of_several_groups_are_numbered_by_group_whatever_file_they_are_in() -> None:
    one, other = (("a.io/v1", "b.io/v1"), ("b.io/v1", "a.io/v1"))
    made = [
        files(*(manifest("Route", "ui", g, file=f) for g, f in zip(pair, "xy", strict=True)))
        for pair in (one, other)
    ]
    assert made[0] == made[1]


def test_only_objects_of_kinds_that_are_defined_here_are_samples() -> None:
    given = operator(
        crd(), manifest("Widget", "one", "acme.io/v1"), manifest("Certificate", "c", "other.io/v1")
    )
    assert [sample.kind for sample in given.samples] == ["Widget"]
    assert [other.kind for other in given.others] == ["Certificate"]


ODD = st.recursive(
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


@given(st.sampled_from(KINDS), ODD, ODD)
def test_no_shape_of_a_manifest_breaks_the_making_of_a_bundle(kind: str, spec: object, rest: object) -> None:
    odd = manifest(kind, "odd", spec=spec, rules=rest, subjects=rest, roleRef=spec)
    assert files(deployment(), odd)


def test_no_object_of_a_bundle_is_in_a_namespace() -> None:
    placed = manifest("Service", "metrics", spec={})
    placed.body["metadata"]["namespace"] = "system"
    assert files(deployment(), placed)["manifests/metrics_service.yaml"]["metadata"] == {"name": "metrics"}


def test_two_objects_without_a_name_are_told_to_have_none() -> None:
    twins = [manifest("Service", "", file="a.yaml"), manifest("Service", "", file="b.yaml")]
    for order in (twins, twins[::-1]):
        with pytest.raises(UnreadableInput, match=r"a\.yaml: the Service has no name") as refused:
            operator(*order)
        assert refused.value.file == "a.yaml"


@pytest.mark.parametrize("kind", ["Kustomization", "Component", ""])
def test_kustomizations_and_what_has_no_kind_are_no_part_of_a_bundle(kind: str) -> None:
    found = operator(manifest(kind, "", file="a.yaml"), deployment())
    assert found.others == ()


@pytest.mark.parametrize("kind", ["Kustomization", "Component"])
def test_kustomizations_are_not_twins(kind: str) -> None:
    twins = [manifest(kind, "", file=f"{letter}.yaml") for letter in "ab"]
    assert operator(*twins, deployment()).others == ()


def test_a_group_that_no_definition_extends_has_no_samples() -> None:
    service = manifest("APIService", "v1.policy", spec={"group": "policy"})
    budget = manifest("PodDisruptionBudget", "acme", "policy/v1")
    found = operator(service, budget)
    assert found.samples == ()
    assert found.others == (service, budget)


def test_an_object_of_no_group_is_no_sample_of_a_definition_without_one() -> None:
    broken = crd()
    del broken.body["spec"]["group"]
    found = operator(broken, manifest("ConfigMap", "settings", ""))
    assert found.samples == ()


def test_objects_of_one_kind_and_name_in_two_groups_are_both_shipped() -> None:
    groups = ["a.io/v1", "b.io/v1", "route.openshift.io/v1"]
    made = files(*(manifest("Route", "ui", group) for group in groups))
    versions = [made[f"manifests/ui_route{number}.yaml"]["apiVersion"] for number in ("", "-2", "-3")]
    assert sorted(versions) == groups


def test_a_definition_without_a_name_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="the CustomResourceDefinition has no name") as refused:
        sorted_out([base(), manifest("CustomResourceDefinition", "", "apiextensions.k8s.io/v1")])
    assert refused.value.hint == "name it under metadata.name"
