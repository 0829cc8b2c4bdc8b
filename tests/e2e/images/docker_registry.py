"""docker-registry of Debian as a process that tests can kill and restart."""

from __future__ import annotations

__all__ = ["BlobStorage", "DockerRegistry", "blob_storage", "docker_registry"]

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

from tests.e2e.images.image_tools import program
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.polling import wait_until
from tests.e2e.servers.processes import Process, start_process

#: The user `ann` with the password `secret`. The registry accepts only bcrypt.
_USERS: Final = "ann:$2b$04$OaEpIRQwyt2AsZQe5w8XFe7XaTIYYHSbUmbxNm76mqcopZZvYI0TG\n"
_REQUEST: Final = re.compile(r'"(HEAD|GET|POST|PUT|PATCH|DELETE) (/v2/\S*) HTTP')


class DockerRegistry:
    """A registry. Its files are kept when it is killed."""

    def __init__(self, folder: Path, *, protected: bool, blob_storage: str | None = None) -> None:
        self.folder = folder
        self.host = f"{HOST}:{free_ports(1)[0]}"
        self._log = folder / "registry.log"
        self._process: Process | None = None
        (folder / "tmp").mkdir()
        settings: dict[str, Any] = {
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
            # With a fixed secret an upload can continue after a restart.
            "http": {"addr": self.host, "secret": "everpath"},
        }
        if protected:
            (folder / "users").write_text(_USERS)
            settings["auth"] = {"htpasswd": {"realm": "here", "path": str(folder / "users")}}
        if blob_storage is not None:
            redirect = {"name": "redirect", "options": {"baseurl": blob_storage}}
            settings["middleware"] = {"storage": [redirect]}
        (folder / "config.yml").write_text(json.dumps(settings))

    def start(self) -> None:
        command = (program("docker-registry"), "serve", self.folder / "config.yml")
        self._process = start_process("docker-registry", self._log, command, self.folder)
        wait_until("docker-registry listens", self._is_listening)

    def _is_listening(self) -> bool:
        address, _, port = self.host.partition(":")
        try:
            socket.create_connection((address, int(port)), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """Send SIGKILL."""
        if self._process is not None:
            killpg(self._process.pid, signal.SIGKILL)
            self._process.terminate(0)
            self._process = None

    def requests(self) -> list[tuple[str, str]]:
        """Return the method and the path of every request in the log."""
        return _REQUEST.findall(self._log.read_text(errors="replace"))

    def blob(self, digest: str) -> Path:
        """Return the file of a blob in the storage of the registry."""
        name = digest.removeprefix("sha256:")
        return self.folder / "images/docker/registry/v2/blobs/sha256" / name[:2] / name / "data"


@dataclass
class BlobStorage:
    """An HTTP server of blobs, like the object storage of a cloud. It records the headers of requests."""

    address: str = ""
    folder: Path | None = None
    request_headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def blob_storage() -> Iterator[BlobStorage]:
    """Run a server of the files below `folder`, which is set later."""
    storage = BlobStorage()

    class BlobHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            storage.request_headers.append({name.lower(): value for name, value in self.headers.items()})
            data = Path(f"{storage.folder}{self.path}").read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer((HOST, 0), BlobHandler)
    storage.address = f"http://{HOST}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield storage
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def docker_registry(
    folder: Path, *, protected: bool = False, blob_storage: str | None = None
) -> Iterator[DockerRegistry]:
    """Run an empty registry. It redirects downloads of blobs to the address `blob_storage`."""
    registry = DockerRegistry(folder, protected=protected, blob_storage=blob_storage)
    registry.start()
    try:
        yield registry
    finally:
        registry.kill()
