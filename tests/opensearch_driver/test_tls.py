"""Who is trusted, and what is not sent to anybody else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from opensearch_replayed import recording, replaying
from searchkeeper.engine.http import Access
from searchkeeper.engine.opensearch import OpenSearch
from searchkeeper.engine.view import EngineView, Unreachable


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not there")
    folder = tmp_path_factory.mktemp("tls")
    files = (str(folder / "cert.pem"), str(folder / "key.pem"))
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
            *("-out", files[0], "-keyout", files[1]),
        ],
        check=True,
        capture_output=True,
    )
    return files


def test_the_authority_of_the_secret_is_trusted(certificate: tuple[str, str]) -> None:
    authority = Path(certificate[0]).read_text()
    with replaying(recording("healthy"), certificate) as replayed:
        assert isinstance(OpenSearch(Access(replayed.url, authority=authority)).look(), EngineView)


@pytest.mark.parametrize(
    "authority", [None, "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", "ä"]
)
def test_nobody_else_gets_the_password(certificate: tuple[str, str], authority: str | None) -> None:
    with replaying(recording("healthy"), certificate) as replayed:
        view = OpenSearch(Access(replayed.url, "keeper", "s3cret", authority)).look()
        assert isinstance(view, Unreachable)
        assert not replayed.headers
