"""The bundles that an argument of the command line selects."""

from __future__ import annotations

import pytest

from everpath.errors import UsageError
from everpath.paths.bundle_selector import select_bundles, select_installed
from everpath.paths.suggestions import closest_match
from everpath.versions import parse
from tests.support.everpath.graphs import package_graph

PACKAGE = package_graph("op.v1.2.0: op.v1.1.0\nop.v1.1.0: op.v0.9.0\nop.v1.0.0?")


def test_a_bundle_is_meant_by_its_name_or_its_version() -> None:
    assert (
        select_bundles(PACKAGE, "op.v1.1.0").names == select_bundles(PACKAGE, "v1.1.0").names == {"op.v1.1.0"}
    )
    assert (
        select_bundles(PACKAGE, "op.v1.1.0").version
        == select_bundles(PACKAGE, "1.1.0").version
        == parse("1.1.0")
    )
    assert select_bundles(PACKAGE, "op.v1.0.0").version is None


def test_a_range_means_those_in_it_where_ranges_may_be_given() -> None:
    assert select_bundles(PACKAGE, ">=1.1.0", allow_range=True).names == {"op.v1.1.0", "op.v1.2.0"}
    assert select_bundles(PACKAGE, ">=9.0.0", allow_range=True).names == frozenset()
    with pytest.raises(UsageError):
        select_bundles(PACKAGE, ">=1.1.0")


def test_a_name_that_nothing_has_is_an_error_with_a_hint() -> None:
    with pytest.raises(UsageError) as caught:
        select_bundles(PACKAGE, "op.v1.1.1")
    assert caught.value.hint == "did you mean 'op.v1.1.0'?"
    with pytest.raises(UsageError) as caught:
        select_bundles(PACKAGE, "zzz", "`everpath list bundles mine -p p`")
    assert caught.value.hint == "`everpath list bundles mine -p p` lists them"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1.10.1", "1.9.0"),  # 1.1.1 is spelled more alike
        ("v1.10.1", "1.9.0"),
        ("op.v1.10.1", "op.v1.9.0"),
        ("other.v1.10.1", "other.v1.1.1"),
        ("op.v1.9.0x", "op.v1.9.0"),
        ("zzz", None),
    ],
)
def test_of_versions_the_nearest_is_meant_and_of_names_the_one_spelled_alike(
    text: str, meant: str | None
) -> None:
    assert closest_match(text, {"op.v1.9.0": "1.9.0", "other.v1.1.1": "1.1.1", "odd": None}) == meant


def test_a_version_may_be_installed_that_no_catalog_has() -> None:
    found = select_installed(PACKAGE, PACKAGE.channels, "1.1.5")
    assert (found.name, found.version, found.is_known) == ("op.v1.1.5", "1.1.5", False)
    assert select_installed(PACKAGE, PACKAGE.channels, "op.v1.1.5") == found
    assert select_installed(PACKAGE, PACKAGE.channels, "1.1.0").name == "op.v1.1.0"


def test_a_version_that_only_an_edge_knows_has_the_name_of_the_edge() -> None:
    package = package_graph("op.v1.2.0: - / old-op.v0.9.0")
    assert select_installed(package, package.channels, "0.9.0").name == "old-op.v0.9.0"


def test_a_name_may_be_installed_that_only_an_edge_knows() -> None:
    package = package_graph("op.v1.2.0: oldest")
    assert select_installed(package, package.channels, "oldest").version is None
    with pytest.raises(UsageError):
        select_installed(package, package.channels, "eldest")


def test_a_version_of_several_does_not_say_which() -> None:
    package = package_graph("b@1.0.0: a\na@1.0.0")
    with pytest.raises(UsageError) as caught:
        select_installed(package, package.channels, "1.0.0")
    assert "several bundles have version 1.0.0: a, b" in str(caught.value)
