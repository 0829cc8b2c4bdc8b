"""Catalogs that opm rejects: commands report the errors of opm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.documents import Document, bundle, channel, package, text
from tests.support.schemas import conforms

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
def test_commands_report_the_errors_of_opm(everpath: Everpath, here: Path, case: str) -> None:
    documents, where, words = _CASES[case]
    path, plain = _written(here, "new", documents), _written(here, "old", _PLAIN)
    whose = "this channel" if where else "this catalog"
    shown = everpath("simulate", path).out
    assert shown.count(f"opm rejects {whose}: {words}\n") == 1
    assert shown.splitlines()[-1].startswith("OLM v0 does not serve a catalog that opm rejects")
    assert f": {words}\n" in everpath("why", path, "--installed", "1.0.0").out
    assert f": {words}\n" in everpath("paths", path, "--olm", "v0").out
    assert words not in everpath("paths", path, "--olm", "v1").out
    assert (
        f"warning[rejected-by-opm]: opm rejects the new catalog: {words}"
        in everpath("compare", plain, path).out
    )
    assert "rejected-by-opm" not in everpath("compare", path, path).out
    for command in (
        ("simulate", path),
        ("simulate", path, "--channels", "*"),
        ("why", path, "--installed", "1.0.0"),
        ("paths", path),
    ):
        document = json.loads(everpath(*command, "-o", "json").out)
        conforms(command[0], document)
        assert [(each["channel"], each["message"]) for each in document["opmErrors"]] == [(where, words)]


def test_catalog_that_opm_accepts_has_no_errors_of_opm(everpath: Everpath, here: Path) -> None:
    path = _written(here, "plain", _PLAIN)
    for command in (("simulate", path), ("why", path, "--installed", "1.0.0"), ("paths", path)):
        assert "opm" not in everpath(*command).out
        assert "opmErrors" not in json.loads(everpath(*command, "-o", "json").out)


def test_channel_without_entries_has_a_section(everpath: Everpath, here: Path) -> None:
    shown = everpath("simulate", _written(here, "empty", _EMPTY)).out
    assert "package op, channel c2: 0 entries, no heads\nopm rejects this channel:" in shown


def test_errors_of_channels_that_are_not_selected_are_reported(everpath: Everpath, here: Path) -> None:
    shown = everpath("simulate", _written(here, "empty", _EMPTY), "-c", "stable").out
    assert "opm rejects channel c2: channel must contain at least one bundle" in shown


def test_errors_of_joint_channels_name_the_channel(everpath: Everpath, here: Path) -> None:
    shown = everpath("simulate", _written(here, "empty", _EMPTY), "--channels", "*").out
    assert "opm rejects channel c2: channel must contain at least one bundle" in shown


def test_errors_of_a_new_package_are_reported(everpath: Everpath, here: Path) -> None:
    other = (package("po"), channel("po.v1.0.0", package="po"))
    old, new = _written(here, "old", _PLAIN), _written(here, "new", (*_PLAIN, *other))
    assert "opm rejects the new catalog: v1.0.0 has no bundle" in everpath("compare", old, new).out
