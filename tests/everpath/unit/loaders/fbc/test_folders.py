"""Folders: every file counts, in lexical order, and what opm trips over is said."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import accumulate, takewhile
from pathlib import Path
from tempfile import mkdtemp

import pytest

from everpath.errors import ExitCode, UnreadableInput
from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.sources import Sources
from everpath.model.builder import CatalogBuilder
from tests.support.everpath.loaded_catalogs import problems_of, read

PACKAGE = "schema: olm.package\nname: {}\n"


def _write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_files_are_read_at_any_depth_and_under_any_name(tmp_path: Path) -> None:
    _write(
        tmp_path,
        **{"z": PACKAGE.format("z"), "a__b__c.txt": PACKAGE.format("c"), ".hidden": PACKAGE.format("h")},
    )
    assert [package.name for package in read(tmp_path).packages] == ["c", "h", "z"]


def test_files_come_in_lexical_order(tmp_path: Path) -> None:
    channel = "schema: olm.channel\npackage: op\nname: {}\n"
    names = ("b__x.yaml", "a.yaml", "b.yaml", "B.yaml")
    _write(tmp_path, **{name: channel.format(name) for name in names})
    (package,) = read(tmp_path).packages
    assert [channel.name for channel in package.channels] == ["B.yaml", "a.yaml", "b__x.yaml", "b.yaml"]


def test_places_name_the_file_as_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, **{"catalog__op.yaml": PACKAGE.format("op")})
    monkeypatch.chdir(tmp_path)
    assert read(Path("catalog")).packages[0].place.file == "catalog/op.yaml"


def test_progress_is_told_of_every_file(tmp_path: Path) -> None:
    _write(tmp_path, **{"a.yaml": PACKAGE.format("a"), "b.yaml": PACKAGE.format("b")})
    told: list[tuple[int, int, str]] = []
    load_fbc(str(tmp_path), CatalogBuilder(), Sources(), lambda *step: told.append(step))
    assert told == [(0, 2, str(tmp_path / "a.yaml")), (1, 2, str(tmp_path / "b.yaml"))]


def test_several_paths_make_one_catalog(tmp_path: Path) -> None:
    _write(tmp_path, **{"a.yaml": PACKAGE.format("a"), "b__b.yaml": PACKAGE.format("b")})
    builder = CatalogBuilder()
    load_fbc([str(tmp_path / "a.yaml"), str(tmp_path / "b")], builder, Sources())
    assert [package.name for package in builder.build("x").packages] == ["a", "b"]


def test_ignored_files_are_not_read(tmp_path: Path) -> None:
    _write(
        tmp_path,
        **{
            "a.yaml": PACKAGE.format("a"),
            "README.md": "# Not a catalog\n",
            "sub__b.yaml": PACKAGE.format("b"),
            "sub__drop.yaml": PACKAGE.format("drop"),
            ".indexignore": "*.md\n",
            "sub__.indexignore": "drop.yaml\n",
        },
    )
    assert [package.name for package in read(tmp_path).packages] == ["a", "b"]
    assert problems_of(tmp_path) == []


def test_a_file_that_is_no_catalog_is_one_problem(tmp_path: Path) -> None:
    _write(
        tmp_path,
        **{
            "op.yaml": PACKAGE.format("op"),
            "README.md": "# Title\n\nSome text: more\n\n---\n\n- a\n- b\n\n----\n\nfoo: [\n",
            "Dockerfile": "FROM scratch\nADD catalog /configs\n",
            "kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: K\n---\na: b\n",
        },
    )
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    assert problems_of(tmp_path) == [
        "Dockerfile not-a-catalog-file",
        "README.md not-a-catalog-file",
        "kustomization.yaml not-a-catalog-file",
        "logo.png not-a-catalog-file",
    ]


def test_a_catalog_file_with_problems_keeps_them_all(tmp_path: Path) -> None:
    _write(
        tmp_path,
        **{
            "notes.txt": "name: a\n---\nschema: olm.package\nname: op\n---\n- a\n",
            "bare.yaml": "kind: a\n---\n- a\n",
        },
    )
    assert problems_of(tmp_path) == [
        "bare.yaml missing-schema",
        "bare.yaml wrong-type",
        "notes.txt missing-schema",
        "notes.txt wrong-type",
    ]


def test_a_file_the_user_named_is_taken_at_its_word(tmp_path: Path) -> None:
    _write(tmp_path, **{"README.md": "# Title\n\nSome text: more\n"})
    assert [problem.kind for problem in read(tmp_path / "README.md").problems] == ["missing-schema"]


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    _write(tmp_path, **{"elsewhere__op.yaml": PACKAGE.format("op")})
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "op.yaml").symlink_to(tmp_path / "elsewhere" / "op.yaml")
    assert [package.name for package in read(tmp_path / "catalog").packages] == ["op"]


def test_a_link_to_the_catalog_is_the_catalog(tmp_path: Path) -> None:
    _write(tmp_path, **{"catalog__op.yaml": PACKAGE.format("op")})
    (tmp_path / "link").symlink_to(tmp_path / "catalog")
    assert [package.name for package in read(tmp_path / "link").packages] == ["op"]


def test_links_in_circles_and_to_nowhere_are_problems(tmp_path: Path) -> None:
    _write(tmp_path, **{"op.yaml": PACKAGE.format("op")})
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "nowhere").symlink_to("gone")
    (tmp_path / "up").symlink_to("..")
    assert problems_of(tmp_path) == [
        "circle unreadable-document",
        "nowhere unreadable-document",
        "up unreadable-document",
    ]
    messages = [problem.message for problem in read(tmp_path).problems]
    assert "Too many levels of symbolic links" in messages[0]
    assert "No such file" in messages[1]
    assert "a symbolic link to a folder" in messages[2]


def test_a_named_pipe_does_not_keep_us_waiting(tmp_path: Path) -> None:
    _write(tmp_path, **{"op.yaml": PACKAGE.format("op")})
    os.mkfifo(tmp_path / "pipe")
    assert problems_of(tmp_path) == ["pipe unreadable-document"]
    with pytest.raises(UnreadableInput, match="it is a named pipe"):
        read(tmp_path / "pipe")


def test_folders_nested_deeper_than_calls_are_walked() -> None:
    # Not in pytest's own folder: what a killed run left there would fail all later ones, which tidy up.
    root = mkdtemp()
    folders = list(accumulate(["d"] * 1200, os.path.join, initial=root))
    file = Path(folders[-1], "op.yaml")
    for folder in folders[1:]:
        os.mkdir(folder)  # noqa: PTH102 - pathlib would climb to the root for each
    file.write_text(PACKAGE.format("op"))
    try:
        assert [package.name for package in read(Path(root)).packages] == ["op"]
    finally:
        file.unlink()
        for folder in reversed(folders):
            os.rmdir(folder)  # noqa: PTH106


@pytest.mark.parametrize("files", [{}, {".indexignore": "*\n", "a.yaml": "x"}, {"a.yaml": "", "b": ""}])
def test_a_folder_without_anything_to_read_is_an_error(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(UnreadableInput, match="contains no catalog") as caught:
        read(_write(tmp_path, **files))
    assert caught.value.exit_code is ExitCode.UNREADABLE
    assert "operators/PACKAGE/VERSION" in (caught.value.hint or "")


def test_an_empty_file_beside_others_is_harmless(tmp_path: Path) -> None:
    _write(tmp_path, **{"empty": "", "op.yaml": PACKAGE.format("op")})
    assert problems_of(tmp_path) == []


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="No such file") as caught:
        read(tmp_path / "gone")
    assert caught.value.hint is not None


def _is_private(folder: Path) -> bool:
    return folder.stat().st_mode & 0o055 != 0o055


_AS_NOBODY = """
import os, sys
from everpath.model.builder import CatalogBuilder
from everpath.errors import UnreadableInput
from everpath.loaders.fbc import partial_yaml as fbc_lazy
from everpath.parsing import yaml_parser
from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.sources import Sources
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for path in sys.argv[1:]:
    builder = CatalogBuilder()
    try:
        load_fbc(path, builder, Sources())
        print([(problem.kind.value, problem.fix) for problem in builder.build("x").problems])
    except UnreadableInput as error:
        print(error.message.partition(": ")[2], "|", error.hint)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of another kind")
def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    """Root may read everything, so the loader runs as the user nobody."""
    _write(
        tmp_path,
        **{"catalog__op.yaml": PACKAGE.format("op"), "catalog__secret.yaml": "", "closed__a.yaml": ""},
    )
    closed = (tmp_path / "catalog" / "secret.yaml", tmp_path / "closed")
    for folder in takewhile(_is_private, (tmp_path, *tmp_path.parents)):
        folder.chmod(folder.stat().st_mode | 0o055)
    # To ignore a folder does not help: opm looks into it for more ignore files.
    (tmp_path / ".indexignore").write_text("closed/\n")
    paths = [tmp_path / "catalog", *closed, tmp_path]
    for path in closed:
        path.chmod(0)
    try:
        run = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, *map(str, paths)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    finally:
        for path in closed:
            path.chmod(0o755)
    hint = "give the user who runs everpath permission to read it"
    for_folder = "give the user who runs everpath, and opm, permission to read it"
    kind = "unreadable-document"
    assert run.stdout.splitlines() == [
        str([(kind, hint)]),
        f"Permission denied | {hint}",
        f"Permission denied | {hint}",
        str([(kind, hint), (kind, for_folder)]),
    ]
