"""Errors of registries: message with host and repository, and a hint."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable

import pytest

from everpath.errors import ExitCode, Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from tests.support.everpath.registry_server import FakeRegistry, Reply, error_reply
from tests.support.everpath.small_images import small_image

OptionsFactory = Callable[..., RegistryOptions]


def resolve_error(reference: Reference, options: RegistryOptions) -> Unreachable:
    with pytest.raises(Unreachable) as caught:
        resolve_image(reference, options)
    return caught.value


@pytest.mark.parametrize(
    ("status", "meaning", "hint"),
    [
        (401, "authentication required (401)", "podman login"),
        (403, "permission denied (403)", "has permission for team/catalog"),
        (404, "not found (404)", "check the repository and the tag"),
        (429, "too many requests (429)", "log in: users have a higher limit"),
        (500, "server error (500)", "see its log"),
        (503, "server error (503)", "see its log"),
        (418, "unexpected response (418)", "OCI distribution API"),
    ],
)
def test_error_names_host_repository_and_fix(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, status: int, meaning: str, hint: str
) -> None:
    server.faults.append(
        lambda request: (
            error_reply(status, "SOME", "the registry's words") if request.path != "/v2/" else None
        )
    )
    error = resolve_error(reference, options())
    assert error.exit_code == ExitCode.UNREACHABLE
    assert reference.registry in error.message
    assert "team/catalog" in error.message
    assert meaning in error.message
    assert "the registry's words" in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize("errors", [["text"], [None], "text", {}])
def test_malformed_error_list_is_reported_as_text(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, errors: object
) -> None:
    body = json.dumps({"errors": errors}).encode()
    server.fail_next("GET", "manifests", Reply(400, body))
    assert "unexpected response (400)" in resolve_error(reference, options()).message


def test_html_error_page_is_reported_as_web_page(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    server.faults.append(lambda _: Reply(502, b"<html><body>Bad Gateway", {"Content-Type": "text/html"}))
    assert "web page (502)" in resolve_error(reference, options()).message


def test_refused_connection_is_reported_without_retry(options: OptionsFactory, sleeps: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = resolve_error(Reference(f"127.0.0.1:{port}", "a", "v1"), options())
    assert error.message == f"cannot reach the registry 127.0.0.1:{port}: connection refused"
    assert sleeps == []


def test_plain_http_requires_insecure(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    error = resolve_error(reference, options(insecure=False))
    assert error.message.endswith("it does not speak TLS")
    assert f"EVERPATH_INSECURE={reference.registry}" in (error.hint or "")
    assert "--insecure" in (error.hint or "")
    assert server.requests == []


def test_environment_allows_insecure_hosts(
    server: FakeRegistry, options: OptionsFactory, reference: Reference
) -> None:
    push_image(small_image(), reference, options())
    environment = {"EVERPATH_INSECURE": f"other:5000, {reference.registry}"}
    assert (
        resolve_image(reference, options(insecure=False, environment=environment)).root == small_image().root
    )
    with pytest.raises(Unreachable, match="does not speak TLS"):
        resolve_image(reference, options(insecure=False, environment={"EVERPATH_INSECURE": "other:5000"}))


def test_plain_http_is_tried_if_server_closes_tls_handshake(options: OptionsFactory) -> None:
    """Some servers close the connection, others respond with an error."""
    answers = [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
    ]
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in answers:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        error = resolve_error(Reference(f"127.0.0.1:{listening.getsockname()[1]}", "a", "v1"), options())
        thread.join()
    assert "(404)" in error.message
