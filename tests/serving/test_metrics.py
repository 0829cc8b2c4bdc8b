"""What Prometheus is told."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from catalogs import write_fbc
from everpath.server.address import Address
from everpath.server.content_api.frontend import content_frontend
from everpath.server.metrics import Metrics
from registries import Ask, asked
from serving_here import serving

_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+')


def test_every_line_is_one_that_prometheus_reads() -> None:
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


def _page(url: str) -> str:
    with _DIRECTLY.open(url, timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return str(answer.read().decode())


def test_calls_and_the_catalog_are_counted(tmp_path: Path) -> None:
    with serving(write_fbc(tmp_path, "b: a\na"), metrics=Address("127.0.0.1", 0)) as running:
        asked(running.channel, Ask("ListBundles"))
        asked(running.channel, Ask("GetPackage", {"name": "no"}))
        url = running.said[0].removeprefix("metrics on ")
        text = _page(url)
        # A call that fails is counted when its client has been told.
        deadline = time.monotonic() + 60
        while 'everpath_requests_total{method="GetPackage",code="UNKNOWN"} 1\n' not in text:
            assert time.monotonic() < deadline, text
            text = _page(url)
        with pytest.raises(urllib.error.HTTPError, match="404") as raised:
            _DIRECTLY.open(url.replace("/metrics", "/other"), timeout=60)
        raised.value.close()
    assert 'everpath_requests_total{method="ListBundles",code="OK"} 1\n' in text
    assert "everpath_catalog_bundles 2\n" in text
    assert "everpath_catalog_current 1\n" in text


def test_requests_over_http_are_counted_by_their_answers(tmp_path: Path) -> None:
    front = content_frontend(Address("127.0.0.1", 0), "op", 5)
    with serving(write_fbc(tmp_path, "a"), frontends=[front], metrics=Address("127.0.0.1", 0)) as running:
        metrics, content = (said.rpartition(" ")[2] for said in running.said[:2])
        for _ in range(2):
            _DIRECTLY.open(content, timeout=60).close()
        with pytest.raises(urllib.error.HTTPError, match="404") as raised:
            _DIRECTLY.open(f"{content}/no", timeout=60)
        raised.value.close()
        text = _page(metrics)
    assert 'everpath_http_requests_total{code="200"} 2\n' in text
    assert 'everpath_http_requests_total{code="404"} 1\n' in text
