"""The validators that are asked only where somebody names them, by the names operator-sdk gives them."""

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
def test_a_validator_is_named_with_or_without_what_operator_sdk_writes_before_it(name: str) -> None:
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
def test_some_names_stand_for_several(word: str, several: set[str]) -> None:
    assert find_validators([word]) == several


def test_several_words_name_all_that_each_of_them_does() -> None:
    assert find_validators(["community", "operatorhub", "name=object"]) == {"community", "object", *HUB}
    assert find_validators([]) == frozenset()


def test_a_name_that_is_none_is_told_which_there_are() -> None:
    with pytest.raises(UsageError, match="unknown validator 'hub'") as caught:
        find_validators(["all", "name=hub"])
    assert caught.value.hint == f"the validators are {', '.join(OPTIONAL)}, all"


def test_the_one_that_takes_a_container_engine_is_left_to_operator_sdk() -> None:
    with pytest.raises(UsageError, match="multiarch") as caught:
        find_validators(["name=multiarch"])
    assert caught.value.hint == "operator-sdk bundle validate --select-optional name=multiarch runs it"
