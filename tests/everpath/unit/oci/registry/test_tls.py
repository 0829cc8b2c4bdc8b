"""TLS: trusted certificates, and no downgrade to plain HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.errors import Unreachable, UsageError
from everpath.oci.references import Reference
from everpath.oci.registry import RegistryOptions, push_image, resolve_image
from tests.support.certificates import self_signed
from tests.support.everpath.registry_server import FakeRegistry, Reply, run_registry
from tests.support.everpath.small_images import small_image

OptionsFactory = Callable[..., RegistryOptions]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server(certificate: tuple[str, str]) -> Iterator[FakeRegistry]:
    with run_registry(certificate) as server:
        yield server


@pytest.fixture
def reference(server: FakeRegistry) -> Reference:
    return Reference(server.address.removeprefix("https://"), "team/catalog", "v1")


def test_self_signed_certificate_is_rejected(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, sleeps: list[float]
) -> None:
    with pytest.raises(Unreachable, match=r"its certificate is not trusted: self.signed") as caught:
        resolve_image(reference, options(insecure=False))
    assert "--cacert FILE" in (caught.value.hint or "")
    assert sleeps == []
    assert server.requests == []


def test_cacert_trusts_its_ca(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, certificate: tuple[str, str]
) -> None:
    push_image(small_image(), reference, options(insecure=False, cacert=certificate[0]))
    assert resolve_image(reference, options(insecure=False, cacert=certificate[0])).root == small_image().root


def test_cacert_checks_host_name(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, certificate: tuple[str, str]
) -> None:
    other = Reference(reference.registry.replace("127.0.0.1", "localhost"), "team/catalog", "v1")
    with pytest.raises(Unreachable, match=r"not trusted: .*mismatch"):
        resolve_image(other, options(insecure=False, cacert=certificate[0]))


def test_insecure_prefers_tls(server: FakeRegistry, options: OptionsFactory, reference: Reference) -> None:
    push_image(small_image(), reference, options(insecure=True))
    assert server.tag("team/catalog", "v1")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_unreadable_ca_is_rejected(
    options: OptionsFactory, reference: Reference, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    with pytest.raises(UsageError, match="cannot read the CA"):
        resolve_image(reference, options(insecure=False, cacert=str(tmp_path / "ca.pem")))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_redirect_from_https_to_http_is_rejected(
    server: FakeRegistry,
    options: OptionsFactory,
    reference: Reference,
    certificate: tuple[str, str],
    method: str,
) -> None:
    moved = {"Location": "http://127.0.0.1:1/v2/team/catalog/blobs/uploads/x"}
    server.faults.append(
        lambda a: Reply(202 if method == "POST" else 307, b"", moved) if a.method == method else None
    )
    safely = options(insecure=False, cacert=certificate[0])
    moves: dict[str, Callable[[], object]] = {
        "GET": lambda: resolve_image(reference, safely),
        "POST": lambda: push_image(small_image(), reference, safely),
    }
    with pytest.raises(Unreachable, match=r"redirects to http://127\.0\.0\.1:1, which is not encrypted"):
        moves[method]()


def test_password_is_not_sent_to_unencrypted_token_server(
    server: FakeRegistry, options: OptionsFactory, reference: Reference, certificate: tuple[str, str]
) -> None:
    server.scheme, server.realm = "bearer", "http://127.0.0.1:1/token"
    with pytest.raises(Unreachable, match="no credentials are sent to"):
        resolve_image(reference, options(insecure=False, cacert=certificate[0]))
