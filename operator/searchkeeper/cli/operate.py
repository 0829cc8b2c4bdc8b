"""The operator as a process: signals, endpoints, identity."""

from __future__ import annotations

__all__ = ["Operation", "operate"]

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
import kopf
from kubernetes.config import ConfigException

from searchkeeper.cli.engines import select_engine_clients
from searchkeeper.cli.errors import CommandError, Interrupted, ReadWriteError, no_cluster_error, request_error
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Key
from searchkeeper.manager import logging
from searchkeeper.manager.endpoints import serve_endpoints
from searchkeeper.manager.fencing import ShuttingDown
from searchkeeper.manager.kopf_login import connection
from searchkeeper.manager.kubernetes_client import KubernetesClient, connect, load_kubeconfig
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.manager import Clients, Manager, RequeueIntervals
from searchkeeper.manager.run_once import ClusterOutcome, RunOnce
from searchkeeper.manager.shutdown import exit_in_time, exit_now
from searchkeeper.operator_condition import OPERATOR_CONDITION
from searchkeeper.versions import Release

# Seconds between two moments at which signals are heard, whoever was woken by them.
_GLANCE: Final = 0.25


@dataclass(frozen=True)
class Operation:
    """What an operator is started with."""

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
        """What OLM has made for us, if we were installed by it."""
        return (
            Key(*OPERATOR_CONDITION, self.lease_namespace, self.condition_name)
            if self.condition_name
            else None
        )

    def named(self) -> str:
        """Never the same twice: a lease of an earlier life is somebody else's."""
        return f"{self.identity or socket.gethostname()}_{secrets.token_hex(4)}"


def operate(this: Operation, *, once: bool) -> None:
    """Ends with a signal, or with an error when watching fails for good. Raises ClickException."""
    logging.configure_logging()
    try:
        client = connect(load_kubeconfig(this.kubeconfig))
    except (ConfigException, OSError) as error:
        raise no_cluster_error(error) from error
    lease = LeaderLease(client, LeaderLease.named(this.lease_namespace), this.named())
    if once:
        _work_off(this, client, lease)
    else:
        _serve(this, client, lease)


def _serve(this: Operation, client: KubernetesClient, lease: LeaderLease) -> None:
    login = partial(_login, this.kubeconfig)
    ports = Clients(
        client, select_engine_clients(client, this.engine), login, this.operator_condition, this.images
    )
    plain = RequeueIntervals()
    pace = replace(plain, resync=this.resync, busy=min(plain.busy, this.resync), lease=lease.duration)
    operator = Manager(ports, this.release, lease, namespaces=this.namespaces, pace=pace)
    with ExitStack() as stack:
        stack.enter_context(exit_in_time(operator.farewell))
        for address in dict.fromkeys(this.addresses):
            _listen(stack, address, operator)
        stack.enter_context(_stopped_by_signals(operator))
        failures = _in_thread(lambda: asyncio.run(operator.run()))
    if failures:
        raise CommandError(f"the operator ended: {failures[0]}")
    exit_now(0)


def _listen(stack: ExitStack, address: tuple[str, int], operator: Manager) -> None:
    """Raises UsageError where nobody can."""
    try:
        stack.enter_context(serve_endpoints(address, operator.health, operator.metrics))
    except OSError as error:
        host, port = address
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        raise click.UsageError(f"nobody can listen at {place}: {error.strerror or error}") from error


def _login(kubeconfig: str | None) -> kopf.ConnectionInfo:
    """Read afresh whenever the watches are turned away: tokens are rotated."""
    return connection(load_kubeconfig(kubeconfig))


def _in_thread(work: Callable[[], None]) -> list[Exception]:
    """What it failed with. Not in the main thread: there signals are taken, and kopf would take them."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - told by whoever started it
            failures.append(error)

    thread = threading.Thread(target=run, name="operator")
    thread.start()
    # Not by one long wait: a signal that comes just before it, or to another thread, ends none, and whoever
    # waits would never hear of it.
    while thread.is_alive():
        thread.join(_GLANCE)
    return failures


@contextmanager
def _stopped_by_signals(operator: Manager | RunOnce) -> Iterator[None]:
    """The first asks for an end between two writes; the second does not ask."""

    def stop(number: int, _: Any) -> None:
        if operator.is_stopping:
            os._exit(128 + number)
        operator.stop()

    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _work_off(this: Operation, client: KubernetesClient, lease: LeaderLease) -> None:
    """Raises ClickException, also where some cluster has failed: when all have had their turn."""
    once = RunOnce(
        client, select_engine_clients(client, this.engine), this.release, lease, images=this.images
    )
    failures: list[click.ClickException] = []
    with exit_in_time(once.farewell), _stopped_by_signals(once):
        ended = _in_thread(lambda: once.run(this.namespaces, partial(_tell, failures)))
    for error in ended:
        if isinstance(error, ShuttingDown):
            raise Interrupted(str(error)) from error
        raise request_error(error) if isinstance(error, ApiError) else error
    if failures:
        # Silence outranks a refusal: to try again later may help.
        raise max(failures, key=lambda each: each.exit_code)


def _tell(failures: list[click.ClickException], this: ClusterOutcome) -> None:
    name = f"{this.cluster.namespace}/{this.cluster.name}"
    match this.error:
        case None:
            click.echo(f"{name}: {'done' if this.is_done else 'waits'}")
            return
        case ApiError() as error:
            failure = request_error(error, f"{name}: ")
        case error:
            failure = ReadWriteError(f"{name}: the engine does not do what it is told: {error}")
    click.echo(failure.message)
    failures.append(failure)
