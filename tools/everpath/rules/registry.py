"""The registry of rules. A rule is a generator function; its decorator states its subject.

@channel_rule("EP203", "fork", Severity.ERROR)
def fork(graph: ChannelGraph) -> Iterator[Flaw]: ...
"""

from __future__ import annotations

__all__ = [
    "Rule",
    "all_rules",
    "bundle_folder_rule",
    "bundle_rule",
    "catalog_rule",
    "channel_rule",
    "find_rules",
    "package_file_rule",
    "package_rule",
    "rules_for_subjects",
    "upgrade_rule",
    "waiver_rule",
]

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from everpath.errors import UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Catalog
from everpath.resolvers import ResolverName
from everpath.rules.findings import Flaw, Severity
from everpath.rules.waivers import WaiverUsage

if TYPE_CHECKING:
    from everpath.crd_upgrade_safety import Upgrade
    from everpath.model.bundle_contents import BundleFolder, PackageManifest

    Subject = Literal[
        "catalog", "package", "channel", "bundle", "upgrade", "bundle folder", "package file", "waiver"
    ]

    S = TypeVar(
        "S",
        Catalog,
        PackageGraph,
        ChannelGraph,
        Bundle,
        "Upgrade",
        "BundleFolder",
        "PackageManifest",
        WaiverUsage,
    )
    Check = Callable[[S], Iterator[Flaw]]

#: Subjects that are not part of a catalog.
FOLDER_SUBJECTS: Final[tuple[Subject, ...]] = ("upgrade", "bundle folder", "package file")

#: The validators of operator-framework/api that run by default, and opm's own.
DEFAULT_VALIDATORS: Final = frozenset({"csv", "crd", "bundle", "opm"})


class Rule(NamedTuple):
    """A rule: what it is about, its severity and its function.

    `resolver` is set if the rule matters only to clusters with that version of OLM. `unreadable` marks rules
    about input that cannot be read; a report with such a finding has exit code 3. `validators` are the
    validators of operator-framework/api, with the names of operator-sdk, that check the same; a rule with
    only optional validators runs only if it or one of them is selected.
    """

    id: str
    name: str
    severity: Severity
    subject: Subject
    docstring: str
    check: Callable[..., Iterator[Flaw]]
    resolver: ResolverName | None = None
    unreadable: bool = False
    validators: tuple[str, ...] = ()

    @property
    def description(self) -> tuple[str, ...]:
        """The paragraphs of the docstring of the rule's function, unwrapped, without its cost."""
        paragraphs = (" ".join(text.split()) for text in self.docstring.split("\n\n"))
        found = (text.partition("Cost: ")[0].rstrip() for text in paragraphs)
        return tuple(text for text in found if text)

    @property
    def summary(self) -> str:
        """The first paragraph of the description."""
        return next(iter(self.description), "")

    @property
    def is_optional(self) -> bool:
        """Whether the rule runs only if it is selected."""
        return bool(self.validators) and DEFAULT_VALIDATORS.isdisjoint(self.validators)


_RULES: dict[str, Rule] = {}
_IDS: dict[str, str] = {}


def _decorator(  # noqa: PLR0913 - what a rule is made of
    subject: Subject,
    id: str,  # noqa: A002 - the word users know
    name: str,
    severity: Severity,
    *,
    resolver: ResolverName | None = None,
    unreadable: bool = False,
    validators: tuple[str, ...] = (),
) -> Callable[[Check[S]], Check[S]]:
    def register(check: Check[S]) -> Check[S]:
        other = _RULES.get(id) or _RULES.get(_IDS.get(name, ""))
        assert other is None, f"{id} {name} is taken by {other}"
        docstring = check.__doc__ or ""
        _RULES[id] = Rule(id, name, severity, subject, docstring, check, resolver, unreadable, validators)
        _IDS[name] = id
        return check

    return register


def catalog_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *,
    resolver: ResolverName | None = None,
    unreadable: bool = False,
) -> Callable[[Check[Catalog]], Check[Catalog]]:
    """Register a rule about a whole catalog."""
    return _decorator("catalog", id, name, severity, resolver=resolver, unreadable=unreadable)


