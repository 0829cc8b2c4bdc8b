"""Requests for catalogd's content API, and responses in a form that can be compared between servers."""

from __future__ import annotations

__all__ = [
    "NAME",
    "ContentRequest",
    "ContentResponse",
    "requests",
    "run_content_server",
    "run_content_server_on",
    "send_request",
]

import gzip
import http.client
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from typing import NamedTuple

from everpath.server.content_api.content import CatalogContent
from everpath.server.content_api.http_server import ContentServer
from everpath.server.content_api.preconditions import format_http_time

NAME = "op-catalog"
ALL = f"/catalogs/{NAME}/api/v1/all"
METAS = f"/catalogs/{NAME}/api/v1/metas"


class ContentRequest(NamedTuple):
    """A request as it is sent."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()


class ContentResponse(NamedTuple):
    """A response with its body decompressed."""

    status: int
    headers: dict[str, str]
    body: bytes


_TARGETS = (
    ALL,
    f"{ALL}?schema=olm.bundle",
    f"{ALL}?ignored=parameter",
    f"{ALL}/",
    METAS,
    f"{METAS}?",
    f"{METAS}?schema=olm.package",
    f"{METAS}?schema=olm.channel",
    f"{METAS}?schema=olm.bundle",
    f"{METAS}?schema=olm.bundle&package=op",
    f"{METAS}?schema=olm.bundle&package=op&name=op.v1.0.0",
    f"{METAS}?name=op.v1.0.0&package=op&schema=olm.bundle",
    f"{METAS}?package=op",
    f"{METAS}?name=op",
    f"{METAS}?name=stable",
    f"{METAS}?package=op&name=stable",
    f"{METAS}?package=absent",
    f"{METAS}?schema=absent&package=op",
    f"{METAS}?schema=Olm.Package",
    f"{METAS}?schema=custom.schema",
    f"{METAS}?schema=custom.schema&name=%C3%A9t%C3%A9",
    f"{METAS}?name=two+words",
    f"{METAS}?name=two%20words",
    f"{METAS}?name=without-a-schema",
    f"{METAS}?package=without-a-schema",
    f"{METAS}?schema=",
    f"{METAS}?schema",
    f"{METAS}?schema=&package=&name=",
    f"{METAS}?schema=&name=op",
    f"{METAS}?schema=olm.package&schema=olm.bundle",
    f"{METAS}?schema=&schema=olm.bundle",
    f"{METAS}?Schema=olm.package",
    f"{METAS}?image=x",
    f"{METAS}?schema=olm.package&image=x",
    f"{METAS}?=x",
    f"{METAS}?&&schema=olm.package&",
    f"{METAS}?schema=olm.package;name=op",
    f"{METAS}?schema=olm.package;&name=op",
    f"{METAS}?schema=%zz",
    f"{METAS}?schema=%zz&image=%zz",
    f"{METAS}?%zz=1",
    f"{METAS}?sch%65ma=olm%2Epackage",
    f"{METAS}?name=%ff",
    f"{METAS}/",
    "/catalogs/unknown/api/v1/all",
    "/catalogs/unknown/api/v1/metas",
    "/catalogs/unknown/api/v1/metas?schema=olm.package",
    "/catalogs/unknown/api/v1/metas?image=x",
    "/",
    "/catalogs",
    "/catalogs/",
    f"/catalogs/{NAME}",
    f"/catalogs/{NAME}/api/v1/",
    f"/catalogs/{NAME}/api/v2/all",
    f"/catalogs/{NAME}/api/v1/graphql",
    f"/catalogs/{NAME}/api/v1/all.json",
    "/catalogs//api/v1/all",
    f"//catalogs/{NAME}/api/v1/all",
    f"/catalogs/./{NAME}/api/v1/all",
    f"/catalogs/x/../{NAME}/api/v1/all?schema=a&b=c",
    f"/catalogs/{NAME}/api//v1/metas?schema=a",
    f"/../catalogs/{NAME}/api/v1/all",
    f"/catalogs/{NAME}/%61pi/v1/all",
    "/catalogs/op%2Dcatalog/api/v1/all",
    "/catalogs/op%2Fcatalog/api/v1/all",
    "/catalogs/a!b//%3C&%22/api/v1/all",
    "/healthz",
)

_ENCODINGS = (
    "gzip",
    "GZIP",
    "identity",
    "*",
    "gzip;q=0",
    "gzip;q=0.1",
    "gzip; q=0.5",
    "deflate, gzip;q=1.0, *;q=0.5",
    "br;q=1, identity",
    "gzip;q=x",
    "gzip;q=-1",
    "gzip;q=0;x=1",
    "gzip;q=0, gzip",
    "x-gzip",
    ",gzip",
    "",
)

_RANGES = (
    "bytes=0-9",
    "bytes=0-0",
    "bytes=5-",
    "bytes=-10",
    "bytes=-0",
    "bytes=-999999999",
    "bytes=0-999999999",
    "bytes=999999999-",
    "bytes=999999999-,0-1",
    "bytes=9-5",
    "bytes=a-b",
    "bytes=--5",
    "bytes=",
    "bytes= 1 - 4 ",
    "bytes=+1-4",
    "bytes=0-1,4-5",
    "bytes=0-1,,9-700,-3",
    "bytes=0-1500,1600-1700",
    "bytes=0-,0-",
    "bytes=1",
    "lines=0-9",
    "bytes=99999999999999999999-",
)

_TAGS = ("*", '"tag"', 'W/"tag"', '"a", *', "tag", 'W/"a","b"', ",*", '"open', '""', ' "a" ,, "b"')


def _times(modified: int) -> Iterator[str]:
    for offset in (-86_400, -1, 0, 1, 86_400):
        yield format_http_time(modified + offset)
    same = format_http_time(modified)
    day, date, month, year, clock, _ = same.split()
    full = {"Mon": "Mon", "Tue": "Tues", "Wed": "Wednes", "Thu": "Thurs", "Fri": "Fri", "Sat": "Satur"}
    long = f"{full.get(day[:3], 'Sun')}day"
    yield f"{long}, {date}-{month}-{year[2:]} {clock} GMT"
    yield f"{long}, {date}-{month}-{year[2:]} {clock} UTC"
    yield f"{day[:3]} {month} {int(date):2} {clock} {year}"
    yield f"{day[:3]} {month} {date} {clock} {year}"
    yield same.replace(day, "Tue,").replace(month, month.upper())
    yield same.replace("GMT", "UTC")
    yield same.replace(" GMT", ".5 GMT")
    yield same.lower()
    yield f"{day} 32 {month} {year} {clock} GMT"
    yield f"{day} 1 {month} {year} {clock} GMT"
    yield f"{day} 01 Jan {int(year) + 1} 9:00:00 GMT"
    yield f"{day} 01 Jan {int(year) + 1} 24:00:00 GMT"
    yield f"{day} 29 Feb 2027 10:00:00 GMT"
    yield "yesterday"
    yield "0"


def _headers(modified: int) -> Iterator[tuple[tuple[str, str], ...]]:
    yield ()
    for encoding in _ENCODINGS:
        yield (("Accept-Encoding", encoding),)
    for name, moment in product(("If-Modified-Since", "If-Unmodified-Since"), _times(modified)):
        yield ((name, moment),)
    for name, tag in product(("If-None-Match", "If-Match"), _TAGS):
        yield ((name, tag),)
    old, same = format_http_time(modified - 60), format_http_time(modified)
    yield ("If-None-Match", '"x"'), ("If-Modified-Since", same)
    yield ("If-Match", "*"), ("If-Unmodified-Since", old)
    yield ("If-Match", "*"), ("If-Modified-Since", same)
    yield ("If-Modified-Since", same), ("Accept-Encoding", "gzip")
    yield ("If-Modified-Since", old), ("Accept-Encoding", "gzip")
    yield ("If-Modified-Since", same), ("If-Modified-Since", old)
    for span in _RANGES:
        yield (("Range", span),)
        yield ("Range", span), ("Accept-Encoding", "gzip")
    for condition in (same, old, '"tag"', "*", "never", same.lower()):
        yield ("Range", "bytes=0-9"), ("If-Range", condition)
    yield ("Range", "bytes=0-9"), ("If-Modified-Since", same)


def requests(modified: int) -> Iterator[ContentRequest]:
    """Yield requests for all targets, with all headers for some targets, and with all methods."""
    for method, target in product(("GET", "HEAD"), _TARGETS):
        yield ContentRequest(method, target)
        yield ContentRequest(method, target, (("Accept-Encoding", "gzip"),))
    targets = (
        ALL,
        METAS,
        f"{METAS}?schema=olm.bundle",
        f"{METAS}?schema=olm.package",
        f"{METAS}?package=absent",
    )
    for method, target, headers in product(("GET", "HEAD"), targets, _headers(modified)):
        yield ContentRequest(method, target, headers)
    methods = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get")
    for method, target in product(
        methods, (ALL, METAS, f"{METAS}?image=x", "/catalogs/unknown/api/v1/all", "/")
    ):
        yield ContentRequest(method, target)


# Headers that servers must agree on. Length and chunks of a body may differ.
_HEADERS = (
    "Accept-Ranges",
    "Content-Encoding",
    "Content-Range",
    "Content-Type",
    "ETag",
    "Last-Modified",
    "Location",
    "Vary",
    "X-Content-Type-Options",
)
_BOUNDARY = re.compile(r"boundary=(.+)")


@contextmanager
def run_content_server(
    catalogs: Mapping[str, CatalogContent], *, connections: int = 16, grace: float = 5.0
) -> Iterator[int]:
    """Run the content server of everpath on the loopback address, and yield its port."""
    server_socket = socket.create_server(("127.0.0.1", 0))
    with run_content_server_on(server_socket, catalogs, connections=connections, grace=grace):
        yield server_socket.getsockname()[1]


@contextmanager
def run_content_server_on(
    server_socket: socket.socket,
    catalogs: Mapping[str, CatalogContent],
    *,
    connections: int = 16,
    grace: float = 5.0,
) -> Iterator[None]:
    """Run the content server on a socket to which clients may have connected before."""
    server = ContentServer(server_socket, lambda: catalogs, max_connections=connections)
    try:
        yield
    finally:
        server.close(grace)


def send_request(connection: http.client.HTTPConnection, request: ContentRequest) -> ContentResponse:
    """Send a request and read the whole response."""
    connection.putrequest(request.method, request.target, skip_accept_encoding=True)
    for name, value in request.headers:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    headers = {name: response.headers[name] for name in _HEADERS if name in response.headers}
    if "gzip" in headers.get("Content-Encoding", ""):
        body = gzip.decompress(body)
    elif request.method == "HEAD" and (length := response.headers.get("Content-Length")):
        headers["Content-Length"] = length
    return _replace_boundary(ContentResponse(response.status, headers, body))


def _replace_boundary(response: ContentResponse) -> ContentResponse:
    """Replace the boundary of a multipart body, which catalogd chooses at random."""
    content_type = response.headers.get("Content-Type", "")
    if found := _BOUNDARY.search(content_type):
        headers = {**response.headers, "Content-Type": content_type.replace(found[1], "-")}
        headers.pop("Content-Length", None)
        return ContentResponse(response.status, headers, response.body.replace(found[1].encode(), b"-"))
    return response
