"""Metrics for Prometheus."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from everpath.server.address import Address
from everpath.server.content_api.frontend import content_frontend
from everpath.server.metrics import Metrics
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.in_process_server import run_server
from tests.support.everpath.registry_api_client import Call, send_call

_WITHOUT_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')


def test_every_line_has_the_format_of_prometheus() -> None:
    metrics = Metrics()
    metrics.record_call("GetPackage", "OK", 0.003)
    metrics.record_call("GetPackage", "UNKNOWN", 3.0)
    metrics.record_http_response(304)
    metrics.record_reload(succeeded=False)
    lines = metrics.render().splitlines()
    assert all(line.startswith("# ") or _LINE.fullmatch(line) for line in lines), lines
    assert 'everpath_request_seconds_bucket{method="GetPackage",le="0.005"} 1' in lines
    assert 'everpath_request_seconds_bucket{method="GetPackage",le="10.0"} 2' in lines
    assert 'everpath_request_seconds_count{method="GetPackage"} 2' in lines
    assert 'everpath_requests_total{method="GetPackage",code="UNKNOWN"} 1' in lines
    assert 'everpath_reloads_total{result="failed"} 1' in lines
    assert "everpath_catalog_current 0" in lines


def _get_metrics(url: str) -> str:
    with _WITHOUT_PROXY.open(url, timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return str(answer.read().decode())


def test_calls_and_the_catalog_are_counted(tmp_path: Path) -> None:
    with run_server(write_fbc(tmp_path, "b: a\na"), metrics=Address("127.0.0.1", 0)) as running:
        send_call(running.channel, Call("ListBundles"))
        send_call(running.channel, Call("GetPackage", {"name": "no"}))
        url = running.log[0].removeprefix("metrics on ")
        text = _get_metrics(url)
        # A failed call is counted after its client has the error.
        deadline = time.monotonic() + 60
        while 'everpath_requests_total{method="GetPackage",code="UNKNOWN"} 1\n' not in text:
            assert time.monotonic() < deadline, text
            text = _get_metrics(url)
        with pytest.raises(urllib.error.HTTPError, match="404") as raised:
            _WITHOUT_PROXY.open(url.replace("/metrics", "/other"), timeout=60)
        raised.value.close()
    assert 'everpath_requests_total{method="ListBundles",code="OK"} 1\n' in text
    assert "everpath_catalog_bundles 2\n" in text
    assert "everpath_catalog_current 1\n" in text


def test_http_requests_are_counted_by_status_code(tmp_path: Path) -> None:
    frontend = content_frontend(Address("127.0.0.1", 0), "op", 5)
    with run_server(
        write_fbc(tmp_path, "a"), frontends=[frontend], metrics=Address("127.0.0.1", 0)
    ) as running:
        metrics, content = (line.rpartition(" ")[2] for line in running.log[:2])
        for _ in range(2):
            _WITHOUT_PROXY.open(content, timeout=60).close()
        with pytest.raises(urllib.error.HTTPError, match="404") as raised:
            _WITHOUT_PROXY.open(f"{content}/no", timeout=60)
        raised.value.close()
        text = _get_metrics(metrics)
    assert 'everpath_http_requests_total{code="200"} 2\n' in text
    assert 'everpath_http_requests_total{code="404"} 1\n' in text
