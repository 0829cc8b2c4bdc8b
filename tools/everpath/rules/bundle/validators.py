"""The optional validators of operator-framework/api, which run only if they are selected."""

from __future__ import annotations

__all__ = ["OPTIONAL", "find_validators"]

from collections.abc import Iterable, Mapping
from typing import Final

from everpath.errors import UsageError

#: Their names in operator-sdk, without multiarch, which needs a container engine to pull images.
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

#: Names of groups. operatorhub is an older name for all three validators of OperatorHub.io.
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "operatorhub": OPTIONAL[:3],
    "bundle-objects": ("object",),
    "operatorframework": OPTIONAL,
    "all": OPTIONAL,
}


def find_validators(names: Iterable[str]) -> frozenset[str]:
    """Return the validators with these names, which may be operator-sdk's name=NAME and suite=NAME."""
    found: set[str] = set()
    for given in names:
        name = given.removeprefix("name=").removeprefix("suite=")
        if name == "multiarch":
            hint = "operator-sdk bundle validate --select-optional name=multiarch runs it"
            raise UsageError(
                "everpath does not run the validator multiarch, which needs a container engine", hint=hint
            )
        if name not in _GROUPS and name not in OPTIONAL:
            raise UsageError(
                f"unknown validator {name!r}", hint=f"the validators are {', '.join((*OPTIONAL, 'all'))}"
            )
        found.update(_GROUPS.get(name, (name,)))
    return frozenset(found)
