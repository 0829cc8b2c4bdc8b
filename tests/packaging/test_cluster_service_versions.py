"""What a generated ClusterServiceVersion says, and where it has it from."""

from __future__ import annotations

import json

import pytest

from everpath.bundlegen import Icon, bundle_files, sorted_out
from everpath.errors import UsageError
from operators import CSV, RELEASE, base, crd, csv, deployment, manifest


def test_the_release_decides_name_version_and_edges() -> None:
    release = RELEASE._replace(replaces="acme.v1.0.0", skips=("acme.v1.1.0",), skip_range=">=1.1.0 <1.2.0")
    made = csv(release=release)
    assert made["metadata"]["name"] == "acme.v1.2.0"
    assert made["spec"]["version"] == "1.2.0"
    assert made["spec"]["replaces"] == "acme.v1.0.0"
    assert made["spec"]["skips"] == ["acme.v1.1.0"]
    assert made["metadata"]["annotations"]["olm.skipRange"] == ">=1.1.0 <1.2.0"


def test_edges_of_the_base_never_reach_a_release() -> None:
    copied = base({"olm.skipRange": "<9.0.0"}, version="0.1.0", replaces="acme.v0.0.9", skips=["acme.v0.0.8"])
    made = csv(copied)
    assert made["spec"]["version"] == "1.2.0"
    assert not {"replaces", "skips"} & made["spec"].keys()
    assert "olm.skipRange" not in made["metadata"]["annotations"]


def test_what_the_base_says_of_the_operator_stands() -> None:
    made = csv(
        base({"capabilities": "Deep Insights"}, displayName="Acme", maturity="beta", links=[{"name": "a"}])
    )
    assert made["metadata"]["annotations"]["capabilities"] == "Deep Insights"
    assert made["spec"]["displayName"] == "Acme"
    assert made["spec"]["links"] == [{"name": "a"}]


def test_the_lowest_kubernetes_is_the_release_s_or_the_base_s() -> None:
    given = base(minKubeVersion="1.25.0")
    assert csv(given)["spec"]["minKubeVersion"] == "1.25.0"
    raised = RELEASE._replace(min_kube_version="1.29.0")
    assert csv(given, release=raised)["spec"]["minKubeVersion"] == "1.29.0"


def test_the_namespace_suggested_is_the_package_s_unless_the_base_names_one() -> None:
    key = "operatorframework.io/suggested-namespace"
    assert csv()["metadata"]["annotations"][key] == "acme"
    assert csv(base({key: "tools"}))["metadata"]["annotations"][key] == "tools"


def test_a_deployment_comes_with_its_labels_and_all_of_its_spec() -> None:
    given = deployment()
    given.body["metadata"]["labels"] = {"app": "acme"}
    given.body["spec"]["replicas"] = 2
    [made] = csv(given)["spec"]["install"]["spec"]["deployments"]
    assert (made["name"], made["label"], made["spec"]["replicas"]) == ("acme", {"app": "acme"}, 2)
    [bare] = csv(deployment())["spec"]["install"]["spec"]["deployments"]
    assert "label" not in bare


def test_samples_become_examples_in_an_order_of_their_own() -> None:
    one = manifest("Widget", "one", "acme.io/v1", spec={"size": 1})
    two = manifest("Gadget", "two", "acme.io/v1", spec={})
    annotations = [csv(*order)["metadata"]["annotations"] for order in ((crd(), one, two), (two, one, crd()))]
    assert annotations[0] == annotations[1]
    assert [example["kind"] for example in json.loads(annotations[0]["alm-examples"])] == ["Gadget", "Widget"]


def test_the_icon_is_a_base64_text_with_its_media_type() -> None:
    made = bundle_files(sorted_out([base()], Icon(b"<svg/>", "image/svg+xml")), RELEASE)
    assert made[CSV]["spec"]["icon"] == [{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}]


