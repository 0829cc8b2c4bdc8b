"""`everpath catalog serve --http`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.support.commandline import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "tools"), "EVERPATH_CACHE": ""}


@contextmanager
def run_command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "everpath", "catalog", "serve", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.exhaustive
def test_the_catalog_is_served_until_a_signal() -> None:
    options = ("--address", "127.0.0.1", "--port", "0", "--http", "127.0.0.1:0", "--name", "ours")
    with run_command(str(ROOT / "catalog"), *options) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/catalogs/ours/api/v1/all", process.stderr.readline())
        assert found is not None
        process.stdout.readline()
        base = found[0].removesuffix("all")
        opener = build_opener(ProxyHandler({}))
        with opener.open(f"{base}metas?schema=olm.package", timeout=60) as response:
            assert response.read().startswith(b'{"defaultChannel":"stable"')
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--http", "0", "--name", "Not A Name"), "'Not A Name' is not a valid name of a catalog"),
        (("--http", "nowhere"), "'nowhere' is not an address to listen on"),
        (("--http", "127.0.0.1:70000"), "'127.0.0.1:70000' is not an address to listen on"),
    ],
)
def test_an_invalid_option_is_reported_before_the_catalog_is_read(
    options: tuple[str, ...], message: str
) -> None:
    with run_command("does-not-exist", "--port", "0", *options) as process:
        _, errors = process.communicate(timeout=60)
    assert message in errors
    assert process.returncode == 2
