"""Who is trusted, and what is not sent to anybody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from certificates import self_signed
from opensearch_replayed import recording, replaying
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.http_client import OpenSearchClient
from searchkeeper.opensearch.view import EngineView, Unreachable


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return self_signed(tmp_path_factory.mktemp("tls"))


def test_the_authority_of_the_secret_is_trusted(certificate: tuple[str, str]) -> None:
    authority = Path(certificate[0]).read_text()
    with replaying(recording("healthy"), certificate) as replayed:
        assert isinstance(OpenSearchClient(Access(replayed.url, authority=authority)).get_state(), EngineView)


@pytest.mark.parametrize(
    "authority", [None, "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", "ä"]
)
def test_nobody_else_gets_the_password(certificate: tuple[str, str], authority: str | None) -> None:
    with replaying(recording("healthy"), certificate) as replayed:
        view = OpenSearchClient(Access(replayed.url, "keeper", "s3cret", authority)).get_state()
        assert isinstance(view, Unreachable)
        assert not replayed.headers
