"""`everpath catalog serve`: serve a catalog over gRPC, as OLM reads it."""

from __future__ import annotations

__all__ = ["serve"]

import gc
import sys
from pathlib import Path
from typing import Final

import click

from everpath.app.inputs.inputs import default_path
from everpath.app.serve import check_catalog
from everpath.app.serve import serve as run_server
from everpath.atomic_files import atomic_file
from everpath.errors import EverpathError, ExitCode
from everpath.reporters.formatting import one_line
from everpath.server.address import Address
from everpath.server.settings import ServerSettings

#: Kubernetes shows the content of this file as the reason why a container has ended.
_TERMINATION_LOG: Final = "/dev/termination-log"


@click.command("serve", short_help="Serve a catalog over gRPC, as OLM reads it.")
@click.argument("path", required=False, metavar="[PATH]")
@click.option(
    "-p",
    "--port",
    type=click.IntRange(0, 65535),
    default=50051,
    show_default=True,
    help="Port of the gRPC server; 0: any free one.",
)
@click.option("--address", metavar="HOST", default="", help="Address to listen on.  [default: all]")
@click.option("--watch", is_flag=True, help="Reload the catalog when it changes on disk.")
@click.option("--metrics", metavar="[HOST:]PORT", help="Serve metrics for Prometheus there: /metrics.")
@click.option(
    "--http", metavar="[HOST:]PORT", help="Also serve the catalog over HTTP there, like catalogd of OLM v1."
)
@click.option(
    "--name",
    "catalog_name",
    metavar="NAME",
    default="catalog",
    show_default=True,
    help="Name of the catalog in HTTP paths.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Time that open streams have to finish after SIGTERM.",
)
@click.option(
    "-t",
    "--termination-log",
    metavar="FILE",
    help=f"Write the error there if the server cannot start.  [default: {_TERMINATION_LOG}, if it exists]",
)
@click.option(
    "--ready-file", metavar="FILE", help="Write the address to this file once the server accepts calls."
)
@click.option("--check", is_flag=True, help="Check that the whole catalog can be served, and exit.")
@click.option("--thorough", is_flag=True, help="Parse the whole catalog before the first call is accepted.")
def serve(  # noqa: PLR0913 - a parameter for each option
    *,
    path: str | None,
    port: int,
    address: str,
    watch: bool,
    metrics: str | None,
    http: str | None,
    catalog_name: str,
    grace: float,
    termination_log: str | None,
    ready_file: str | None,
    check: bool,
    thorough: bool,
) -> int:
    """Serve a catalog over gRPC, with the same responses as `opm serve`.

    PATH is a file-based catalog (a folder, a file, an image, or - for standard input), an operators
    repository, a bundle's folder or package manifests. Default: catalog/, or the current folder. A catalog
    that opm rejects is not served. With --watch a changed catalog is reloaded; if it has become invalid, the
    error is reported and the previous catalog is served.

    \b
    $ everpath catalog serve catalog/
    $ everpath catalog serve catalog/ --address 127.0.0.1 --port 0 --watch --metrics 127.0.0.1:9090

    \b
    Exit codes:
      0  ended by SIGTERM, SIGHUP, Ctrl-C  2  invalid options, or a port in use
      1  a catalog that opm rejects        3  input that cannot be read
                                           4  a registry does not respond
    """
    path = path or default_path()
    try:
        settings = ServerSettings(
            Address(address.strip("[]"), port),
            Address.parse(metrics) if metrics else None,
            Address.parse(http) if http else None,
            catalog_name,
            watch=watch,
            grace=grace,
        )
        if check:
            click.echo(f"{path} can be served: {check_catalog(path)}")
            return ExitCode.CLEAN

        def report_ready(listening: Address, summary: str) -> None:
            # The index lives as long as the server: the garbage collector need not visit it again.
            gc.collect()
            gc.freeze()
            if ready_file is not None:
                with atomic_file(Path(ready_file)) as stream:
                    stream.write(f"{listening}\n".encode())
            click.echo(f"serving {summary} of {path} on {listening}")
            sys.stdout.flush()

        run_server(
            path,
            settings,
            thorough=thorough,
            log=lambda line: click.echo(f"everpath: {one_line(line)}", err=True),
            on_ready=report_ready,
        )
    except EverpathError as error:
        _write_termination_log(termination_log, error)
        raise
    return ExitCode.CLEAN


def _write_termination_log(file: str | None, error: EverpathError) -> None:
    """Write an error to the termination log. If that fails, print a warning."""
    if file is None and not Path(_TERMINATION_LOG).exists():
        return
    hint = f" ({error.hint})" if error.hint else ""
    try:
        Path(file or _TERMINATION_LOG).write_text(f"{error.message}{hint}\n", encoding="utf-8")
    except OSError as write_error:
        click.echo(f"everpath: cannot write {file or _TERMINATION_LOG}: {write_error.strerror}", err=True)
