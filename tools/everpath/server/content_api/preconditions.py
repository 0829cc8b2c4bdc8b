"""Conditional and range requests, as Go's net/http and catalogd's copy of it implement them.

Responses have no ETag: in If-Match and If-None-Match a tag matches nothing, and `*` matches.
"""

from __future__ import annotations

__all__ = [
    "ByteRange",
    "PreconditionResult",
    "check_preconditions",
    "format_http_time",
    "parse_http_time",
    "parse_ranges",
    "requested_range",
]

import calendar
import re
import time
from collections.abc import Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LONG_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTH: Final = rf"(?P<month>(?i:{'|'.join(_MONTHS)}))"
_TIME: Final = r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,]\d+)?"
_DAY: Final = rf"(?i:{'|'.join(_DAYS)})"
_LONG_DAY: Final = rf"(?i:{'|'.join(_LONG_DAYS)})"
# RFC 1123, RFC 850 and C's asctime. Like Go, they accept any weekday for a date.
_TIME_FORMATS: Final = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"{_DAY}, +(?P<day>\d\d) +{_MONTH} +(?P<year>\d{{4}}) +{_TIME} +GMT",
        rf"{_LONG_DAY}, +(?P<day>\d\d)-{_MONTH}-(?P<year>\d\d) +{_TIME} +[A-Z]{{3,4}}",
        rf"{_DAY} +{_MONTH} +(?P<day>\d{{1,2}}) +{_TIME} +(?P<year>\d{{4}})",
    )
)
_ENTITY_TAG: Final = re.compile(r'(?:W/)?"[!\x23-\x7e\x80-\U0010ffff]*"')
_WHITESPACE: Final = " \t\r\n"


class PreconditionResult(Enum):
    """What to do with a conditional request."""

    PROCEED = auto()
    NOT_MODIFIED = auto()
    FAILED = auto()
    INVALID_TIME = auto()


class ByteRange(NamedTuple):
    """A range of bytes, without its end."""

    start: int
    end: int


def format_http_time(seconds: int) -> str:
    """Format seconds since the epoch as RFC 1123 does."""
    moment = time.gmtime(seconds)
    day, month = _DAYS[moment.tm_wday], _MONTHS[moment.tm_mon - 1]
    return f"{day}, {moment.tm_mday:02} {month} {moment.tm_year:04} {time.strftime('%H:%M:%S', moment)} GMT"


def parse_http_time(text: str) -> int | None:
    """Parse a time in any of HTTP's three formats to seconds since the epoch. Returns None if invalid."""
    found = next(filter(None, (pattern.fullmatch(text) for pattern in _TIME_FORMATS)), None)
    if found is None:
        return None
    year = int(found["year"])
    if len(found["year"]) == 2:
        year += 1900 if year >= 69 else 2000
    month = _MONTHS.index(found["month"].title()) + 1
    day, hour, minute, second = (int(found[part]) for part in ("day", "hour", "minute", "second"))
    if year < 1 or not 1 <= day <= calendar.monthrange(year, month)[1]:
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return calendar.timegm((year, month, day, hour, minute, second))


def check_preconditions(headers: Mapping[str, str], modified: int) -> PreconditionResult:
    """Evaluate the preconditions of a GET or HEAD request (RFC 7232 §6). Header names are in lower case."""
    if tags := headers.get("if-match"):
        is_met = _has_star(tags)
    else:
        unmodified_since = parse_http_time(headers.get("if-unmodified-since", ""))
        is_met = unmodified_since is None or modified <= unmodified_since
    if not is_met:
        return PreconditionResult.FAILED
    if tags := headers.get("if-none-match"):
        return PreconditionResult.NOT_MODIFIED if _has_star(tags) else PreconditionResult.PROCEED
    if not (since := headers.get("if-modified-since")):
        return PreconditionResult.PROCEED
    modified_since = parse_http_time(since)
    if modified_since is None:
        return PreconditionResult.INVALID_TIME
    return PreconditionResult.NOT_MODIFIED if modified <= modified_since else PreconditionResult.PROCEED


def _has_star(tags: str) -> bool:
    """Whether a list of entity tags contains `*` before its first syntax error."""
    rest = tags.lstrip(_WHITESPACE + ",")
    while not rest.startswith("*"):
        tag = _ENTITY_TAG.match(rest)
        if tag is None:
            return False
        rest = rest[tag.end() :].lstrip(_WHITESPACE + ",")
    return True


def requested_range(headers: Mapping[str, str], modified: int) -> str:
    """Return the Range header, or an empty text if If-Range names another version of the content."""
    requested = headers.get("range", "")
    if requested and (condition := headers.get("if-range")) and parse_http_time(condition) != modified:
        return ""
    return requested


def parse_ranges(header: str, size: int) -> list[ByteRange] | None:
    """Parse a Range header. Returns None if all ranges start beyond the end of the content.

    Raises ValueError for invalid syntax, or a unit other than bytes.
    """
    if not header.startswith("bytes="):
        raise ValueError(header)
    ranges = []
    for part in header.removeprefix("bytes=").split(","):
        if stripped := part.strip(_WHITESPACE):
            first, dash, last = stripped.partition("-")
            if not dash:
                raise ValueError(stripped)
            ranges.append(_parse_range(first.strip(_WHITESPACE), last.strip(_WHITESPACE), size))
    satisfiable = [found for found in ranges if found is not None]
    return None if ranges and not satisfiable else satisfiable


def _parse_range(first: str, last: str, size: int) -> ByteRange | None:
    if not first:
        return ByteRange(size - min(_parse_position(last), size), size)
    start = _parse_position(first)
    if start >= size:
        return None
    if not last:
        return ByteRange(start, size)
    end = _parse_position(last)
    if end < start:
        raise ValueError(f"{first}-{last}")
    return ByteRange(start, min(end + 1, size))


def _parse_position(text: str) -> int:
    """Parse a number as Go's ParseInt does: at most 63 bits, optionally with a plus sign."""
    if not re.fullmatch(r"\+?[0-9]{1,40}", text) or int(text) >= 2**63:
        raise ValueError(text)
    return int(text)
