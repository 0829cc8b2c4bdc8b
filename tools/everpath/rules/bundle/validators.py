"""The validators of operator-framework/api that are asked only where somebody names them."""

from __future__ import annotations

__all__ = ["OPTIONAL", "find_validators"]

from collections.abc import Iterable, Mapping
from typing import Final

from everpath.errors import UsageError

#: As operator-sdk calls them. multiarch is none of ours: it pulls images and runs a container engine.
OPTIONAL: Final = (
    "operatorhub/v2",
    "standardcapabilities",
    "standardcategories",
    "alpha-deprecated-apis",
    "good-practices",
    "object",
    "operatorgroup",
    "community",
    "packagemanifest",
)

#: Names that stand for several. operatorhub is what operatorhub/v2 was called when it did all three.
_SEVERAL: Final[Mapping[str, tuple[str, ...]]] = {
    "operatorhub": OPTIONAL[:3],
    "bundle-objects": ("object",),
    "operatorframework": OPTIONAL,
    "all": OPTIONAL,
}


def find_validators(words: Iterable[str]) -> frozenset[str]:
    """The validators that words name, also as operator-sdk takes them: name=NAME, suite=operatorframework."""
    found: set[str] = set()
    for word in words:
        name = word.removeprefix("name=").removeprefix("suite=")
        if name == "multiarch":
            hint = "operator-sdk bundle validate --select-optional name=multiarch runs it"
            raise UsageError("everpath does not check multiarch: it takes a container engine", hint=hint)
        if name not in _SEVERAL and name not in OPTIONAL:
            raise UsageError(
                f"no validator is called {name!r}", hint=f"there are {', '.join((*OPTIONAL, 'all'))}"
            )
        found.update(_SEVERAL.get(name, (name,)))
    return frozenset(found)
