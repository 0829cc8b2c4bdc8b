"""The same files make the same image, whatever machine, folder, clock or Python builds it."""

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

from bundles import write
from commandline import ROOT
from everpath.cli.app import run
from everpath.oci.build_context import catalog_members
from everpath.oci.layers import build_layer
from everpath.oci.tar_writer import TarMember
from images_made import BUNDLE, CATALOG

README = {"README.md": "no part of it\n", ".indexignore": "README.md\n"}

# What these files have made since the first release. Whoever has to change one of them changes the digest of
# every image that everybody has built: say so in CHANGELOG.md.
CATALOG_DIGEST = "sha256:99892627e866b856bbd4ea3fb7f2fbed8177869546c3c596b6ee8148d5f0171d"
CATALOG_DIFF_ID = "sha256:851d67c7fbca7ce26b10ce521fd3e4128eb10f16c91bce25cceefcbdefc96bb6"
BUNDLE_DIGEST = "sha256:a3994ab070cc8f6ae5259aaf4bbc8b21ac2e83da6d9ea7640b1df08404e915b1"


Digest = Callable[..., str]


@pytest.fixture
def digest(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Digest:
    """What `everpath … --dry-run --print-digest` prints."""
    monkeypatch.setenv("EVERPATH_CACHE", "off")

    def printed(*arguments: str, epoch: str = "") -> str:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        capsys.readouterr()
        code = run((*arguments, "--dry-run", "--print-digest"))
        said = capsys.readouterr()
        assert (code, said.err) == (0, "")
        return said.out.removesuffix("\n")

    return printed


def elsewhere(*arguments: str, **environment: str) -> str:
    """The same in a process of its own."""
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


def test_the_digest_of_a_catalog_is_what_it_has_always_been(digest: Digest, catalog: Path) -> None:
    assert digest("catalog", "build", str(catalog), "--compression", "none") == CATALOG_DIGEST


def test_the_digest_of_a_bundle_is_what_it_has_always_been(digest: Digest, bundle: Path) -> None:
    assert digest("bundle", "build", str(bundle), "--compression", "none") == BUNDLE_DIGEST


def test_compressed_by_any_zlib_it_is_the_same_archive(catalog: Path) -> None:
    """Another zlib may compress to other bytes, but never changes what is in them."""
    assert build_layer(catalog_members(str(catalog)), compression="gzip").diff_id == CATALOG_DIFF_ID


def test_the_folder_and_the_way_to_it_do_not_matter(
    digest: Digest, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shutil.copytree(catalog, tmp_path / "some" / "other place")
    link = tmp_path / "link"
    link.symlink_to(other)
    made = {digest("catalog", "build", path) for path in (str(catalog), f"{other}/", str(link))}
    monkeypatch.chdir(other.parent)
    made |= {digest("catalog", "build", path) for path in ("other place", "../catalog")}
    assert len(made) == 1


def test_modes_and_umasks_do_not_matter(digest: Digest, catalog: Path, bundle: Path) -> None:
    for kind, folder in (("catalog", catalog), ("bundle", bundle)):
        first = digest(kind, "build", str(folder))
        for path in folder.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        before = os.umask(0o077)
        try:
            assert digest(kind, "build", str(folder)) == first
        finally:
            os.umask(before)


def test_the_order_of_files_in_their_folder_does_not_matter(
    digest: Digest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{name}/c.yaml": CATALOG["acme/catalog.yaml"].replace("acme", name) for name in ("b", "a", "c")}
    one = write(tmp_path / "one", files)
    first = digest("catalog", "build", str(one))
    two = write(tmp_path / "two", dict(reversed(files.items())))
    assert digest("catalog", "build", str(two)) == first
    listed = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: _Backwards(listed(path)))
    assert digest("catalog", "build", str(one)) == first


def test_the_locale_does_not_matter(digest: Digest, tmp_path: Path) -> None:
    catalog = write(tmp_path / "catalog", {"grün/größe.yaml": CATALOG["acme/catalog.yaml"]})
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert elsewhere("catalog", "build", str(catalog), **ascii_only) == digest(
        "catalog", "build", str(catalog)
    )


def test_a_locale_of_another_alphabet_names_files_by_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_layer([TarMember("größe.yaml", b"")]).diff_id
    monkeypatch.setattr(os, "fsencode", lambda name: name.encode("latin-1"))
    assert build_layer([TarMember("größe.yaml".encode().decode("latin-1"), b"")]).diff_id == first


class _Backwards:
    """A folder listed the other way round."""

    def __init__(self, entries: Any) -> None:
        self._entries = entries

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return iter(list(self._entries)[::-1])

    def __exit__(self, *_: object) -> None:
        self._entries.close()


def test_times_do_not_matter_unless_one_is_asked_for(digest: Digest, catalog: Path) -> None:
    first = digest("catalog", "build", str(catalog))
    stamped = digest("catalog", "build", str(catalog), epoch="1700000000")
    for path in catalog.rglob("*"):
        os.utime(path, (time.time(), 1))
    assert digest("catalog", "build", str(catalog)) == first
    assert digest("catalog", "build", str(catalog), epoch="1700000000") == stamped
    assert stamped != first
    assert digest("catalog", "build", str(catalog), epoch="0") == first


def test_locales_time_zones_and_hash_seeds_do_not_matter(digest: Digest, bundle: Path) -> None:
    made = {
        digest("bundle", "build", str(bundle)),
        elsewhere("bundle", "build", str(bundle), LC_ALL="C", PYTHONHASHSEED="1", TZ="Pacific/Auckland"),
        elsewhere("bundle", "build", str(bundle), LC_ALL="POSIX", PYTHONUTF8="1", HOME="/nonexistent"),
    }
    assert len(made) == 1


def test_what_indexignore_leaves_out_does_not_matter(digest: Digest, catalog: Path) -> None:
    first = digest("catalog", "build", str(catalog))
    write(catalog, README)
    assert digest("catalog", "build", str(catalog)) == first


def test_a_file_a_name_or_an_option_matters(digest: Digest, catalog: Path) -> None:
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


# Needs nothing but the standard library, so that any Python can run it.
_ELSEWHERE = """
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
    """Other Pythons on this machine that are new enough: those that pyenv or the system has."""
    homes = Path("~/.pyenv/versions").expanduser()
    found = [shutil.which(f"python3.{minor}", path="/usr/bin:/usr/local/bin") for minor in range(11, 20)]
    managed = [
        str(p / "bin" / "python") for p in sorted(homes.glob("3.*")) if int(p.name.split(".")[1]) >= 11
    ]
    return [*filter(None, found), *managed]


def test_the_version_of_python_does_not_matter(catalog: Path) -> None:
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n{_ELSEWHERE}"
    file = str(catalog / "acme" / "catalog.yaml")
    made = {
        subprocess.run(
            [python, "-I", "-c", script, file], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        for python in {sys.executable, *_pythons()}
    }
    assert len(made) == 1
