"""catalogd's content API: what a request is answered, without a socket.

    /catalogs/NAME/api/v1/all                              the whole catalog
    /catalogs/NAME/api/v1/metas?schema=&package=&name=     the documents that fit

Measured against catalogd 1.2.0, quirks included: a query is looked at before the catalog is looked for, and
a path that is not in its plain form is sent there first. Where it goes wrong itself, this does not: it
answers an If-Modified-Since that it cannot read with an error, followed by the whole catalog.
"""

from __future__ import annotations

__all__ = ["Answer", "Request", "answer"]

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from everpath.server.content_api.content import Content, compressed
from everpath.server.content_api.preconditions import Range, Verdict, http_time, ranges, verdict, wants_range

_JSON_LINES: Final = "application/jsonl"
_PLAIN: Final = "text/plain; charset=utf-8"
_PARAMETERS: Final = frozenset({"schema", "package", "name"})
# Below this gzip gains nothing: it is one packet either way.
_WORTH_PACKING: Final = 1024
_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_ORIGIN: Final = re.compile("https?://[^/?]*", re.IGNORECASE)
# No line of a catalog starts with dashes, so that none can be mistaken for it. It is as long as Go's.
_BOUNDARY: Final = f"{'everpath':x<60}"


class Request(NamedTuple):
    """What is asked; the names of headers in lower case, the first of each.

    Bytes of the target that are not UTF-8 are surrogates, as in names of files.
    """

    method: str
    target: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, the headers that mean something, and the bytes that follow them.

    `packed` is the body compressed, where somebody has it already.
    """

    status: HTTPStatus
    headers: Mapping[str, str]
    body: bytes = b""
    packed: Callable[[], bytes] | None = None


def answer(request: Request, catalogs: Mapping[str, Content]) -> Answer:
    """The answer to a request, given the catalogs by name. Cost: what is sent, and compressing it."""
    found = _answer(request, catalogs)
    headers = {**found.headers, "Vary": "Accept-Encoding"}
    if request.method == "HEAD":
        is_counted = found.body or found.status is HTTPStatus.PARTIAL_CONTENT
        sized = {"Content-Length": str(len(found.body))} if is_counted else {}
        return Answer(found.status, {**headers, **sized})
    if _is_worth_packing(found) and _takes_gzip(request.headers.get("accept-encoding", "")):
        headers.pop("Accept-Ranges", None)
        headers["Content-Encoding"] = "gzip"
        body = found.packed() if found.packed else compressed(found.body)
        return Answer(found.status, headers, body)
    return replace(found, headers=headers)


def _answer(request: Request, catalogs: Mapping[str, Content]) -> Answer:
    if request.method not in ("GET", "HEAD"):
        return _error(HTTPStatus.METHOD_NOT_ALLOWED, "Method Not Allowed")
    path, _, query = _ORIGIN.sub("", request.target, count=1).partition("?")
    if _BAD_ESCAPE.search(path):
        return _error(HTTPStatus.BAD_REQUEST)
    if (plain := _plain_path(path)) != path:
        return _redirection(plain, query, request.method)
    match [_unescaped(segment) for segment in plain.split("/")]:
        case ["", "catalogs", name, "api", "v1", "all"] if name:
            return _all(request, catalogs.get(name))
        case ["", "catalogs", name, "api", "v1", "metas"] if name:
            return _metas(request, _values(query), catalogs.get(name))
    return _error(HTTPStatus.NOT_FOUND, "404 page not found")


def _all(request: Request, content: Content | None) -> Answer:
    if content is None:
        return _error(HTTPStatus.NOT_FOUND)
    headers = {"Last-Modified": http_time(content.modified), "Content-Type": _JSON_LINES}
    match verdict(request.headers, content.modified):
        case Verdict.FAILED:
            return Answer(HTTPStatus.PRECONDITION_FAILED, headers)
        case Verdict.NOT_MODIFIED:
            return _not_modified(content)
    headers["Accept-Ranges"] = "bytes"
    if wanted := wants_range(request.headers, content.modified):
        return _part(content.text, wanted, headers)
    return Answer(HTTPStatus.OK, headers, content.text, lambda: content.compressed)


def _metas(request: Request, values: Mapping[str, str], content: Content | None) -> Answer:
    if not values.keys() <= _PARAMETERS:
        return _error(HTTPStatus.BAD_REQUEST)
    if content is None:
        return _error(HTTPStatus.NOT_FOUND)
    headers = {"Last-Modified": http_time(content.modified)}
    match verdict(request.headers, content.modified):
        case Verdict.FAILED:
            return Answer(HTTPStatus.PRECONDITION_FAILED, headers)
        case Verdict.NOT_MODIFIED:
            return _not_modified(content)
        case Verdict.UNREADABLE_TIME:
            return _error(HTTPStatus.INTERNAL_SERVER_ERROR, headers=headers)
    headers["Content-Type"] = _JSON_LINES
    found = content.select(**values) if request.method == "GET" else b""
    is_whole = found is content.text
    return Answer(HTTPStatus.OK, headers, found, (lambda: content.compressed) if is_whole else None)


def _not_modified(content: Content) -> Answer:
    return Answer(HTTPStatus.NOT_MODIFIED, {"Last-Modified": http_time(content.modified)})


def _error(status: HTTPStatus, text: str = "", *, headers: Mapping[str, str] | None = None) -> Answer:
    said = {"Content-Type": _PLAIN, "X-Content-Type-Options": "nosniff"}
    return Answer(status, {**(headers or {}), **said}, f"{text or _named(status)}\n".encode())


def _named(status: HTTPStatus) -> str:
    return f"{status.value} {status.phrase}"


def _part(text: bytes, wanted: str, headers: Mapping[str, str]) -> Answer:
    """Some ranges of the text; all of it where they come to more, or where it has nothing."""
    size = len(text)
    try:
        found = ranges(wanted, size)
    except ValueError:
        return _error(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "invalid range")
    if found is None and size:
        behind = "invalid range: failed to overlap"
        sized = {"Content-Range": f"bytes */{size}"}
        return _error(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, behind, headers=sized)
    if not found or sum(end - start for start, end in found) > size:
        return Answer(HTTPStatus.OK, headers, text)
    if len(found) > 1:
        several = {**headers, "Content-Type": f"multipart/byteranges; boundary={_BOUNDARY}"}
        return Answer(HTTPStatus.PARTIAL_CONTENT, several, b"".join(_parts(text, found)))
    (one,) = found
    placed = {**headers, "Content-Range": _place(one, size)}
    return Answer(HTTPStatus.PARTIAL_CONTENT, placed, text[one.start : one.end])


def _parts(text: bytes, found: Sequence[Range]) -> Iterator[bytes]:
    lead = ""
    for one in found:
        place = _place(one, len(text))
        yield f"{lead}--{_BOUNDARY}\r\nContent-Range: {place}\r\nContent-Type: {_JSON_LINES}\r\n\r\n".encode()
        yield text[one.start : one.end]
        lead = "\r\n"
    yield f"\r\n--{_BOUNDARY}--\r\n".encode()


def _place(one: Range, size: int) -> str:
    return f"bytes {one.start}-{one.end - 1}/{size}"


def _redirection(path: str, query: str, method: str) -> Answer:
    """To the plain form of a path. Its escapes are escaped once more, as Go does it."""
    place = _quoted(path, "/$&+,:;=@-_.~") + (f"?{_quoted(query, _PRINTABLE)}" if query else "")
    headers = {"Location": place, "Content-Type": "text/html; charset=utf-8"}
    said = f'<a href="{html.escape(place)}">Temporary Redirect</a>.\n\n' if method == "GET" else ""
    return Answer(HTTPStatus.TEMPORARY_REDIRECT, headers, said.encode())


def _plain_path(path: str) -> str:
    """Without empty segments, `.` and `..`; a slash at the end stays."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    tail = "/" if path.endswith("/") and kept else ""
    return "/" + "/".join(kept) + tail


