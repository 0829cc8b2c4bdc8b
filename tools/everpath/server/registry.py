"""The registry API over gRPC: each call is answered from the snapshot that is being served when it comes."""

from __future__ import annotations

__all__ = ["Observer", "Registry", "Served", "registry_handlers"]

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Final, Protocol, TypeAlias

import grpc
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct

from everpath.model import Gvk
from everpath.server import registry_pb2 as api
from everpath.server.answers import Absent
from everpath.server.snapshots import Snapshot

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_One: TypeAlias = Callable[[Snapshot, Any], Message]
_Many: TypeAlias = Callable[[Snapshot, Any], Iterable[bytes]]

#: Who calls an experimental method must say that it knows.
_ACKNOWLEDGED: Final = ("x-acknowledge-experimental", "true")

_LIST: Final = "ListBundles"


class Served:
    """What is being served: one snapshot after the other."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot


class Observer(Protocol):
    """Is told of every call: its name, how it ended, how long it took."""

    def answered(self, method: str, code: str, seconds: float) -> None: ...


class Registry:
    """Calls become answers, and what is not there opm's errors: code UNKNOWN and its words."""

    def __init__(self, served: Served, observer: Observer) -> None:
        self._served = served
        self._observer = observer

    def one(self, method: str, answer: _One) -> Callable[[Any, _Context], Awaitable[bytes]]:
        """The handler of a call with one answer. It is made in a thread: manifests may have to be parsed."""

        async def handled(request: Any, context: _Context) -> bytes:
            with _Timed(self._observer, method) as timed:
                try:
                    return await asyncio.to_thread(_serialised, answer, self._served.snapshot, request)
                except Absent as absent:
                    await timed.end(context, grpc.StatusCode.UNKNOWN, str(absent))
                except ValueError as error:
                    await timed.end(context, grpc.StatusCode.INTERNAL, str(error))
                raise AssertionError(method)  # `end` never returns

        return handled

    def many(self, method: str, answers: _Many) -> Callable[[Any, _Context], AsyncIterator[bytes]]:
        """The handler of a call with a stream of answers, which waits for whoever reads slowly."""

        async def handled(request: Any, context: _Context) -> AsyncIterator[bytes]:
            with _Timed(self._observer, method) as timed:
                snapshot = self._served.snapshot
                is_heavy = method == _LIST and snapshot.answers.has_inline
                try:
                    async for message in _made(answers(snapshot, request), is_heavy):
                        yield message
                except Absent as absent:
                    await timed.end(context, grpc.StatusCode.UNKNOWN, str(absent))
                except ValueError as error:
                    await timed.end(context, grpc.StatusCode.INTERNAL, str(error))

        return handled

    def experimental(self, method: str) -> Callable[[Any, _Context], AsyncIterator[bytes]]:
        """The handler of the one call that must be acknowledged."""

        async def handled(request: Any, context: _Context) -> AsyncIterator[bytes]:
            with _Timed(self._observer, method) as timed:
                if not _is_acknowledged(context):
                    return
                if not request.schema:
                    await timed.end(context, grpc.StatusCode.INVALID_ARGUMENT, "schema is required")
                snapshot = self._served.snapshot
                try:
                    found = snapshot.answers.customs(request.schema, request.packageName)
                except ValueError as error:
                    await timed.end(context, grpc.StatusCode.INVALID_ARGUMENT, str(error))
                for custom in found:
                    document = Struct()
                    document.update(snapshot.document(custom.where))
                    yield document.SerializeToString(deterministic=True)

        return handled


async def _made(messages: Iterable[bytes], is_heavy: bool) -> AsyncIterator[bytes]:
    """Messages, each made in a thread of its own if that may take time: others are answered meanwhile."""
    rest = iter(messages)
    if not is_heavy:
        for message in rest:
            yield message
        return
    while (made := await asyncio.to_thread(next, rest, None)) is not None:
        yield made


class _Timed:
    """Tells an observer how a call went."""

    def __init__(self, observer: Observer, method: str) -> None:
        self._observer = observer
        self._method = method
        self._code = grpc.StatusCode.OK

    def __enter__(self) -> _Timed:
        self._start = time.perf_counter()
        return self

    async def end(self, context: _Context, code: grpc.StatusCode, words: str) -> None:
        self._code = code
        await context.abort(code, words)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        code = self._code
        if code is grpc.StatusCode.OK and kind is not None:
            is_gone = issubclass(kind, asyncio.CancelledError | GeneratorExit)
            code = grpc.StatusCode.CANCELLED if is_gone else grpc.StatusCode.UNKNOWN
        self._observer.answered(self._method, code.name, time.perf_counter() - self._start)


def _serialised(answer: _One, snapshot: Snapshot, request: Any) -> bytes:
    return answer(snapshot, request).SerializeToString(deterministic=True)


def _is_acknowledged(context: _Context) -> bool:
    stated = [value for key, value in context.invocation_metadata() or () if key == _ACKNOWLEDGED[0]]
    return stated[:1] == [_ACKNOWLEDGED[1]]


def _gvk(request: Any) -> Gvk:
    return Gvk(request.group, request.version, request.kind)


def _messages(found: Iterable[Message]) -> Iterator[bytes]:
    return (message.SerializeToString() for message in found)


_ONE: Final[dict[str, _One]] = {
    "GetPackage": lambda s, r: s.answers.package(r.name),
    "GetBundle": lambda s, r: s.answers.bundle(r.pkgName, r.channelName, r.csvName),
    "GetBundleForChannel": lambda s, r: s.answers.head(r.pkgName, r.channelName),
    "GetBundleThatReplaces": lambda s, r: s.answers.replacement(r.csvName, r.pkgName, r.channelName),
    "GetDefaultBundleThatProvides": lambda s, r: s.answers.default_provider(_gvk(r)),
}
_MANY: Final[dict[str, _Many]] = {
    "ListPackages": lambda s, _: s.answers.packages(),
    _LIST: lambda s, _: s.answers.bundles(),
    "GetChannelEntriesThatReplace": lambda s, r: _messages(s.answers.replacements(r.csvName)),
    "GetChannelEntriesThatProvide": lambda s, r: _messages(s.answers.providers(_gvk(r))),
    "GetLatestChannelEntriesThatProvide": lambda s, r: _messages(s.answers.latest_providers(_gvk(r))),
}


def registry_handlers(served: Served, observer: Observer) -> Iterator[grpc.GenericRpcHandler]:
    """The services of the proto, a handler for each of their methods."""
    registry = Registry(served, observer)
    for service in api.DESCRIPTOR.services_by_name.values():
        handlers = {method.name: _handler(registry, method) for method in service.methods}
        yield grpc.method_handlers_generic_handler(service.full_name, handlers)


def _handler(registry: Registry, method: Any) -> grpc.RpcMethodHandler[Any, Any]:
    request = getattr(api, method.input_type.name).FromString
    if method.name in _ONE:
        one = registry.one(method.name, _ONE[method.name])
        return grpc.unary_unary_rpc_method_handler(one, request_deserializer=request)
    if method.name in _MANY:
        many = registry.many(method.name, _MANY[method.name])
        return grpc.unary_stream_rpc_method_handler(many, request_deserializer=request)
    experimental = registry.experimental(method.name)
    return grpc.unary_stream_rpc_method_handler(experimental, request_deserializer=request)
