"""Load text or a folder in tests: return the catalog or its problems."""

from __future__ import annotations

__all__ = ["problems", "problems_of", "read", "read_lazily", "without_metadata"]

import io
from pathlib import Path
from textwrap import dedent

from everpath.loaders.fbc.file_loader import FileLoader
from everpath.loaders.fbc.loader import load_fbc
from everpath.loaders.fbc.schemas import SchemaDecoder
from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import UNREAD, Bundle, Catalog, Package
from everpath.model.builder import CatalogBuilder

Text = str | bytes


def _bytes(text: Text) -> bytes:
    return dedent(text).lstrip("\n").encode() if isinstance(text, str) else text


def _sources(text: Text) -> Sources:
    """Return sources with a text as standard input."""
    sources = Sources()
    sources.add_stream("-", io.BytesIO(_bytes(text)))
    return sources


def read(text: Text | Path, *, thorough: bool = False) -> Catalog:
    """Load a catalog from text (as standard input) or from a path."""
    builder = CatalogBuilder()
    if isinstance(text, Path):
        load_fbc(str(text), builder, Sources(), thorough=thorough)
    else:
        load_fbc("-", builder, _sources(text), thorough=thorough)
    return builder.build("test")


def read_lazily(text: Text) -> Catalog:
    """Load a catalog as if it were large: only what the graph needs is parsed."""
    builder, sources = CatalogBuilder(), Sources()
    sources.add_content("-", _bytes(text))
    result = FileLoader(SchemaDecoder(builder, thorough=False), sources, thorough=False).load("-")
    builder.add_problems(result.collector.problems)
    return builder.build("test")


def problems(text: Text, *, thorough: bool = False) -> list[str]:
    """Return `kind line:column message` of every problem in a text."""
    sources, builder = _sources(text), CatalogBuilder()
    load_fbc("-", builder, sources, thorough=thorough)
    return _lines(builder.build("test"), sources)


def problems_of(folder: Path) -> list[str]:
    """Return `file kind line:column message` of every problem in a folder."""
    sources, builder = Sources(), CatalogBuilder()
    load_fbc(str(folder), builder, sources)
    catalog = builder.build("test")
    names = (Path(problem.place.file).name for problem in catalog.problems)
    return [f"{name} {problem.kind}" for name, problem in zip(names, catalog.problems, strict=True)]


def _lines(catalog: Catalog, sources: Sources) -> list[str]:
    places = [locate(problem.place, sources) for problem in catalog.problems]
    pairs = zip(catalog.problems, places, strict=True)
    return [f"{p.kind} {at.line}:{at.column} {p.message}" for p, at in pairs]


def without_metadata(catalog: Catalog) -> Catalog:
    """Return the catalog as the lazy reader loads it."""
    return catalog._replace(packages=tuple(_package(package) for package in catalog.packages))


def _package(package: Package) -> Package:
    return package._replace(bundles=tuple(_bundle(bundle) for bundle in package.bundles))


def _bundle(bundle: Bundle) -> Bundle:
    properties = (p._replace(value=UNREAD) if p.type == "olm.csv.metadata" else p for p in bundle.properties)
    return bundle._replace(properties=tuple(properties))
