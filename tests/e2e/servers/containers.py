"""What the node agent does with a container, by the name of its image. There is no container runtime.

A test registers a pattern of image names with an execution (NoProcess, Exited or Program), or with a function
that returns one for a container. Such a function may do the work itself and return Exited.
"""

from __future__ import annotations

__all__ = ["Container", "Execution", "Exited", "ImageHandler", "Images", "NoProcess", "Program", "always"]

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TypeAlias

from tests.e2e.servers.api import Object

_REFERENCE: Final = re.compile(r"\$\((?P<name>[\w.-]+)\)")
_KEYED: Final = re.compile(r"metadata\.(?P<map>annotations|labels)\['(?P<key>[^']+)'\]")


def always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class NoProcess:
    """The container is reported as running, but there is no process. `ready` is polled."""

    ready: Callable[[], bool] = always


@dataclass(frozen=True, slots=True)
class Exited:
    """The container has exited with this code."""

    code: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A process on this machine. `port` is its port on the loopback address, for Services."""

    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] = always
    port: int | None = None


Execution: TypeAlias = NoProcess | Exited | Program


@dataclass(frozen=True, slots=True)
class Container:
    """A container, with a folder on this machine for each mount path."""

    pod: Object
    spec: Object
    home: Path
    mounts: Mapping[str, Path]
    credentials: Callable[[], Path]
    """Creates a kubeconfig with a token of the pod's ServiceAccount."""

    @property
    def image(self) -> str:
        return str(self.spec["image"])

    @property
    def arguments(self) -> list[str]:
        """The command line, with expanded variables and with paths on this machine."""
        words = [*self.spec.get("command", ()), *self.spec.get("args", ())]
        return [self.local(self._expand(argument)) for argument in words]

    @property
    def environment(self) -> dict[str, str]:
        """The variables with a value or a fieldRef; others are left out."""
        found: dict[str, str] = {}
        for variable in self.spec.get("env", ()):
            value = variable.get("value")
            path = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            if path is not None:
                value = self._field(path)
            if value is not None:
                found[variable["name"]] = value
        return found

    def local(self, argument: str) -> str:
        """Translate a path below a mount, also after the `=` of an option, to its path on this machine."""
        option, equals, path = argument.rpartition("=") if argument.startswith("-") else ("", "", argument)
        for mounted in sorted(self.mounts, key=len, reverse=True):
            if path == mounted or path.startswith(f"{mounted.rstrip('/')}/"):
                return f"{option}{equals}{self.mounts[mounted]}{path[len(mounted.rstrip('/')) :]}"
        return argument

    def _expand(self, argument: str) -> str:
        known = self.environment
        return _REFERENCE.sub(lambda found: known.get(found["name"], found[0]), argument)

    def _field(self, path: str) -> str:
        if keyed := _KEYED.fullmatch(path):
            return str(self.pod["metadata"].get(keyed["map"], {}).get(keyed["key"], ""))
        found: object = self.pod
        for step in path.split("."):
            found = found.get(step, "") if isinstance(found, dict) else ""
        return str(found)


ImageHandler: TypeAlias = Callable[[Container], Execution]


class Images:
    """The registered images. A later registration takes precedence over an earlier one."""

    def __init__(self) -> None:
        self._registered: tuple[tuple[str, ImageHandler], ...] = ()

    def register(self, pattern: str, handler: ImageHandler | Execution) -> None:
        """Register a pattern of image names, in which `*` matches any text."""
        function = handler if callable(handler) else lambda _: handler
        self._registered = ((pattern, function), *self._registered)

    def handler_for(self, name: str) -> ImageHandler | None:
        return next((handler for pattern, handler in self._registered if fnmatchcase(name, pattern)), None)
