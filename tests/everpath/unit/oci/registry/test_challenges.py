"""Parsing of the header WWW-Authenticate."""

from __future__ import annotations

import pytest

from everpath.oci.registry.auth import Challenge, parse_challenges


@pytest.mark.parametrize(
    ("header", "challenges"),
    [
        ('Basic realm="x"', [Challenge("basic", {"realm": "x"})]),
        ("Basic", [Challenge("basic")]),
        (
            'Bearer realm="https://a/t?x=1,2",service="s",scope="repository:a/b:pull,push"',
            [
                Challenge(
                    "bearer",
                    {"realm": "https://a/t?x=1,2", "service": "s", "scope": "repository:a/b:pull,push"},
                )
            ],
        ),
        (
            'Bearer realm = "a" , error=invalid_token, Basic realm="b \\"q\\""',
            [
                Challenge("bearer", {"realm": "a", "error": "invalid_token"}),
                Challenge("basic", {"realm": 'b "q"'}),
            ],
        ),
        ('BEARER Realm="a"', [Challenge("bearer", {"realm": "a"})]),
        ("", []),
        ("???", []),
        ('Bearer realm="a', [Challenge("bearer")]),
    ],
)
def test_parse_challenges(header: str, challenges: list[Challenge]) -> None:
    assert list(parse_challenges(header))[: len(challenges) or 1] == challenges
