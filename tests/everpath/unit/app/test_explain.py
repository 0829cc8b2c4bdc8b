"""Explain installations from Python, without the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everpath.app.config.config import Config
from everpath.app.explain import Installation, explain_inputs
from everpath.app.inputs.inputs import Inputs
from everpath.app.inputs.served_catalogs import ServedCatalog
from everpath.errors import UsageError
from everpath.reporters.explanation import json as explanation_json
from everpath.reporters.explanation import text as explanation_text
from everpath.simulate import ClusterExtensionOptions
from tests.support.everpath.catalogs import write_fbc

STRANDED = "[stable]\nop.v3.0.0: - / op.v2.0.0\nop.v2.0.0: - / op.v1.0.0\nop.v1.0.0\n[old]\nop.v0.9.0"


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    return str(write_fbc(tmp_path, STRANDED, "op"))


def test_fix_has_its_position(catalog: str) -> None:
    result = explain_inputs(Inputs([catalog], Config()), Installation(installed="1.0.0"), olm="v0")
    [explanation] = result.explanation.explanations
    [fix] = explanation.fixes
    assert fix.position is not None
    assert (fix.position.file, fix.position.line > 0) == (f"{catalog}/op.yaml", True)
    assert not result.explanation.reaches_goal
    assert result.unread == 0


@pytest.mark.parametrize(
    ("installation", "channels", "channel"),
    [
        (Installation(), (), "stable"),
        (Installation(installed="op.v0.9.0"), (), "old"),
        (Installation(starting_csv="op.v0.9.0"), (), "old"),
        (Installation(installed="op.v1.0.0"), ("old",), "old"),
        (Installation(installed="op.v1.0.0"), ("old", "stable"), "stable"),
        (Installation(channel="fast", installed="op.v1.0.0"), ("old",), "fast"),
    ],
)
def test_channel_is_given_configured_or_default(
    catalog: str, installation: Installation, channels: tuple[str, ...], channel: str
) -> None:
    result = explain_inputs(Inputs([catalog], Config(channels=channels)), installation)
    assert result.explanation.query.channel == channel


def test_package_is_the_one_with_the_installed_csv(tmp_path: Path, catalog: str) -> None:
    write_fbc(tmp_path, "b: a\na", "another")
    result = explain_inputs(Inputs([catalog], Config()), Installation(installed="op.v3.0.0"))
    assert result.explanation.query.package == "op"
    result = explain_inputs(Inputs([catalog], Config(packages=("another",))), Installation())
    assert result.explanation.query.package == "another"
    with pytest.raises(UsageError, match=r"the input has 2 packages \(another and op\)"):
        explain_inputs(Inputs([catalog], Config()), Installation())


@pytest.mark.parametrize(("olm", "resolvers"), [(None, ["v1"]), ("v0", ["v0"]), ("both", ["v0", "v1"])])
def test_olm_version_of_the_configuration_is_the_default(
    catalog: str, olm: str | None, resolvers: list[str]
) -> None:
    result = explain_inputs(Inputs([catalog], Config(olm="v1")), Installation(), olm=olm)
    assert [each.trace.resolver for each in result.explanation.explanations] == resolvers


def test_unknown_channel_of_the_extension_is_an_error(catalog: str) -> None:
    with pytest.raises(UsageError, match="no channel is called 'fast'"):
        explain_inputs(
            Inputs([catalog], Config()), Installation(), extension=ClusterExtensionOptions(channels=("fast",))
        )


def test_version_of_several_csvs_is_an_error(tmp_path: Path, catalog: str) -> None:
    write_fbc(tmp_path, "a@1.0.0: b\nb@1.0.0", "op")
    with pytest.raises(UsageError, match=r"several CSVs have version 1\.0\.0: a, b"):
        explain_inputs(Inputs([catalog], Config()), Installation(installed="1.0.0"))


def test_explanation_prints_nothing_and_counts_unread_parts(
    catalog: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(catalog, "torn.yaml").write_text("schema: [\n")
    result = explain_inputs(Inputs([catalog], Config()), Installation(installed="7.0.0"))
    assert result.unread == 1
    assert capfd.readouterr() == ("", "")


def test_reporters_show_position_warnings_and_live_status(catalog: str) -> None:
    explanation = explain_inputs(Inputs([catalog], Config()), Installation(installed="1.0.0")).explanation
    position = f"{catalog}/op.yaml:"
    text = "".join(explanation_text.render(explanation))
    assert position in text
    assert "Check on the cluster" in text
    assert "Check on the cluster" not in "".join(explanation_text.render(explanation, is_brief=True))
    document = json.loads("".join(explanation_json.render(explanation, warnings=["w"], live={"a": 1})))
    assert (document["warnings"], document["live"]) == (["w"], {"a": 1})
    assert f"{document['explanations'][0]['fixes'][0]['file']}:" == position


def test_catalogs_have_the_given_names_and_priorities(tmp_path: Path, catalog: str) -> None:
    (tmp_path / "more").mkdir()
    other = str(write_fbc(tmp_path / "more", "op.v3.1.0: op.v3.0.0", "op"))
    served = [ServedCatalog("main", catalog), ServedCatalog("other", other, 5)]
    installation = Installation("op", installed="op.v3.0.0")
    result = explain_inputs(Inputs([catalog, other], Config()), installation, catalogs=served, olm="v1")
    [explanation] = result.explanation.explanations
    assert (explanation.trace.catalog, explanation.trace.decision.next) == ("other", "op.v3.1.0")
