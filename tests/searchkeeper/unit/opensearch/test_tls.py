"""TLS: the client trusts only the CA of the Secret, and sends no credentials to another server."""

from __future__ import annotations

from pathlib import Path

import pytest

from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import EngineView, Unreachable
from tests.support.certificates import self_signed
from tests.support.searchkeeper.opensearch_replayed import load_recording, replay


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return self_signed(tmp_path_factory.mktemp("tls"))


def test_ca_of_the_secret_is_trusted(certificate: tuple[str, str]) -> None:
    authority = Path(certificate[0]).read_text()
    with replay(load_recording("healthy"), certificate) as engine:
        assert isinstance(OpenSearchClient(Access(engine.url, authority=authority)).get_state(), EngineView)


@pytest.mark.parametrize(
    "authority", [None, "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", "ä"]
)
def test_no_request_is_sent_to_an_untrusted_server(
    certificate: tuple[str, str], authority: str | None
) -> None:
    with replay(load_recording("healthy"), certificate) as engine:
        view = OpenSearchClient(Access(engine.url, "keeper", "s3cret", authority)).get_state()
        assert isinstance(view, Unreachable)
        assert not engine.headers
