"""Configuration files: keys, search, and problems."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import yaml

from everpath import __url__
from everpath.app.config import config
from everpath.app.config.config import Config, load
from everpath.errors import ConfigError, UsageError
from everpath.model import Place
from tests.support.schemas import SCHEMAS, conforms

FULL = """\
paths: [catalog, more/catalog]
packages: searchkeeper
channels: [stable]
select: [EP2, fork]
ignore: several-successors
fail-on: warning
olm: v0
output: sarif
show: note
default-update-mode: semver-mode
waivers:
  - rule: fork
    package: search*
    channel: stable
    entry: searchkeeper.v0.1.0
    reason: never released
    expires: 2030-01-31
  - rule: EP202
    reason: known
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository, which is the current folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(here: Path, text: str) -> Config:
    (here / "everpath.yaml").write_text(text)
    return load(None)


def complaint(here: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        written(here, text)
    return caught.value.message


def test_the_hint_for_an_unknown_key_is_the_documentation(here: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        written(here, "pathz: [a]\n")
    assert caught.value.hint == f"{__url__}/blob/main/docs/configuration.md lists all keys"


def test_every_key_is_read(here: Path) -> None:
    found = written(here, FULL)
    assert found.paths == ("catalog", "more/catalog")
    assert found.packages == ("searchkeeper",)
    assert found.channels == ("stable",)
    assert found.select == ("EP2", "fork")
    assert found.ignore == ("several-successors",)
    assert (found.fail_on, found.olm, found.output, found.show) == ("warning", "v0", "sarif", "note")
    assert found.default_update_mode == "semver-mode"
    first, second = found.waivers
    assert (first.rule, first.package, first.channel, first.entry) == (
        "EP203",
        "search*",
        "stable",
        "searchkeeper.v0.1.0",
    )
    assert first.expires == date(2030, 1, 31)
    assert (second.rule, second.reason, second.expires) == ("EP202", "known", None)


def test_a_waiver_has_its_line(here: Path) -> None:
    found = written(here, FULL)
    first, second = (found.locate(waiver.place) for waiver in found.waivers)
    assert first is not None
    assert second is not None
    assert (first.file, first.line, second.line) == ("everpath.yaml", 12, 18)
    assert found.locate(Place("catalog/x.yaml")) is None


TOML = """\
[project]
name = "x"

[tool.everpath]
fail-on = "warning"  # strict

[[tool.everpath.waivers]]
rule = "fork"
reason = "never released"
expires = 2030-01-31

[[tool.everpath.waivers]]
rule = "EP202"
reason = "known"
"""


def test_pyproject_has_the_same_keys(here: Path) -> None:
    (here / "pyproject.toml").write_text(TOML)
    found = load(None)
    assert found.fail_on == "warning"
    assert [w.rule for w in found.waivers] == ["EP203", "EP202"]
    assert found.waivers[0].expires == date(2030, 1, 31)
    located = found.locate(found.waivers[1].place)
    assert located is not None
    assert (located.file, located.line, located.source_line) == (
        "pyproject.toml",
        12,
        "[[tool.everpath.waivers]]",
    )


def test_the_nearest_file_up_to_the_repository_root_is_used(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "everpath.yaml").write_text("paths: [catalog]")
    (here / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(here / "a" / "b")
    found = load(None)
    assert found.file == "../../everpath.yaml"
    assert found.paths == ("../../catalog",)
    (here / "a" / "pyproject.toml").write_text("[tool.everpath]\nshow = 'note'\n")
    assert load(None).show == "note"


def test_a_file_above_the_repository_is_not_used(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "everpath.yaml").write_text("show: note")
    inner = here / "inner"
    (inner / ".git").mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert load(None) == Config()


def test_outside_a_repository_only_the_folder_itself_is_searched(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".git").rmdir()
    (here / "everpath.yaml").write_text("show: note")
    assert load(None).show == "note"
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    assert load(None) == Config()


def test_a_pyproject_without_the_table_is_ignored(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.other]\neverpath = 1\n")
    assert load(None) == Config()


def test_a_named_file_is_loaded_and_no_config_disables_it(here: Path) -> None:
    (here / "everpath.yaml").write_text("show: note")
    (here / "other.yaml").write_text("show: error")
    assert load("other.yaml").show == "error"
    assert load(None, wanted=False) == Config()


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n"])
def test_an_empty_file_is_an_empty_configuration(here: Path, text: str) -> None:
    assert written(here, text).waivers == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fail_on: error", "everpath.yaml:1:10: unknown key 'fail_on'; did you mean 'fail-on'?"),
        ("zzz: 1", "everpath.yaml:1:6: unknown key 'zzz'; known keys: paths, packages"),
        ("show: warn", "everpath.yaml:1:7: show must be one of error, warning, note, not 'warn'; did you"),
        ("show: [error]", "everpath.yaml:1:7: show must be text, not a list"),
        ("show: 3", "everpath.yaml:1:7: show must be text, not 3"),
        ("show: ''", "everpath.yaml:1:7: show must not be empty"),
        ("paths: {a: b}", "everpath.yaml:1:8: paths must be a list, not a mapping"),
        ("select: [forc]", "everpath.yaml:1:9: no rule is called 'forc'; did you mean 'fork'?"),
        ("[1]", "the file must be a mapping, not a list"),
        ("show: note\nshow: error", "everpath.yaml:2:1: duplicate key"),
        ("show: note\n---\nshow: error", "everpath.yaml:2:1: a second document; only the first is used"),
        ("show: [", "everpath.yaml:"),
        ("waivers: [{rule: fork}]", "everpath.yaml:1:11: a waiver needs a reason: why is this accepted?"),
        ("waivers: [{reason: x}]", "everpath.yaml:1:11: a waiver needs a rule"),
        ("waivers: [{rule: fork, reason: ' '}]", "everpath.yaml:1:32: reason must not be empty"),
        ("waivers: [{rule: EP2, reason: x}]", "a waiver is for one rule; 'EP2' stands for EP201, EP202"),
        ("waivers: [{rule: forc, reason: x}]", "no rule is called 'forc'; did you mean 'fork'?"),
        ("waivers: [{rule: fork, reason: x, expires: soon}]", "expires must be a date such as 2027-01-31"),
        ("waivers: [{rule: fork, reason: x, expires: 20300131}]", "expires must be a date such as"),
        ("waivers: [{rule: fork, reason: x, pakage: p}]", "unknown key 'pakage'; did you mean 'package'?"),
        ("waivers: fork", "everpath.yaml:1:10: waivers must be a list, not text"),
        ("waivers: [fork]", "everpath.yaml:1:11: waivers must be a mapping, not text"),
    ],
)
def test_problems_have_a_line_and_a_suggestion(here: Path, text: str, expected: str) -> None:
    assert expected in complaint(here, text)


def test_all_problems_are_reported_at_once(here: Path) -> None:
    told = complaint(here, "show: warn\nolm: v2\nwaivers: [{}]\n").splitlines()
    assert [line.split(":")[1] for line in told] == ["1", "2", "3", "3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tool.everpath]\n\nfail_on = 'error'\n", "pyproject.toml:3:1: unknown key 'fail_on'"),
        ("[tool.everpath]\nwaivers = [{rule = 'fork'}]\n", "pyproject.toml:2:1: a waiver needs a reason"),
        (
            "[[tool.everpath.waivers]]\n  rule = 'forc'\nreason = 'x'\n",
            "pyproject.toml:2:3: no rule is called",
        ),
        ("[tool.everpath]\nshow = \n", "pyproject.toml: Invalid value (at line 2"),
        ("[tool.everpath]\nshow = '\xff'\n", "pyproject.toml is not UTF-8"),
    ],
)
def test_problems_in_pyproject_have_a_line(here: Path, text: str, expected: str) -> None:
    (here / "pyproject.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        load(None)
    assert expected in caught.value.message


def test_a_missing_named_file_is_a_usage_error(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read missing\.yaml"):
        load("missing.yaml")


def test_an_alias_bomb_is_an_error(here: Path) -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
    )
    assert "everpath.yaml:" in complaint(here, bomb)


def test_the_schema_has_the_same_keys(here: Path) -> None:
    schema = json.loads((SCHEMAS / "config.schema.json").read_text())
    assert tuple(schema["properties"]) == config._KEYS
    waiver = schema["properties"]["waivers"]["items"]
    assert tuple(waiver["properties"]) == config._WAIVER_KEYS
    document = yaml.load(FULL, Loader=yaml.BaseLoader)
    conforms("config", document)


def test_an_invalid_path_is_a_problem_with_its_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = "everpath.yaml:2:8: {} is not a valid file name"
    assert complaint(here, 'show: error\npaths: ["a\\0b"]\n') == expected.format(r"a\x00b")

    def unencodable(path: str) -> bytes:
        return path.encode("ascii")

    monkeypatch.setattr("os.fsencode", unencodable)
    assert complaint(here, "show: error\npaths: [é]\n") == expected.format("é")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[tool.everpath]\nx = " + "1" * 5000,
            "f.toml: a number has thousands of digits",
        ),
        ("[tool.everpath]\nx = " + "[" * 50_000, "f.toml: nested too deeply"),
        ("\ntool = 1\n", "f.toml:2: tool must be a table, not 1"),
        ("tool = []\n", "f.toml:1: tool must be a table, not a list"),
        ("[tool]\neverpath = 1\n", "f.toml:2:1: everpath must be a mapping, not 1"),
        (
            "[tool.everpath]\npaths = 0x" + "f" * 5000,
            "f.toml:2:1: paths must be a list, not a very large number",
        ),
        ("[tool.everpath]\nx = x\n", "f.toml: Invalid value (at line 2, column 5)"),
    ],
)
def test_invalid_toml_is_an_error_with_its_file(here: Path, text: str, message: str) -> None:
    (here / "f.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load("f.toml")
    assert caught.value.message.startswith(message)


def test_an_expiry_of_thousands_of_digits_is_a_problem(here: Path) -> None:
    waiver = "[[tool.everpath.waivers]]\nrule = 'fork'\nreason = 'r'\nexpires = 0x" + "f" * 5000
    (here / "f.toml").write_text(waiver)
    with pytest.raises(
        ConfigError, match="expires must be a date such as 2027-01-31, not a very large number"
    ):
        load("f.toml")


def test_an_empty_config_option_is_an_error() -> None:
    with pytest.raises(UsageError, match="--config is empty"):
        load(" ")


def test_a_parent_without_permission_is_ignored(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refused)
    assert load(None) == Config()
