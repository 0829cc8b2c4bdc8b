"""What Kubernetes takes for a name, a label, a key or a link, and what it does not."""

from __future__ import annotations

import pytest

from everpath.rules.bundle.kubernetes_names import (
    dns_label,
    dns_subdomain,
    label_value,
    qualified_name,
    request_uri,
)

ENDS = "with a letter or digit at both ends"


@pytest.mark.parametrize("name", ["a", "0", "a-b", "a.b", "a--b.c0", "a" * 253])
def test_a_subdomain_is_labels_with_dots_between(name: str) -> None:
    assert dns_subdomain(name) is None


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a..b", ".a", "a.", "a.-b", "a_b", "a\n"])
def test_a_subdomain_has_letters_or_digits_at_the_ends_of_its_labels(name: str) -> None:
    assert (dns_subdomain(name) or "").endswith(ENDS)


@pytest.mark.parametrize("name", ["a", "a-0", "a" * 63])
def test_a_label_begins_with_a_letter(name: str) -> None:
    assert dns_label(name) is None


@pytest.mark.parametrize("name", ["", "0a", "-a", "a-", "A", "a.b", "a\n"])
def test_a_label_is_no_number_and_has_no_dots(name: str) -> None:
    assert (dns_label(name) or "").endswith("start with a letter")


@pytest.mark.parametrize("value", ["", "a", "A_b.c-0", "a" * 63])
def test_a_value_of_a_label_may_be_empty(value: str) -> None:
    assert label_value(value) is None


@pytest.mark.parametrize("value", ["-a", "a-", ".", "a b", "a/b", "a\n"])
def test_a_value_of_a_label_has_letters_or_digits_at_its_ends(value: str) -> None:
    assert (label_value(value) or "").endswith(ENDS)


@pytest.mark.parametrize("key", ["a", "A_b.c-0", "a.b/c", "a" * 63, f"{'a' * 253}/{'b' * 63}"])
def test_a_key_may_have_a_domain(key: str) -> None:
    assert qualified_name(key) is None


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("/a", "its domain is empty"),
        ("A/b", "its domain is invalid: it must consist of lower-case letters"),
        ("", "its name is empty"),
        ("a/", "its name is empty"),
        ("a/b/c", "it must be [domain/]name"),
        ("-a", "it must be [domain/]name"),
        ("a.b/c ", "it must be [domain/]name"),
        ("a" * 64, "its name has 64 characters, more than 63"),
        (f"a.b/{'c' * 64}", "its name has 64 characters, more than 63"),
    ],
)
def test_a_key_is_a_name_behind_at_most_one_slash(key: str, fault: str) -> None:
    assert (qualified_name(key) or "").startswith(fault)


def test_what_is_too_long_is_told_by_how_much() -> None:
    assert dns_subdomain("a" * 254) == "it has 254 characters, more than 253"
    assert dns_label("a" * 64) == label_value("a" * 64) == "it has 64 characters, more than 63"


@pytest.mark.parametrize(
    "url",
    [
        "https://a.b",
        "https://a.b:8080/c?d=%",
        "https://a.b:/c",
        "https://user:p%ss@a.b/c",
        "https://[::1]:80/c",
        "https://[::1]",
        "https://ä.b/c",
        "https://a.b/%2f%AF",
        "https:///%20",
        "mailto:a@b.c%",
        "h2+t.p-s://a",
        "/a/b:c",
        "//a.b/c",
        "a:",
    ],
)
def test_a_link_is_an_absolute_address(url: str) -> None:
    assert request_uri(url) is None


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://a.b/\n", "it contains a control character"),
        ("https://a.b/\x1f", "it contains a control character"),
        ("https://a.b/\x7f", "it contains a control character"),
        ("1a://b", "the part before the colon is not a scheme"),
        (":a", "the part before the colon is not a scheme"),
        ("", "it has no scheme such as https://"),
        ("a.b/c", "it has no scheme such as https://"),
        ("a.b/c:d", "it has no scheme such as https://"),
        ("https://a b/c", "its host contains a space"),
        ("https://a^b/c", "'a^b' is not a valid host"),
        ("https://a.b:x/c", "'x' is not a port"),
        ("https://a.b:80a", "'80a' is not a port"),
        ("https://[::1]:x", "'x' is not a port"),
        ("https://a%b/c", "% is not followed by two hexadecimal digits"),
        ("https://a.b/%", "% is not followed by two hexadecimal digits"),
        ("https://a.b/%g0", "% is not followed by two hexadecimal digits"),
        ("https:///%0g", "% is not followed by two hexadecimal digits"),
        ("/%zz?%", "% is not followed by two hexadecimal digits"),
    ],
)
def test_what_is_wrong_with_a_link_is_told(url: str, fault: str) -> None:
    assert request_uri(url) == fault


def test_a_blank_behind_the_host_is_none_in_its_name() -> None:
    assert request_uri("https://a.b/c d") is None
