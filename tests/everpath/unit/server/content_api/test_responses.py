"""Responses of the content API. `make conformance` compares these and many more with catalogd."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.server.content_api.content import CatalogContent, Meta
from everpath.server.content_api.preconditions import format_http_time
from everpath.server.content_api.responses import HttpRequest, HttpResponse, respond

MODIFIED = 1_700_000_000
LINES = [
    Meta("olm.package", "", "op", b'{"p":1}\n'),
    Meta("olm.channel", "op", "stable", b'{"c":1}\n'),
    Meta("olm.bundle", "op", "op.v1", b'{"b":1}\n'),
    Meta("olm.bundle", "op", "op.v2", b'{"b":2}\n'),
    Meta("other", "", "two words", b'{"n":1}\n'),
]
SMALL = CatalogContent(LINES, MODIFIED)
TEXT = SMALL.text
ALL, METAS = "/catalogs/op/api/v1/all", "/catalogs/op/api/v1/metas"


def get(target: str, method: str = "GET", content: CatalogContent = SMALL, **headers: str) -> HttpResponse:
    header_names = {name.replace("_", "-"): value for name, value in headers.items()}
    return respond(HttpRequest(method, target, header_names), {"op": content})


def content_of_size(size: int) -> CatalogContent:
    return CatalogContent([Meta("s", "", "n", b"x" * size)], MODIFIED)


def test_all_returns_the_whole_catalog() -> None:
    response = get(ALL)
    assert (response.status, response.body) == (200, TEXT)
    assert response.headers == {
        "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT",
        "Content-Type": "application/jsonl",
        "Accept-Ranges": "bytes",
        "Vary": "Accept-Encoding",
    }


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("", TEXT),
        ("?schema=&name=", TEXT),
        ("?schema=olm.bundle", b'{"b":1}\n{"b":2}\n'),
        ("?package=op&name=op.v2", b'{"b":2}\n'),
        ("?name=op%2Ev2", b'{"b":2}\n'),
        ("?schema=olm.bundle&schema=olm.package", b'{"b":1}\n{"b":2}\n'),
        ("?name=two+words", b'{"n":1}\n'),
        ("?package=absent", b""),
        # Invalid parts are ignored.
        ("?schema=olm.package;&name=op.v1", b'{"b":1}\n'),
        ("?name=%zz&schema=olm.package", b'{"p":1}\n'),
    ],
)
def test_metas_returns_the_documents_that_match(query: str, body: bytes) -> None:
    response = get(METAS + query)
    assert (response.status, response.body) == (200, body)
    assert response.headers["Content-Type"] == "application/jsonl"


@pytest.mark.parametrize(
    ("method", "target", "status", "body"),
    [
        ("GET", f"{METAS}?image=x", 400, b"400 Bad Request\n"),
        ("GET", "/catalogs/other/api/v1/metas?image=x", 400, b"400 Bad Request\n"),
        ("GET", "/catalogs/other/api/v1/metas", 404, b"404 Not Found\n"),
        ("GET", "/catalogs/other/api/v1/all", 404, b"404 Not Found\n"),
        ("GET", f"{ALL}/", 404, b"404 page not found\n"),
        ("GET", "/", 404, b"404 page not found\n"),
        ("GET", "/catalogs/op%2Fx/api/v1/all", 404, b"404 Not Found\n"),
        ("GET", "/catalogs/%zz/api/v1/all", 400, b"400 Bad Request\n"),
        ("POST", ALL, 405, b"Method Not Allowed\n"),
        ("get", ALL, 405, b"Method Not Allowed\n"),
        ("DELETE", "/", 405, b"Method Not Allowed\n"),
    ],
)
def test_errors_are_plain_text(method: str, target: str, status: int, body: bytes) -> None:
    response = get(target, method)
    assert (response.status, response.body) == (status, body)
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("//catalogs/op/api/v1/all", ALL),
        ("/catalogs/./x/../op/api//v1/all", ALL),
        ("/../catalogs/op/api/v1/all/", f"{ALL}/"),
        ("/catalogs/op/api//v1/metas?schema=a&name=b", f"{METAS}?schema=a&name=b"),
    ],
)
def test_a_path_that_is_not_canonical_is_redirected(target: str, location: str) -> None:
    response = get(target)
    assert (response.status, response.headers["Location"]) == (307, location)
    link = f'<a href="{location.replace("&", "&amp;")}">Temporary Redirect</a>.\n\n'
    assert (response.body, get(target, "HEAD").headers.get("Content-Length")) == (link.encode(), None)


def test_escaped_and_absolute_targets_are_accepted() -> None:
    assert get("/catalogs/%6Fp/api/v1/all").body == TEXT
    assert get(f"http://localhost:8080{ALL}").body == TEXT


def test_letters_may_be_unescaped() -> None:
    content = CatalogContent([Meta("s", "", "été", b"found")], MODIFIED)
    assert get(f"{METAS}?name=été", "GET", content).body == b"found"
    assert get(f"{METAS}?name=%C3%A9t%C3%A9", "GET", content).body == b"found"
    assert get("//été?\udcff").headers["Location"] == "/%C3%A9t%C3%A9?%FF"


@given(
    st.text(st.characters(codec="utf-8") | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)),
    st.dictionaries(
        st.sampled_from(
            ["range", "if-range", "if-modified-since", "if-match", "if-none-match", "accept-encoding"]
        ),
        st.text(),
    ),
)
def test_every_request_gets_a_response(text: str, headers: dict[str, str]) -> None:
    for target in (text, f"{METAS}?{text}", f"/catalogs/{text}/api/v1/all", ALL):
        response = respond(HttpRequest("GET", target, headers), {"op": SMALL})
        assert response.status in (200, 206, 304, 307, 400, 404, 412, 416, 500)
        assert all(value.isascii() and value.isprintable() for value in response.headers.values())


@pytest.mark.parametrize("target", [ALL, METAS])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"if_modified_since": format_http_time(MODIFIED)}, 304),
        ({"if_modified_since": format_http_time(MODIFIED + 1)}, 304),
        ({"if_modified_since": format_http_time(MODIFIED - 1)}, 200),
        ({"if_modified_since": format_http_time(MODIFIED), "if_none_match": '"x"'}, 200),
        ({"if_none_match": "*"}, 304),
        ({"if_match": '"x"'}, 412),
        ({"if_match": '"x", *'}, 200),
        ({"if_match": " ,*"}, 200),
        ({"if_unmodified_since": format_http_time(MODIFIED - 1)}, 412),
        ({"if_unmodified_since": format_http_time(MODIFIED)}, 200),
        ({"if_unmodified_since": "never"}, 200),
    ],
)
def test_conditional_requests(target: str, headers: dict[str, str], status: int) -> None:
    response = get(target, "GET", SMALL, **headers)
    assert response.status == status
    assert response.body == (TEXT if status == 200 else b"")
    assert response.headers["Last-Modified"] == format_http_time(MODIFIED)


def test_an_invalid_time_is_an_error_of_metas_and_ignored_by_all() -> None:
    assert get(ALL, if_modified_since="yesterday").body == TEXT
    response = get(METAS, if_modified_since="yesterday")
    assert (response.status, response.body) == (500, b"500 Internal Server Error\n")


@pytest.mark.parametrize(
    ("header", "content_range", "body"),
    [
        ("bytes=0-1", "bytes 0-1/40", TEXT[:2]),
        ("bytes=38-", "bytes 38-39/40", TEXT[38:]),
        ("bytes=-2", "bytes 38-39/40", TEXT[38:]),
        ("bytes=0-99", "bytes 0-39/40", TEXT),
        ("bytes=-99", "bytes 0-39/40", TEXT),
        ("bytes=99-,1-1", "bytes 1-1/40", TEXT[1:2]),
    ],
)
def test_a_range_of_the_catalog(header: str, content_range: str, body: bytes) -> None:
    response = get(ALL, range=header)
    assert (response.status, response.headers["Content-Range"], response.body) == (206, content_range, body)


def test_several_ranges_are_a_multipart_response() -> None:
    response = get(ALL, range="bytes=0-1,4-4")
    boundary = response.headers["Content-Type"].removeprefix("multipart/byteranges; boundary=")
    head = "Content-Range: bytes {}/40\r\nContent-Type: application/jsonl\r\n\r\n"
    first, second = head.format("0-1"), head.format("4-4")
    expected = f'--{boundary}\r\n{first}{{"\r\n--{boundary}\r\n{second}:\r\n--{boundary}--\r\n'
    assert (response.status, response.body) == (206, expected.encode())
    assert boundary.encode() not in TEXT


@pytest.mark.parametrize("header", ["bytes=0-,0-", "bytes="])
def test_ranges_larger_than_the_catalog_return_the_whole_catalog(header: str) -> None:
    response = get(ALL, range=header)
    assert (response.status, response.body) == (200, TEXT)


@pytest.mark.parametrize(
    "header", ["lines=0-1", "bytes=1", "bytes=b-a", "bytes=5-4", "bytes=--1", f"bytes={2**63}-"]
)
def test_an_invalid_range_is_an_error(header: str) -> None:
    response = get(ALL, range=header)
    assert (response.status, response.body) == (416, b"invalid range\n")
    assert "Content-Range" not in response.headers


def test_a_range_beyond_the_end_is_an_error() -> None:
    response = get(ALL, range="bytes=40-")
    assert (response.status, response.headers["Content-Range"]) == (416, "bytes */40")
    assert "Last-Modified" not in response.headers


def test_a_range_of_an_empty_catalog_returns_the_empty_catalog() -> None:
    assert get(ALL, content=CatalogContent([], MODIFIED), range="bytes=5-").status == 200


def test_an_outdated_if_range_returns_the_whole_catalog() -> None:
    assert get(ALL, range="bytes=0-1", if_range=format_http_time(MODIFIED - 1)).body == TEXT
    assert get(ALL, range="bytes=0-1", if_range='"x"').body == TEXT
    assert get(ALL, range="bytes=0-1", if_range=format_http_time(MODIFIED)).body == TEXT[:2]


def test_metas_ignores_ranges() -> None:
    response = get(METAS, range="bytes=0-1")
    assert (response.status, response.body) == (200, TEXT)
    assert "Accept-Ranges" not in response.headers


@pytest.mark.parametrize("target", [ALL, METAS, f"{METAS}?schema=s"])
def test_a_kilobyte_is_compressed_if_the_client_accepts_gzip(target: str) -> None:
    response = get(target, content=content_of_size(1024), accept_encoding="br, gzip")
    assert response.headers["Content-Encoding"] == "gzip"
    assert "Accept-Ranges" not in response.headers
    assert gzip.decompress(response.body) == b"x" * 1024
    assert get(target, content=content_of_size(1023), accept_encoding="gzip").body == b"x" * 1023
    assert get(target, content=content_of_size(1024)).body == b"x" * 1024


def test_the_whole_catalog_is_compressed_once() -> None:
    large = content_of_size(5000)
    one, two = (get(target, content=large, accept_encoding="gzip").body for target in (ALL, METAS))
    assert one is two


@pytest.mark.parametrize(
    ("accept_encoding", "is_compressed"),
    [
        ("gzip", True),
        ("GZip;q=0.1", True),
        ("gzip;q=0", False),
        ("gzip;q=0;x=1", True),
        ("gzip;q=x", False),
        ("gzip;q=0, gzip", False),
        ("*", False),
        ("x-gzip", False),
        ("", False),
    ],
)
def test_accept_encoding(accept_encoding: str, is_compressed: bool) -> None:
    response = get(ALL, content=content_of_size(2000), accept_encoding=accept_encoding)
    assert ("Content-Encoding" in response.headers) == is_compressed


def test_a_range_is_not_compressed() -> None:
    response = get(ALL, content=content_of_size(5000), accept_encoding="gzip", range="bytes=0-2000")
    assert len(response.body) == 2001


def test_head_has_the_length_except_for_queries() -> None:
    whole, query, missing = (get(t, "HEAD", accept_encoding="gzip") for t in (ALL, METAS, "/"))
    assert whole.body == query.body == missing.body == b""
    assert whole.headers["Content-Length"] == "40"
    assert missing.headers["Content-Length"] == "19"
    assert "Content-Length" not in query.headers
    assert get(ALL, "HEAD", range="bytes=-0").headers["Content-Length"] == "0"


def test_every_response_varies_by_accept_encoding() -> None:
    for target, method in ((ALL, "GET"), (METAS, "HEAD"), ("/", "GET"), (ALL, "POST"), ("//", "GET")):
        assert get(target, method).headers["Vary"] == "Accept-Encoding"
