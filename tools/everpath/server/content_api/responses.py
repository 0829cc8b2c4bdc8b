"""catalogd's content API as a function from requests to responses.

    /catalogs/NAME/api/v1/all                              the whole catalog
    /catalogs/NAME/api/v1/metas?schema=&package=&name=     the documents that match

It behaves like catalogd 1.2.0, with its quirks: a query is validated before the catalog is looked up, and a
path that is not in its canonical form is redirected. One fault is not copied: after the error for an invalid
If-Modified-Since, catalogd sends the whole catalog.
"""

from __future__ import annotations

__all__ = ["HttpRequest", "HttpResponse", "respond"]

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from everpath.server.content_api.content import CatalogContent, gzip_compress
from everpath.server.content_api.preconditions import (
    ByteRange,
    PreconditionResult,
    check_preconditions,
    format_http_time,
    parse_ranges,
    requested_range,
)

_JSON_LINES: Final = "application/jsonl"
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"
_QUERY_PARAMETERS: Final = frozenset({"schema", "package", "name"})
# A shorter body fits into one packet without compression.
_MIN_COMPRESSED_SIZE: Final = 1024
_INVALID_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_ORIGIN: Final = re.compile("https?://[^/?]*", re.IGNORECASE)
# Never part of a catalog: no line starts with dashes. It has the length of Go's boundaries.
_BOUNDARY: Final = f"{'everpath':x<60}"


class HttpRequest(NamedTuple):
    """A request. Header names are in lower case; of repeated headers, the first is there.

    Bytes of the target that are not UTF-8 are surrogate escapes.
    """

    method: str
    target: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response. `compressed` returns the compressed body if it is cached."""

    status: HTTPStatus
    headers: Mapping[str, str]
    body: bytes = b""
    compressed: Callable[[], bytes] | None = None


def respond(request: HttpRequest, catalogs: Mapping[str, CatalogContent]) -> HttpResponse:
    """Return the response to a request for one of the catalogs, which are given by name."""
    response = _route(request, catalogs)
    headers = {**response.headers, "Vary": "Accept-Encoding"}
    if request.method == "HEAD":
        if response.body or response.status is HTTPStatus.PARTIAL_CONTENT:
            headers["Content-Length"] = str(len(response.body))
        return HttpResponse(response.status, headers)
    is_compressible = len(response.body) >= _MIN_COMPRESSED_SIZE and "Content-Range" not in headers
    if is_compressible and _accepts_gzip(request.headers.get("accept-encoding", "")):
        headers.pop("Accept-Ranges", None)
        headers["Content-Encoding"] = "gzip"
        body = response.compressed() if response.compressed else gzip_compress(response.body)
        return HttpResponse(response.status, headers, body)
    return replace(response, headers=headers)


def _route(request: HttpRequest, catalogs: Mapping[str, CatalogContent]) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return _error_response(HTTPStatus.METHOD_NOT_ALLOWED, "Method Not Allowed")
    path, _, query = _ORIGIN.sub("", request.target, count=1).partition("?")
    if _INVALID_ESCAPE.search(path):
        return _error_response(HTTPStatus.BAD_REQUEST)
    if (canonical := _canonical_path(path)) != path:
        return _redirect(canonical, query, request.method)
    match [_percent_decode(segment) for segment in path.split("/")]:
        case ["", "catalogs", name, "api", "v1", "all"] if name:
            return _get_all(request, catalogs.get(name))
        case ["", "catalogs", name, "api", "v1", "metas"] if name:
            return _get_metas(request, _parse_query(query), catalogs.get(name))
    return _error_response(HTTPStatus.NOT_FOUND, "404 page not found")


def _get_all(request: HttpRequest, content: CatalogContent | None) -> HttpResponse:
    if content is None:
        return _error_response(HTTPStatus.NOT_FOUND)
    modified = {"Last-Modified": format_http_time(content.modified)}
    headers = {**modified, "Content-Type": _JSON_LINES}
    match check_preconditions(request.headers, content.modified):
        case PreconditionResult.FAILED:
            return HttpResponse(HTTPStatus.PRECONDITION_FAILED, headers)
        case PreconditionResult.NOT_MODIFIED:
            return HttpResponse(HTTPStatus.NOT_MODIFIED, modified)
    headers["Accept-Ranges"] = "bytes"
    if range_header := requested_range(request.headers, content.modified):
        return _get_ranges(content.text, range_header, headers)
    return HttpResponse(HTTPStatus.OK, headers, content.text, lambda: content.gzip_text)


def _get_metas(
    request: HttpRequest, parameters: Mapping[str, str], content: CatalogContent | None
) -> HttpResponse:
    if not parameters.keys() <= _QUERY_PARAMETERS:
        return _error_response(HTTPStatus.BAD_REQUEST)
    if content is None:
        return _error_response(HTTPStatus.NOT_FOUND)
    headers = {"Last-Modified": format_http_time(content.modified)}
    match check_preconditions(request.headers, content.modified):
        case PreconditionResult.FAILED:
            return HttpResponse(HTTPStatus.PRECONDITION_FAILED, headers)
        case PreconditionResult.NOT_MODIFIED:
            return HttpResponse(HTTPStatus.NOT_MODIFIED, headers)
        case PreconditionResult.INVALID_TIME:
            return _error_response(HTTPStatus.INTERNAL_SERVER_ERROR, headers=headers)
    headers["Content-Type"] = _JSON_LINES
    lines = content.select(**parameters) if request.method == "GET" else b""
    is_whole = lines is content.text
    return HttpResponse(HTTPStatus.OK, headers, lines, (lambda: content.gzip_text) if is_whole else None)


def _error_response(
    status: HTTPStatus, message: str = "", *, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Build an error as Go's http.Error does. The default message is the status."""
    body = f"{message or f'{status.value} {status.phrase}'}\n".encode()
    error_headers = {"Content-Type": _PLAIN_TEXT, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(status, {**(headers or {}), **error_headers}, body)


def _get_ranges(text: bytes, range_header: str, headers: Mapping[str, str]) -> HttpResponse:
    """Return the requested ranges, or the whole text if it is empty or smaller than the ranges together."""
    size = len(text)
    try:
        ranges = parse_ranges(range_header, size)
    except ValueError:
        return _error_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "invalid range")
    if ranges is None and size:
        return _error_response(
            HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
            "invalid range: failed to overlap",
            headers={"Content-Range": f"bytes */{size}"},
        )
    if not ranges or sum(end - start for start, end in ranges) > size:
        return HttpResponse(HTTPStatus.OK, headers, text)
    if len(ranges) == 1:
        start, end = ranges[0]
        headers = {**headers, "Content-Range": _content_range(ranges[0], size)}
        return HttpResponse(HTTPStatus.PARTIAL_CONTENT, headers, text[start:end])
    parts = []
    for part in ranges:
        place = _content_range(part, size)
        head = f"--{_BOUNDARY}\r\nContent-Range: {place}\r\nContent-Type: {_JSON_LINES}\r\n\r\n"
        parts.append(head.encode() + text[part.start : part.end] + b"\r\n")
    body = b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()
    headers = {**headers, "Content-Type": f"multipart/byteranges; boundary={_BOUNDARY}"}
    return HttpResponse(HTTPStatus.PARTIAL_CONTENT, headers, body)


