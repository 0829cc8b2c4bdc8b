"""FakeCatalogd serves catalogs, and records which are fetched."""

from __future__ import annotations

from tests.e2e.servers.fake_catalogd import fake_catalogd
from tests.e2e.servers.probes import http_get


def test_catalog_is_served_at_its_url_and_recorded_as_fetched() -> None:
    with fake_catalogd() as catalogs:
        base = catalogs.add("mine", '{"schema": "olm.package"}')
        assert http_get(f"{base}/api/v1/other") is None
        assert catalogs.fetched == set()
        assert http_get(f"{base}/api/v1/all") == b'{"schema": "olm.package"}'
        assert catalogs.fetched == {"mine"}
    assert http_get(f"{base}/api/v1/all") is None
