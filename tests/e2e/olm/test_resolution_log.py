"""ResolutionLog reads when OLM has resolved a namespace without updates."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.olm.subscription_runner import ResolutionLog

START = 'time="…" level=info msg="resolving sources" id={} namespace={}\n'
NO_UPDATE = 'time="…" level=info msg="no subscriptions were updated" id={} namespace={}\n'


def test_only_a_resolution_that_began_afterwards_counts(tmp_path: Path) -> None:
    log = tmp_path / "catalog.log"
    log.write_text(START.format("a1", "mine"), encoding="utf-8")
    resolutions = ResolutionLog(log)
    size = resolutions.size
    with log.open("a", encoding="utf-8") as file:
        file.write(NO_UPDATE.format("a1", "mine"))
        file.flush()
        assert not resolutions.is_idle_since("mine", size)
        file.write(START.format("b2", "mine") + START.format("c3", "other") + NO_UPDATE.format("c3", "other"))
        file.flush()
        assert not resolutions.is_idle_since("mine", size)
        assert resolutions.is_idle_since("other", size)
        file.write(NO_UPDATE.format("b2", "mine"))
        file.flush()
        assert resolutions.is_idle_since("mine", size)


def test_incomplete_line_is_read_again(tmp_path: Path) -> None:
    log = tmp_path / "catalog.log"
    line = NO_UPDATE.format("a1", "mine")
    log.write_text(START.format("a1", "mine") + line[:40], encoding="utf-8")
    resolutions = ResolutionLog(log)
    assert not resolutions.is_idle_since("mine", 0)
    with log.open("a", encoding="utf-8") as file:
        file.write(line[40:])
    assert resolutions.is_idle_since("mine", 0)
