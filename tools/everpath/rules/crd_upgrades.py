"""Upgrades: what becomes of the objects that people have when OLM puts one release in another's place.

These rules need the CustomResourceDefinitions of both releases, so they are asked only where the bundles'
folders are given beside the catalog.
"""

from __future__ import annotations

__all__ = [
    "change_refused",
    "changed_default",
    "changed_scope",
    "lost_conversion",
    "removed_definition",
    "removed_field",
    "removed_served_version",
    "removed_stored_version",
    "retyped_field",
    "served_versions_refused",
    "tightened_validation",
]

from collections.abc import Iterator
from typing import TYPE_CHECKING

from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import upgrade_rule

if TYPE_CHECKING:
    from everpath.crd_upgrade_safety import Upgrade
    from everpath.crd_upgrade_safety.unsafe_changes import ChangeKind, UnsafeChange


def _flaws(upgrade: Upgrade, kind: ChangeKind, fix: str) -> Iterator[Flaw]:
    """One flaw for each unsafe change of a kind. The message begins with the hop."""
    for change in upgrade.changes:
        if change.kind == kind:
            yield Flaw(
                change.place,
                f"{upgrade.before} to {upgrade.after}: {change.message}",
                because=tuple(_olm_response(change, *olm_channel) for olm_channel in upgrade.taken_by),
                fix=fix.format(version=change.version, definition=change.crd),
                entry=upgrade.after,
            )


def _olm_response(change: UnsafeChange, policy: str, channel: str) -> str:
    response = change.responses.v1 if policy == "v1" else change.responses.v0
    return f"OLM {policy} takes this step in {channel}, and {response}"


@upgrade_rule("EP701", "stored-version-removed", Severity.ERROR)
def removed_stored_version(upgrade: Upgrade) -> Iterator[Flaw]:
    """A version is gone in which objects may still be stored.

    A cluster remembers every version it ever stored objects of a kind in. Both OLM v0 and v1 refuse a
    definition that drops one of them, and the upgrade stands still until somebody has migrated the objects.
    The version counts from the first release on any way to this upgrade that stored it.
    """
    return _flaws(
        upgrade,
        "stored-removed",
        "keep {version} in {definition} with served: false, until status.storedVersions does not list it",
    )


@upgrade_rule("EP702", "field-removed", Severity.ERROR)
def removed_field(upgrade: Upgrade) -> Iterator[Flaw]:
    """A field is gone from a version that is still served.

    The API server prunes what a schema does not know: at the next write of an object its value is lost. So
    are a map's entries where it gives up additionalProperties. OLM v1 refuses the upgrade; OLM v0 carries it
    out.
    """
    return _flaws(upgrade, "field-removed", "keep the field in {version}, or bring a new version without it")


@upgrade_rule("EP703", "field-retyped", Severity.ERROR)
def retyped_field(upgrade: Upgrade) -> Iterator[Flaw]:
    """A field of a version that is still served has another type.

    Objects that hold the old type fail validation: OLM v0 validates those there are and refuses the
    upgrade, unless a webhook converts; OLM v1 refuses it whether there are any or not. Every integer is a
    number: a wider type is no such change.
    """
    return _flaws(upgrade, "field-retyped", "keep the type in {version}, or convert it in a new version")


@upgrade_rule("EP704", "validation-tightened", Severity.WARNING)
def tightened_validation(upgrade: Upgrade) -> Iterator[Flaw]:
    """A version that is still served asks for more than before.

    Objects that were valid may not be any more. OLM v0 refuses the upgrade on clusters that have such
    objects, as far as a schema tells: rules in CEL, lists that become sets, and fields that are pruned it
    does not look at. OLM v1 refuses it on all clusters, unless the change stands beside an anyOf, oneOf,
    allOf or not.
    """
    return _flaws(
        upgrade, "validation-tightened", "leave {version} as it is, and ask for it in a new version"
    )


@upgrade_rule("EP705", "scope-changed", Severity.ERROR)
def changed_scope(upgrade: Upgrade) -> Iterator[Flaw]:
    """A definition's scope is another one.

    OLM v1 refuses the upgrade. OLM v0 begins it, and as the API server refuses to change a scope, it never
    ends.
    """
    return _flaws(upgrade, "scope-changed", "keep the scope, or bring a definition of another name")


@upgrade_rule("EP706", "conversion-lost", Severity.ERROR)
def lost_conversion(upgrade: Upgrade) -> Iterator[Flaw]:
    """Several versions are served and nothing converts between them any more.

    The API server then only changes the apiVersion: fields that go by other names in the other version
    are lost at the next write. Both generations of OLM carry the upgrade out.
    """
    return _flaws(upgrade, "conversion-lost", "keep the conversion webhook as long as {definition} needs it")


@upgrade_rule("EP707", "served-version-removed", Severity.WARNING)
def removed_served_version(upgrade: Upgrade) -> Iterator[Flaw]:
    """A version that clients use is not served any more.

    Their requests fail with 404 from the moment of the upgrade on. OLM carries it out all the same, as long
    as some version is served.
    """
    return _flaws(upgrade, "served-removed", "serve {version} for one more release, marked deprecated: true")


@upgrade_rule("EP708", "default-changed", Severity.WARNING)
def changed_default(upgrade: Upgrade) -> Iterator[Flaw]:
    """A field that nobody wrote means something else than before.

    Objects get the new default at the next read. OLM v1 refuses the upgrade; OLM v0 carries it out.
    """
    return _flaws(upgrade, "default-changed", "keep the default in {version}, or change it in a new version")


@upgrade_rule("EP709", "definition-removed", Severity.WARNING)
def removed_definition(upgrade: Upgrade) -> Iterator[Flaw]:
    """A definition of the release before is not in the bundle any more.

    OLM v0 leaves it on the cluster, and its objects without an operator; OLM v1 removes what a release
    does not hold any more, and the objects with it.
    """
    return _flaws(upgrade, "definition-removed", "keep {definition} in the bundle until nobody uses it")


@upgrade_rule("EP710", "change-refused", Severity.WARNING, policy="v1")
def change_refused(upgrade: Upgrade) -> Iterator[Flaw]:
    """OLM v1 refuses a change that no object suffers from.

    Its preflight knows a dozen constraints and takes any other difference, be it of a description, for
    unsafe; so does it a default that is added, an enumeration that is given up, a wider type, and whatever
    changes below a list or a map.
    """
    return _flaws(
        _by_v1(upgrade),
        "change-refused",
        "leave {version} as it is, bring a new version, or let users set "
        "spec.install.preflight.crdUpgradeSafety.enforcement: None",
    )


@upgrade_rule("EP711", "served-versions-refused", Severity.WARNING, policy="v1")
def served_versions_refused(upgrade: Upgrade) -> Iterator[Flaw]:
    """OLM v1 refuses a definition whose served versions differ, where no webhook converts between them.

    It judges the newer version as a change of the older one, by the same preflight, at every upgrade: also
    where the definition stays as it was. A definition that serves no version makes the preflight panic.
    """
    return _flaws(
        _by_v1(upgrade),
        "served-versions-refused",
        "serve one version of {definition}, or convert by a webhook (spec.conversion.strategy: Webhook)",
    )


def _by_v1(upgrade: Upgrade) -> Upgrade:
    """The upgrade as far as OLM v1 takes it: where it never does, nothing breaks."""
    taken_by = tuple(taken for taken in upgrade.taken_by if taken[0] == "v1")
    return upgrade._replace(taken_by=taken_by, changes=upgrade.changes if taken_by else ())
