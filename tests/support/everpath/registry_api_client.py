"""A client of the registry API, for the servers of everpath and of opm."""

from __future__ import annotations

__all__ = ["Call", "CallError", "connect", "run_opm_serve", "send_call"]

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from everpath.server import registry_pb2 as api
from tests.e2e.servers.loopback import free_ports


class Call(NamedTuple):
    """A method and the fields of its request."""

    method: str
    fields: dict[str, str] = {}  # noqa: RUF012 - never changed
    metadata: tuple[tuple[str, str], ...] = ()


class CallError(NamedTuple):
    """The status of a failed call."""

    code: str
    message: str


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


def send_call(channel: grpc.Channel, call: Call, timeout: float = 60) -> list[Any] | CallError:
    """Send a call, and return its messages or its error."""
    service, method = _METHODS[call.method]
    request: Message = getattr(api, method.input_type.name)(**call.fields)
    message_type = Struct if method.output_type.name == "Struct" else getattr(api, method.output_type.name)
    is_stream = call.method in _STREAMS
    send: Any = (channel.unary_stream if is_stream else channel.unary_unary)(
        f"/{service}/{call.method}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_type.FromString,
    )
    try:
        response = send(request, timeout=timeout, metadata=call.metadata)
        return list(response) if is_stream else [response]
    except grpc.RpcError as error:
        return CallError(error.code().name, error.details() or "")


@contextmanager
def connect(address: str, *options: tuple[str, Any]) -> Iterator[grpc.Channel]:
    """Open a channel to a server that accepts connections."""
    default_options = (("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0))
    with grpc.insecure_channel(address, options=(*default_options, *options)) as channel:
        grpc.channel_ready_future(channel).result(timeout=60)
        yield channel


@contextmanager
def run_opm_serve(
    opm: str, catalog: Path, folder: Path, arguments: Sequence[str] = ()
) -> Iterator[tuple[str, grpc.Channel]]:
    """Run `opm serve`, and yield its address and a channel to it."""
    (port,) = free_ports(1)
    log = folder / f"opm-{port}.log"
    command = [opm, "serve", str(catalog), "-p", str(port), "--pprof-addr", "", "-t", str(folder / "words")]
    with log.open("wb") as out, subprocess.Popen([*command, *arguments], stdout=out, stderr=out) as process:
        try:
            _wait_for(log, process)
            with connect(f"127.0.0.1:{port}") as channel:
                yield f"127.0.0.1:{port}", channel
        finally:
            process.terminate()


def _wait_for(log: Path, process: subprocess.Popen[bytes], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while "serving registry" not in log.read_text():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"opm does not serve: {log.read_text()[-2000:]}")
        time.sleep(0.05)
