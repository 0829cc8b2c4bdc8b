"""A run that remembers says what one says that knows nothing, whatever was edited in between."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from bundles import write
from everpath.file_cache import FileCache
from remembering import freshly_judged, judged, much_later, write_version

_FOLDERS = ("a", "b", "c")
_VERSIONS = ("1.0.0", "1.1.0", "2.0.0")
_MODES = ("replaces-mode", "semver-mode", "semver", "[")


class Release(NamedTuple):
    """A bundle to be written; of another package than its folder's now and then."""

    folder: str
    version: str
    package: str
    replaces: str | None
    span: str | None

    def write(self, root: Path) -> None:
        notes = {"olm.skipRange": self.span} if self.span else None
        spec = {"replaces": f"{self.package}.v{self.replaces}"} if self.replaces else {}
        write_version(root, self.folder, self.version, package=self.package, notes=notes, **spec)


class Mode(NamedTuple):
    """A ci.yaml to be written."""

    folder: str
    mode: str

    def write(self, root: Path) -> None:
        write(root, {f"{self.folder}/ci.yaml": f"updateGraph: {self.mode}\n"})


class Removal(NamedTuple):
    """A version, or a whole folder, to be removed."""

    folder: str
    version: str

    def write(self, root: Path) -> None:
        shutil.rmtree(root / self.folder / self.version, ignore_errors=True)


@st.composite
def releases(draw: st.DrawFn) -> Release:
    folder = draw(st.sampled_from(_FOLDERS))
    package = draw(st.sampled_from((folder, folder, folder, "a")))
    replaces = draw(st.none() | st.sampled_from((*_VERSIONS, "0.9.0")))
    span = draw(st.none() | st.sampled_from(("<2.0.0", ">=1.0.0 <1.1.0", "<v1", "")))
    return Release(folder, draw(st.sampled_from(_VERSIONS)), package, replaces, span)


MODES = st.builds(Mode, st.sampled_from(_FOLDERS), st.sampled_from(_MODES))
REMOVALS = st.builds(Removal, st.sampled_from(_FOLDERS), st.sampled_from((*_VERSIONS, "")))
EDITS = st.lists(releases() | MODES | REMOVALS, min_size=1, max_size=3)


@settings(max_examples=40)
@given(st.lists(releases(), min_size=4, max_size=9), st.lists(EDITS, min_size=1, max_size=4))
def test_a_run_that_remembers_says_what_a_fresh_one_says(
    first: list[Release], rounds: list[list[Release | Mode | Removal]]
) -> None:
    with TemporaryDirectory() as folder:
        root, cache = Path(folder) / "operators", FileCache(Path(folder) / "cache", much_later)
        Release("z", "1.0.0", "z", None, None).write(root)
        for edits in [list[Release | Mode | Removal](first), *rounds]:
            for edit in edits:
                edit.write(root)
            fresh = freshly_judged(root)
            assert judged(root, cache)[0] == fresh
            assert judged(root, cache)[0] == fresh
