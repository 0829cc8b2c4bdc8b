"""`searchkeeper versions`."""

from __future__ import annotations

from tests.support.searchkeeper.searchkeeper_commands import NEWEST, invoke, invoke_json


def test_versions_lists_every_component() -> None:
    document = invoke_json("versions", "--embedded")

    up_to_date = {each["name"]: each["upToDate"] for each in document["clusters"][0]["components"]}
    assert document["operator"] == NEWEST
    assert up_to_date["logs-data-0"]
    assert not up_to_date["logs-data-1"]
    assert not up_to_date["logs-dashboards"]
    assert len(up_to_date) == 8
    assert not document["clusters"][0]["upToDate"]
    assert "7 not up to date" in invoke("versions", "--embedded").output


def test_version_option_prints_release() -> None:
    assert invoke("--version").output == f"searchkeeper {NEWEST}\n"
