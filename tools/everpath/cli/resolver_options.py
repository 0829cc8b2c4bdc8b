"""Options of one resolver: the fields of a ClusterExtension, and the startingCSV of a Subscription."""

from __future__ import annotations

__all__ = [
    "extension_options",
    "parse_channel_list",
    "parse_version_range",
    "range_warnings",
    "reject_options_of_other_resolver",
]

from collections.abc import Callable
from typing import Any, TypeVar

import click

from everpath.cli.options import split_names
from everpath.cli.output import print_message
from everpath.errors import UsageError
from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.reporters.formatting import printable
from everpath.resolvers.cluster_extension_crd import version_range_error

F = TypeVar("F", bound=Callable[..., Any])


def extension_options(command: F) -> F:
    """Add the options for a ClusterExtension, and for the priorities of its catalogs."""
    channels = click.option(
        "--channels",
        "channel_list",
        metavar="LIST",
        help="OLM v1: channels of the ClusterExtension ('a,b'); '*' for all.",
    )
    version = click.option(
        "--version-range",
        metavar="RANGE",
        default="",
        help="OLM v1: version of the ClusterExtension, such as '1.x'.",
    )
    policy = click.option(
        "--upgrade-constraint-policy",
        type=click.Choice(["CatalogProvided", "SelfCertified"]),
        default="CatalogProvided",
        show_default=True,
        help="OLM v1: SelfCertified allows upgrades without an edge.",
    )
    priorities = click.option(
        "--priority",
        "priorities",
        metavar="NAME=N",
        multiple=True,
        help="Priority of a catalog; may be repeated.  [default: 0]",
    )
    return channels(version(policy(priorities(command))))


def reject_options_of_other_resolver(
    *,
    policy: str | None,
    starting_csv: str | None,
    channel_list: str | None,
    version_range: str,
    upgrade_constraint_policy: str,
    hint: str = "use --policy v1 or --policy both",
) -> None:
    """Raise UsageError for options that the selected resolver would ignore.

    `hint` says how to select the other resolver.
    """
    v1_options = {
        "--channels": channel_list is not None,
        "--version-range": bool(version_range),
        "--upgrade-constraint-policy": upgrade_constraint_policy == "SelfCertified",
    }
    for option in (option for option, is_given in v1_options.items() if is_given):
        if policy == "v0":
            raise UsageError(f"{option} is for OLM v1", hint=hint)
        if starting_csv is not None:
            message = f"{option} is for OLM v1, --starting-csv for OLM v0"
            raise UsageError(message, hint="leave one of them out")
    if policy == "v1" and starting_csv is not None:
        version = starting_csv.rpartition(".v")[2] or "VERSION"
        pin = f"a ClusterExtension is pinned with --version-range {version}"
        raise UsageError("--starting-csv is for OLM v0", hint=pin)


def parse_channel_list(text: str | None) -> tuple[str, ...] | None:
    """Return the names; () for `*`, a ClusterExtension without channels; None if not given."""
    if text is None:
        return None
    return () if text.strip() == "*" else split_names("--channels", text)


def parse_version_range(text: str) -> str:
    """Return a range as OLM v1 reads it, and print warnings. Raises UsageError if it is invalid."""
    try:
        version_range = Constraint.parse(text).text if text else ""
    except ConstraintError as error:
        hint = "OLM v1 accepts ranges such as '1.2.x', '~1.2' or '>=1.2.0, <2'"
        message = f"--version-range {text!r} is invalid: {error.upstream_message}"
        raise UsageError(message, hint=hint) from error
    for warning in range_warnings(text):
        print_message(f"warning: {printable(warning)}")
    return version_range


def range_warnings(text: str) -> tuple[str, ...]:
    """Return a warning if the API server refuses a ClusterExtension with this range."""
    if not text or (refusal := version_range_error(text)) is None:
        return ()
    return (f"the API server would refuse a ClusterExtension with version {text!r}: {refusal}",)
