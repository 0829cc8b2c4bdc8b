"""What a request is answered. `make conformance` asks the same of catalogd's own code, and much more."""

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


def ask(target: str, method: str = "GET", content: CatalogContent = SMALL, **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return respond(HttpRequest(method, target, named), {"op": content})


def sized(size: int) -> CatalogContent:
    return CatalogContent([Meta("s", "", "n", b"x" * size)], MODIFIED)


def test_the_whole_catalog() -> None:
    found = ask(ALL)
    assert (found.status, found.body) == (200, TEXT)
    assert found.headers == {
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
        ("?package=nobody", b""),
        # What cannot be read is passed over.
        ("?schema=olm.package;&name=op.v1", b'{"b":1}\n'),
        ("?name=%zz&schema=olm.package", b'{"p":1}\n'),
    ],
)
def test_the_documents_that_fit(query: str, body: bytes) -> None:
    found = ask(METAS + query)
    assert (found.status, found.body) == (200, body)
    assert found.headers["Content-Type"] == "application/jsonl"


@pytest.mark.parametrize(
    ("method", "target", "status", "said"),
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
def test_errors_are_plain_text(method: str, target: str, status: int, said: bytes) -> None:
    found = ask(target, method)
    assert (found.status, found.body) == (status, said)
    assert found.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert found.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("//catalogs/op/api/v1/all", ALL),
        ("/catalogs/./x/../op/api//v1/all", ALL),
        ("/../catalogs/op/api/v1/all/", f"{ALL}/"),
        ("/catalogs/op/api//v1/metas?schema=a&name=b", f"{METAS}?schema=a&name=b"),
    ],
)
def test_a_path_that_is_not_plain_is_sent_to_the_plain_one(target: str, place: str) -> None:
    found = ask(target)
    assert (found.status, found.headers["Location"]) == (307, place)
    said = f'<a href="{place.replace("&", "&amp;")}">Temporary Redirect</a>.\n\n'
    assert (found.body, ask(target, "HEAD").headers.get("Content-Length")) == (said.encode(), None)


def test_escapes_and_whole_addresses_are_understood() -> None:
    assert ask("/catalogs/%6Fp/api/v1/all").body == TEXT
    assert ask(f"http://localhost:8080{ALL}").body == TEXT


def test_letters_need_no_escapes() -> None:
    content = CatalogContent([Meta("s", "", "été", b"found")], MODIFIED)
    assert ask(f"{METAS}?name=été", "GET", content).body == b"found"
    assert ask(f"{METAS}?name=%C3%A9t%C3%A9", "GET", content).body == b"found"
    assert ask("//été?\udcff").headers["Location"] == "/%C3%A9t%C3%A9?%FF"


@given(
    st.text(st.characters(codec="utf-8") | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)),
    st.dictionaries(
        st.sampled_from(
            ["range", "if-range", "if-modified-since", "if-match", "if-none-match", "accept-encoding"]
        ),
        st.text(),
    ),
)
def test_everything_is_answered(text: str, headers: dict[str, str]) -> None:
    for target in (text, f"{METAS}?{text}", f"/catalogs/{text}/api/v1/all", ALL):
        found = respond(HttpRequest("GET", target, headers), {"op": SMALL})
        assert found.status in (200, 206, 304, 307, 400, 404, 412, 416, 500)
        assert all(value.isascii() and value.isprintable() for value in found.headers.values())


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
def test_conditions(target: str, headers: dict[str, str], status: int) -> None:
    found = ask(target, "GET", SMALL, **headers)
    assert found.status == status
    assert found.body == (TEXT if status == 200 else b"")
    assert found.headers["Last-Modified"] == format_http_time(MODIFIED)


def test_a_time_that_nobody_can_read_is_an_error_of_metas_alone() -> None:
    assert ask(ALL, if_modified_since="yesterday").body == TEXT
    found = ask(METAS, if_modified_since="yesterday")
    assert (found.status, found.body) == (500, b"500 Internal Server Error\n")


@pytest.mark.parametrize(
    ("wanted", "place", "body"),
    [
        ("bytes=0-1", "bytes 0-1/40", TEXT[:2]),
        ("bytes=38-", "bytes 38-39/40", TEXT[38:]),
        ("bytes=-2", "bytes 38-39/40", TEXT[38:]),
        ("bytes=0-99", "bytes 0-39/40", TEXT),
        ("bytes=-99", "bytes 0-39/40", TEXT),
        ("bytes=99-,1-1", "bytes 1-1/40", TEXT[1:2]),
    ],
)
def test_a_part_of_the_catalog(wanted: str, place: str, body: bytes) -> None:
    found = ask(ALL, range=wanted)
    assert (found.status, found.headers["Content-Range"], found.body) == (206, place, body)