def package_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *,
    resolver: ResolverName | None = None,
) -> Callable[[Check[PackageGraph]], Check[PackageGraph]]:
    """Register a rule about a package."""
    return _decorator("package", id, name, severity, resolver=resolver)


def channel_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *,
    resolver: ResolverName | None = None,
) -> Callable[[Check[ChannelGraph]], Check[ChannelGraph]]:
    """Register a rule about a channel."""
    return _decorator("channel", id, name, severity, resolver=resolver)


def bundle_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *,
    resolver: ResolverName | None = None,
) -> Callable[[Check[Bundle]], Check[Bundle]]:
    """Register a rule about a bundle of a catalog."""
    return _decorator("bundle", id, name, severity, resolver=resolver)


def bundle_folder_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *validators: str,
) -> Callable[[Check[BundleFolder]], Check[BundleFolder]]:
    """Register a rule about a bundle folder. `validators` check the same upstream."""
    return _decorator("bundle folder", id, name, severity, validators=validators)


def package_file_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *validators: str,
) -> Callable[[Check[PackageManifest]], Check[PackageManifest]]:
    """Register a rule about a package manifest (`*.package.yaml`)."""
    return _decorator("package file", id, name, severity, validators=validators)


def upgrade_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
    *,
    resolver: ResolverName | None = None,
) -> Callable[[Check[Upgrade]], Check[Upgrade]]:
    """Register a rule about an upgrade between two bundles whose CRDs are known."""
    return _decorator("upgrade", id, name, severity, resolver=resolver)


def waiver_rule(
    id: str,  # noqa: A002
    name: str,
    severity: Severity,
) -> Callable[[Check[WaiverUsage]], Check[WaiverUsage]]:
    """Register a rule about a waiver. It runs after all others."""
    return _decorator("waiver", id, name, severity)


def all_rules() -> tuple[Rule, ...]:
    """Return all rules, by id."""
    from everpath.rules import load_rules  # noqa: PLC0415 - rule modules import this one

    load_rules()
    return tuple(_RULES[i] for i in sorted(_RULES))


def rules_for_subjects(subjects: Container[str]) -> tuple[Rule, ...]:
    """Return the rules about some subjects, by id. Modules about folders are imported only if needed."""
    from everpath.rules import load_rules  # noqa: PLC0415 - rule modules import this one

    load_rules(contents=any(subject in subjects for subject in FOLDER_SUBJECTS))
    return tuple(_RULES[i] for i in sorted(_RULES) if _RULES[i].subject in subjects)


def find_rules(words: Iterable[str]) -> frozenset[str]:
    """Return the ids of rules given by id, name or the beginning of ids (`EP2`)."""
    found: set[str] = set()
    for word in words:
        rules = all_rules()
        hits = {r.id for r in rules if word == r.name or r.id.startswith(word.upper())}
        if not hits:
            raise UsageError(f"no rule is called {word!r}", hint=_hint(word, rules))
        found |= hits
    return frozenset(found)


#: With more matching names no suggestion is made.
_MAX_SUGGESTIONS: Final = 5


def _hint(word: str, rules: Sequence[Rule]) -> str:
    """Suggest rules for a wrong word. Of a wrong id only the beginning counts: similar ids are unrelated."""
    whole = next((rule.id for rule in rules if word.upper().startswith(rule.id)), None)
    if whole is not None:
        return f"did you mean {whole!r}?"
    family = word[:3].upper()
    if any(rule.id.startswith(family) for rule in rules):
        return f"`everpath rules {family}` lists the rules of that family, `everpath rules` all of them"
    from difflib import get_close_matches  # noqa: PLC0415 - needed for errors only

    names = [rule.name for rule in rules]
    near = [n for n in names if word.lower() in n.split("-")] or get_close_matches(word.lower(), names, n=1)
    if len(near) > _MAX_SUGGESTIONS or not near:
        return "`everpath rules` lists them all"
    return f"did you mean {' or '.join(map(repr, near))}?"
