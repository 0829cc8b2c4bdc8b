"""`everpath bundle nest` and `everpath bundle flatten`."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath import atomic_files
from tests.support.commandline import Everpath
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.package_manifests import crd, owning, package_file, tree


@pytest.fixture
def flat(here: Path) -> Path:
    return write(
        here / "flat",
        {
            "op.package.yaml": package_file(stable="op.v1.1.0"),
            "op.v1.0.0.clusterserviceversion.yaml": csv("op.v1.0.0", **owning("things.example.com")),
            "op.v1.1.0.clusterserviceversion.yaml": csv("op.v1.1.0", **owning("things.example.com")),
            "things.crd.yaml": f"# a comment stays\n{crd()}",
        },
    )


def test_nest_and_flatten_are_inverse(everpath: Everpath, flat: Path) -> None:
    answer = everpath("bundle", "nest", "flat/", "nested")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "add     nested/1.0.0/op.v1.0.0.clusterserviceversion.yaml\n"
        "add     nested/1.0.0/things.crd.yaml\n"
        "add     nested/1.1.0/op.v1.1.0.clusterserviceversion.yaml\n"
        "add     nested/1.1.0/things.crd.yaml\n"
        "add     nested/op.package.yaml\n"
        "5 files written.\n"
    )
    answer = everpath("bundle", "flatten", "nested", "again", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert tree(flat.parent / "again") == tree(flat)


@pytest.mark.parametrize("verb", ["nest", "flatten"])
def test_a_dry_run_lists_the_files_and_writes_none(everpath: Everpath, flat: Path, verb: str) -> None:
    answer = everpath("bundle", verb, "flat", "out", "--dry-run")
    assert answer.code == 0
    assert answer.out.endswith("files to write.\n")
    assert "add     out/op.package.yaml\n" in answer.out
    assert [path.name for path in flat.parent.iterdir()] == ["flat"]


@pytest.mark.parametrize("out", ["flat", "flat/nested", ".", "../{here}/flat/nested", "link"])
def test_an_output_that_overlaps_with_the_input_is_an_error(everpath: Everpath, flat: Path, out: str) -> None:
    (flat.parent / "link").symlink_to("flat")
    before = tree(flat.parent)
    answer = everpath("bundle", "nest", "flat", out.format(here=flat.parent.name), "--force")
    assert answer.code == 2
    assert "overlap; the input must not change\nhint: write to a folder beside" in answer.err
    assert tree(flat.parent) == before


def test_a_folder_that_is_not_empty_needs_force(everpath: Everpath, flat: Path) -> None:
    out = write(flat.parent / "out", {"other.txt": "mine", "op.package.yaml": "old"})
    answer = everpath("bundle", "nest", "flat", "out")
    assert answer.code == 2
    assert answer.err.startswith("error: out is not empty\nhint: name another folder; --force ")
    assert tree(out) == {"other.txt": b"mine", "op.package.yaml": b"old"}
    answer = everpath("bundle", "nest", "flat", "out", "--force")
    assert "change  out/op.package.yaml\n" in answer.out
    assert tree(out)["other.txt"] == b"mine"
    assert tree(out)["op.package.yaml"] == (flat / "op.package.yaml").read_bytes()


def test_an_output_that_is_a_file_is_an_error(everpath: Everpath, flat: Path) -> None:
    (flat.parent / "out").write_text("mine")
    answer = everpath("bundle", "nest", "flat", "out", "--force")
    assert (answer.code, answer.err) == (
        2,
        "error: out is not a folder\nhint: name a folder, existing or new\n",
    )


def test_a_failure_leaves_no_files(everpath: Everpath, flat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_one = atomic_files._write_new_file

    def failing(draft: Path, content: bytes) -> None:
        if "1.1.0" in str(draft):
            raise OSError(28, "No space left on device", str(draft))
        write_one(draft, content)

    monkeypatch.setattr(atomic_files, "_write_new_file", failing)
    answer = everpath("bundle", "nest", "flat", "out")
    assert answer.code == 2
    assert "No space left on device\nhint: nothing was changed" in answer.err
    assert not (flat.parent / "out").exists()


def test_an_error_has_line_and_fix(everpath: Everpath, flat: Path) -> None:
    write(flat, {"second.yaml": csv("op.v1.0.0")})
    answer = everpath("bundle", "nest", "flat", "out")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == (
        "error: a second CSV with the name op.v1.0.0: the first is op.v1.0.0.clusterserviceversion.yaml\n"
        "  --> flat/second.yaml:4:9\n"
        "   |   name: op.v1.0.0\n"
        "   |         ^^^^^^^^^\n"
        "hint: keep one of them, or rename it\n"
    )
    assert not (flat.parent / "out").exists()


def test_warnings_go_to_standard_error(everpath: Everpath, flat: Path) -> None:
    (flat / "things.crd.yaml").unlink()
    answer = everpath("bundle", "nest", "flat", "out")
    assert answer.code == 0
    assert answer.err.startswith(
        "warning: op.v1.0.0 owns the CRD things.example.com, but no file defines it\n"
    )
    assert answer.out.endswith("3 files written.\n")


@pytest.mark.parametrize("verb", ["nest", "flatten"])
def test_a_missing_folder_cannot_be_read(everpath: Everpath, here: Path, verb: str) -> None:
    answer = everpath("bundle", verb, "nowhere", "out")
    assert answer.code == 3
    assert answer.err.startswith("error: cannot read nowhere: ")
    assert not (here / "out").exists()
