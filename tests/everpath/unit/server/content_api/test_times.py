"""The three formats of times in HTTP."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.server.content_api.preconditions import format_http_time, parse_http_time


@given(st.integers(0, 4_000_000_000))
def test_a_formatted_time_is_parsed_to_the_same_time(seconds: int) -> None:
    assert format_http_time(seconds) == formatdate(seconds, usegmt=True)
    assert parse_http_time(format_http_time(seconds)) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 UTC",
        "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994",
        "sun, 06 NOV 1994 8:49:37.25 GMT",
        "Mon, 06 Nov 1994 08:49:37 GMT",
    ],
)
def test_equivalent_formats(text: str) -> None:
    assert parse_http_time(text) == 784_111_777


def test_a_year_of_two_digits_is_in_1969_to_2068() -> None:
    assert parse_http_time("Friday, 01-Jan-69 00:00:00 GMT") == parse_http_time(
        "Fri, 01 Jan 1969 00:00:00 GMT"
    )
    assert parse_http_time("Friday, 01-Jan-68 00:00:00 GMT") == parse_http_time(
        "Fri, 01 Jan 2068 00:00:00 GMT"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "784111777",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 gmt",
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 1995 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    ],
)
def test_invalid_times(text: str) -> None:
    assert parse_http_time(text) is None
