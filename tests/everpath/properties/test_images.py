"""Properties of images: packing and unpacking are inverse, and untrusted archives are only ever rejected."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.errors import EverpathError
from everpath.oci.build import ImageSpec, build_image
from everpath.oci.descriptors import Platform
from everpath.oci.docker_archives import open_docker_archive, write_docker_archive
from everpath.oci.layers import Compression, build_layer
from everpath.oci.oci_archives import open_oci_archive, write_oci_archive
from everpath.oci.tar_writer import TarMember
from everpath.oci.unpack import unpack_image
from tests.support.everpath.image_samples import files_in, image_with_layers, tar_with_members
from tests.support.tiers import examples

_NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40
).filter(lambda name: name not in (".", "..") and not name.startswith(".wh.") and len(name.encode()) <= 100)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4).map("/".join)
_FILES = st.dictionaries(_PATHS, st.binary(max_size=2000), max_size=6)
_COMPRESSIONS: st.SearchStrategy[Compression] = st.sampled_from(["gzip", "none"])


def _is_a_tree(files: dict[str, bytes]) -> bool:
    """Return whether no file has the path of a folder."""
    return not any(other.startswith(f"{name}/") for name in files for other in files)


@given(_FILES.filter(_is_a_tree), _COMPRESSIONS, st.booleans())
@settings(max_examples=examples(40))
def test_what_is_packed_is_unpacked(
    files: dict[str, bytes], compression: Compression, is_docker: bool
) -> None:
    members = [TarMember(name, content) for name, content in files.items()]
    image = build_image(ImageSpec(members, platforms=[Platform("linux", "amd64")], compression=compression))
    with TemporaryDirectory() as folder:
        archive, out = f"{folder}/a.tar", Path(folder, "out")
        (write_docker_archive if is_docker else write_oci_archive)(image, archive, None)
        names = unpack_image((open_docker_archive if is_docker else open_oci_archive)(archive), str(out))
        assert names == tuple(sorted(files))
        assert files_in(out) == files


@given(_FILES.filter(_is_a_tree), st.randoms())
def test_the_order_of_members_does_not_matter(files: dict[str, bytes], random: object) -> None:
    members = [TarMember(name, content) for name, content in files.items()]
    shuffled = sorted(members, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert build_layer(members) == build_layer(shuffled)


_KINDS = [
    tarfile.REGTYPE,
    tarfile.DIRTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.CHRTYPE,
    tarfile.FIFOTYPE,
]
_ODD = st.lists(
    st.sampled_from(["a", "b", "..", ".", "", ".wh.a", ".wh..wh..opq", "c"]), min_size=1, max_size=3
)


@st.composite
def _members(draw: st.DrawFn) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo("/".join(draw(_ODD)))
    info.type = draw(st.sampled_from(_KINDS))
    info.linkname = "/".join(draw(_ODD))
    content = b"content" if info.type == tarfile.REGTYPE else b""
    info.size = len(content)
    return info, content


@given(st.lists(st.lists(_members(), max_size=5), min_size=1, max_size=3))
@settings(max_examples=examples(80))
def test_no_layer_writes_outside_the_folder(
    layers: list[list[tuple[tarfile.TarInfo, bytes]]],
) -> None:
    image = image_with_layers(*(tar_with_members(members) for members in layers))
    with TemporaryDirectory() as folder:
        sandbox = Path(folder, "a", "b")
        sandbox.mkdir(parents=True)
        try:
            unpack_image(image, str(sandbox / "out"))
        except EverpathError:
            assert list(sandbox.iterdir()) == []
        else:
            assert [path.name for path in sandbox.iterdir()] == ["out"]
            assert not any(path.is_symlink() for path in sandbox.rglob("*"))
        assert [path.name for path in Path(folder).iterdir()] == ["a"]
        assert [path.name for path in Path(folder, "a").iterdir()] == ["b"]


_WHOLE = build_layer(
    [TarMember(f"d/{name}", name.encode() * 300) for name in ("x", "y" * 120, "é")], compression="none"
)


@given(
    st.lists(st.tuples(st.integers(0, len(_WHOLE.data) - 1), st.integers(0, 255)), max_size=8),
    st.integers(0, len(_WHOLE.data)),
)
@settings(max_examples=examples(80))
def test_damaged_archive_is_unpacked_or_rejected(changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(_WHOLE.data)
    for at, value in changes:
        data[at] = value
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.tar")
        path.write_bytes(bytes(data[:end]))
        try:
            unpack_image(image_with_layers(bytes(data[:end])), f"{folder}/out")
        except EverpathError:
            assert not Path(folder, "out").exists()
        for opened in (open_oci_archive, open_docker_archive):
            try:
                opened(str(path))
            except EverpathError:
                continue


def test_the_archive_is_one_that_tarfile_writes_and_reads() -> None:
    with tarfile.open(fileobj=io.BytesIO(_WHOLE.data)) as archive:
        assert archive.getnames() == ["d", "d/x", f"d/{'y' * 120}", "d/é"]
