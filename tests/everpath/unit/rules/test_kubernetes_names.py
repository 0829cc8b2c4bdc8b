"""Validation of names, labels and keys."""

from __future__ import annotations

import pytest

from everpath.rules.kubernetes_names import (
    label_value_error,
    qualified_name_error,
    rfc1035_label_error,
    subdomain_error,
)

ENDS = "with a letter or digit at both ends"


@pytest.mark.parametrize("name", ["a", "0", "a-b", "a.b", "a--b.c0", "a" * 253])
def test_subdomain_is_labels_separated_by_dots(name: str) -> None:
    assert subdomain_error(name) is None


@pytest.mark.parametrize("name", ["-a", "a-", "a..b", ".a", "a.", "a.-b"])
def test_a_subdomain_has_letters_or_digits_at_the_ends_of_its_labels(name: str) -> None:
    assert subdomain_error(name) == "each of its parts must begin and end with a letter or a digit"


@pytest.mark.parametrize("name", ["A", "a_b", "a\n"])
def test_subdomain_with_another_character_is_invalid(name: str) -> None:
    assert (subdomain_error(name) or "").endswith("is neither a lower-case letter, a digit, '-' nor '.'")


@pytest.mark.parametrize("name", ["a", "a-0", "a" * 63])
def test_label_starts_with_a_letter(name: str) -> None:
    assert rfc1035_label_error(name) is None


@pytest.mark.parametrize("name", ["", "0a", "-a", "a-", "A", "a.b", "a\n"])
def test_a_label_is_no_number_and_has_no_dots(name: str) -> None:
    assert (rfc1035_label_error(name) or "").endswith("start with a letter")


@pytest.mark.parametrize("value", ["", "a", "A_b.c-0", "a" * 63])
def test_a_value_of_a_label_may_be_empty(value: str) -> None:
    assert label_value_error(value) is None


@pytest.mark.parametrize("value", ["-a", "a-", ".", "a b", "a/b", "a\n"])
def test_a_value_of_a_label_has_letters_or_digits_at_its_ends(value: str) -> None:
    assert (label_value_error(value) or "").endswith(ENDS)


@pytest.mark.parametrize("key", ["a", "A_b.c-0", "a.b/c", "a" * 63, f"{'a' * 253}/{'b' * 63}"])
def test_a_key_may_have_a_domain(key: str) -> None:
    assert qualified_name_error(key) is None


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("/a", "its domain is empty"),
        ("A/b", "its domain is invalid: 'A' is neither a lower-case letter"),
        ("", "its name is empty"),
        ("a/", "its name is empty"),
        ("a/b/c", "it must be [domain/]name"),
        ("-a", "it must be [domain/]name"),
        ("a.b/c ", "it must be [domain/]name"),
        ("a" * 64, "its name has 64 characters, more than 63"),
        (f"a.b/{'c' * 64}", "its name has 64 characters, more than 63"),
    ],
)
def test_key_has_at_most_one_slash(key: str, fault: str) -> None:
    assert (qualified_name_error(key) or "").startswith(fault)


def test_message_for_a_long_name_has_its_length() -> None:
    assert subdomain_error("a" * 254) == "it has 254 characters, more than 253"
    assert rfc1035_label_error("a" * 64) == "it has 64 characters, more than 63"
    assert label_value_error("a" * 64) == "it has 64 characters, more than 63"
