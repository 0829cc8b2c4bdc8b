"""Basic and token authentication, and the hosts that get no credentials."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from everpath.oci.registry.credentials import Credential
from everpath.oci.registry.http_client import RegistryRequest, RegistryResponse
from everpath.oci.registry.options import RetryPolicy
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply, run_registry
from tests.support.everpath.small_images import last_layer, small_image

OptionsFactory = Callable[..., RegistryOptions]
ANN = Credential("ann", "secret")


@pytest.fixture
def elsewhere() -> Iterator[FakeRegistry]:
    with run_registry() as server:
        yield server


def authorizations(server: FakeRegistry) -> list[str]:
    return [request.headers.get("authorization", "") for request in server.requests]


def test_password_is_sent_after_basic_challenge(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    push_image(small_image(), reference, options(credential=ANN))
    sent = authorizations(server)
    assert sent[0] == ""
    assert set(sent[1:]) == {f"Basic {b64encode(b'ann:secret').decode()}"}


def test_missing_credential_suggests_login(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    with pytest.raises(Unreachable, match="authentication required") as caught:
        resolve_image(reference, options())
    assert f"podman login {reference.registry}" in (caught.value.hint or "")


def test_wrong_password_is_sent_once(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "other"}
    with pytest.raises(Unreachable, match="401") as caught:
        resolve_image(reference, options(credential=ANN))
    assert "the user who is logged in" in (caught.value.hint or "")
    assert len(server.paths("GET")) == 2


def test_credential_comes_from_auth_file(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, tmp_path: Path
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    entry = {"auth": b64encode(b"ann:secret").decode()}
    (tmp_path / "auth.json").write_text(json.dumps({"auths": {reference.registry: entry}}))
    push_image(small_image(), reference, options(authfile=str(tmp_path / "auth.json")))
    assert server.tag("team/catalog", "v1")


def test_push_requests_token_with_pull_and_push_scope(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.users = "bearer", {"ann": "secret"}
    push_image(small_image(), reference, options(credential=ANN))
    request = [a for a in server.requests if a.path == "/token"]
    assert [a.query for a in request] == [{"service": "test", "scope": "repository:team/catalog:pull,push"}]
    assert server.tag("team/catalog", "v1")


def test_anonymous_token_is_used_without_credential(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_image(), reference, options())
    server.scheme = "bearer"
    assert resolve_image(reference, options()).root == small_image().root


def test_mount_requests_pull_scope_of_other_repository(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme = "bearer"
    push_image(small_image(), reference, options(mount_from=("team/base",)))
    request = next(a for a in server.requests if a.path == "/token")
    assert request.query["scope"] == "repository:team/catalog:pull,push repository:team/base:pull"


def test_identity_token_is_exchanged_for_access_token(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.identity_tokens = "bearer", {"deep"}
    push_image(small_image(), reference, options(credential=Credential("", identity_token="deep")))
    assert server.tag("team/catalog", "v1")
    assert "deep" not in "".join(authorizations(server))


def test_token_that_expires_during_push_is_renewed(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme = "bearer"

    def expire_token(request: ReceivedRequest) -> Reply | None:
        if request.method == "PUT" and "/manifests/" in request.path and len(server.tokens) == 1:
            server.tokens["token0"] = []
        return None

    server.faults.append(expire_token)
    push_image(small_image(), reference, options())
    assert len(server.tokens) == 2
    assert server.tag("team/catalog", "v1")


def test_expired_token_is_not_used(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme = "bearer"
    clock = iter(range(0, 10_000_000, 200))
    patience = RetryPolicy(sleep=lambda _: None, now=lambda: float(next(clock)))
    push_image(small_image(), reference, options(retry=patience))
    assert len(server.tokens) > 2


def test_refusal_of_token_server_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.users = "bearer", {"ann": "other"}
    with pytest.raises(Unreachable, match=r"refuses to issue a token for team/catalog.*wrong password"):
        resolve_image(reference, options(credential=ANN))


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"token": null}', b'{"token": "x", "expires_in": "soon"}']
)
def test_response_without_token_is_reported(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, body: bytes
) -> None:
    server.scheme = "bearer"
    server.fail_next("GET", "^/token", Reply(200, body))
    with pytest.raises(Unreachable, match="contains no token"):
        resolve_image(reference, options())


@pytest.mark.parametrize("realm", ["ftp://127.0.0.1/token", "nowhere"])
def test_credentials_are_not_sent_to_other_schemes(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, realm: str
) -> None:
    server.scheme, server.realm = "bearer", realm
    with pytest.raises(Unreachable, match="no credentials are sent to"):
        resolve_image(reference, options(credential=ANN))


def test_redirect_to_other_host_gets_no_credentials(
    server: FakeRegistry, elsewhere: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    server.scheme, server.users = "basic", {"ann": "secret"}
    push_image(image, reference, options(credential=ANN))
    elsewhere.faults.append(lambda _: Reply(200, b"layer"))
    target = {"Location": f"{elsewhere.address}/store/layer"}
    server.faults.append(lambda request: Reply(307, b"", target) if "/blobs/" in request.path else None)
    with resolve_image(reference, options(credential=ANN)).blobs.open(last_layer(image)) as stream:
        assert stream.read() == b"layer"
    assert authorizations(elsewhere) == [""]


def test_redirect_to_same_host_gets_credentials(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    server.scheme, server.users = "basic", {"ann": "secret"}
    push_image(image, reference, options(credential=ANN))
    path = f"/v2/team/catalog/blobs/{last_layer(image).digest}"
    server.fail_next("GET", "/blobs/", Reply(302, b"", {"Location": path}))
    with resolve_image(reference, options(credential=ANN)).blobs.open(last_layer(image)) as stream:
        assert stream.read() == b"layer"


def test_challenge_of_redirect_target_is_ignored(
    server: FakeRegistry, elsewhere: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    image = small_image(b"layer")
    push_image(image, reference, options())
    elsewhere.scheme, elsewhere.users = "bearer", {"ann": "secret"}
    target = {"Location": f"{elsewhere.address}/v2/x/blobs/y"}
    server.faults.append(lambda request: Reply(307, b"", target) if "/blobs/" in request.path else None)
    with pytest.raises(Unreachable, match="401"):
        resolve_image(reference, options(credential=ANN)).blobs.open(last_layer(image))
    assert authorizations(elsewhere) == [""]


def test_upload_to_other_host_gets_no_credentials(
    server: FakeRegistry, elsewhere: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    target = {"Location": f"{elsewhere.address}/v2/team/catalog/blobs/uploads/there"}
    server.faults.append(
        lambda request: (
            Reply(202, b"", target)
            if request.method == "POST" and "authorization" in request.headers
            else None
        )
    )
    elsewhere.faults.append(lambda _: Reply(201))
    with pytest.raises(Unreachable, match="manifest_blob_unknown"):
        push_image(small_image(), reference, options(credential=ANN))
    assert set(authorizations(elsewhere)) == {""}


@pytest.mark.parametrize("port", ["", ":443"])
def test_default_port_is_same_origin(options: OptionsFactory, port: str) -> None:
    sent: list[str] = []

    class RedirectingClient:
        def send(self, request: RegistryRequest) -> RegistryResponse:
            sent.append(request.headers.get("Authorization", ""))
            body = io.BytesIO()
            if not sent[-1]:
                return RegistryResponse(401, {"www-authenticate": "Basic"}, body)
            other = {"": ":443", ":443": ""}[port]
            where = f"https://r.example{other}/v2/a/manifests/v1"
            return RegistryResponse(404 if len(sent) > 2 else 307, {"location": where}, body)

    with pytest.raises(Unreachable, match="404"):
        resolve_image(
            Reference(f"r.example{port}", "a", "v1"),
            options(insecure=False, credential=ANN, http_client=RedirectingClient()),
        )
    assert sent[1] == sent[2] != ""


def test_redirects_are_limited(server: FakeRegistry, options: OptionsFactory, reference: Reference) -> None:
    server.faults.append(
        lambda request: Reply(302, b"", {"Location": request.path}) if request.path != "/v2/" else None
    )
    with pytest.raises(Unreachable, match="redirects too often"):
        resolve_image(reference, options())
    assert len(server.requests) < 10
