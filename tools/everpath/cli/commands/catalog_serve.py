"""`everpath catalog serve`: a catalog over gRPC, as OLM asks for it."""

from __future__ import annotations

__all__ = ["serve"]

import gc
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from everpath.app.extras import install_extra_hint
from everpath.app.image_inputs import is_image, local_path
from everpath.app.inputs import default_path
from everpath.errors import EverpathError, ExitCode, UsageError
from everpath.loaders.sources import STANDARD_INPUT, display_name

if TYPE_CHECKING:
    from everpath.server.lifecycle import Frontend

_EXTRA: Final = ("grpc", "google", "grpc_health", "grpc_reflection")

# Where Kubernetes looks for the last words of a container.
_LAST_WORDS: Final = "/dev/termination-log"


_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


class _Request(NamedTuple):
    """The command line."""

    path: str | None
    address: str
    port: int
    watch: bool
    metrics: str | None
    http: str | None
    name: str
    grace: float
    termination_log: str | None
    ready_file: str | None
    check: bool
    thorough: bool


@click.command("serve", short_help="Serve a catalog over gRPC, as OLM reads it.")
@click.argument("path", required=False, metavar="[PATH]")
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=50051, show_default=True, help="0: any.")
@click.option("--address", metavar="HOST", default="", help="Listen there only.  [default: everywhere]")
@click.option("--watch", is_flag=True, help="Serve the catalog anew when it changes on disk.")
@click.option("--metrics", metavar="[HOST:]PORT", help="Say there how it goes, for Prometheus: /metrics.")
@click.option(
    "--http", metavar="[HOST:]PORT", help="Serve it there too, over HTTP, as OLM v1's catalogd does."
)
@click.option(
    "--name", metavar="NAME", default="catalog", show_default=True, help="The catalog's name in HTTP's paths."
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 3600),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How long streams may go on after SIGTERM.",
)
@click.option(
    "-t",
    "--termination-log",
    metavar="FILE",
    help=f"Write there why it could not serve.  [default: {_LAST_WORDS}, where there is one]",
)
@click.option(
    "--ready-file", metavar="FILE", help="Write the address there once the first call would be answered."
)
@click.option("--check", is_flag=True, help="Read all of it, say whether it can be served, and end.")
@click.option("--thorough", is_flag=True, help="Parse every byte before serving the first.")
def serve(**options: Any) -> int:
    """Serve a catalog over gRPC, as `opm serve` does: OLM cannot tell the two apart.

    PATH is a file-based catalog (a folder, a file, an image, or - for standard input), an operators
    repository, a bundle's folder or package manifests. Without one: catalog/, or the current folder. What
    opm would refuse is refused. Changes on disk are not seen without --watch; with it, a catalog that became
    invalid is told of, and the one before it is served on.

    \b
    $ everpath catalog serve catalog/
    $ everpath catalog serve catalog/ --address 127.0.0.1 --port 0 --watch --metrics 127.0.0.1:9090

    \b
    Exit codes:
      0  ended by SIGTERM, SIGHUP, Ctrl-C  2  a wrong command line, or a port in use
      1  a catalog that opm would refuse   3  input that cannot be read
                                           4  an image's registry that does not answer
    """
    return _serve(_Request(**options))


def _serve(request: _Request) -> int:
    path = request.path or default_path()
    if request.watch and (path == STANDARD_INPUT or is_image(path)):
        raise UsageError(f"{display_name(path)} cannot be watched", hint="give a folder or a file")
    try:
        _start(path, request)
    except EverpathError as error:
        _leave_words(request.termination_log, error)
        raise
    return ExitCode.CLEAN


def _start(path: str, request: _Request) -> None:
    try:
        import asyncio  # noqa: PLC0415 - only who serves pays for it

        from everpath.server.address import Address  # noqa: PLC0415
        from everpath.server.catalog.snapshot import take_snapshot  # noqa: PLC0415
        from everpath.server.lifecycle import ServerSettings, serve  # noqa: PLC0415
    except ImportError as error:
        raise _missing(error) from error
    fronts = _fronts(request)
    settings = ServerSettings(
        Address(request.address.strip("[]"), request.port),
        Address.parse(request.metrics) if request.metrics else None,
        watch=request.watch,
        grace=request.grace,
    )
    snapshot = take_snapshot(local_path(path), thorough=request.thorough or request.check)
    if request.check:
        click.echo(f"{path} can be served: {snapshot.summary}")
        return
    # Nothing of what was read is garbage as long as this server is there; what comes after that may be.
    gc.collect()
    gc.freeze()
    gc.enable()

    def ready(address: Address) -> None:
        if request.ready_file is not None:
            _write(request.ready_file, f"{address}\n")
        click.echo(f"serving {snapshot.summary} of {path} on {address}")
        sys.stdout.flush()

    asyncio.run(serve(snapshot, settings, log=_say, on_ready=ready, frontends=fronts))


def _say(text: str) -> None:
    click.echo(f"everpath: {text}", err=True)


def _fronts(request: _Request) -> list[Frontend]:
    """What else the command line asks to serve the catalog by."""
    if request.http is None:
        return []
    from everpath.server.address import Address  # noqa: PLC0415
    from everpath.server.content_api.frontend import content_frontend  # noqa: PLC0415

    if _NAME.fullmatch(request.name) is None:
        hint = "as a ClusterCatalog may be called: small letters, digits, - and ."
        raise UsageError(f"{request.name!r} is no name for a catalog", hint=hint)
    return [content_frontend(Address.parse(request.http), request.name, request.grace)]


def _missing(error: ImportError) -> EverpathError:
    """Why serving is not possible, if it is for want of the libraries that only it needs."""
    name = (error.name or "").partition(".")[0]
    if name not in _EXTRA:
        raise error
    return UsageError(
        f"serving needs a library that is not installed: {name}", hint=install_extra_hint("serve")
    )


def _leave_words(file: str | None, error: EverpathError) -> None:
    """Write an error where Kubernetes will show it. That it cannot be written is said, and ends nothing."""
    if file is None and not Path(_LAST_WORDS).exists():
        return
    hint = f" ({error.hint})" if error.hint else ""
    try:
        Path(file or _LAST_WORDS).write_text(f"{error.message}{hint}\n", encoding="utf-8")
    except OSError as refused:
        click.echo(f"everpath: cannot write {file or _LAST_WORDS}: {refused.strerror}", err=True)


def _write(file: str, text: str) -> None:
    """Write a file aside and move it into place: whoever waits for it never sees half of it."""
    aside = f"{file}.{os.getpid()}"
    try:
        Path(aside).write_text(text, encoding="utf-8")
        Path(aside).replace(file)
    except OSError as error:
        raise UsageError(
            f"cannot write {file}: {error.strerror}", hint="name a file that may be written"
        ) from error
