"""gRPC handlers of the registry API. Each call uses the snapshot that is served when the call starts."""

from __future__ import annotations

__all__ = ["CallObserver", "registry_handlers"]

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeAlias

import grpc
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from everpath.model import Gvk
from everpath.server import registry_pb2 as api
from everpath.server.catalog.snapshot import CatalogSnapshot, CurrentSnapshot
from everpath.server.index.queries import NotFound

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_UnaryQuery: TypeAlias = Callable[[CatalogSnapshot, Any], Message]
_StreamQuery: TypeAlias = Callable[[CatalogSnapshot, Any], Iterable[bytes]]
_UnaryHandler: TypeAlias = Callable[[Any, _Context], Awaitable[bytes]]
_StreamHandler: TypeAlias = Callable[[Any, _Context], AsyncIterator[bytes]]

#: The metadata that a client of an experimental method must send.
_ACKNOWLEDGEMENT: Final = ("x-acknowledge-experimental", "true")

_LIST_BUNDLES: Final = "ListBundles"


class CallObserver(Protocol):
    """Records every call: its method, its status code and its duration."""

    def record_call(self, method: str, code: str, seconds: float) -> None: ...


def registry_handlers(served: CurrentSnapshot, observer: CallObserver) -> Iterator[grpc.GenericRpcHandler]:
    """Yield a handler for each service of registry.proto."""
    factory = _HandlerFactory(served, observer)
    for service in api.DESCRIPTOR.services_by_name.values():
        handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        for method in service.methods:
            deserializer = getattr(api, method.input_type.name).FromString
            if unary_query := _UNARY_QUERIES.get(method.name):
                handlers[method.name] = grpc.unary_unary_rpc_method_handler(
                    factory.unary(method.name, unary_query), request_deserializer=deserializer
                )
                continue
            if stream_query := _STREAM_QUERIES.get(method.name):
                stream = factory.stream(method.name, stream_query)
            else:
                stream = factory.custom_schemas(method.name)
            handlers[method.name] = grpc.unary_stream_rpc_method_handler(
                stream, request_deserializer=deserializer
            )
        yield grpc.method_handlers_generic_handler(service.full_name, handlers)


class _HandlerFactory:
    """Builds the handlers of methods. Errors have opm's codes and messages."""

    def __init__(self, served: CurrentSnapshot, observer: CallObserver) -> None:
        self._served = served
        self._observer = observer

    def unary(self, method: str, query: _UnaryQuery) -> _UnaryHandler:
        """Build a handler that returns one message."""

        async def handle(request: Any, context: _Context) -> bytes:
            snapshot = self._served.snapshot

            def respond() -> bytes:
                return query(snapshot, request).SerializeToString(deterministic=True)

            with _Call(self._observer, method, context) as call:
                try:
                    # In a thread: the query may have to parse manifests.
                    return await asyncio.to_thread(respond)
                except (NotFound, ValueError) as error:
                    await call.abort_with(error)
                raise AssertionError(method)  # not reached: `abort_with` raises

        return handle

    def stream(self, method: str, query: _StreamQuery) -> _StreamHandler:
        """Build a handler that streams messages as fast as the client reads them."""

        async def handle(request: Any, context: _Context) -> AsyncIterator[bytes]:
            with _Call(self._observer, method, context) as call:
                snapshot = self._served.snapshot
                is_slow = method == _LIST_BUNDLES and snapshot.queries.has_inline_manifests
                try:
                    messages = iter(query(snapshot, request))
                    if is_slow:
                        # Each message is built in a thread: other calls are handled meanwhile.
                        while (message := await asyncio.to_thread(next, messages, None)) is not None:
                            yield message
                    else:
                        for message in messages:
                            yield message
                except (NotFound, ValueError) as error:
                    await call.abort_with(error)

        return handle

    def custom_schemas(self, method: str) -> _StreamHandler:
        """Build the handler of ExperimentalListPackageCustomSchemas.

        Like opm, it returns nothing to a client that does not acknowledge that the method is experimental.
        """

        async def handle(request: Any, context: _Context) -> AsyncIterator[bytes]:
            with _Call(self._observer, method, context) as call:
                name, value = _ACKNOWLEDGEMENT
                values = [sent for key, sent in context.invocation_metadata() or () if key == name]
                if values[:1] != [value]:
                    return
                if not request.schema:
                    await call.abort(grpc.StatusCode.INVALID_ARGUMENT, "schema is required")
                snapshot = self._served.snapshot
                try:
                    found = snapshot.queries.list_custom_documents(request.schema, request.packageName)
                except ValueError as error:
                    await call.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
                for custom in found:
                    document = Struct()
                    document.update(snapshot.document(custom.document))
                    yield document.SerializeToString(deterministic=True)

        return handle


class _Call:
    """Times a call and reports its status code to the observer."""

    def __init__(self, observer: CallObserver, method: str, context: _Context) -> None:
        self._observer = observer
        self._method = method
        self._context = context
        self._code = grpc.StatusCode.OK

    def __enter__(self) -> _Call:
        self._start = time.perf_counter()
        return self

    async def abort_with(self, error: NotFound | ValueError) -> None:
        """End the call with the code that opm uses for what is not found, or for an invalid document."""
        is_not_found = isinstance(error, NotFound)
        code = grpc.StatusCode.UNKNOWN if is_not_found else grpc.StatusCode.INTERNAL
        await self.abort(code, str(error))

    async def abort(self, code: grpc.StatusCode, message: str) -> None:
        """End the call by raising gRPC's AbortError."""
        self._code = code
        await self._context.abort(code, message)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        code = self._code
        if code is grpc.StatusCode.OK and kind is not None:
            is_cancelled = issubclass(kind, asyncio.CancelledError | GeneratorExit)
            code = grpc.StatusCode.CANCELLED if is_cancelled else grpc.StatusCode.UNKNOWN
        self._observer.record_call(self._method, code.name, time.perf_counter() - self._start)


def _gvk(request: Any) -> Gvk:
    return Gvk(request.group, request.version, request.kind)


def _serialize(messages: Iterable[Message]) -> Iterator[bytes]:
    return (message.SerializeToString() for message in messages)


_UNARY_QUERIES: Final[dict[str, _UnaryQuery]] = {
    "GetPackage": lambda s, r: s.queries.get_package(r.name),
    "GetBundle": lambda s, r: s.queries.get_bundle(r.pkgName, r.channelName, r.csvName),
    "GetBundleForChannel": lambda s, r: s.queries.get_bundle_for_channel(r.pkgName, r.channelName),
    "GetBundleThatReplaces": lambda s, r: s.queries.get_bundle_that_replaces(
        r.csvName, r.pkgName, r.channelName
    ),
    "GetDefaultBundleThatProvides": lambda s, r: s.queries.get_default_bundle_that_provides(_gvk(r)),
}
_STREAM_QUERIES: Final[dict[str, _StreamQuery]] = {
    "ListPackages": lambda s, _: s.queries.list_packages(),
    _LIST_BUNDLES: lambda s, _: s.queries.list_bundles(),
    "GetChannelEntriesThatReplace": lambda s, r: _serialize(
        s.queries.get_channel_entries_that_replace(r.csvName)
    ),
    "GetChannelEntriesThatProvide": lambda s, r: _serialize(
        s.queries.get_channel_entries_that_provide(_gvk(r))
    ),
    "GetLatestChannelEntriesThatProvide": lambda s, r: _serialize(
        s.queries.get_latest_channel_entries_that_provide(_gvk(r))
    ),
}
