"""Random questions for the resolver of OLM v1: catalogs, a ClusterExtension, and installed versions."""

from __future__ import annotations

__all__ = ["PACKAGE", "Installation", "Question", "Shelf", "random_question", "smaller"]

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from everpath.versions import parse_or_none
from tests.everpath.conformance.random_texts import random_range
from tests.everpath.conformance.v1_texts import random_constraint, random_pin, random_v1_version
from tests.support.everpath.documents import Document, bundle, channel, deprecations, package

PACKAGE: Final = "p"
_CHANNELS: Final = ("stable", "fast", "beta")
_NAMES: Final = tuple(f"b{number}" for number in range(9))
_UNREADABLE: Final = ("v1.0.0", "1.0", "01.0.0", "", "1.0.0-01")
_DEPENDENCIES: Final = ("olm.package.required", "olm.gvk.required", "olm.constraint", "olm.gvk", "olm.csv")


@dataclass(frozen=True)
class Shelf:
    """One catalog."""

    name: str
    priority: int
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Installation:
    """An installed CSV: its name and version."""

    name: str
    version: str


@dataclass(frozen=True)
class Question:
    """A ClusterExtension, to be resolved for each of `installed` (None: nothing is installed)."""

    shelves: tuple[Shelf, ...]
    installed: tuple[Installation | None, ...]
    channels: tuple[str, ...] = ()
    version: str = ""
    self_certified: bool = False


def random_question(random: Random) -> Question:
    versions = {name: random_v1_version(random) for name in _NAMES}
    for name in random.sample(_NAMES, random.choice((0, 0, 1, 2))):
        versions[name] = _rebuilt(random, versions[random.choice(_NAMES)])
    count = random.choice((1, 1, 1, 2, 2, 3))
    shelves = tuple(_shelf(random, f"catalog-{letter}", versions) for letter in "zab"[:count])
    selected = random.sample((*_CHANNELS, "nowhere"), random.choice((0, 0, 0, 1, 1, 2)))
    return Question(
        shelves,
        tuple(_installations(random, shelves)),
        tuple(selected),
        random.choice((lambda _: "", lambda _: "", random_pin, random_constraint))(random),
        self_certified=random.random() < 0.2,
    )


def _rebuilt(random: Random, version: str) -> str:
    """Return the version with other build metadata or none."""
    return version.partition("+")[0] + random.choice(("", "+1", "+2", "+10", "+a.b"))


def _shelf(random: Random, name: str, versions: dict[str, str]) -> Shelf:
    owner = PACKAGE if random.random() < 0.95 else "other"
    listed = random.sample(_NAMES, random.randint(1, len(_NAMES)))
    bundles = [_bundle(random, b, versions[b], owner) for b in listed if random.random() < 0.9]
    channels = [_channel(random, c, listed, owner) for c in random.sample(_CHANNELS, random.randint(1, 3))]
    documents = [package(owner), *channels, *bundles, *_deprecations(random, listed, owner)]
    return Shelf(name, random.choice((-1, 0, 0, 0, 5)), tuple(documents))


def _bundle(random: Random, name: str, version: str, owner: str) -> Document:
    luck = random.random()
    if luck < 0.1:
        version = random_v1_version(random)
    elif luck < 0.14:
        version = random.choice(_UNREADABLE)
    extra: list[Document] = (
        [{"type": random.choice(_DEPENDENCIES), "value": {}}] if random.random() < 0.1 else []
    )
    made = bundle(name, "0", *extra, package=owner)
    made["properties"][0]["value"]["version"] = version
    if random.random() < 0.02:
        made["properties"] = extra
    return made


def _channel(random: Random, name: str, listed: list[str], owner: str) -> Document:
    members = random.sample(listed, random.randint(1, len(listed)))
    entries: list[Document] = [_entry(random, member, members) for member in members]
    if random.random() < 0.1:
        entries.append(_entry(random, random.choice(members), members))
    return channel(*entries, name=name, package=owner)


def _entry(random: Random, name: str, members: list[str]) -> Document:
    made: Document = {"name": name}
    if random.random() < 0.6:
        made["replaces"] = random.choice((*members, "ghost"))
    if random.random() < 0.3:
        made["skips"] = random.choices((*members, "ghost"), k=random.randint(1, 3))
    if random.random() < 0.3:
        made["skipRange"] = _range(random)
    return made


def _range(random: Random) -> str:
    if random.random() < 0.3:
        return random_range(random)
    bounds = [random_v1_version(random) for _ in range(2)]
    return random.choice((">={0} <{1}", "<{0}", ">{0}", "<{0} || || >{1}", "<{0} || >{1}")).format(*bounds)


def _deprecations(random: Random, listed: list[str], owner: str) -> Iterator[Document]:
    if random.random() < 0.4:
        names = random.sample(listed, random.randint(0, len(listed)))
        entries = [("olm.bundle", name, "old") for name in names]
        others = [("olm.package", "", "old"), ("olm.channel", random.choice(_CHANNELS), "old")]
        yield deprecations(*entries, *random.sample(others, random.randint(0, 2)), package=owner)


def _installations(random: Random, shelves: tuple[Shelf, ...]) -> Iterator[Installation | None]:
    """Return nothing, all bundles of the first catalog, other versions of them, and an unknown one."""
    yield None
    for document in shelves[0].documents:
        if document["schema"] == "olm.bundle" and document["properties"]:
            stated = document["properties"][0]["value"].get("version")
            version = (
                random_v1_version(random) if not parse_or_none(stated) or random.random() < 0.1 else stated
            )
            yield Installation(document["name"], version)
    for name in ("ghost", "stranger"):
        yield Installation(name, random_v1_version(random))


def smaller(question: Question) -> Iterator[Question]:
    """Yield questions with one part left out."""
    for i in range(len(question.installed) if len(question.installed) > 1 else 0):
        yield replace(question, installed=(question.installed[i],))
    for i, shelf in enumerate(question.shelves):
        before, after = question.shelves[:i], question.shelves[i + 1 :]
        if before or after:
            yield replace(question, shelves=(*before, *after))
        for documents in _fewer(shelf.documents):
            yield replace(question, shelves=(*before, replace(shelf, documents=documents), *after))
        if shelf.priority:
            yield replace(question, shelves=(*before, replace(shelf, priority=0), *after))
    for option in ("channels", "version", "self_certified"):
        if getattr(question, option):
            yield replace(question, **{option: type(getattr(question, option))()})


def _fewer(documents: tuple[Document, ...]) -> Iterator[tuple[Document, ...]]:
    for i, document in enumerate(documents):
        before, after = documents[:i], documents[i + 1 :]
        yield (*before, *after)
        for j, entry in enumerate(document.get("entries", ())):
            others = document["entries"][:j], document["entries"][j + 1 :]
            yield (*before, {**document, "entries": [*others[0], *others[1]]}, *after)
            for edge in {"replaces", "skips", "skipRange"} & entry.keys():
                less = {key: value for key, value in entry.items() if key != edge}
                yield (*before, {**document, "entries": [*others[0], less, *others[1]]}, *after)
