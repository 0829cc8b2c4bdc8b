"""Compare everpath's content API with the storage and the handlers of catalogd."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from random import Random

import pytest
import yaml

from everpath.errors import UnreadableInput
from everpath.loaders.fbc.blobs import load_documents
from everpath.loaders.sources import Sources
from everpath.model import OpmError
from everpath.server.content_api.content import CatalogContent, meta_from_document
from everpath.server.content_api.preconditions import parse_http_time
from tests.everpath.conformance.oracle import Oracle
from tests.everpath.conformance.random_values import random_value
from tests.support.everpath.catalog_streams import STREAMS
from tests.support.everpath.content_api_requests import (
    NAME,
    ContentRequest,
    ContentResponse,
    requests,
    run_content_server,
    send_request,
)
from tests.support.everpath.documents import bundle, channel, package

pytestmark = pytest.mark.conformance


def test_responses_are_the_same_for_every_request(
    oracle_v1: Oracle, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folder = odd_catalog(tmp_path / "catalog")
    counts: Counter[int] = Counter()
    with stored(oracle_v1, folder, tmp_path) as theirs:
        modified = parse_http_time(send_request(theirs, ALL).headers["Last-Modified"])
        assert modified is not None
        with served(folder, modified) as ours:
            for request in requests(modified):
                mine, real = send_request(ours, request), send_request(theirs, request)
                assert mine == without_text_after_error(request, real), request
                counts[mine.status] += 1
    shown = ", ".join(f"{number} × {status}" for status, number in sorted(counts.items()))
    record_property(
        "counted", f"catalogd's content API: {counts.total():,} requests, {shown}, 0 disagreements"
    )
    assert counts.total() > 1_000
    assert len(counts) >= 9


def test_odd_texts_are_stored_the_same(
    oracle_v1: Oracle, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """The stored documents are the same, byte for byte.

    Texts that only catalogd accepts are reported by other tests. Texts that only everpath accepts begin as
    JSON and continue as YAML, which opm can read and catalogd cannot.
    """
    counts: Counter[str] = Counter()
    for number, (name, stream) in enumerate(STREAMS.items()):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        (folder / "catalog.yaml").write_bytes(stream.text)
        theirs, ours = stored_text(oracle_v1, folder, tmp_path / "stored"), our_text(folder)
        if theirs is None or ours is None:
            assert theirs is None or stream.kinds, name
            assert ours is None or stream.text.lstrip().startswith(b"{"), name
        else:
            assert ours == theirs, name
        counts[f"{theirs is not None} {ours is not None}"] += 1
    shown = f"{counts['True True']} stored alike, {counts['False False']} refused by both"
    record_property("counted", f"catalogd's storage, odd texts: {shown}, {counts['True False']} by us alone")
    assert counts["True True"] > 40


@pytest.mark.parametrize("language", ["json", "yaml"])
def test_random_documents_are_stored_the_same(
    oracle_v1: Oracle, tmp_path: Path, language: str, record_property: Callable[[str, object], None]
) -> None:
    writers: dict[str, Callable[[object], str]] = {"json": json.dumps, "yaml": yaml.safe_dump}
    random, written = Random(1), writers[language]
    folder = tmp_path / "catalog"
    folder.mkdir()
    for number in range(2_000):
        document = {"schema": "s", "name": f"{number}", "value": random_value(random)}
        (folder / f"{number:04}.{language}").write_text(written(document), encoding="utf-8")
    assert our_text(folder) == stored_text(oracle_v1, folder, tmp_path / "stored") is not None
    record_property("counted", f"catalogd's storage: 2,000 random documents of {language}, 0 disagreements")


def stored_text(oracle: Oracle, folder: Path, storage: Path) -> bytes | None:
    question = {"ask": "catalogd", "name": NAME, "folder": str(folder), "storage": str(storage)}
    if "refusal" in oracle.ask(question):
        return None
    return (storage / NAME / "catalog.jsonl").read_bytes()


def our_text(folder: Path) -> bytes | None:
    try:
        return content(folder).text
    except (OpmError, UnreadableInput):
        return None


ALL = ContentRequest("GET", f"/catalogs/{NAME}/api/v1/all")


def odd_catalog(folder: Path) -> Path:
    """Write files and folders, ignored ones, incomplete documents, and unusual numbers and characters."""
    custom = {
        "schema": "custom.schema",
        "name": "été",
        "numbers": [1, 1.0, 1.5, -0.0, 1e21, 1e-7, 123456789012345678, 2**63, 0.1],
        "texts": ["<&>", "\u2028", "\x00\x1f\x7f\b\f", "\U0001f600", 'a"b\\c', "\ud800"],
        "Nested": {"b": None, "a": [True, {}, [], {"z": 1, "y": 2}]},
    }
    nameless = {"package": "without-a-schema", "name": "without-a-schema"}
    folder.joinpath("deep", "er").mkdir(parents=True)
    (folder / "a.json").write_text(
        "\n".join(json.dumps(each, indent=4) for each in (custom, nameless, {"Schema": "custom.schema"}))
    )
    bundles = [bundle(f"op.v1.{n}.0", f"1.{n}.0", image=f"registry.example/op:{n}") for n in range(8)]
    (folder / "deep" / "b.yaml").write_text(yaml.safe_dump_all(bundles))
    chain = channel(*(b["name"] for b in bundles))
    (folder / "deep" / "er" / "c.yml").write_text(
        json.dumps(package()) + json.dumps(chain) + json.dumps({"schema": "x", "name": "two words"})
    )
    (folder / "notes.txt").write_text("not a catalog: [")
    (folder / ".indexignore").write_text("*.txt\n")
    return folder


@contextmanager
def stored(oracle: Oracle, folder: Path, tmp_path: Path) -> Iterator[HTTPConnection]:
    answer = oracle.ask(
        {"ask": "catalogd", "name": NAME, "folder": str(folder), "storage": str(tmp_path / "stored")}
    )
    with closing(HTTPConnection("127.0.0.1", answer["port"], timeout=60)) as connection:
        yield connection


@contextmanager
def served(folder: Path, modified: int) -> Iterator[HTTPConnection]:
    found = content(folder, modified)
    with (
        run_content_server({NAME: found}) as port,
        closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection,
    ):
        yield connection


def content(folder: Path, modified: int = 0) -> CatalogContent:
    return CatalogContent(map(meta_from_document, load_documents(str(folder), Sources())), modified)


def without_text_after_error(request: ContentRequest, real: ContentResponse) -> ContentResponse:
    """Remove the catalog that catalogd sends after an error."""
    if real.status == 500:
        assert request.target.partition("?")[0].endswith("/metas")
        assert parse_http_time(dict(request.headers)["If-Modified-Since"]) is None
        error, line, _ = real.body.partition(b"\n")
        return real._replace(body=error + line)
    return real
