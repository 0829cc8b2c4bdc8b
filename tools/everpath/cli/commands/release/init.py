"""`everpath init`: create a releases.yaml, also from an existing catalog."""

from __future__ import annotations

__all__ = ["init"]

import sys

import click

from everpath.app.inputs.image_inputs import pull_if_image
from everpath.app.project.import_catalog import import_catalog
from everpath.app.project.init import DEFAULT_FILE, new_project, write_project
from everpath.app.project.project import find_releases_file
from everpath.cli.options.common import one_package_option
from everpath.cli.terminal import ProgressLine
from everpath.errors import ExitCode, UsageError
from everpath.wording import count


@click.command("init", short_help="Create a releases.yaml, also from a catalog.")
@click.option(
    "--from", "catalog", metavar="CATALOG", help="Reconstruct it from any input that validate-graph reads."
)
@one_package_option
@click.option("-c", "--channel", metavar="NAME", help="The default channel.  [default: stable]")
@click.option(
    "-f", "--file", metavar="FILE", default=DEFAULT_FILE, show_default=True, help="The file to write."
)
def init(catalog: str | None, package: str | None, channel: str | None, file: str) -> int:
    """Create the releases.yaml for `everpath release` and `everpath generate`.

    In a project of operator-sdk, name, images and manifests are taken from PROJECT, Makefile and config/.
    With --from, every release of an existing catalog is listed with its edges, and generate writes the same
    graph. Existing files are not overwritten.

    \b
    $ everpath init
    $ everpath init --package searchkeeper --channel stable
    $ everpath init --from published/ -p searchkeeper
    $ opm render quay.io/me/catalog:latest | everpath init --from - -p searchkeeper

    \b
    Exit codes:
      0  written                     3  input that cannot be read
      2  a wrong command line, a file that exists, a catalog that opm rejects
    """
    path = find_releases_file(file)
    if path.exists():
        raise UsageError(f"{path} exists already", hint="run everpath release to add to it, or use --file")
    if catalog:
        with ProgressLine(sys.stderr) as progress:
            start = import_catalog(pull_if_image(catalog, progress), package, path, progress)
    else:
        start = new_project(package, channel, path)
    changes = write_project(start, path)
    releases, files = count(len(start.source.releases), "release"), count(len(changes), "file")
    click.echo(f"{path}: {start.source.package} with {releases}; {files} written.", err=True)
    for line in start.messages:
        click.echo(line, err=True)
    return ExitCode.CLEAN
