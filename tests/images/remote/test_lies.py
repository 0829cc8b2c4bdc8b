"""A registry that says what cannot be: told in a sentence, and never for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.errors import Unreachable, UsageError
from everpath.oci.references import Reference, parse_reference
from everpath.oci.registry import ClientOptions, push_image, resolve_image
from everpath.oci.registry.credentials import Credential, find_credential, run_helper
from registry_server import Asked, Registry, Reply, registry
from small_images import single

Made = Callable[..., ClientOptions]


@pytest.fixture
def elsewhere() -> Iterator[Registry]:
    with registry() as made:
        yield made


@pytest.mark.parametrize("where", ["http://[bad/", "http://a..b/", "http://127.0.0.1:x/", "javascript:1"])
def test_a_redirect_to_what_is_no_address_is_told(
    server: Registry, options: Made, reference: Reference, where: str
) -> None:
    server.fail("GET", "manifests", *[Reply(307, b"", {"Location": where})] * 9)
    with pytest.raises(Unreachable):
        resolve_image(reference, options())


def test_an_address_with_raw_bytes_is_asked_for_in_escapes(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("GET", "manifests", Reply(307, b"", {"Location": "/over th\xe9re?a=%20"}))
    with pytest.raises(Unreachable, match="404"):
        resolve_image(reference, options())
    assert server.said("GET")[-1] == "/over%20th%E9re"


@pytest.mark.parametrize("where", ["http://[bad/", "file:///tmp/x"])
def test_an_upload_to_what_is_no_address_is_told(
    server: Registry, options: Made, reference: Reference, where: str
) -> None:
    server.fail("POST", "uploads", Reply(202, b"", {"Location": where}))
    with pytest.raises(Unreachable, match="redirects to"):
        push_image(single(b"layer"), reference, options())


def test_a_redirect_to_a_file_is_no_matter_of_encryption(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.fail("GET", "manifests", Reply(307, b"", {"Location": "file:///etc/passwd"}))
    with pytest.raises(Unreachable, match="passwd', which is not a valid URL") as caught:
        resolve_image(reference, options())
    assert "--insecure" not in (caught.value.hint or "")


@pytest.mark.parametrize("host", ["a..b", f"{'x' * 64}.test"])
def test_a_host_that_no_name_can_be_is_told_at_once(options: Made, slept: list[float], host: str) -> None:
    with pytest.raises(Unreachable, match="cannot send a request"):
        resolve_image(parse_reference(f"{host}/team/catalog:v1"), options())
    assert not slept


@pytest.mark.parametrize("realm", ["http://[bad", "", "ftp://there"])
def test_a_token_server_that_is_nowhere_is_told(
    server: Registry, options: Made, reference: Reference, realm: str
) -> None:
    server.fail("GET", "manifests", Reply(401, b"", {"WWW-Authenticate": f'Bearer realm="{realm}"'}))
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
def test_a_token_that_no_header_can_carry_is_none(
    server: Registry, options: Made, reference: Reference, answer: str
) -> None:
    server.scheme = "bearer"
    server.fail("GET", "/token", Reply(200, answer.encode()))
    with pytest.raises(Unreachable, match="contains no token"):
        resolve_image(reference, options())


def test_an_identity_token_does_not_follow_a_redirect_elsewhere(
    server: Registry, elsewhere: Registry, options: Made, reference: Reference
) -> None:
    server.scheme = "bearer"
    server.fail("POST", "/token", Reply(307, b"", {"Location": f"{elsewhere.address}/token"}))
    with pytest.raises(Unreachable, match="no credentials are sent to"):
        resolve_image(reference, options(credential=Credential("", identity_token="secret")))
    assert not elsewhere.asked


@pytest.mark.parametrize("ends", [(0, 0), (500, 1500)])
def test_a_registry_that_forgets_what_it_was_sent_is_given_up(
    server: Registry, options: Made, reference: Reference, ends: tuple[int, int]
) -> None:
    def forgetful(asked: Asked) -> Reply | None:
        if asked.method not in ("PATCH", "GET") or "uploads" not in asked.path:
            return None
        end = ends[len(server.asked) % 2]
        return Reply(202, b"", {"Location": asked.path, "Range": f"0-{end}"})

    server.faults.append(forgetful)
    with pytest.raises(Unreachable, match="does not store them"):
        push_image(single(b"x" * 100_000), reference, options(chunk_size=1000))
    assert len(server.said("PATCH")) < 20


def test_a_home_that_is_no_folder_has_no_credentials(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    assert find_credential("quay.io/me", {"HOME": str(tmp_path / "home")}, run_helper) is None


@pytest.mark.parametrize("size", [100_000, (16 << 20) + 1])
def test_an_auth_file_that_nests_or_goes_on_without_end_is_told(tmp_path: Path, size: int) -> None:
    (tmp_path / "auth.json").write_bytes(b"[" * size)
    with pytest.raises(UsageError, match="is not an auth file"):
        find_credential("quay.io/me", {}, run_helper, authfile=str(tmp_path / "auth.json"))
