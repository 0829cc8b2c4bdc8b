"""A registry that says no, or nothing: which host, which repository, and what to do."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest

from everpath.errors import ExitCode, Unreachable
from everpath.oci.references import Reference
from everpath.oci.registry import ClientOptions, push_image, resolve_image
from registry_server import Registry, Reply, error
from small_images import single

Made = Callable[..., ClientOptions]


def refusal(reference: Reference, options: ClientOptions) -> Unreachable:
    with pytest.raises(Unreachable) as caught:
        resolve_image(reference, options)
    return caught.value


@pytest.mark.parametrize(
    ("status", "said", "remedy"),
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
def test_every_refusal_names_the_host_the_repository_and_a_remedy(
    server: Registry, options: Made, reference: Reference, status: int, said: str, remedy: str
) -> None:
    server.faults.append(
        lambda asked: error(status, "SOME", "the registry's words") if asked.path != "/v2/" else None
    )
    told = refusal(reference, options())
    assert told.exit_code == ExitCode.UNREACHABLE
    assert reference.registry in told.message
    assert "team/catalog" in told.message
    assert said in told.message
    assert "the registry's words" in told.message
    assert remedy in (told.hint or "")


def test_a_page_of_an_error_is_called_a_page(server: Registry, options: Made, reference: Reference) -> None:
    server.faults.append(lambda _: Reply(502, b"<html><body>Bad Gateway", {"Content-Type": "text/html"}))
    assert "web page (502)" in refusal(reference, options()).message


def test_nobody_there_is_told_at_once(options: Made, slept: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = refusal(Reference(f"127.0.0.1:{port}", "a", "v1"), options())
    assert told.message == f"cannot reach the registry 127.0.0.1:{port}: connection refused"
    assert slept == []


def test_plain_http_must_be_allowed(server: Registry, options: Made, reference: Reference) -> None:
    told = refusal(reference, options(insecure=False))
    assert told.message.endswith("it does not speak TLS")
    assert f"EVERPATH_INSECURE={reference.registry}" in (told.hint or "")
    assert "--insecure" in (told.hint or "")
    assert server.asked == []


def test_the_environment_may_allow_it_for_some_hosts(
    server: Registry, options: Made, reference: Reference
) -> None:
    push_image(single(), reference, options())
    environment = {"EVERPATH_INSECURE": f"other:5000, {reference.registry}"}
    assert resolve_image(reference, options(insecure=False, environment=environment)).root == single().root
    with pytest.raises(Unreachable, match="does not speak TLS"):
        resolve_image(reference, options(insecure=False, environment={"EVERPATH_INSECURE": "other:5000"}))


def test_a_server_that_hangs_up_on_tls_may_still_speak_http(options: Made) -> None:
    """Some do, where others answer with an error."""
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
        told = refusal(Reference(f"127.0.0.1:{listening.getsockname()[1]}", "a", "v1"), options())
        thread.join()
    assert "(404)" in told.message
