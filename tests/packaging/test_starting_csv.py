"""The ClusterServiceVersion that a new package begins with."""

from __future__ import annotations

import pytest

from everpath.bundlegen import starting_csv


def test_a_starting_csv_holds_all_that_only_the_author_knows() -> None:
    assert starting_csv("search-hub") == {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "annotations": {"capabilities": "Basic Install", "categories": "Application Runtime"},
            "name": "search-hub.v0.0.0",
            "namespace": "placeholder",
        },
        "spec": {
            "description": "What Search Hub does, and for whom. Replace this, and what else is yours to say.",
            "displayName": "Search Hub",
            "installModes": [
                {"supported": False, "type": "OwnNamespace"},
                {"supported": False, "type": "SingleNamespace"},
                {"supported": False, "type": "MultiNamespace"},
                {"supported": True, "type": "AllNamespaces"},
            ],
            "keywords": ["search-hub"],
            "links": [{"name": "Search Hub", "url": "https://example.com"}],
            "maintainers": [{"email": "you@example.com", "name": "You"}],
            "maturity": "alpha",
            "provider": {"name": "You", "url": "https://example.com"},
        },
    }


@pytest.mark.parametrize(
    ("package", "title"), [("op", "Op"), ("my_first-op", "My First Op"), ("a--b", "A B"), ("-a-", "A")]
)
def test_a_package_has_a_title_without_hyphens(package: str, title: str) -> None:
    assert starting_csv(package)["spec"]["displayName"] == title
