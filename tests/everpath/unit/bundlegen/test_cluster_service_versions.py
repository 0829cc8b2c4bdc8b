"""The contents of a generated ClusterServiceVersion."""

from __future__ import annotations

import json

import pytest

from everpath.bundlegen import Icon, bundle_files, classify_manifests
from everpath.errors import UsageError
from tests.support.everpath.operator_projects import CSV, RELEASE, base, crd, csv, deployment, manifest


def test_name_version_and_edges_are_those_of_the_release() -> None:
    release = RELEASE._replace(replaces="acme.v1.0.0", skips=("acme.v1.1.0",), skip_range=">=1.1.0 <1.2.0")
    generated = csv(release=release)
    assert generated["metadata"]["name"] == "acme.v1.2.0"
    assert generated["spec"]["version"] == "1.2.0"
    assert generated["spec"]["replaces"] == "acme.v1.0.0"
    assert generated["spec"]["skips"] == ["acme.v1.1.0"]
    assert generated["metadata"]["annotations"]["olm.skipRange"] == ">=1.1.0 <1.2.0"


def test_edges_of_the_base_are_dropped() -> None:
    copied = base({"olm.skipRange": "<9.0.0"}, version="0.1.0", replaces="acme.v0.0.9", skips=["acme.v0.0.8"])
    generated = csv(copied)
    assert generated["spec"]["version"] == "1.2.0"
    assert not {"replaces", "skips"} & generated["spec"].keys()
    assert "olm.skipRange" not in generated["metadata"]["annotations"]


def test_other_values_of_the_base_are_kept() -> None:
    generated = csv(
        base({"capabilities": "Deep Insights"}, displayName="Acme", maturity="beta", links=[{"name": "a"}])
    )
    assert generated["metadata"]["annotations"]["capabilities"] == "Deep Insights"
    assert generated["spec"]["displayName"] == "Acme"
    assert generated["spec"]["links"] == [{"name": "a"}]


def test_min_kube_version_of_the_release_takes_precedence() -> None:
    base_csv = base(minKubeVersion="1.25.0")
    assert csv(base_csv)["spec"]["minKubeVersion"] == "1.25.0"
    raised = RELEASE._replace(min_kube_version="1.29.0")
    assert csv(base_csv, release=raised)["spec"]["minKubeVersion"] == "1.29.0"


def test_the_suggested_namespace_defaults_to_the_package() -> None:
    key = "operatorframework.io/suggested-namespace"
    assert csv()["metadata"]["annotations"][key] == "acme"
    assert csv(base({key: "tools"}))["metadata"]["annotations"][key] == "tools"


def test_a_deployment_keeps_its_labels_and_spec() -> None:
    operator = deployment()
    operator.body["metadata"]["labels"] = {"app": "acme"}
    operator.body["spec"]["replicas"] = 2
    [generated] = csv(operator)["spec"]["install"]["spec"]["deployments"]
    assert (generated["name"], generated["label"], generated["spec"]["replicas"]) == (
        "acme",
        {"app": "acme"},
        2,
    )
    [bare] = csv(deployment())["spec"]["install"]["spec"]["deployments"]
    assert "label" not in bare


def test_samples_become_alm_examples_in_a_fixed_order() -> None:
    one = manifest("Widget", "one", "acme.io/v1", spec={"size": 1})
    two = manifest("Gadget", "two", "acme.io/v1", spec={})
    annotations = [csv(*order)["metadata"]["annotations"] for order in ((crd(), one, two), (two, one, crd()))]
    assert annotations[0] == annotations[1]
    assert [example["kind"] for example in json.loads(annotations[0]["alm-examples"])] == ["Gadget", "Widget"]


def test_the_icon_is_embedded_as_base64() -> None:
    generated = bundle_files(classify_manifests([base()], Icon(b"<svg/>", "image/svg+xml")), RELEASE)
    assert generated[CSV]["spec"]["icon"] == [{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}]


