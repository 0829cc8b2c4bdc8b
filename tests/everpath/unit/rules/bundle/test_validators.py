"""Optional validators, by the names of operator-sdk."""

from __future__ import annotations

import pytest

from everpath.errors import UsageError
from everpath.rules.bundle.validators import OPTIONAL, find_validators

HUB = {"operatorhub/v2", "standardcapabilities", "standardcategories"}
OTHERS = {
    "alpha-deprecated-apis",
    "good-practices",
    "object",
    "operatorgroup",
    "community",
    "packagemanifest",
}


@pytest.mark.parametrize("name", sorted(HUB | OTHERS))
def test_validator_can_have_the_prefix_of_operator_sdk(name: str) -> None:
    assert find_validators([name]) == find_validators([f"name={name}"]) == {name}


@pytest.mark.parametrize(
    ("word", "several"),
    [
        ("operatorhub", HUB),
        ("bundle-objects", {"object"}),
        ("operatorframework", HUB | OTHERS),
        ("suite=operatorframework", HUB | OTHERS),
        ("all", HUB | OTHERS),
    ],
)
def test_group_names_select_several_validators(word: str, several: set[str]) -> None:
    assert find_validators([word]) == several


def test_several_names_select_all_their_validators() -> None:
    assert find_validators(["community", "operatorhub", "name=object"]) == {"community", "object", *HUB}
    assert find_validators([]) == frozenset()


def test_unknown_validator_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown validator 'hub'") as caught:
        find_validators(["all", "name=hub"])
    assert caught.value.hint == f"the validators are {', '.join(OPTIONAL)}, all"


def test_multiarch_is_not_supported() -> None:
    with pytest.raises(UsageError, match="multiarch") as caught:
        find_validators(["name=multiarch"])
    assert caught.value.hint == "operator-sdk bundle validate --select-optional name=multiarch runs it"