def _content_range(part: ByteRange, size: int) -> str:
    return f"bytes {part.start}-{part.end - 1}/{size}"


def _redirect(path: str, query: str, method: str) -> HttpResponse:
    """Redirect to the canonical path. Like Go, it escapes existing escapes once more."""
    location = quote(path, safe="/$&+,:;=@-_.~", errors="surrogateescape")
    if query:
        location += f"?{quote(query, safe=_PRINTABLE, errors='surrogateescape')}"
    headers = {"Location": location, "Content-Type": "text/html; charset=utf-8"}
    link = f'<a href="{html.escape(location)}">Temporary Redirect</a>.\n\n' if method == "GET" else ""
    return HttpResponse(HTTPStatus.TEMPORARY_REDIRECT, headers, link.encode())


def _canonical_path(path: str) -> str:
    """Remove empty segments, `.` and `..`. A slash at the end stays."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    tail = "/" if path.endswith("/") and segments else ""
    return "/" + "/".join(segments) + tail


def _percent_decode(text: str) -> str:
    return unquote_to_bytes(text.encode(errors="surrogateescape")).decode(errors="surrogateescape")


def _parse_query(query: str) -> dict[str, str]:
    """Return the first value of each parameter. Like Go, it ignores invalid parts."""
    parameters: dict[str, str] = {}
    for pair in query.split("&"):
        if pair and ";" not in pair and not _INVALID_ESCAPE.search(pair):
            key, _, value = pair.replace("+", " ").partition("=")
            parameters.setdefault(_percent_decode(key), _percent_decode(value))
    return parameters


def _accepts_gzip(accept_encoding: str) -> bool:
    """Whether the first gzip in the header has a positive weight. `*` does not count.

    As in catalogd's gzip handler, only the last parameter counts, and a weight that is not a number is zero.
    """
    for coding in accept_encoding.split(","):
        name, *parameters = (part.strip() for part in coding.split(";"))
        if name.lower() == "gzip":
            if not parameters or not parameters[-1].startswith("q="):
                return True
            try:
                return float(parameters[-1].removeprefix("q=")) > 0
            except ValueError:
                return False
    return False
