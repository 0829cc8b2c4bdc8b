"""A self-signed certificate of 127.0.0.1."""

from __future__ import annotations

__all__ = ["self_signed"]

import shutil
import subprocess
from pathlib import Path

import pytest


def self_signed(folder: Path, name: str = "127.0.0.1") -> tuple[str, str]:
    """Create a certificate and its key, and return their paths. Skip the test without openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which creates the certificate, is not installed")
    files = (str(folder / "cert.pem"), str(folder / "key.pem"))
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
            *("-out", files[0], "-keyout", files[1]),
        ],
        check=True,
        capture_output=True,
    )
    return files
