"""The layers of .importlinter are those of docs/architecture.md and its picture, in the same order."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def contract(name: str) -> configparser.SectionProxy:
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter", encoding="utf-8")
    return config[f"importlinter:contract:{name}"]


def layers(name: str) -> list[set[str]]:
    """Return the rows of a layers contract; layers in one row are independent of each other."""
    rows = contract(name)["layers"].split("\n")
    return [set(re.findall(r"\w+", row)) - {"__main__"} for row in rows if row and "__main__" not in row]


def grouped(names: list[str], rows: list[set[str]]) -> list[set[str]]:
    """Return names in groups of the sizes of the rows, so that only the order of rows counts."""
    found = iter(names)
    groups = [{next(found, "") for _ in row} for row in rows]
    assert list(found) == []
    return groups


def test_picture_has_every_layer_in_order() -> None:
    texts = ElementTree.parse(ROOT / "docs/architecture.svg").iter("{http://www.w3.org/2000/svg}text")
    names = [
        text.text or ""
        for text in texts
        if "name" in text.get("class", "").split() and text.text not in ("Layers", "I/O", "core")
    ]
    assert grouped(names, layers("layers")) == layers("layers")


def test_core_of_the_picture_does_no_io() -> None:
    texts = ElementTree.parse(ROOT / "docs/architecture.svg").iter("{http://www.w3.org/2000/svg}rect")
    core = sum(rect.get("class") == "core" for rect in texts)
    modules = contract("core-without-io")["source_modules"].split()
    rows = layers("layers")
    below = [set[str]().union(*rows[start:]) for start in range(len(rows))]
    assert {module.removeprefix("everpath.") for module in modules} in below
    assert core == len(modules)


@pytest.mark.parametrize(("heading", "name"), [("Layers", "layers"), ("The operator", "operator-layers")])
def test_table_has_every_layer_in_order(heading: str, name: str) -> None:
    section = re.split(r"\n#+ ", PAGE.split(f"\n## {heading}\n")[1])[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    found = [word for cell in cells for word in re.findall(r"`(\w+)`", cell.split(", beside")[0])]
    assert grouped(found, layers(name)) == layers(name)


def test_picture_is_described_for_screen_readers() -> None:
    root = ElementTree.parse(ROOT / "docs/architecture.svg").getroot()
    description = root.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert {"loaders", "model", "resolvers", "rules", "reporters"} <= set(re.findall(r"\w+", description))


def test_every_upgrade_path_is_made_in_its_package() -> None:
    package = ROOT / "tools/everpath"
    callers = {
        file.relative_to(package).parts[0]
        for file in package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "UpgradePath"
    }
    assert callers == {"upgrade_path"}
