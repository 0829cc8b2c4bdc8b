"""When OLM has looked at a namespace again, and found nothing to do."""

from __future__ import annotations

from pathlib import Path

from e2e.olm.convoy import Resolutions

BEGIN = 'time="…" level=info msg="resolving sources" id={} namespace={}\n'
IDLE = 'time="…" level=info msg="no subscriptions were updated" id={} namespace={}\n'


def test_only_one_that_began_afterwards_counts(tmp_path: Path) -> None:
    log = tmp_path / "catalog.log"
    log.write_text(BEGIN.format("a1", "mine"), encoding="utf-8")
    found = Resolutions(log)
    asked = found.length
    with log.open("a", encoding="utf-8") as file:
        file.write(IDLE.format("a1", "mine"))
        file.flush()
        assert not found.has_found_nothing("mine", asked)
        file.write(BEGIN.format("b2", "mine") + BEGIN.format("c3", "other") + IDLE.format("c3", "other"))
        file.flush()
        assert not found.has_found_nothing("mine", asked)
        assert found.has_found_nothing("other", asked)
        file.write(IDLE.format("b2", "mine"))
        file.flush()
        assert found.has_found_nothing("mine", asked)


def test_half_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "catalog.log"
    line = IDLE.format("a1", "mine")
    log.write_text(BEGIN.format("a1", "mine") + line[:40], encoding="utf-8")
    found = Resolutions(log)
    assert not found.has_found_nothing("mine", 0)
    with log.open("a", encoding="utf-8") as file:
        file.write(line[40:])
    assert found.has_found_nothing("mine", 0)
