"""Options of one resolver: the fields of a ClusterExtension, and the startingCSV of a Subscription."""

from __future__ import annotations

__all__ = [
    "ClusterExtensionArguments",
    "cluster_extension_options",
    "priority_option",
    "reject_options_of_other_resolver",
]

from dataclasses import dataclass
from typing import Final

import click

from everpath.cli.options.common import split_names
from everpath.cli.options.groups import option_group
from everpath.errors import UsageError
from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.resolvers.cluster_extension_crd import version_range_error
from everpath.simulate import ClusterExtensionOptions

priority_option: Final = click.option(
    "--priority",
    "priorities",
    metavar="NAME=N",
    multiple=True,
    help="Priority of a catalog; may be repeated.  [default: 0]",
)


@dataclass(frozen=True)
class ClusterExtensionArguments:
    """The fields of a ClusterExtension as the command line gives them."""

    channel_list: str | None
    version_range: str
    upgrade_constraint_policy: str

    @property
    def given_options(self) -> tuple[str, ...]:
        """The options that differ from their defaults."""
        options = {
            "--channels": self.channel_list is not None,
            "--version-range": bool(self.version_range),
            "--upgrade-constraint-policy": self.upgrade_constraint_policy == "SelfCertified",
        }
        return tuple(option for option, is_given in options.items() if is_given)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning if the API server refuses a ClusterExtension with this version range."""
        text = self.version_range
        if not text or (refusal := version_range_error(text)) is None:
            return ()
        return (f"the API server would refuse a ClusterExtension with version {text!r}: {refusal}",)

    def parse(self) -> ClusterExtensionOptions:
        """Return the fields. Raises UsageError for an empty channel name or an invalid version range.

        The list of channels is None if it is not given, and empty for `*`.
        """
        text, channels = self.channel_list, None
        if text is not None:
            channels = () if text.strip() == "*" else split_names("--channels", text)
        try:
            version_range = Constraint.parse(self.version_range).text if self.version_range else ""
        except ConstraintError as error:
            hint = "OLM v1 accepts ranges such as '1.2.x', '~1.2' or '>=1.2.0, <2'"
            message = f"--version-range {self.version_range!r} is invalid: {error.upstream_message}"
            raise UsageError(message, hint=hint) from error
        return ClusterExtensionOptions(
            channels, version_range, self_certified=self.upgrade_constraint_policy == "SelfCertified"
        )


#: The command receives these options as `extension: ClusterExtensionArguments`.
cluster_extension_options: Final = option_group(
    "extension",
    ClusterExtensionArguments,
    click.option(
        "--channels",
        "channel_list",
        metavar="LIST",
        help="OLM v1: channels of the ClusterExtension ('a,b'); '*' for all.",
    ),
    click.option(
        "--version-range",
        metavar="RANGE",
        default="",
        help="OLM v1: version of the ClusterExtension, such as '1.x'.",
    ),
    click.option(
        "--upgrade-constraint-policy",
        type=click.Choice(["CatalogProvided", "SelfCertified"]),
        default="CatalogProvided",
        show_default=True,
        help="OLM v1: SelfCertified allows upgrades without an edge.",
    ),
)


def reject_options_of_other_resolver(
    extension: ClusterExtensionArguments,
    *,
    olm: str | None,
    starting_csv: str | None,
    hint: str = "use --olm v1 or --olm both",
) -> None:
    """Raise UsageError for options that the selected resolver would ignore.

    `hint` says how to select the other resolver.
    """
    for option in extension.given_options:
        if olm == "v0":
            raise UsageError(f"{option} is for OLM v1", hint=hint)
        if starting_csv is not None:
            message = f"{option} is for OLM v1, --starting-csv for OLM v0"
            raise UsageError(message, hint="leave one of them out")
    if olm == "v1" and starting_csv is not None:
        version = starting_csv.rpartition(".v")[2] or "VERSION"
        pin = f"a ClusterExtension is pinned with --version-range {version}"
        raise UsageError("--starting-csv is for OLM v0", hint=pin)
