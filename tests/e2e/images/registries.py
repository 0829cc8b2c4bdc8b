"""Debian's docker-registry, to be killed and started again; and what its log says was asked."""

from __future__ import annotations

__all__ = ["DockerRegistry", "Elsewhere", "docker_registry", "elsewhere"]

import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import killpg
from pathlib import Path
from typing import Any, Final

from e2e.images.trusted import program
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.polling import wait_until
from e2e.servers.processes import Process, start_process

#: The user `ann` with the password `secret`; the registry takes bcrypt alone.
_USERS: Final = "ann:$2b$04$OaEpIRQwyt2AsZQe5w8XFe7XaTIYYHSbUmbxNm76mqcopZZvYI0TG\n"
_ASKED: Final = re.compile(r'"(HEAD|GET|POST|PUT|PATCH|DELETE) (/v2/\S*) HTTP')


class DockerRegistry:
    """One registry and its files, which outlive it."""

    def __init__(self, folder: Path, *, protected: bool, elsewhere: str | None = None) -> None:
        self.folder = folder
        self.host = f"{HOST}:{free_ports(1)[0]}"
        self._log = folder / "registry.log"
        self._process: Process | None = None
        (folder / "tmp").mkdir()
        settings: dict[str, Any] = {
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
            # Without a secret of ours an upload could not go on after a restart.
            "http": {"addr": self.host, "secret": "everpath"},
        }
        if protected:
            (folder / "users").write_text(_USERS)
            settings["auth"] = {"htpasswd": {"realm": "here", "path": str(folder / "users")}}
        if elsewhere is not None:
            redirect = {"name": "redirect", "options": {"baseurl": elsewhere}}
            settings["middleware"] = {"storage": [redirect]}
        (folder / "config.yml").write_text(json.dumps(settings))

    def start(self) -> None:
        command = (program("docker-registry"), "serve", self.folder / "config.yml")
        self._process = start_process("docker-registry", self._log, command, self.folder)
        wait_until("docker-registry listens", self._listens)

    def _listens(self) -> bool:
        address, _, port = self.host.partition(":")
        try:
            socket.create_connection((address, int(port)), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """At once, as a machine that loses its power."""
        if self._process is not None:
            killpg(self._process.pid, signal.SIGKILL)
            self._process.terminate(0)
            self._process = None

    def asked(self) -> list[tuple[str, str]]:
        """Every request so far: the method and the path."""
        return _ASKED.findall(self._log.read_text(errors="replace"))

    def blob(self, digest: str) -> Path:
        """The file of a blob in the registry's storage."""
        name = digest.removeprefix("sha256:")
        return self.folder / "images/docker/registry/v2/blobs/sha256" / name[:2] / name / "data"


@dataclass
class Elsewhere:
    """A server beside the registry, as the storage of a cloud is: it gives files, and hears who asks."""

    address: str = ""
    folder: Path | None = None
    heard: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """Gives the files below `folder`, once that is named."""
    made = Elsewhere()

    class Conversation(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.heard.append({name.lower(): value for name, value in self.headers.items()})
            data = Path(f"{made.folder}{self.path}").read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer((HOST, 0), Conversation)
    made.address = f"http://{HOST}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def docker_registry(
    folder: Path, *, protected: bool = False, elsewhere: str | None = None
) -> Iterator[DockerRegistry]:
    """A registry without any images; with an address elsewhere, one that sends whoever wants a blob there."""
    made = DockerRegistry(folder, protected=protected, elsewhere=elsewhere)
    made.start()
    try:
        yield made
    finally:
        made.kill()
