"""Rules for the effect of an upgrade on custom resources, from the CRDs of both bundles.

They run only if bundle folders are given in addition to the catalog.
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
    from everpath.crd_upgrade_safety.unsafe_changes import ChangeKind


def _flaws(upgrade: Upgrade, kind: ChangeKind, fix: str) -> Iterator[Flaw]:
    """Yield a flaw for each unsafe change of a kind. The message starts with the hop."""
    for change in upgrade.changes:
        if change.kind == kind:
            responses = {"v0": change.responses.v0, "v1": change.responses.v1}
            yield Flaw(
                change.place,
                f"{upgrade.before} to {upgrade.after}: {change.message}",
                because=tuple(
                    f"OLM {resolver} selects this hop in {channel}, and {responses[resolver]}"
                    for resolver, channel in upgrade.taken_by
                ),
                fix=fix.format(version=change.version, definition=change.crd),
                entry=upgrade.after,
            )


@upgrade_rule("EP701", "stored-version-removed", Severity.ERROR)
def removed_stored_version(upgrade: Upgrade) -> Iterator[Flaw]:
    """No version is removed in which objects may be stored.

    A CRD records every storage version in status.storedVersions. OLM v0 and v1 refuse a CRD without one of
    them, and the upgrade is blocked until the objects are migrated. A version counts if any earlier bundle on
    an upgrade path stored objects in it.
    """
    return _flaws(
        upgrade,
        "stored-removed",
        "keep {version} in {definition} with served: false, until status.storedVersions does not list it",
    )


@upgrade_rule("EP702", "field-removed", Severity.ERROR)
def removed_field(upgrade: Upgrade) -> Iterator[Flaw]:
    """No field is removed from a served version.

    The API server prunes unknown fields: their values are lost at the next write of an object. The same holds
    for the entries of a map that loses additionalProperties. OLM v1 refuses the upgrade, OLM v0 carries it
    out.
    """
    return _flaws(upgrade, "field-removed", "keep the field in {version}, or add a new version without it")


@upgrade_rule("EP703", "field-retyped", Severity.ERROR)
def retyped_field(upgrade: Upgrade) -> Iterator[Flaw]:
    """No field of a served version changes its type.

    Objects with a value of the old type become invalid. OLM v0 refuses the upgrade if there are such objects
    and no conversion webhook; OLM v1 always refuses it. A change from integer to number is allowed.
    """
    return _flaws(
        upgrade,
        "field-retyped",
        "keep the type in {version}, or change it in a new version with a conversion",
    )


@upgrade_rule("EP704", "validation-tightened", Severity.WARNING)
def tightened_validation(upgrade: Upgrade) -> Iterator[Flaw]:
    """The validation of a served version does not become stricter.

    Valid objects may become invalid. OLM v0 refuses the upgrade on clusters with such objects, but does not
    check CEL rules, lists that become sets, and pruned fields. OLM v1 refuses it on all clusters, unless the
    schema has an anyOf, oneOf, allOf or not at the same place.
    """
    return _flaws(
        upgrade,
        "validation-tightened",
        "do not change {version}; add the stricter validation in a new version",
    )


@upgrade_rule("EP705", "scope-changed", Severity.ERROR)
def changed_scope(upgrade: Upgrade) -> Iterator[Flaw]:
    """The scope of a CRD does not change.

    OLM v1 refuses the upgrade. In OLM v0 it never completes, because the API server refuses to change a
    scope.
    """
    return _flaws(upgrade, "scope-changed", "keep the scope, or add a CRD with another name")


@upgrade_rule("EP706", "conversion-lost", Severity.ERROR)
def lost_conversion(upgrade: Upgrade) -> Iterator[Flaw]:
    """A CRD that serves several versions does not lose its conversion webhook.

    Without it the API server only changes the apiVersion: fields with another name in the other version are
    lost at the next write. OLM v0 and v1 carry out the upgrade.
    """
    return _flaws(upgrade, "conversion-lost", "keep the conversion webhook as long as {definition} needs it")


@upgrade_rule("EP707", "served-version-removed", Severity.WARNING)
def removed_served_version(upgrade: Upgrade) -> Iterator[Flaw]:
    """No version stops being served.

    Requests of its clients fail with 404 after the upgrade. OLM carries it out, if another version is served.
    """
    return _flaws(upgrade, "served-removed", "serve {version} for another release, with deprecated: true")


@upgrade_rule("EP708", "default-changed", Severity.WARNING)
def changed_default(upgrade: Upgrade) -> Iterator[Flaw]:
    """No default of a served version changes.

    Objects without the field get the new default at the next read. OLM v1 refuses the upgrade, OLM v0 carries
    it out.
    """
    return _flaws(upgrade, "default-changed", "keep the default in {version}, or change it in a new version")


@upgrade_rule("EP709", "definition-removed", Severity.WARNING)
def removed_definition(upgrade: Upgrade) -> Iterator[Flaw]:
    """No CRD of a bundle is missing from its successor.

    OLM v0 keeps the CRD on the cluster, and its objects without an operator. OLM v1 deletes the CRD and all
    of its objects.
    """
    return _flaws(upgrade, "definition-removed", "keep {definition} in the bundle until it has no objects")


@upgrade_rule("EP710", "change-refused", Severity.WARNING, resolver="v1")
def change_refused(upgrade: Upgrade) -> Iterator[Flaw]:
    """OLM v1 does not refuse a harmless change of a CRD.

    The preflight of OLM v1 compares a dozen keywords, and refuses every other difference, even of a
    description. It also refuses a new default, a removed enum, a wider type, and any change below a list or a
    map.
    """
    return _flaws(
        _in_v1(upgrade),
        "change-refused",
        "do not change {version}, add a new version, or let users set "
        "spec.install.preflight.crdUpgradeSafety.enforcement: None",
    )


@upgrade_rule("EP711", "served-versions-refused", Severity.WARNING, resolver="v1")
def served_versions_refused(upgrade: Upgrade) -> Iterator[Flaw]:
    """The served versions of a CRD without a conversion webhook do not differ.

    The preflight of OLM v1 checks the newer version as a change of the older one, at every upgrade, even if
    the CRD does not change. It panics if a CRD serves no version.
    """
    return _flaws(
        _in_v1(upgrade),
        "served-versions-refused",
        "serve one version of {definition}, or add a conversion webhook (spec.conversion.strategy: Webhook)",
    )


def _in_v1(upgrade: Upgrade) -> Upgrade:
    """Return the upgrade in the channels where OLM v1 takes it; without changes if there are none."""
    taken_by = tuple(taken for taken in upgrade.taken_by if taken[0] == "v1")
    return upgrade._replace(taken_by=taken_by, changes=upgrade.changes if taken_by else ())
