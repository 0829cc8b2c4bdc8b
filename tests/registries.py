"""Asking registries over gRPC, as tests do: ours and opm's in the same words."""

from __future__ import annotations

__all__ = ["Ask", "Failed", "asked", "opm_serving", "reachable"]

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from e2e.servers.loopback import free_ports
from everpath.server import registry_pb2 as api


class Ask(NamedTuple):
    """One call: a method and the fields of its request."""

    method: str
    fields: dict[str, str] = {}  # noqa: RUF012 - nobody changes it
    metadata: tuple[tuple[str, str], ...] = ()


class Failed(NamedTuple):
    """A call that ended in an error."""

    code: str
    words: str


_METHODS = {
    method.name: (service.full_name, method)
    for service in api.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
_STREAMS = {
    "ListPackages",
    "ListBundles",
    "GetChannelEntriesThatReplace",
    "GetChannelEntriesThatProvide",
    "GetLatestChannelEntriesThatProvide",
    "ExperimentalListPackageCustomSchemas",
}


def asked(channel: grpc.Channel, ask: Ask, timeout: float = 60) -> list[Any] | Failed:
    """The messages that answer a call, one or many, or how it failed."""
    service, method = _METHODS[ask.method]
    request: Message = getattr(api, method.input_type.name)(**ask.fields)
    answer = Struct if method.output_type.name == "Struct" else getattr(api, method.output_type.name)
    kind = channel.unary_stream if ask.method in _STREAMS else channel.unary_unary
    call: Any = kind(
        f"/{service}/{ask.method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=answer.FromString,
    )
    try:
        found = call(request, timeout=timeout, metadata=ask.metadata)
        return list(found) if ask.method in _STREAMS else [found]
    except grpc.RpcError as error:
        return Failed(error.code().name, error.details() or "")


@contextmanager
def reachable(address: str, *options: tuple[str, Any]) -> Iterator[grpc.Channel]:
    """A channel to a server, which is there."""
    usual = (("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0))
    with grpc.insecure_channel(address, options=(*usual, *options)) as channel:
        grpc.channel_ready_future(channel).result(timeout=60)
        yield channel


@contextmanager
def opm_serving(
    opm: str, catalog: Path, folder: Path, arguments: Sequence[str] = ()
) -> Iterator[tuple[str, grpc.Channel]]:
    """Real `opm serve` of a catalog: its address, and a channel to it."""
    (port,) = free_ports(1)
    log = folder / f"opm-{port}.log"
    command = [opm, "serve", str(catalog), "-p", str(port), "--pprof-addr", "", "-t", str(folder / "words")]
    with log.open("wb") as out, subprocess.Popen([*command, *arguments], stdout=out, stderr=out) as process:
        try:
            _wait_for(log, process)
            with reachable(f"127.0.0.1:{port}") as channel:
                yield f"127.0.0.1:{port}", channel
        finally:
            process.terminate()


def _wait_for(log: Path, process: subprocess.Popen[bytes], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while "serving registry" not in log.read_text():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"opm does not serve: {log.read_text()[-2000:]}")
        time.sleep(0.05)
