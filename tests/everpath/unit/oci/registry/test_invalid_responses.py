"""Invalid responses of a registry end in an error, without endless retries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.errors import Unreachable, UsageError
from everpath.oci.references import Reference, parse_reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from everpath.oci.registry.credentials import Credential, find_credential, run_helper
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply, run_registry
from tests.support.everpath.small_images import small_image

OptionsFactory = Callable[..., RegistryOptions]


@pytest.fixture
def elsewhere() -> Iterator[FakeRegistry]:
    with run_registry() as server:
        yield server


@pytest.mark.parametrize("where", ["http://[bad/", "http://a..b/", "http://127.0.0.1:x/", "javascript:1"])
def test_redirect_to_invalid_url_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, where: str
) -> None:
    server.fail_next("GET", "manifests", *[Reply(307, b"", {"Location": where})] * 9)
    with pytest.raises(Unreachable):
        resolve_image(reference, options())


def test_raw_bytes_of_location_are_percent_encoded(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("GET", "manifests", Reply(307, b"", {"Location": "/over th\xe9re?a=%20"}))
    with pytest.raises(Unreachable, match="404"):
        resolve_image(reference, options())
    assert server.paths("GET")[-1] == "/over%20th%E9re"


@pytest.mark.parametrize("where", ["http://[bad/", "file:///tmp/x"])
def test_upload_to_invalid_url_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, where: str
) -> None:
    server.fail_next("POST", "uploads", Reply(202, b"", {"Location": where}))
    with pytest.raises(Unreachable, match="redirects to"):
        push_image(small_image(b"layer"), reference, options())


def test_redirect_to_file_url_does_not_suggest_insecure(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.fail_next("GET", "manifests", Reply(307, b"", {"Location": "file:///etc/passwd"}))
    with pytest.raises(Unreachable, match="passwd', which is not a valid URL") as caught:
        resolve_image(reference, options())
    assert "--insecure" not in (caught.value.hint or "")


@pytest.mark.parametrize("host", ["a..b", f"{'x' * 64}.test"])
def test_invalid_host_name_is_reported_without_retry(
    options: OptionsFactory, sleeps: list[float], host: str
) -> None:
    with pytest.raises(Unreachable, match="cannot send a request"):
        resolve_image(parse_reference(f"{host}/team/catalog:v1"), options())
    assert not sleeps


@pytest.mark.parametrize("realm", ["http://[bad", "", "ftp://there"])
def test_invalid_token_realm_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, realm: str
) -> None:
    server.fail_next("GET", "manifests", Reply(401, b"", {"WWW-Authenticate": f'Bearer realm="{realm}"'}))
    with pytest.raises(Unreachable, match="requests a token"):
        resolve_image(reference, options())


@pytest.mark.parametrize(
    "answer",
    [
        '{"token": "a\\nX: b"}',
        '{"token": "\u20ac"}',
        '{"token": "\\ud800"}',
        '{"token": ["a"]}',
        '{"token": "a", "expires_in": 1e999}',
    ],
)
def test_invalid_token_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, answer: str
) -> None:
    server.scheme = "bearer"
    server.fail_next("GET", "/token", Reply(200, answer.encode()))
    with pytest.raises(Unreachable, match="contains no token"):
        resolve_image(reference, options())


def test_redirect_to_other_host_gets_no_identity_token(
    server: FakeRegistry, elsewhere: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme = "bearer"
    server.fail_next("POST", "/token", Reply(307, b"", {"Location": f"{elsewhere.address}/token"}))
    with pytest.raises(Unreachable, match="no credentials are sent to"):
        resolve_image(reference, options(credential=Credential("", identity_token="secret")))
    assert not elsewhere.requests


@pytest.mark.parametrize("ends", [(0, 0), (500, 1500)])
def test_registry_that_loses_chunks_is_given_up(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, ends: tuple[int, int]
) -> None:
    def lose_chunks(request: ReceivedRequest) -> Reply | None:
        if request.method not in ("PATCH", "GET") or "uploads" not in request.path:
            return None
        end = ends[len(server.requests) % 2]
        return Reply(202, b"", {"Location": request.path, "Range": f"0-{end}"})

    server.faults.append(lose_chunks)
    with pytest.raises(Unreachable, match="does not store them"):
        push_image(small_image(b"x" * 100_000), reference, options(chunk_size=1000))
    assert len(server.paths("PATCH")) < 20


def test_home_that_is_a_file_has_no_credentials(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    assert find_credential("quay.io/me", {"HOME": str(tmp_path / "home")}, run_helper) is None


@pytest.mark.parametrize("size", [100_000, (16 << 20) + 1])
def test_nested_or_oversized_auth_file_is_rejected(tmp_path: Path, size: int) -> None:
    (tmp_path / "auth.json").write_bytes(b"[" * size)
    with pytest.raises(UsageError, match="is not an auth file"):
        find_credential("quay.io/me", {}, run_helper, authfile=str(tmp_path / "auth.json"))
