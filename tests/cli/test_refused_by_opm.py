"""Catalogs that opm refuses: every command that answers all the same says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import Everpath
from documents import Document, bundle, channel, package, text
from schemas import conforms

_PLAIN = (package(), channel("op.v1.0.0", "op.v1.1.0"), bundle(), bundle("op.v1.1.0", "1.1.0"))
_STRAY = (*_PLAIN, bundle("op.v1.2.0", "1.2.0"))
_EMPTY = (*_PLAIN, channel(name="c2"))
_NO_DEFAULT = ({**package(), "defaultChannel": "nope"}, *_PLAIN[1:])


def _written(folder: Path, name: str, documents: tuple[Document, ...]) -> str:
    path = folder / name
    path.mkdir()
    (path / "catalog.json").write_text(text(documents))
    return str(path)


_CASES = {
    "stray": (_STRAY, None, "op.v1.2.0 is in no channel"),
    "no-default": (_NO_DEFAULT, None, "the default channel 'nope' of op does not exist"),
    "empty": (_EMPTY, "c2", "channel must contain at least one bundle"),
}


@pytest.mark.parametrize("case", _CASES)
def test_every_command_that_answers_says_what_opm_refuses(everpath: Everpath, here: Path, case: str) -> None:
    documents, where, words = _CASES[case]
    path, plain = _written(here, "new", documents), _written(here, "old", _PLAIN)
    whose = "this channel" if where else "this catalog"
    shown = everpath("simulate", path).out
    assert shown.count(f"opm rejects {whose}: {words}\n") == 1
    assert shown.splitlines()[-1].startswith("OLM v0 does not serve a catalog that opm rejects")
    assert f": {words}\n" in everpath("why", path, "--installed", "1.0.0").out
    assert f": {words}\n" in everpath("paths", path, "--policy", "v0").out
    assert words not in everpath("paths", path, "--policy", "v1").out
    assert (
        f"warning[refused-by-opm]: opm rejects the new catalog: {words}"
        in everpath("compare", plain, path).out
    )
    assert "refused-by-opm" not in everpath("compare", path, path).out
    for command in (
        ("simulate", path),
        ("simulate", path, "--channels", "*"),
        ("why", path, "--installed", "1.0.0"),
        ("paths", path),
    ):
        document = json.loads(everpath(*command, "-o", "json").out)
        conforms(command[0], document)
        assert [(each["channel"], each["message"]) for each in document["refused"]] == [(where, words)]


def test_nothing_is_said_of_a_catalog_that_opm_accepts(everpath: Everpath, here: Path) -> None:
    path = _written(here, "plain", _PLAIN)
    for command in (("simulate", path), ("why", path, "--installed", "1.0.0"), ("paths", path)):
        assert "opm" not in everpath(*command).out
        assert "refused" not in json.loads(everpath(*command, "-o", "json").out)


def test_a_channel_without_entries_has_a_paragraph(everpath: Everpath, here: Path) -> None:
    shown = everpath("simulate", _written(here, "empty", _EMPTY)).out
    assert "package op, channel c2: 0 entries, no heads\nopm rejects this channel:" in shown


def test_what_opm_refuses_of_a_channel_that_is_not_asked_about_is_said_all_the_same(
    everpath: Everpath, here: Path
) -> None:
    shown = everpath("simulate", _written(here, "empty", _EMPTY), "-c", "stable").out
    assert "opm rejects channel c2: channel must contain at least one bundle" in shown


def test_channels_that_are_taken_as_one_are_refused_by_name(everpath: Everpath, here: Path) -> None:
    shown = everpath("simulate", _written(here, "empty", _EMPTY), "--channels", "*").out
    assert "opm rejects channel c2: channel must contain at least one bundle" in shown


def test_a_package_that_is_new_is_said_to_be_refused(everpath: Everpath, here: Path) -> None:
    other = (package("po"), channel("po.v1.0.0", package="po"))
    old, new = _written(here, "old", _PLAIN), _written(here, "new", (*_PLAIN, *other))
    assert "opm rejects the new catalog: v1.0.0 has no bundle" in everpath("compare", old, new).out
