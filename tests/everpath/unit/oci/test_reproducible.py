"""Reproducible builds: the same files give the same digest on any machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from everpath.cli.entry_point import run
from everpath.oci.build_context import catalog_members
from everpath.oci.layers import build_layer
from everpath.oci.tar_writer import TarMember
from tests.support.commandline import ROOT
from tests.support.everpath.bundles import write
from tests.support.everpath.image_samples import BUNDLE, CATALOG

README = {"README.md": "no part of it\n", ".indexignore": "README.md\n"}

# The digests of these files since the first release. A change of one changes the digest of every image that
# users have built, and belongs into CHANGELOG.md.
CATALOG_DIGEST = "sha256:99892627e866b856bbd4ea3fb7f2fbed8177869546c3c596b6ee8148d5f0171d"
CATALOG_DIFF_ID = "sha256:851d67c7fbca7ce26b10ce521fd3e4128eb10f16c91bce25cceefcbdefc96bb6"
BUNDLE_DIGEST = "sha256:a3994ab070cc8f6ae5259aaf4bbc8b21ac2e83da6d9ea7640b1df08404e915b1"


Digest = Callable[..., str]


@pytest.fixture
def digest(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Digest:
    """Return a function that runs a command with `--dry-run --print-digest` and returns the digest."""
    monkeypatch.setenv("EVERPATH_CACHE", "off")

    def printed(*arguments: str, epoch: str = "") -> str:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        capsys.readouterr()
        code = run((*arguments, "--dry-run", "--print-digest"))
        said = capsys.readouterr()
        assert (code, said.err) == (0, "")
        return said.out.removesuffix("\n")

    return printed


def digest_in_subprocess(*arguments: str, **environment: str) -> str:
    """Run a command in another process and return the digest that it prints."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "tools"), "EVERPATH_CACHE": "off"}
    done = subprocess.run(
        [sys.executable, "-m", "everpath", *arguments, "--dry-run", "--print-digest"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=env | environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.removesuffix("\n")


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return write(tmp_path / "catalog", CATALOG)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write(tmp_path / "bundle", BUNDLE)


def test_catalog_digest_is_unchanged_since_first_release(digest: Digest, catalog: Path) -> None:
    assert digest("catalog", "build", str(catalog), "--compression", "none") == CATALOG_DIGEST


def test_bundle_digest_is_unchanged_since_first_release(digest: Digest, bundle: Path) -> None:
    assert digest("bundle", "build", str(bundle), "--compression", "none") == BUNDLE_DIGEST


def test_diff_id_is_independent_of_zlib(catalog: Path) -> None:
    """Another zlib may compress to other bytes, but the archive inside is the same."""
    assert build_layer(catalog_members(str(catalog)), compression="gzip").diff_id == CATALOG_DIFF_ID


def test_digest_is_independent_of_folder_and_path(
    digest: Digest, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shutil.copytree(catalog, tmp_path / "some" / "other place")
    link = tmp_path / "link"
    link.symlink_to(other)
    made = {digest("catalog", "build", path) for path in (str(catalog), f"{other}/", str(link))}
    monkeypatch.chdir(other.parent)
    made |= {digest("catalog", "build", path) for path in ("other place", "../catalog")}
    assert len(made) == 1


def test_digest_is_independent_of_modes_and_umask(digest: Digest, catalog: Path, bundle: Path) -> None:
    for kind, folder in (("catalog", catalog), ("bundle", bundle)):
        first = digest(kind, "build", str(folder))
        for path in folder.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        before = os.umask(0o077)
        try:
            assert digest(kind, "build", str(folder)) == first
        finally:
            os.umask(before)


def test_digest_is_independent_of_directory_order(
    digest: Digest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{name}/c.yaml": CATALOG["acme/catalog.yaml"].replace("acme", name) for name in ("b", "a", "c")}
    one = write(tmp_path / "one", files)
    first = digest("catalog", "build", str(one))
    two = write(tmp_path / "two", dict(reversed(files.items())))
    assert digest("catalog", "build", str(two)) == first
    listed = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: _ReversedListing(listed(path)))
    assert digest("catalog", "build", str(one)) == first


def test_digest_is_independent_of_locale(digest: Digest, tmp_path: Path) -> None:
    catalog = write(tmp_path / "catalog", {"grün/größe.yaml": CATALOG["acme/catalog.yaml"]})
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert digest_in_subprocess("catalog", "build", str(catalog), **ascii_only) == digest(
        "catalog", "build", str(catalog)
    )


def test_diff_id_is_independent_of_file_name_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_layer([TarMember("größe.yaml", b"")]).diff_id
    monkeypatch.setattr(os, "fsencode", lambda name: name.encode("latin-1"))
    assert build_layer([TarMember("größe.yaml".encode().decode("latin-1"), b"")]).diff_id == first


class _ReversedListing:
    """A directory listing in reverse order."""

    def __init__(self, entries: Any) -> None:
        self._entries = entries

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return iter(list(self._entries)[::-1])

    def __exit__(self, *_: object) -> None:
        self._entries.close()


def test_digest_depends_on_source_date_epoch_only(digest: Digest, catalog: Path) -> None:
    first = digest("catalog", "build", str(catalog))
    stamped = digest("catalog", "build", str(catalog), epoch="1700000000")
    for path in catalog.rglob("*"):
        os.utime(path, (time.time(), 1))
    assert digest("catalog", "build", str(catalog)) == first
    assert digest("catalog", "build", str(catalog), epoch="1700000000") == stamped
    assert stamped != first
    assert digest("catalog", "build", str(catalog), epoch="0") == first


def test_digest_is_independent_of_time_zone_and_hash_seed(digest: Digest, bundle: Path) -> None:
    made = {
        digest("bundle", "build", str(bundle)),
        digest_in_subprocess(
            "bundle", "build", str(bundle), LC_ALL="C", PYTHONHASHSEED="1", TZ="Pacific/Auckland"
        ),
        digest_in_subprocess(
            "bundle", "build", str(bundle), LC_ALL="POSIX", PYTHONUTF8="1", HOME="/nonexistent"
        ),
    }
    assert len(made) == 1


def test_digest_is_independent_of_ignored_files(digest: Digest, catalog: Path) -> None:
    first = digest("catalog", "build", str(catalog))
    write(catalog, README)
    assert digest("catalog", "build", str(catalog)) == first


def test_digest_depends_on_files_names_and_options(digest: Digest, catalog: Path) -> None:
    made = [
        digest("catalog", "build", str(catalog)),
        digest("catalog", "build", str(catalog), "--compression", "none"),
        digest("catalog", "build", str(catalog), "--label", "a=b"),
        digest("catalog", "build", str(catalog), "--annotation", "a=b"),
        digest("catalog", "build", str(catalog), "--platform", "linux/amd64"),
    ]
    other = (catalog / "acme" / "catalog.yaml").rename(catalog / "acme" / "other.yaml")
    made.append(digest("catalog", "build", str(catalog)))
    other.write_text(f"{other.read_text()}# a remark\n")
    made.append(digest("catalog", "build", str(catalog)))
    assert len(set(made)) == len(made)


# Imports only the standard library, so that any Python can run it.
_SCRIPT = """
import sys
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.tar_writer import TarMember
name = "configs/acme/catalog.yaml"
members = [TarMember(name, sys.argv[1]), TarMember("configs/" + "é" * 80 + "/a", b"a" * 100000)]
for compression in ("none", "gzip"):
    spec = ImageSpec(members, {"a": "é"}, {"b": "c"}, compression=compression, created=17)
    print(build_image(spec).root.digest)
"""


def _pythons() -> list[str]:
    """Return the supported Python interpreters of pyenv and the system."""
    homes = Path("~/.pyenv/versions").expanduser()
    found = [shutil.which(f"python3.{minor}", path="/usr/bin:/usr/local/bin") for minor in range(11, 20)]
    managed = [
        str(p / "bin" / "python") for p in sorted(homes.glob("3.*")) if int(p.name.split(".")[1]) >= 11
    ]
    return [*filter(None, found), *managed]


@pytest.mark.exhaustive
def test_digest_is_independent_of_python_version(catalog: Path) -> None:
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n{_SCRIPT}"
    file = str(catalog / "acme" / "catalog.yaml")
    made = {
        subprocess.run(
            [python, "-I", "-c", script, file], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        for python in {sys.executable, *_pythons()}
    }
    assert len(made) == 1
