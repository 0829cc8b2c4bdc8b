"""`everpath generate`: the images of a release, and their digests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commandline import Everpath
from tests.support.everpath.projects import RELEASES, catalog, tree, write_operator, write_releases

TWO = """
    - {version: 0.1.0, channels: [stable]}
    - {version: 0.2.0, channels: [stable, fast], from: {replaces: 0.1.0}}
"""
DIGEST = "sha256:" + "a" * 64


@pytest.fixture
def project(here: Path) -> Path:
    write_operator(here)
    write_releases(here, TWO)
    return here


class TestPinnedImages:
    """Digests come from the file that `pins:` or --pin names."""

    @pytest.fixture
    def pinned(self, project: Path) -> Path:
        write_releases(
            project, "- {version: 0.1.0, channels: [stable]}", "images: {acme: example.com/acme}\n"
        )
        return project

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("pins.txt", f"# ours\n\nexample.com/acme:v0.1.0=example.com/acme@{DIGEST}\n"),
            ("pins.txt", f"\ufeffexample.com/acme:v0.1.0 = example.com/acme@{DIGEST}\r\n"),
            ("mapping.txt", f"x/y@{DIGEST}=mirror/y:1\nexample.com/acme:v0.1.0=m/acme@{DIGEST}\n"),
            ("pins.json", f'{{"example.com/acme:v0.1.0": "example.com/acme@{DIGEST}"}}'),
            ("pins.yaml", f"example.com/acme:v0.1.0: example.com/acme@{DIGEST}\n"),
        ],
    )
    def test_each_file_format_is_accepted(
        self, everpath: Everpath, pinned: Path, name: str, text: str
    ) -> None:
        (pinned / name).write_text(text)
        answer = everpath("generate", "--pin", name)
        assert answer.code == 0, answer
        csv = (pinned / "bundles/acme/0.1.0/manifests/acme.clusterserviceversion.yaml").read_text()
        assert f"acme@{DIGEST}" in csv
        assert "acme:v0.1.0\n" not in csv
        assert everpath("generate", "--check").code == 1
        source = (pinned / RELEASES).read_text()
        (pinned / RELEASES).write_text(f"pins: ../{name}\n{source}")
        assert everpath("generate", "--check").code == 0

    def test_a_bundle_image_is_pinned_if_its_digest_is_known(self, everpath: Everpath, pinned: Path) -> None:
        (pinned / "pins.txt").write_text(
            f"example.com/acme:v0.1.0=example.com/acme@{DIGEST}\n"
            f"example.com/acme-bundle:v0.1.0=example.com/acme-bundle@{DIGEST}\n"
        )
        assert everpath("generate", "--pin", "pins.txt").code == 0
        [bundle] = catalog(pinned / "catalog/acme/catalog.yaml")["olm.bundle"]
        assert bundle["image"] == f"example.com/acme-bundle@{DIGEST}"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "no digest is known for example.com/acme:v0.1.0"),
            ("\nacme\n", "pins.txt:2: 'acme' has no digest"),
            ("a:1=b:1\n", "pins.txt:1: the pinned reference of a:1 has no digest: b:1"),
            ("a:1=\n", "pins.txt:1: the pinned reference of a:1 has no digest: nothing"),
            (f"a:1=b@{DIGEST}\na:1=c@{DIGEST}\n", "pins.txt:2: a:1 has two pinned references"),
            ("{a: [}", "pins.txt:1: "),
            ("{a: 1}", "pins.txt:1: the pinned reference of a must be text, not 1"),
        ],
    )
    def test_errors_in_the_file_have_a_line(
        self, everpath: Everpath, pinned: Path, text: str, words: str
    ) -> None:
        (pinned / "pins.txt").write_text(text)
        before = tree(pinned)
        answer = everpath("generate", "--pin", "pins.txt")
        assert answer.code == 2
        assert words in answer.err
        assert "IMAGE:TAG=IMAGE@sha256:…" in answer.err
        assert tree(pinned) == before

    @pytest.mark.usefixtures("pinned")
    def test_a_missing_file_is_named(self, everpath: Everpath) -> None:
        assert everpath("generate", "--pin", "nope.txt").code == 3
        assert everpath("generate", "--pin", " ").code == 2
        assert everpath("release", "0.2.0", "--pin", "nope.txt").code == 2

    def test_a_release_records_the_file(self, everpath: Everpath, pinned: Path) -> None:
        assert everpath("generate").code == 0
        lines = (f"example.com/acme:v0.{n}.0=example.com/acme@{DIGEST}\n" for n in (2, 3))
        (pinned / "pins.txt").write_text("".join(lines))
        assert everpath("release", "0.2.0", "-q", "--pin", "pins.txt").code == 0
        assert "\ndefaultChannel: stable\npins: ../pins.txt\n" in (pinned / RELEASES).read_text()
        assert everpath("generate", "--check").code == 0
        (pinned / "pins.txt").rename(pinned / "digests.txt")
        assert everpath("release", "0.3.0", "-q", "--pin", "digests.txt").code == 0
        assert "\npins: ../digests.txt\n" in (pinned / RELEASES).read_text()
        assert everpath("generate", "--check").code == 0


class TestImages:
    """A wrong operator image is an error, or a warning if it may be intended."""

    @pytest.mark.parametrize("at", ["top", "release"])
    def test_an_image_name_that_no_container_has_is_an_error(
        self, everpath: Everpath, here: Path, at: str
    ) -> None:
        write_operator(here)
        images = "images: {amce: example.com/acme}\n"
        own = "" if at == "top" else ", images: {amce: 'example.com/acme:v1'}"
        write_releases(
            here, f"    - {{version: 0.1.0, channels: [stable]{own}}}\n", images if at == "top" else ""
        )
        answer = everpath("generate")
        assert answer.code == 2
        line = 5 if at == "top" else 7
        assert f"catalog/releases.yaml:{line}: no container has an image named 'amce'" in answer.err
        assert "did you mean 'acme'? the manifests have acme; the key has no tag" in answer.err
        assert not (here / "bundles").exists()

    @pytest.mark.parametrize(
        ("image", "fault"),
        [
            ("acme:latest", "has no registry"),
            ("acme/acme:v1", "has no registry"),
            ("example.com/acme:latest", "has no fixed tag"),
            ("example.com:5000/acme", "has no fixed tag"),
        ],
    )
    def test_an_incomplete_or_mutable_image_is_a_warning(
        self, everpath: Everpath, here: Path, image: str, fault: str
    ) -> None:
        write_operator(here)
        manifests = here / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("acme:latest", image))
        write_releases(here, TWO, "x-images: none\n")
        answer = everpath("generate")
        assert answer.code == 0
        assert (
            f"warning: the operator's image is {image}, which {fault}: declare it under `images:`"
            in answer.err
        )

    @pytest.mark.parametrize("image", ["localhost/acme:v1", f"example.com/acme@sha256:{'a' * 64}"])
    def test_an_image_may_be_local_or_have_a_digest(self, everpath: Everpath, here: Path, image: str) -> None:
        write_operator(here)
        manifests = here / "operator/manifests.yaml"
        manifests.write_text(manifests.read_text().replace("acme:latest", image))
        write_releases(here, "    - {version: 0.1.0, channels: [stable]}\n", "x-images: none\n")
        assert everpath("generate").err == ""

    def test_the_image_of_the_previous_release_is_a_warning(self, everpath: Everpath, here: Path) -> None:
        write_operator(here)
        write_releases(here, TWO, "images: {acme: 'example.com/acme:v1'}\n")
        expected = (
            "warning: 0.2.0 has the same operator image as 0.1.0, example.com/acme:v1. An image without a tag"
        )
        assert expected in everpath("generate").err
        assert everpath("generate").err == ""
        expected = "warning: 0.3.0 has the same operator image as 0.2.0, example.com/acme:v1"
        assert expected in everpath("release", "0.3.0").err

    def test_a_catalog_without_bundle_images_is_a_warning(self, everpath: Everpath, project: Path) -> None:
        file = project / RELEASES
        file.write_text(file.read_text().replace("image: example.com/acme-bundle\n", ""))
        expected = "warning: catalog/releases.yaml has no `image:`, so the catalog contains the manifests"
        assert expected in everpath("generate").err