class TestImages:
    def test_the_name_the_manifests_use_gives_way_to_the_release_s_image(self) -> None:
        release = RELEASE._replace(images={"controller": "registry.example.com/acme:v1.2.0"})
        made = csv(deployment(image="controller:latest"), release=release)
        pod = made["spec"]["install"]["spec"]["deployments"][0]["spec"]["template"]["spec"]
        assert pod["containers"][0]["image"] == "registry.example.com/acme:v1.2.0"
        assert made["metadata"]["annotations"]["containerImage"] == "registry.example.com/acme:v1.2.0"

    def test_a_port_is_not_a_tag(self) -> None:
        release = RELEASE._replace(images={"localhost:5000/acme": "registry.example.com/acme:v1.2.0"})
        made = csv(deployment(image="localhost:5000/acme"), release=release)
        assert made["metadata"]["annotations"]["containerImage"] == "registry.example.com/acme:v1.2.0"

    def test_containers_and_the_images_their_environment_names_are_related(self) -> None:
        given = deployment(image="acme:1", env=[{"name": "RELATED_IMAGE_SIDE_CAR", "value": "side:1"}])
        assert csv(given)["spec"]["relatedImages"] == [
            {"name": "manager", "image": "acme:1"},
            {"name": "side-car", "image": "side:1"},
        ]

    def test_every_image_is_pinned_when_digests_are_given(self) -> None:
        given = deployment(image="acme:1", env=[{"name": "RELATED_IMAGE_X", "value": "side:1"}])
        digests = {"acme:1": "acme@sha256:aa", "side:1": "side@sha256:bb"}
        made = csv(given, release=RELEASE._replace(digests=digests))
        assert {item["image"] for item in made["spec"]["relatedImages"]} == {
            "acme@sha256:aa",
            "side@sha256:bb",
        }
        assert made["metadata"]["annotations"]["containerImage"] == "acme@sha256:aa"

    def test_an_image_without_a_digest_is_refused_by_name_when_digests_are_given(self) -> None:
        given = deployment(image="acme:1", env=[{"name": "RELATED_IMAGE_X", "value": "side:1"}])
        with pytest.raises(UsageError, match="no digest is known for side:1") as refused:
            csv(given, release=RELEASE._replace(digests={"acme:1": "acme@sha256:aa"}))
        assert refused.value.hint


class TestTheOperatorsOwnImage:
    """`containerImage`: sidecars often stand before the operator's own container."""

    @staticmethod
    def shown(default: str = "", images: dict[str, str] | None = None, name: str = "manager") -> str:
        made = deployment()
        template = made.body["spec"]["template"]
        template["spec"]["containers"] = [
            {"name": "proxy", "image": "example.com/proxy:v1"},
            {"name": name, "image": "controller:latest"},
            {"name": "last", "image": "example.com/last:v1"},
        ]
        if default:
            template["metadata"] = {"annotations": {"kubectl.kubernetes.io/default-container": default}}
        found = csv(made, release=RELEASE._replace(images=images or {}))
        return str(found["metadata"]["annotations"]["containerImage"])

    def test_it_is_the_one_that_the_release_names(self) -> None:
        images = {"controller": "example.com/acme:v1"}
        assert self.shown("last", images, name="operator") == "example.com/acme:v1"

    def test_of_several_it_is_the_one_that_kubectl_takes(self) -> None:
        images = {"controller": "example.com/acme:v1", "example.com/last": "example.com/last:v2"}
        assert self.shown("last", images) == "example.com/last:v2"

    def test_else_it_is_the_one_that_kubectl_takes(self) -> None:
        assert self.shown("last") == "example.com/last:v1"

    def test_else_it_is_the_manager(self) -> None:
        assert self.shown() == "controller:latest"

    def test_else_it_is_the_first(self) -> None:
        assert self.shown(name="operator") == "example.com/proxy:v1"


def test_a_csv_is_one_of_a_deployment_in_a_namespace_that_olm_decides() -> None:
    made = csv(deployment())
    assert (made["apiVersion"], made["kind"]) == ("operators.coreos.com/v1alpha1", "ClusterServiceVersion")
    assert made["spec"]["install"]["strategy"] == "deployment"
    assert made["metadata"]["namespace"] == "placeholder"
    assert "alm-examples" not in made["metadata"]["annotations"]


def test_the_labels_of_the_base_are_kept() -> None:
    labelled = base()
    labelled.body["metadata"]["labels"] = {"operatorframework.io/arch.arm64": "supported"}
    assert csv(labelled)["metadata"]["labels"] == {"operatorframework.io/arch.arm64": "supported"}
    assert "labels" not in csv(base())["metadata"]


def test_the_icon_of_the_base_is_kept_and_an_empty_frame_is_not() -> None:
    picture, frame = {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}, {"base64data": ""}
    assert csv(base(icon=[frame, picture]))["spec"]["icon"] == [picture]
    assert "icon" not in csv(base(icon=[frame]))["spec"]


def test_examples_are_written_for_people_and_always_alike() -> None:
    given = manifest("Widget", "größer", "acme.io/v1", spec={"size": 1, "colour": "red"})
    shown = csv(crd(), given)["metadata"]["annotations"]["alm-examples"]
    assert shown.splitlines()[:3] == ["[", "  {", '    "apiVersion": "acme.io/v1",']
    assert '"name": "größer"' in shown
    assert shown.index('"colour"') < shown.index('"size"')
