"""Validation of URLs."""

from __future__ import annotations

import pytest

from everpath.rules.bundle.urls import url_error


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
def test_absolute_url_is_accepted(url: str) -> None:
    assert url_error(url) is None


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
def test_invalid_url_has_a_reason(url: str, fault: str) -> None:
    assert url_error(url) == fault


def test_space_after_the_host_is_accepted() -> None:
    assert url_error("https://a.b/c d") is None