def test_several_parts_come_in_one_answer() -> None:
    found = ask(ALL, range="bytes=0-1,4-4")
    mark = found.headers["Content-Type"].removeprefix("multipart/byteranges; boundary=")
    head = "Content-Range: bytes {}/40\r\nContent-Type: application/jsonl\r\n\r\n"
    first, second = head.format("0-1"), head.format("4-4")
    expected = f'--{mark}\r\n{first}{{"\r\n--{mark}\r\n{second}:\r\n--{mark}--\r\n'
    assert (found.status, found.body) == (206, expected.encode())
    assert mark.encode() not in TEXT


@pytest.mark.parametrize("wanted", ["bytes=0-,0-", "bytes="])
def test_more_than_everything_is_everything(wanted: str) -> None:
    found = ask(ALL, range=wanted)
    assert (found.status, found.body) == (200, TEXT)


@pytest.mark.parametrize(
    "wanted", ["lines=0-1", "bytes=1", "bytes=b-a", "bytes=5-4", "bytes=--1", f"bytes={2**63}-"]
)
def test_what_is_no_range(wanted: str) -> None:
    found = ask(ALL, range=wanted)
    assert (found.status, found.body) == (416, b"invalid range\n")
    assert "Content-Range" not in found.headers


def test_a_range_behind_the_end() -> None:
    found = ask(ALL, range="bytes=40-")
    assert (found.status, found.headers["Content-Range"]) == (416, "bytes */40")
    assert "Last-Modified" not in found.headers


def test_an_empty_catalog_has_no_end_to_be_behind() -> None:
    assert ask(ALL, content=CatalogContent([], MODIFIED), range="bytes=5-").status == 200


def test_a_range_of_something_older_is_everything() -> None:
    assert ask(ALL, range="bytes=0-1", if_range=format_http_time(MODIFIED - 1)).body == TEXT
    assert ask(ALL, range="bytes=0-1", if_range='"x"').body == TEXT
    assert ask(ALL, range="bytes=0-1", if_range=format_http_time(MODIFIED)).body == TEXT[:2]


def test_queries_know_no_ranges() -> None:
    found = ask(METAS, range="bytes=0-1")
    assert (found.status, found.body) == (200, TEXT)
    assert "Accept-Ranges" not in found.headers


@pytest.mark.parametrize("target", [ALL, METAS, f"{METAS}?schema=s"])
def test_a_kilobyte_is_compressed_for_who_takes_it(target: str) -> None:
    found = ask(target, content=sized(1024), accept_encoding="br, gzip")
    assert found.headers["Content-Encoding"] == "gzip"
    assert "Accept-Ranges" not in found.headers
    assert gzip.decompress(found.body) == b"x" * 1024
    assert ask(target, content=sized(1023), accept_encoding="gzip").body == b"x" * 1023
    assert ask(target, content=sized(1024)).body == b"x" * 1024


def test_the_whole_catalog_is_compressed_once() -> None:
    large = sized(5000)
    one, two = (ask(target, content=large, accept_encoding="gzip").body for target in (ALL, METAS))
    assert one is two


@pytest.mark.parametrize(
    ("accepted", "takes"),
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
def test_who_takes_gzip(accepted: str, takes: bool) -> None:
    found = ask(ALL, content=sized(2000), accept_encoding=accepted)
    assert ("Content-Encoding" in found.headers) == takes


def test_a_part_is_not_compressed() -> None:
    found = ask(ALL, content=sized(5000), accept_encoding="gzip", range="bytes=0-2000")
    assert len(found.body) == 2001


def test_a_head_tells_the_length_where_it_is_known() -> None:
    whole, query, missing = (ask(t, "HEAD", accept_encoding="gzip") for t in (ALL, METAS, "/"))
    assert whole.body == query.body == missing.body == b""
    assert whole.headers["Content-Length"] == "40"
    assert missing.headers["Content-Length"] == "19"
    assert "Content-Length" not in query.headers
    assert ask(ALL, "HEAD", range="bytes=-0").headers["Content-Length"] == "0"


def test_every_answer_says_that_it_depends_on_the_encoding() -> None:
    for target, method in ((ALL, "GET"), (METAS, "HEAD"), ("/", "GET"), (ALL, "POST"), ("//", "GET")):
        assert ask(target, method).headers["Vary"] == "Accept-Encoding"
