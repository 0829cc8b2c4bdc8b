"""The images of an operator, wherever its manifests name them."""

from __future__ import annotations

from typing import Any

from everpath.bundlegen import image_names
from everpath.bundlegen.images import own_image, placed, related_images, repository
from operators import deployment

POD: dict[str, Any] = {
    "initContainers": [{"name": "setup", "image": "setup:1"}],
    "containers": [
        {
            "name": "manager",
            "image": "controller:latest",
            "env": [
                {"name": "RELATED_IMAGE_SEARCH_ENGINE", "value": "engine:2"},
                {"name": "LEVEL", "value": "engine:2"},
                {"name": "RELATED_IMAGE_NONE"},
            ],
        }
    ],
}


def test_every_image_is_related_once_in_order_of_name() -> None:
    again = {"containers": [{"name": "another", "image": "engine:2"}]}
    assert related_images([POD, again]) == [
        {"name": "manager", "image": "controller:latest"},
        {"name": "search-engine", "image": "engine:2"},
        {"name": "setup", "image": "setup:1"},
    ]


def test_images_are_placed_in_containers_of_both_kinds_and_in_variables_that_hold_one() -> None:
    made = placed(POD, {"setup": "acme/setup:7", "engine": "acme/engine:7"}, {"acme/engine:7": "e@sha256:1"})
    assert made["initContainers"] == [{"name": "setup", "image": "acme/setup:7"}]
    [manager] = made["containers"]
    assert manager["image"] == "controller:latest"
    assert [variable.get("value") for variable in manager["env"]] == ["e@sha256:1", "engine:2", None]


def test_manifests_name_their_images_without_tags() -> None:
    given = deployment()
    given.spec["template"]["spec"].update(POD)
    assert image_names([given]) == {"controller", "engine", "setup"}


def test_a_container_without_a_name_is_not_the_one_that_kubectl_takes() -> None:
    given = deployment()
    given.spec["template"]["spec"]["containers"] = [
        {"image": "sidecar:1"},
        {"name": "manager", "image": "controller:1"},
    ]
    assert own_image([given], {}) == "controller:1"


def test_a_reference_may_have_neither_tag_nor_digest() -> None:
    assert repository("controller") == "controller"
    assert repository("localhost:5000/controller") == "localhost:5000/controller"


def test_images_of_every_pod_and_every_variable_are_related() -> None:
    variables = [{"name": f"RELATED_IMAGE_{name}", "value": f"{name.lower()}:1"} for name in ("A", "B")]
    first = {"containers": [{"name": "manager", "image": "controller:1", "env": variables}]}
    second = {"containers": [{"name": "proxy", "image": "proxy:1"}]}
    assert [image["name"] for image in related_images([first, second])] == ["a", "b", "manager", "proxy"]


def test_an_operator_without_deployments_has_no_image_of_its_own() -> None:
    assert own_image([], {}) == ""
