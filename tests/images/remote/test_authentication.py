"""Who we are to a registry: basic and token authentication, and where credentials never go."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.errors import Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions, push_image, resolve_image
from everpath.oci.registry.credentials import Credential
from everpath.oci.registry.http_client import Request, Response
from everpath.oci.registry.options import RetryPolicy
from registry_server import Asked, Registry, Reply, registry
from small_images import layer_of, single

Made = Callable[..., ClientOptions]
ANN = Credential("ann", "secret")


@pytest.fixture
def elsewhere() -> Iterator[Registry]:
    with registry() as made:
        yield made


def authorizations(server: Registry) -> list[str]:
    return [asked.headers.get("authorization", "") for asked in server.asked]


def test_a_password_is_sent_when_it_is_asked_for(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    push_image(single(), reference, options(credential=ANN))
    sent = authorizations(server)
    assert sent[0] == ""
    assert set(sent[1:]) == {f"Basic {b64encode(b'ann:secret').decode()}"}


def test_without_a_credential_the_remedy_is_to_log_in(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    with pytest.raises(Unreachable, match="authentication required") as caught:
        resolve_image(reference, options())
    assert f"podman login {reference.registry}" in (caught.value.hint or "")


def test_a_wrong_password_is_tried_once(server: Registry, options: Made, reference: Reference) -> None:
    server.scheme, server.users = "basic", {"ann": "other"}
    with pytest.raises(Unreachable, match="401") as caught:
        resolve_image(reference, options(credential=ANN))
    assert "the user who is logged in" in (caught.value.hint or "")
    assert len(server.said("GET")) == 2


def test_the_auth_file_is_asked(
    server: Registry, options: Made, reference: Reference, tmp_path: Path
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    entry = {"auth": b64encode(b"ann:secret").decode()}
    (tmp_path / "auth.json").write_text(json.dumps({"auths": {reference.registry: entry}}))
    push_image(single(), reference, options(authfile=str(tmp_path / "auth.json")))
    assert server.tag("team/catalog", "v1")


def test_a_token_is_fetched_for_what_will_be_done(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.scheme, server.users = "bearer", {"ann": "secret"}
    push_image(single(), reference, options(credential=ANN))
    asked = [a for a in server.asked if a.path == "/token"]
    assert [a.query for a in asked] == [{"service": "test", "scope": "repository:team/catalog:pull,push"}]
    assert server.tag("team/catalog", "v1")


def test_a_token_is_for_everybody_where_nobody_logs_in(
    server: Registry, options: Made, reference: Reference
) -> None:
    push_image(single(), reference, options())
    server.scheme = "bearer"
    assert resolve_image(reference, options()).root == single().root


def test_a_token_of_a_mount_allows_reading_the_other_repository(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.scheme = "bearer"
    push_image(single(), reference, options(mount_from=("team/base",)))
    asked = next(a for a in server.asked if a.path == "/token")
    assert asked.query["scope"] == "repository:team/catalog:pull,push repository:team/base:pull"


def test_an_identity_token_is_exchanged(server: Registry, options: Made, reference: Reference) -> None:
    server.scheme, server.identity_tokens = "bearer", {"deep"}
    push_image(single(), reference, options(credential=Credential("", identity_token="deep")))
    assert server.tag("team/catalog", "v1")
    assert "deep" not in "".join(authorizations(server))


def test_a_token_that_ends_in_the_middle_is_fetched_again(
    server: Registry, options: Made, reference: Reference
) -> None:
    server.scheme = "bearer"

    def ending(asked: Asked) -> Reply | None:
        if asked.method == "PUT" and "/manifests/" in asked.path and len(server.tokens) == 1:
            server.tokens["token0"] = []
        return None

    server.faults.append(ending)
    push_image(single(), reference, options())
    assert len(server.tokens) == 2
    assert server.tag("team/catalog", "v1")


def test_a_token_is_not_used_past_its_term(server: Registry, options: Made, reference: Reference) -> None:
    server.scheme = "bearer"
    clock = iter(range(0, 10_000_000, 200))
    patience = RetryPolicy(sleep=lambda _: None, now=lambda: float(next(clock)))
    push_image(single(), reference, options(retry=patience))
    assert len(server.tokens) > 2


def test_a_token_server_that_refuses_is_named(server: Registry, options: Made, reference: Reference) -> None:
    server.scheme, server.users = "bearer", {"ann": "other"}
    with pytest.raises(Unreachable, match=r"refuses to issue a token for team/catalog.*wrong password"):
        resolve_image(reference, options(credential=ANN))


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"token": null}', b'{"token": "x", "expires_in": "soon"}']
)
def test_a_token_server_without_a_token_is_told(
    server: Registry, options: Made, reference: Reference, body: bytes
) -> None:
    server.scheme = "bearer"
    server.fail("GET", "^/token", Reply(200, body))
    with pytest.raises(Unreachable, match="contains no token"):
        resolve_image(reference, options())


@pytest.mark.parametrize("realm", ["ftp://127.0.0.1/token", "nowhere"])
def test_secrets_go_to_web_servers_only(
    server: Registry, options: Made, reference: Reference, realm: str
) -> None:
    server.scheme, server.realm = "bearer", realm
    with pytest.raises(Unreachable, match="no credentials are sent to"):
        resolve_image(reference, options(credential=ANN))


def test_credentials_do_not_follow_a_redirect_elsewhere(
    server: Registry, elsewhere: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"layer")
    server.scheme, server.users = "basic", {"ann": "secret"}
    push_image(image, reference, options(credential=ANN))
    elsewhere.faults.append(lambda _: Reply(200, b"layer"))
    target = {"Location": f"{elsewhere.address}/store/layer"}
    server.faults.append(lambda asked: Reply(307, b"", target) if "/blobs/" in asked.path else None)
    with resolve_image(reference, options(credential=ANN)).blobs.open(layer_of(image)) as stream:
        assert stream.read() == b"layer"
    assert authorizations(elsewhere) == [""]


def test_they_follow_one_that_stays(server: Registry, options: Made, reference: Reference) -> None:
    image = single(b"layer")
    server.scheme, server.users = "basic", {"ann": "secret"}
    push_image(image, reference, options(credential=ANN))
    path = f"/v2/team/catalog/blobs/{layer_of(image).digest}"
    server.fail("GET", "/blobs/", Reply(302, b"", {"Location": path}))
    with resolve_image(reference, options(credential=ANN)).blobs.open(layer_of(image)) as stream:
        assert stream.read() == b"layer"


def test_whoever_we_are_sent_to_cannot_ask_for_credentials(
    server: Registry, elsewhere: Registry, options: Made, reference: Reference
) -> None:
    image = single(b"layer")
    push_image(image, reference, options())
    elsewhere.scheme, elsewhere.users = "bearer", {"ann": "secret"}
    target = {"Location": f"{elsewhere.address}/v2/x/blobs/y"}
    server.faults.append(lambda asked: Reply(307, b"", target) if "/blobs/" in asked.path else None)
    with pytest.raises(Unreachable, match="401"):
        resolve_image(reference, options(credential=ANN)).blobs.open(layer_of(image))
    assert authorizations(elsewhere) == [""]


def test_an_upload_to_somewhere_else_goes_without_credentials(
    server: Registry, elsewhere: Registry, options: Made, reference: Reference
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    target = {"Location": f"{elsewhere.address}/v2/team/catalog/blobs/uploads/there"}
    server.faults.append(
        lambda asked: (
            Reply(202, b"", target) if asked.method == "POST" and "authorization" in asked.headers else None
        )
    )
    elsewhere.faults.append(lambda _: Reply(201))
    with pytest.raises(Unreachable, match="manifest_blob_unknown"):
        push_image(single(), reference, options(credential=ANN))
    assert set(authorizations(elsewhere)) == {""}


@pytest.mark.parametrize("port", ["", ":443"])
def test_the_usual_port_may_be_written_or_not(options: Made, port: str) -> None:
    sent: list[str] = []

    class Wire:
        def send(self, request: Request) -> Response:
            sent.append(request.headers.get("Authorization", ""))
            body = io.BytesIO()
            if not sent[-1]:
                return Response(401, {"www-authenticate": "Basic"}, body)
            other = {"": ":443", ":443": ""}[port]
            where = f"https://r.example{other}/v2/a/manifests/v1"
            return Response(404 if len(sent) > 2 else 307, {"location": where}, body)

    with pytest.raises(Unreachable, match="404"):
        resolve_image(
            Reference(f"r.example{port}", "a", "v1"),
            options(insecure=False, credential=ANN, http_client=Wire()),
        )
    assert sent[1] == sent[2] != ""


def test_redirects_end(server: Registry, options: Made, reference: Reference) -> None:
    server.faults.append(
        lambda asked: Reply(302, b"", {"Location": asked.path}) if asked.path != "/v2/" else None
    )
    with pytest.raises(Unreachable, match="redirects too often"):
        resolve_image(reference, options())
    assert len(server.asked) < 10