def _quoted(text: str, safe: str) -> str:
    return quote(text, safe=safe, errors="surrogateescape")


def _unescaped(text: str) -> str:
    return unquote_to_bytes(text.encode(errors="surrogateescape")).decode(errors="surrogateescape")


def _values(query: str) -> dict[str, str]:
    """The first value of each parameter. What cannot be read is passed over, as Go does."""
    values: dict[str, str] = {}
    for pair in query.split("&"):
        if pair and ";" not in pair and not _BAD_ESCAPE.search(pair):
            key, _, value = pair.replace("+", " ").partition("=")
            values.setdefault(_unescaped(key), _unescaped(value))
    return values


def _is_worth_packing(found: Answer) -> bool:
    return len(found.body) >= _WORTH_PACKING and "Content-Range" not in found.headers


def _takes_gzip(accepted: str) -> bool:
    """Whether the first mention of gzip has a weight. A star is not a mention."""
    for coding in accepted.split(","):
        name, *parameters = (part.strip() for part in coding.split(";"))
        if name.lower() == "gzip":
            return not parameters or _weight(parameters[-1]) > 0
    return False


def _weight(parameter: str) -> float:
    """The last parameter decides; what is no weight weighs one, a weight that is no number nothing."""
    if not parameter.startswith("q="):
        return 1.0
    try:
        return float(parameter.removeprefix("q="))
    except ValueError:
        return 0.0
