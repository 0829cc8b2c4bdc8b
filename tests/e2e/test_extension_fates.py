"""What is left to chance, and no more than that, passes for an answer of operator-controller."""

from __future__ import annotations

from conformance.v1_questions import Installation, Question, Shelf
from documents import Document, bundle, channel, deprecations, package
from e2e.extension_fates import Fate, by_everpath, by_process, possible, staged
from e2e.servers.operator_controller import ExtensionStatus


def shelf(*documents: Document, letter: str = "a", priority: int = 0) -> Shelf:
    return Shelf(f"catalog-{letter}", priority, (package("p"), *documents))


def bundles(**versions: str) -> list[Document]:
    return [bundle(name, version, package="p") for name, version in versions.items()]


def fates(*shelves: Shelf, channels: tuple[str, ...] = (), installed: str = "") -> set[Fate]:
    running = Installation(*installed.split()) if installed else None
    return set(possible(staged("q", Question(shelves, (running,), channels))))


def names(found: set[Fate]) -> set[str]:
    return {fate.name for fate in found}


def test_one_version_once_leaves_nothing_to_chance() -> None:
    question = Question((shelf(*bundles(a="1.0.0", b="2.0.0")),), (None,))
    assert set(possible(question)) == {by_everpath(question)}


def test_any_of_the_bundles_with_the_highest_version_may_be_taken() -> None:
    assert names(fates(shelf(*bundles(a="1.0.0", b="2.0.0", c="2.0.0+1", d="2.0.0+2")))) == {"b", "c", "d"}


def test_a_bundle_of_the_same_version_outside_the_channels_may_not() -> None:
    served = shelf(channel("a", "b", package="p"), *bundles(a="1.0.0", b="2.0.0", c="2.0.0+1"))
    assert names(fates(served, channels=("stable",))) == {"b"}


def test_a_deprecated_bundle_of_the_same_version_may_not() -> None:
    old = deprecations(("olm.bundle", "c", "old"), package="p")
    assert names(fates(shelf(*bundles(b="2.0.0", c="2.0.0+1"), old))) == {"b"}


def test_whose_deprecations_are_shown_is_left_to_chance() -> None:
    old = deprecations(("olm.package", "", "old"), package="p")
    found = fates(shelf(*bundles(a="1.0.0"), old, priority=1), shelf(*bundles(a="1.0.0"), letter="b"))
    assert found == {Fate("a", "1.0.0", "q-a", "p is old in q-a"), Fate("a", "1.0.0", "q-a", "")}


def test_a_status_tells_the_bundle_its_version_and_its_catalog() -> None:
    said = (
        'terminal error: error parsing image reference "q-a": repository name must be canonical '
        'for resolved bundle "a" with version "1.0.0"'
    )
    assert by_process(ExtensionStatus(said, "p is old in q-a")) == Fate(
        "a", "1.0.0", "q-a", "p is old in q-a"
    )
    assert by_process(ExtensionStatus("no bundles found", "ignored")) == Fate(failure="no bundles found")
