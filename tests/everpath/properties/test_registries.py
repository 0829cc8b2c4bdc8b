"""Properties of pushing and pulling with a faulty registry."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.errors import EverpathError, UsageError
from everpath.oci.descriptors import Image
from everpath.oci.manifests import push_order
from everpath.oci.references import Reference, parse_reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from everpath.oci.registry.http_client import ConnectionFailed, RegistryRequest, RegistryResponse
from everpath.oci.registry.options import RetryPolicy
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply
from tests.support.everpath.small_images import small_image, small_index

REFERENCE = Reference("registry.example", "team/catalog", "v1")
IMAGES = (
    small_image(b"layer"),
    small_image(bytes(range(256)) * 10, b"second"),
    small_index("amd64", "arm64"),
)


class Faulty:
    """An HTTP client of a fake registry with a fault for each request: lost, response lost, or refused."""

    def __init__(self, registry: FakeRegistry, faults: Sequence[str | int]) -> None:
        self._registry = registry
        self._faults = list(faults)

    def send(self, request: RegistryRequest) -> RegistryResponse:
        fault = self._faults.pop() if self._faults else "none"
        if fault == "lost":
            raise ConnectionFailed("lost")
        reply = Reply(fault, b"") if isinstance(fault, int) else self._registry.respond(_received(request))
        if fault == "response lost":
            raise ConnectionFailed("response lost")
        headers = {name.lower(): value for name, value in reply.headers.items()}
        cut = fault == "short" and request.method == "GET"
        body = _Cut(reply.body[: len(reply.body) // 2]) if cut else io.BytesIO(reply.body)
        return RegistryResponse(reply.status, headers, io.BytesIO() if request.method == "HEAD" else body)


class _Cut(io.BytesIO):
    """A truncated body."""

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if not data:
            raise ConnectionFailed("cut")
        return data


def _received(request: RegistryRequest) -> ReceivedRequest:
    url = urlsplit(request.url)
    body = request.body if isinstance(request.body, bytes) else request.body.read() if request.body else b""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return ReceivedRequest(request.method, url.path, dict(parse_qsl(url.query)), headers, body)


def options(registry: FakeRegistry, faults: Sequence[str | int]) -> RegistryOptions:
    return RegistryOptions(
        http_client=Faulty(registry, faults),
        environment={},
        chunk_size=700,
        retry=RetryPolicy(sleep=lambda _: None),
    )


def is_whole(registry: FakeRegistry, image: Image) -> bool:
    there = {*registry.blobs.get("team/catalog", {}), *registry.manifests.get("team/catalog", {})}
    return all(each.digest in there for each in push_order(image))


passing = st.sampled_from(["none", "none", "none", "lost", "response lost", "short", 500, 503, 429])
refusing = st.one_of(passing, st.sampled_from([400, 401, 403, 404, 405, 416]))
anything = st.one_of(refusing, st.sampled_from([301, 200, 202, 204]))


@given(image=st.sampled_from(IMAGES), faults=st.lists(refusing, max_size=40))
def test_tag_never_refers_to_missing_blobs(image: Image, faults: list[str | int]) -> None:
    """Even if the registry does not check it."""
    registry = FakeRegistry()
    registry.checks_references = False
    with suppress(EverpathError):
        push_image(image, REFERENCE, options(registry, faults))
    assert registry.tag("team/catalog", "v1") is None or is_whole(registry, image)


@given(image=st.sampled_from(IMAGES), faults=st.lists(anything, max_size=40))
def test_next_push_completes_an_interrupted_one(image: Image, faults: list[str | int]) -> None:
    registry = FakeRegistry()
    with suppress(EverpathError):
        push_image(image, REFERENCE, options(registry, faults))
    push_image(image, REFERENCE, options(registry, []))
    assert is_whole(registry, image)
    assert json.loads(registry.tag("team/catalog", "v1") or b"null") is not None


@given(image=st.sampled_from(IMAGES), faults=st.lists(passing, max_size=4))
def test_push_succeeds_despite_a_few_temporary_faults(image: Image, faults: list[str | int]) -> None:
    registry = FakeRegistry()
    push_image(image, REFERENCE, options(registry, faults))
    assert is_whole(registry, image)


@given(image=st.sampled_from(IMAGES), faults=st.lists(anything, max_size=20))
def test_pull_returns_the_pushed_image_or_an_error(image: Image, faults: list[str | int]) -> None:
    registry = FakeRegistry()
    push_image(image, REFERENCE, options(registry, []))
    try:
        got = resolve_image(REFERENCE, options(registry, faults))
        found = {}
        for descriptor in push_order(got):
            with got.blobs.open(descriptor) as stream:
                found[descriptor.digest] = stream.read()
    except EverpathError:
        return
    with_content = {}
    for descriptor in push_order(image):
        with image.blobs.open(descriptor) as stream:
            with_content[descriptor.digest] = stream.read()
    assert found == with_content


word = st.from_regex(r"[a-z0-9]+([._-][a-z0-9]+)?", fullmatch=True)
references = st.builds(
    Reference,
    st.one_of(st.sampled_from(["localhost", "localhost:5000", "docker.io", "[::1]:443"]), st.just("quay.io")),
    st.lists(word, min_size=2, max_size=4).map("/".join),
    st.one_of(st.none(), st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True)),
    st.one_of(st.none(), st.just("sha256:" + "0" * 64)),
)


@given(references)
def test_str_of_a_parsed_reference_is_the_text(reference: Reference) -> None:
    assert parse_reference(str(reference)) == reference


@given(st.text())
def test_any_text_is_a_valid_or_an_invalid_reference(text: str) -> None:
    try:
        reference = parse_reference(text)
    except UsageError:
        return
    assert parse_reference(str(reference)) == reference


def test_faulty_client_has_faults() -> None:
    with pytest.raises(ConnectionFailed):
        Faulty(FakeRegistry(), ["lost"]).send(RegistryRequest("GET", "https://registry.example/v2/"))
