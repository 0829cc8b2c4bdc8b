"""The base ClusterServiceVersion of a new package."""

from __future__ import annotations

import pytest

from everpath.bundlegen import scaffold_csv


def test_a_scaffolded_csv_has_placeholders_for_the_author() -> None:
    assert scaffold_csv("search-hub") == {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "annotations": {"capabilities": "Basic Install", "categories": "Application Runtime"},
            "name": "search-hub.v0.0.0",
            "namespace": "placeholder",
        },
        "spec": {
            "description": "TODO: describe what Search Hub does. Replace the other placeholders, too.",
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
def test_the_display_name_has_no_hyphens(package: str, title: str) -> None:
    assert scaffold_csv(package)["spec"]["displayName"] == title
