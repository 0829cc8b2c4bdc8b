"""The HTTP endpoints of the operator: probes and metrics."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request

import pytest

from searchkeeper.manager.endpoints import serve_endpoints
from searchkeeper.manager.health import Health
from searchkeeper.manager.metrics import Metrics

_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> tuple[int, str]:
    try:
        with _OPENER.open(url, timeout=60) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_endpoints_serve_probes_and_metrics() -> None:
    now = [0.0]
    health, metrics = Health(tolerance=60, clock=lambda: now[0]), Metrics()
    metrics.reconciles.labels("search", 'lo"gs"', "changed").inc()
    with serve_endpoints(("127.0.0.1", 0), health, metrics) as url:
        assert get(f"{url}/healthz") == (200, "ok\n")
        assert get(f"{url}/readyz")[0] == 503
        health.watching.set()
        assert get(f"{url}/readyz") == (200, "ok\n")
        line = 'searchkeeper_reconcile_total{name="lo\\"gs\\"",namespace="search",result="changed"} 1.0\n'
        assert line in get(f"{url}/metrics")[1]
        assert get(f"{url}/else")[0] == 404
        now[0] = 61
        assert get(f"{url}/healthz")[0] == 500
        assert get(f"{url}/readyz")[0] == 503


def test_endpoints_listen_on_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 on this machine")
    with serve_endpoints(("::1", 0), Health(), Metrics()) as url:
        assert url.startswith("http://[::1]:")
        assert get(f"{url}/healthz") == (200, "ok\n")
