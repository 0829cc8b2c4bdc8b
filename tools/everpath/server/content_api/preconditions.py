"""Conditional and partial requests, as Go's file server and catalogd's copy of it understand them.

There are no entity tags, only the time of the content: a tag in a request matches nothing, a star everything.
"""

from __future__ import annotations

__all__ = ["Range", "Verdict", "http_time", "parse_time", "ranges", "verdict", "wants_range"]

import calendar
import re
import time
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FULL_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_MONTH: Final = rf"(?P<month>(?i:{'|'.join(_MONTHS)}))"
_CLOCK: Final = r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,]\d+)?"
_SHORT: Final = rf"(?i:{'|'.join(_DAYS)})"
_LONG: Final = rf"(?i:{'|'.join(_FULL_DAYS)})"
# RFC 1123, RFC 850 and C's asctime, as Go reads them: a weekday is any weekday.
_TIMES: Final = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"{_SHORT}, +(?P<day>\d\d) +{_MONTH} +(?P<year>\d{{4}}) +{_CLOCK} +GMT",
        rf"{_LONG}, +(?P<day>\d\d)-{_MONTH}-(?P<year>\d\d) +{_CLOCK} +[A-Z]{{3,4}}",
        rf"{_SHORT} +{_MONTH} +(?P<day>\d{{1,2}}) +{_CLOCK} +(?P<year>\d{{4}})",
    )
)
_TAG: Final = re.compile(r'(?:W/)?"[!\x23-\x7e\x80-\U0010ffff]*"')
_SPACE: Final = " \t\r\n"


class Verdict(Enum):
    """What the conditions of a request come to."""

    GO_ON = auto()
    NOT_MODIFIED = auto()
    FAILED = auto()
    UNREADABLE_TIME = auto()


class Range(NamedTuple):
    """Bytes of a text, the end not included."""

    start: int
    end: int


def http_time(seconds: int) -> str:
    moment = time.gmtime(seconds)
    day, month = _DAYS[moment.tm_wday], _MONTHS[moment.tm_mon - 1]
    return f"{day}, {moment.tm_mday:02} {month} {moment.tm_year:04} {time.strftime('%H:%M:%S', moment)} GMT"


def parse_time(text: str) -> int | None:
    """Seconds since the epoch of a time in any of HTTP's three ways to write one."""
    for form in _TIMES:
        if found := form.fullmatch(text):
            return _seconds(found)
    return None


def _seconds(found: re.Match[str]) -> int | None:
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


def verdict(headers: Mapping[str, str], modified: int) -> Verdict:
    """RFC 7232 §6 for a GET or HEAD. Header names are in lower case."""
    if _fails(headers, modified):
        return Verdict.FAILED
    if tags := headers.get("if-none-match"):
        return Verdict.NOT_MODIFIED if _has_star(tags) else Verdict.GO_ON
    if not (since := headers.get("if-modified-since")):
        return Verdict.GO_ON
    moment = parse_time(since)
    if moment is None:
        return Verdict.UNREADABLE_TIME
    return Verdict.NOT_MODIFIED if modified <= moment else Verdict.GO_ON


def _fails(headers: Mapping[str, str], modified: int) -> bool:
    if tags := headers.get("if-match"):
        return not _has_star(tags)
    moment = parse_time(headers.get("if-unmodified-since", ""))
    return moment is not None and modified > moment


def _has_star(tags: str) -> bool:
    """Whether a list of tags, as far as it can be read, has a star."""
    rest = tags.lstrip(_SPACE + ",")
    while not rest.startswith("*"):
        tag = _TAG.match(rest)
        if tag is None:
            return False
        rest = rest[tag.end() :].lstrip(_SPACE + ",")
    return True


def wants_range(headers: Mapping[str, str], modified: int) -> str:
    """The Range header, or nothing where an If-Range says that it is out of date."""
    wanted = headers.get("range", "")
    if wanted and (condition := headers.get("if-range")) and parse_time(condition) != modified:
        return ""
    return wanted


def ranges(wanted: str, size: int) -> list[Range] | None:
    """The ranges that a header asks for; None where all of them are behind the end.

    Raises ValueError where it is no range of bytes.
    """
    if not wanted.startswith("bytes="):
        raise ValueError(wanted)
    asked = list(_ranges(wanted.removeprefix("bytes="), size))
    found = [one for one in asked if one is not None]
    return None if asked and not found else found


def _ranges(wanted: str, size: int) -> Iterator[Range | None]:
    for part in wanted.split(","):
        if part := part.strip(_SPACE):
            first, dash, last = part.partition("-")
            if not dash:
                raise ValueError(part)
            yield _range(first.strip(_SPACE), last.strip(_SPACE), size)


def _range(first: str, last: str, size: int) -> Range | None:
    if not first:
        return Range(size - min(_position(last), size), size)
    start = _position(first)
    if start >= size:
        return None
    if not last:
        return Range(start, size)
    end = _position(last)
    if end < start:
        raise ValueError(f"{first}-{last}")
    return Range(start, min(end + 1, size))


def _position(text: str) -> int:
    """A number that fits 63 bits, with or without a plus."""
    if not re.fullmatch(r"\+?[0-9]{1,40}", text) or int(text) >= 2**63:
        raise ValueError(text)
    return int(text)
