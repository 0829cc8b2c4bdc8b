"""The oracle: it has the documented behaviour of the real code, survives panics, and does not grow."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.everpath.conformance.oracle import Answer, Oracle, OracleDiedError, Question, RefusedError
from tests.everpath.conformance.small_graphs import SmallEntry, SmallGraph, as_catalog, as_channel

pytestmark = pytest.mark.conformance


def b(number: int, replaces: str = "", skips: tuple[str, ...] = (), skip_range: str = "") -> SmallEntry:
    return SmallEntry(f"b{number}", f"{number}.0.0", replaces, skips, skip_range)


def v0(*entries: SmallEntry, installed: tuple[object, ...] = ()) -> Question:
    graph = SmallGraph(entries)
    return {"ask": "v0", "channel": as_channel(graph), "installed": installed or graph.names}


def picks(answer: Answer) -> list[str | None]:
    assert [o["error"] for o in answer["installed"]] == [None] * len(answer["installed"])
    return [outcome["pick"] for outcome in answer["installed"]]


def test_oracle_has_the_versions_that_everpath_mirrors(oracle: Oracle) -> None:
    modules = oracle.ask({"ask": "about"})["modules"]
    mirrored = {
        "github.com/operator-framework/operator-registry": "v1.73.0",
        "github.com/operator-framework/operator-lifecycle-manager": "v0.46.0",
        "github.com/operator-framework/api": "v0.45.0",
        "github.com/blang/semver/v4": "v4.0.0",
    }
    assert {path: modules[path] for path in mirrored} == mirrored


def test_skip_of_a_skipping_entry_strands_the_lowest(oracle: Oracle) -> None:
    assert picks(oracle.ask(v0(b(3, skips=("b2",)), b(2, skips=("b1",)), b(1)))) == [None, "b3", None]


def test_entry_nearest_to_the_head_is_chosen(oracle: Oracle) -> None:
    chain = (b(4, "b3", (), ">=2.0.0 <4.0.0"), b(3, "b2", (), ">=1.0.0 <3.0.0"), b(2, "b1"), b(1))
    assert picks(oracle.ask(v0(*chain))) == [None, "b4", "b4", "b3"]


def test_a_cycle_behind_a_skipped_entry_passes_opm_and_fails_olm(oracle: Oracle) -> None:
    graph = SmallGraph((b(3, "b2", ("b1", "b2")), b(2, "b1"), b(1, "b2")))
    assert oracle.ask({"ask": "opm", "catalog": as_catalog(graph)}) == {"accepts": True}
    answer = oracle.ask(v0(*graph.entries))
    errors = {outcome["error"] for outcome in [answer["fresh"], *answer["installed"]]}
    assert errors == {
        'a cycle exists in the chain of replacement beginning with "b3" in channel "stable" of package "p"'
    }


def test_head_whose_own_range_contains_it_stays(oracle: Oracle) -> None:
    answer = oracle.ask(v0(b(1, skip_range=">=0.1.0")))
    assert picks(answer) == [None]
    assert [found["name"] for found in answer["installed"][0]["resolved"]] == ["b1"]


def test_installed_version_outside_of_the_channel_is_upgraded_by_range(oracle: Oracle) -> None:
    outside = ({"name": "elsewhere", "version": "0.5.0"}, {"name": "above", "version": "2.0.0"})
    assert picks(oracle.ask(v0(b(1, skip_range="<1.0.0"), installed=outside))) == ["b1", None]


def test_a_starting_csv_may_be_a_skipped_one_and_must_exist(oracle: Oracle) -> None:
    channel = v0(b(2, skips=("b1",)), b(1))
    assert oracle.ask({**channel, "starting": "b1"})["fresh"]["pick"] == "b1"
    missing = oracle.ask({**channel, "starting": "b9"})["fresh"]
    assert missing["pick"] is None
    assert "no operators found with name b9 in channel stable" in missing["error"]


def test_olm_can_resolve_a_catalog_that_opm_rejects(oracle: Oracle) -> None:
    fork = SmallGraph((b(3, "b1"), b(2, "b1"), b(1)))
    verdict = oracle.ask({"ask": "opm", "catalog": as_catalog(fork)})
    assert (verdict["accepts"], verdict["stage"]) == (False, "validate")
    assert "2 replacement chains were found" in oracle.ask(v0(*fork.entries))["fresh"]["error"]


def test_a_subscription_never_crosses_to_another_catalog(oracle: Oracle) -> None:
    def catalog(name: str, priority: int, *entries: SmallEntry) -> Question:
        channels = [{"name": "stable", "entries": as_channel(SmallGraph(entries))["entries"]}]
        packages = [{"name": "p", "defaultChannel": "stable", "channels": channels}]
        return {"name": name, "priority": priority, "packages": packages}

    answer = oracle.ask(
        {
            "ask": "v0",
            "catalogs": [catalog("mine", 0, b(1)), catalog("theirs", 100, b(2, "b1"), b(1))],
            "subscription": {"package": "p", "channel": "stable", "catalog": "mine"},
            "installed": ["b1"],
        }
    )
    assert picks(answer) == [None]


def test_deprecated_head_is_not_installed_and_not_upgraded(oracle: Oracle) -> None:
    answer = oracle.ask(v0(SmallEntry("b2", "2.0.0", "b1", deprecated=True), b(1)))
    assert answer["fresh"]["pick"] == "b1"
    assert picks(answer) == [None, None]


def test_panic_is_an_answer_and_the_next_question_works(oracle: Oracle) -> None:
    answer = oracle.ask(v0(b(1, skip_range="<1.0.0 || || >2.0.0")))
    assert answer["installed"][0]["panicked"]
    assert picks(oracle.ask(v0(b(2, "b1"), b(1)))) == [None, "b2"]


def test_range_matches_or_not_or_panics_or_does_not_parse(oracle: Oracle) -> None:
    question = {"ask": "range", "range": "<1.0.0 || || >2.0.0", "versions": ["0.1.0", "1.5.0", "v1"]}
    assert oracle.ask(question) == {"parses": True, "matches": [True, "panic", None]}
    assert oracle.ask({**question, "range": "<1.0.0"})["matches"] == [True, False, None]
    assert not oracle.ask({**question, "range": ">=v1.0.0"})["parses"]


def test_versions_are_parsed_strictly_and_tolerantly(oracle: Oracle) -> None:
    answer = oracle.ask({"ask": "version", "text": "v1.02"})
    assert not answer["strict"]["ok"]
    assert answer["tolerant"] == {"ok": True, "normal": "1.2.0"}
    assert oracle.ask({"ask": "compare", "a": "1.0.0", "b": "1.0.0+build"}) == {"order": 0}
    assert oracle.ask({"ask": "compare", "a": "1.0.0-rc.1", "b": "1.0.0"}) == {"order": -1}


def test_opm_reports_the_stage_of_its_error(oracle: Oracle) -> None:
    package = json.dumps({"schema": "olm.package", "name": "p", "defaultChannel": "c"})
    stages = [oracle.ask({"ask": "opm", "catalog": c})["stage"] for c in ("# nothing", package * 2, package)]
    assert stages == ["load", "convert", "validate"]


def test_templates_are_rendered_without_images(oracle: Oracle) -> None:
    def bundle(version: str, image: str) -> str:
        catalog = as_catalog(SmallGraph((SmallEntry(f"p.v{version}", version),)))
        return json.dumps({**json.loads(catalog.splitlines()[-1]), "image": image})

    text = (
        "schema: olm.semver\ngenerateMajorChannels: true\nstable:\n  bundles:\n  - image: a\n  - image: b\n"
    )
    bundles = {"a": bundle("1.0.0", "a"), "b": bundle("1.1.0", "b")}
    answer = oracle.ask({"ask": "template", "type": "semver", "text": text, "bundles": bundles})
    assert answer["ok"], answer["error"]
    assert '"replaces": "p.v1.0.0"' in answer["catalog"]


@pytest.mark.parametrize(
    "question",
    [
        {"ask": "fortune"},
        {"ask": "v0", "chanel": {}},
        {
            "ask": "v0",
            "channel": {"name": "c", "entries": []},
            "installed": [{"name": "a", "versoin": "1.0.0"}],
        },
        {"ask": "v0", "channel": {"name": "c", "entries": []}, "installed": ["nowhere"]},
        {"ask": "compare", "a": "1", "b": "1.0.0"},
    ],
    ids=["unknown kind", "misspelt field", "misspelt inner field", "installed without version", "no version"],
)
def test_invalid_question_is_refused(oracle: Oracle, question: Question) -> None:
    with pytest.raises(RefusedError):
        oracle.ask(question)


def test_a_question_may_be_asked_in_the_middle_of_a_stream(oracle: Oracle) -> None:
    versions = [f"{i}.0.0" for i in range(1000)]
    stream = oracle.ask_many({"ask": "version", "text": v} for v in versions)
    first = next(stream)
    assert oracle.ask({"ask": "version", "text": "9.9.9"})["strict"]["normal"] == "9.9.9"
    assert [a["strict"]["normal"] for a in (first, *stream)] == versions


def test_abandoned_stream_does_not_affect_others(oracle: Oracle) -> None:
    next(oracle.ask_many({"ask": "version", "text": "1.0.0"} for _ in range(10)))
    assert oracle.ask({"ask": "version", "text": "2.0.0"})["strict"]["normal"] == "2.0.0"


def test_thousands_of_questions_do_not_grow_the_memory(oracle: Oracle) -> None:
    def put(count: int) -> Answer:
        questions = (v0(b(2, "b1"), SmallEntry("b1", f"1.0.{i}")) for i in range(count))
        assert all(a["fresh"]["pick"] == "b2" for a in oracle.ask_many(questions))
        return oracle.ask({"ask": "about"})

    before = put(1_000)
    after = put(5_000)
    assert after["goroutines"] <= before["goroutines"] + 5
    assert after["heapBytes"] < before["heapBytes"] + 10_000_000


def test_an_oracle_that_dies_is_reported_with_the_question(tmp_path: Path) -> None:
    program = tmp_path / "mute"
    program.write_text(f"#!{sys.executable}\ninput()\nraise SystemExit(3)\n")
    program.chmod(0o755)
    with Oracle(program) as mute, pytest.raises(OracleDiedError, match=r"ended \(3\).*1\.0\.0"):
        mute.ask({"ask": "version", "text": "1.0.0"})
