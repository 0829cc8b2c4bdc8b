"""possible_resolutions yields all random choices of operator-controller, and no others."""

from __future__ import annotations

from tests.e2e.extension_resolution import (
    ClusterResolution,
    everpath_resolution,
    possible_resolutions,
    resolution_from_status,
    with_unique_catalogs,
)
from tests.e2e.servers.operator_controller import ExtensionStatus
from tests.everpath.conformance.v1_questions import Installation, Question, Shelf
from tests.support.everpath.documents import Document, bundle, channel, deprecations, package


def shelf(*documents: Document, letter: str = "a", priority: int = 0) -> Shelf:
    return Shelf(f"catalog-{letter}", priority, (package("p"), *documents))


def bundles(**versions: str) -> list[Document]:
    return [bundle(name, version, package="p") for name, version in versions.items()]


def resolutions(
    *shelves: Shelf, channels: tuple[str, ...] = (), installed: str = ""
) -> set[ClusterResolution]:
    running = Installation(*installed.split()) if installed else None
    return set(possible_resolutions(with_unique_catalogs("q", Question(shelves, (running,), channels))))


def names(found: set[ClusterResolution]) -> set[str]:
    return {resolution.name for resolution in found}


def test_unique_versions_have_one_resolution() -> None:
    question = Question((shelf(*bundles(a="1.0.0", b="2.0.0")),), (None,))
    assert set(possible_resolutions(question)) == {everpath_resolution(question)}


def test_any_bundle_with_the_highest_version_may_be_chosen() -> None:
    assert names(resolutions(shelf(*bundles(a="1.0.0", b="2.0.0", c="2.0.0+1", d="2.0.0+2")))) == {
        "b",
        "c",
        "d",
    }


def test_bundle_of_another_channel_is_not_chosen() -> None:
    served = shelf(channel("a", "b", package="p"), *bundles(a="1.0.0", b="2.0.0", c="2.0.0+1"))
    assert names(resolutions(served, channels=("stable",))) == {"b"}


def test_deprecated_bundle_of_the_same_version_is_not_chosen() -> None:
    old = deprecations(("olm.bundle", "c", "old"), package="p")
    assert names(resolutions(shelf(*bundles(b="2.0.0", c="2.0.0+1"), old))) == {"b"}


def test_deprecations_of_any_catalog_may_be_shown() -> None:
    old = deprecations(("olm.package", "", "old"), package="p")
    found = resolutions(shelf(*bundles(a="1.0.0"), old, priority=1), shelf(*bundles(a="1.0.0"), letter="b"))
    assert found == {
        ClusterResolution("a", "1.0.0", "q-a", "p is old in q-a"),
        ClusterResolution("a", "1.0.0", "q-a", ""),
    }


def test_status_has_bundle_version_and_catalog() -> None:
    message = (
        'terminal error: error parsing image reference "q-a": repository name must be canonical '
        'for resolved bundle "a" with version "1.0.0"'
    )
    assert resolution_from_status(ExtensionStatus(message, "p is old in q-a")) == ClusterResolution(
        "a", "1.0.0", "q-a", "p is old in q-a"
    )
    assert resolution_from_status(ExtensionStatus("no bundles found", "ignored")) == ClusterResolution(
        failure="no bundles found"
    )