class TestImages:
    def test_an_image_name_is_replaced_with_the_image_of_the_release(self) -> None:
        release = RELEASE._replace(images={"controller": "registry.example.com/acme:v1.2.0"})
        generated = csv(deployment(image="controller:latest"), release=release)
        pod = generated["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]
        assert pod["containers"][0]["image"] == "registry.example.com/acme:v1.2.0"
        assert generated["metadata"]["annotations"]["containerImage"] == "registry.example.com/acme:v1.2.0"

    def test_the_port_of_a_registry_is_not_a_tag(self) -> None:
        release = RELEASE._replace(images={"localhost:5000/acme": "registry.example.com/acme:v1.2.0"})
        generated = csv(deployment(image="localhost:5000/acme"), release=release)
        assert generated["metadata"]["annotations"]["containerImage"] == "registry.example.com/acme:v1.2.0"

    def test_images_of_containers_and_variables_are_related(self) -> None:
        operator = deployment(image="acme:1", env=[{"name": "RELATED_IMAGE_SIDE_CAR", "value": "side:1"}])
        assert csv(operator)["spec"]["relatedImages"] == [
            {"name": "manager", "image": "acme:1"},
            {"name": "side-car", "image": "side:1"},
        ]

    def test_all_images_are_pinned_if_digests_are_given(self) -> None:
        operator = deployment(image="acme:1", env=[{"name": "RELATED_IMAGE_X", "value": "side:1"}])
        digests = {"acme:1": "acme@sha256:aa", "side:1": "side@sha256:bb"}
        generated = csv(operator, release=RELEASE._replace(digests=digests))
        assert {item["image"] for item in generated["spec"]["relatedImages"]} == {
            "acme@sha256:aa",
            "side@sha256:bb",
        }
        assert generated["metadata"]["annotations"]["containerImage"] == "acme@sha256:aa"

    def test_an_image_without_a_digest_is_refused_if_digests_are_given(self) -> None:
        operator = deployment(image="acme:1", env=[{"name": "RELATED_IMAGE_X", "value": "side:1"}])
        with pytest.raises(UsageError, match="no digest is known for side:1") as refused:
            csv(operator, release=RELEASE._replace(digests={"acme:1": "acme@sha256:aa"}))
        assert refused.value.hint


class TestContainerImage:
    """`containerImage`: sidecars are often listed before the operator's own container."""

    @staticmethod
    def container_image(
        default: str = "", images: dict[str, str] | None = None, name: str = "manager"
    ) -> str:
        generated = deployment()
        template = generated.body["spec"]["template"]
        template["spec"]["containers"] = [
            {"name": "proxy", "image": "example.com/proxy:v1"},
            {"name": name, "image": "controller:latest"},
            {"name": "last", "image": "example.com/last:v1"},
        ]
        if default:
            template["metadata"] = {"annotations": {"kubectl.kubernetes.io/default-container": default}}
        found = csv(generated, release=RELEASE._replace(images=images or {}))
        return str(found["metadata"]["annotations"]["containerImage"])

    def test_a_container_with_an_image_of_the_release_is_used(self) -> None:
        images = {"controller": "example.com/acme:v1"}
        assert self.container_image("last", images, name="operator") == "example.com/acme:v1"

    def test_the_default_container_decides_between_several_images_of_the_release(self) -> None:
        images = {"controller": "example.com/acme:v1", "example.com/last": "example.com/last:v2"}
        assert self.container_image("last", images) == "example.com/last:v2"

    def test_otherwise_the_default_container_is_used(self) -> None:
        assert self.container_image("last") == "example.com/last:v1"

    def test_otherwise_the_manager_is_used(self) -> None:
        assert self.container_image() == "controller:latest"

    def test_otherwise_the_first_container_is_used(self) -> None:
        assert self.container_image(name="operator") == "example.com/proxy:v1"


def test_a_csv_has_the_deployment_strategy_and_a_placeholder_namespace() -> None:
    generated = csv(deployment())
    assert (generated["apiVersion"], generated["kind"]) == (
        "operators.coreos.com/v1alpha1",
        "ClusterServiceVersion",
    )
    assert generated["spec"]["install"]["strategy"] == "deployment"
    assert generated["metadata"]["namespace"] == "placeholder"
    assert "alm-examples" not in generated["metadata"]["annotations"]


def test_the_labels_of_the_base_are_kept() -> None:
    labelled = base()
    labelled.body["metadata"]["labels"] = {"operatorframework.io/arch.arm64": "supported"}
    assert csv(labelled)["metadata"]["labels"] == {"operatorframework.io/arch.arm64": "supported"}
    assert "labels" not in csv(base())["metadata"]


def test_icons_of_the_base_without_data_are_dropped() -> None:
    picture, frame = {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}, {"base64data": ""}
    assert csv(base(icon=[frame, picture]))["spec"]["icon"] == [picture]
    assert "icon" not in csv(base(icon=[frame]))["spec"]


def test_examples_are_indented_and_sorted() -> None:
    sample = manifest("Widget", "größer", "acme.io/v1", spec={"size": 1, "colour": "red"})
    examples = csv(crd(), sample)["metadata"]["annotations"]["alm-examples"]
    assert examples.splitlines()[:3] == ["[", "  {", '    "apiVersion": "acme.io/v1",']
    assert '"name": "größer"' in examples
    assert examples.index('"colour"') < examples.index('"size"')
