"""`everpath validate-graph`: the invariant, for everyone on any version."""

from __future__ import annotations

__all__ = ["validate_graph"]

from typing import Any

import click

from everpath.app.config import POLICIES
from everpath.cli.options import (
    channel_option,
    package_option,
    update_mode_option,
)
from everpath.cli.plain_calls import MOST_JOBS, Request
from everpath.cli.report_options import report_options
from everpath.cli.validating import validate


@click.command("validate-graph", short_help="Is this catalog safe for everyone on any version of it?")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@package_option
@channel_option
@click.option("--policy", type=click.Choice(POLICIES), help="Whose users to think of.  [default: both]")
@click.option("--thorough", is_flag=True, help="Parse every byte, also where a glance would do.")
@click.option(
    "--bundles",
    metavar="DIR",
    multiple=True,
    help="Where the bundles' folders are: compare the CRDs of each two releases OLM moves between.",
)
@update_mode_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1, MOST_JOBS),
    metavar="N",
    help="Judge with this many processes.  [default: one a processor, at most 4, if there is much to read]",
)
@report_options
def validate_graph(**options: Any) -> int:
    """Is this catalog safe for everyone who runs any version of it?

    A PATH is a file-based catalog (a folder, a file, or - for standard input), a bundle folder, an
    operators repository, a package-manifest folder, or an image of a catalog or a bundle
    (quay.io/me/catalog:v1, oci:FOLDER, oci-archive:FILE). Several are judged one by one. Without
    one: the configured paths, or catalog/, or the current folder.

    \b
    $ everpath validate-graph catalog/ --select fork
    package op, channel stable: 1 error

    \b
    error[EP203 fork]: op.v1: op.v2 and op.v3 both replace it
      --> catalog/op.yaml:14:3
       |
    14 | - name: op.v1
       |   ^^^^^^^^^^^
       = because: op.v3 replaces op.v1
                  op.v2 replaces op.v1
       = fix: add op.v2 to the skips of op.v3

    \b
    1 error in 2 packages, 3 channels and 12 entries.

    \b
    $ everpath validate-graph operators/ -o concise --fail-on warning
    $ everpath validate-graph catalog/ --bundles bundles/
    $ opm render quay.io/me/catalog:latest | everpath validate-graph - -p me
    $ everpath validate-graph catalog/ -o sarif --output-file everpath.sarif

    \b
    Exit codes:
      0  no finding at or above --fail-on     3  input, or part of it, that cannot be read
      1  some finding at or above --fail-on   4  a registry that does not answer
      2  a wrong command line or configuration
    """
    return validate(Request(**options))
