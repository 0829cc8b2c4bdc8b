"""`searchkeeper run`: the operator as a process, with its signals, endpoints and identity."""

from __future__ import annotations

__all__ = ["OperatorOptions", "operate"]

import asyncio
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import click
from kubernetes.config import ConfigException

from searchkeeper.cli.engines import select_engine_clients
from searchkeeper.cli.errors import CommandError, Interrupted, ReadWriteError, no_cluster_error, request_error
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager import logging
from searchkeeper.manager.endpoints import serve_endpoints
from searchkeeper.manager.fencing import ShuttingDown
from searchkeeper.manager.kubernetes_client import KubernetesClient, connect, load_kubeconfig
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.manager import Clients, Manager, RequeueIntervals
from searchkeeper.manager.run_once import ClusterOutcome, RunOnce
from searchkeeper.manager.shutdown import exit_in_time, exit_now
from searchkeeper.operator_condition import OPERATOR_CONDITION
from searchkeeper.versions import Release

# Seconds between two moments at which the main thread handles signals.
_POLL: Final = 0.25


@dataclass(frozen=True)
class OperatorOptions:
    """The options of `searchkeeper run`, and what the environment adds to them."""

    release: Release
    namespaces: tuple[str, ...]
    kubeconfig: str | None
    engine: str | None
    lease_namespace: str
    identity: str | None
    addresses: tuple[tuple[str, int], ...]
    resync: float
    condition_name: str | None = None
    images: Images = PUBLISHED

    @property
    def operator_condition(self) -> Key | None:
        """The OperatorCondition that OLM created for this operator, if OLM installed it."""
        if not self.condition_name:
            return None
        return Key(*OPERATOR_CONDITION, self.lease_namespace, self.condition_name)

    def unique_identity(self) -> str:
        """A new identity for each process: the Lease of an earlier process belongs to another candidate."""
        return f"{self.identity or socket.gethostname()}_{secrets.token_hex(4)}"


def operate(options: OperatorOptions, *, once: bool) -> None:
    """Run until a signal arrives, or with `once` until nothing changes. Raises ClickException."""
    logging.configure_logging()
    try:
        client = connect(load_kubeconfig(options.kubeconfig))
    except (ConfigException, OSError) as error:
        raise no_cluster_error(error) from error
    key = LeaderLease.lease_key(options.lease_namespace)
    lease = LeaderLease(client, key, options.unique_identity())
    (_run_once if once else _run_manager)(options, client, lease)


def _run_manager(options: OperatorOptions, client: KubernetesClient, lease: LeaderLease) -> None:
    clients = Clients(
        client,
        select_engine_clients(client, options.engine),
        # Watches keep their connections, so they have a pool of their own.
        connect(load_kubeconfig(options.kubeconfig)),
        options.operator_condition,
        options.images,
    )
    default = RequeueIntervals()
    intervals = replace(
        default,
        resync=options.resync,
        waiting=min(default.waiting, options.resync),
        lease=lease.duration,
    )
    manager = Manager(clients, options.release, lease, namespaces=options.namespaces, intervals=intervals)
    with ExitStack() as stack:
        stack.enter_context(exit_in_time(manager.shutdown))
        for host, port in dict.fromkeys(options.addresses):
            try:
                stack.enter_context(serve_endpoints((host, port), manager.health, manager.metrics))
            except OSError as error:
                address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
                raise click.UsageError(f"cannot listen on {address}: {error.strerror or error}") from error
        stack.enter_context(_stop_on_signals(manager))
        failures = _run_in_thread(lambda: asyncio.run(manager.run()))
    if failures:
        raise CommandError(f"the operator ended: {failures[0]}")
    exit_now(0)


def _run_once(options: OperatorOptions, client: KubernetesClient, lease: LeaderLease) -> None:
    """Raises the gravest failure of a cluster after all clusters are reconciled."""
    once = RunOnce(
        client, select_engine_clients(client, options.engine), options.release, lease, images=options.images
    )
    cluster_failures: list[click.ClickException] = []
    with exit_in_time(once.shutdown), _stop_on_signals(once):
        failures = _run_in_thread(
            lambda: once.run(options.namespaces, partial(_report_outcome, cluster_failures))
        )
    for error in failures:
        if isinstance(error, ShuttingDown):
            raise Interrupted(str(error)) from error
        raise request_error(error) if isinstance(error, ApiError) else error
    if cluster_failures:
        # An API server that does not respond has the higher exit code: a later run may succeed.
        raise max(cluster_failures, key=lambda failure: failure.exit_code)


def _report_outcome(failures: list[click.ClickException], outcome: ClusterOutcome) -> None:
    """Print the outcome of one cluster; append its failure, if there is one."""
    name = f"{outcome.cluster.namespace}/{outcome.cluster.name}"
    match outcome.error:
        case None:
            click.echo(f"{name}: {'done' if outcome.is_done else 'waiting'}")
            return
        case ApiError() as error:
            failure = request_error(error, f"{name}: ")
        case error:
            failure = ReadWriteError(f"{name}: the engine call failed: {error}")
    click.echo(failure.message)
    failures.append(failure)


def _run_in_thread(work: Callable[[], None]) -> list[Exception]:
    """Run work in another thread; return the exception that ended it, if any.

    The main thread only handles signals, because Python runs signal handlers there.
    """
    failures: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the caller raises it
            failures.append(error)

    thread = threading.Thread(target=run, name="operator")
    thread.start()
    # Short joins: a signal that arrives just before a join, or in another thread, does not interrupt it.
    while thread.is_alive():
        thread.join(_POLL)
    return failures


@contextmanager
def _stop_on_signals(process: Manager | RunOnce) -> Iterator[None]:
    """Stop gracefully at the first SIGTERM or SIGINT; exit at once at the second."""

    def stop(number: int, _: Any) -> None:
        if process.is_stopping:
            os._exit(128 + number)
        process.stop()

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
