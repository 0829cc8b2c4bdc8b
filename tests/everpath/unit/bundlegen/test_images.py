"""The images of an operator in its manifests."""

from __future__ import annotations

from typing import Any

from everpath.bundlegen import image_names
from everpath.bundlegen.images import operator_image, related_images, replace_images, repository
from tests.support.everpath.operator_projects import deployment

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


def test_related_images_are_unique_and_sorted_by_name() -> None:
    other_pod = {"containers": [{"name": "another", "image": "engine:2"}]}
    assert related_images([POD, other_pod]) == [
        {"name": "manager", "image": "controller:latest"},
        {"name": "search-engine", "image": "engine:2"},
        {"name": "setup", "image": "setup:1"},
    ]


def test_images_are_replaced_in_all_containers_and_related_image_variables() -> None:
    pod = replace_images(
        POD, {"setup": "acme/setup:7", "engine": "acme/engine:7"}, {"acme/engine:7": "e@sha256:1"}
    )
    assert pod["initContainers"] == [{"name": "setup", "image": "acme/setup:7"}]
    [manager] = pod["containers"]
    assert manager["image"] == "controller:latest"
    assert [variable.get("value") for variable in manager["env"]] == ["e@sha256:1", "engine:2", None]


def test_image_names_have_no_tags() -> None:
    operator = deployment()
    operator.spec["template"]["spec"].update(POD)
    assert image_names([operator]) == {"controller", "engine", "setup"}


def test_a_container_without_a_name_is_not_the_default_container() -> None:
    operator = deployment()
    operator.spec["template"]["spec"]["containers"] = [
        {"image": "sidecar:1"},
        {"name": "manager", "image": "controller:1"},
    ]
    assert operator_image([operator], {}) == "controller:1"


def test_a_reference_without_tag_and_digest_is_a_repository() -> None:
    assert repository("controller") == "controller"
    assert repository("localhost:5000/controller") == "localhost:5000/controller"


def test_images_of_all_pods_and_variables_are_related() -> None:
    variables = [{"name": f"RELATED_IMAGE_{name}", "value": f"{name.lower()}:1"} for name in ("A", "B")]
    first = {"containers": [{"name": "manager", "image": "controller:1", "env": variables}]}
    second = {"containers": [{"name": "proxy", "image": "proxy:1"}]}
    assert [image["name"] for image in related_images([first, second])] == ["a", "b", "manager", "proxy"]


def test_an_operator_without_deployments_has_no_image() -> None:
    assert operator_image([], {}) == ""
