"""The ClusterServiceVersion to begin with: what no manifest tells, and only the author knows."""

from __future__ import annotations

__all__ = ["starting_csv"]

from typing import Any, Final

from everpath.bundlegen.descriptors import spaced

_MODES: Final = {
    "OwnNamespace": False,
    "SingleNamespace": False,
    "MultiNamespace": False,
    "AllNamespaces": True,
}


def starting_csv(package: str) -> dict[str, Any]:
    """A base that makes a valid bundle; every text in it is there to be replaced."""
    title = " ".join(spaced(word) for word in package.replace("_", "-").split("-") if word)
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "annotations": {"capabilities": "Basic Install", "categories": "Application Runtime"},
            "name": f"{package}.v0.0.0",
            "namespace": "placeholder",
        },
        "spec": {
            "description": f"What {title} does, and for whom. Replace this, and what else is yours to say.",
            "displayName": title,
            "installModes": [{"supported": state, "type": mode} for mode, state in _MODES.items()],
            "keywords": [package],
            "links": [{"name": title, "url": "https://example.com"}],
            "maintainers": [{"email": "you@example.com", "name": "You"}],
            "maturity": "alpha",
            "provider": {"name": "You", "url": "https://example.com"},
        },
    }
