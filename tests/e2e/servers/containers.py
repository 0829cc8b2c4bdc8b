"""What becomes of a container of some image, where nothing can run images: the seam of the node agent.

A test offers an *image*: a pattern of names, and what a container of it does. That is one of the three ends
below, or a function that makes one out of the container; it may also do the work itself, and return Ended.
"""

from __future__ import annotations

__all__ = ["Behaviour", "Container", "Ended", "Fate", "Feigned", "Images", "Program", "always"]

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TypeAlias

from e2e.servers.api import Object

_REFERENCE: Final = re.compile(r"\$\((?P<name>[\w.-]+)\)")
_KEYED: Final = re.compile(r"metadata\.(?P<map>annotations|labels)\['(?P<key>[^']+)'\]")


def always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Feigned:
    """Runs for ever without running; `ready` is asked again and again."""

    ready: Callable[[], bool] = always


@dataclass(frozen=True, slots=True)
class Ended:
    """Has run, and ended with this exit code."""

    code: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A process of this machine. `port` is where it answers on the loopback address, for Services."""

    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] = always
    port: int | None = None


Fate: TypeAlias = Feigned | Ended | Program


@dataclass(frozen=True, slots=True)
class Container:
    """A container as a program of this machine can be it: with folders for its mounts."""

    pod: Object
    spec: Object
    home: Path
    mounts: Mapping[str, Path]
    credentials: Callable[[], Path]
    """Makes a kubeconfig for the pod's ServiceAccount: what the program may do is what the account may."""

    @property
    def image(self) -> str:
        return str(self.spec["image"])

    @property
    def arguments(self) -> list[str]:
        """The command line, with variables expanded and paths below a mount as those of its folder."""
        said = [*self.spec.get("command", ()), *self.spec.get("args", ())]
        return [self.local(self._expanded(argument)) for argument in said]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that are given as values or by fields of the pod; others are left out."""
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
        """A path of the container as one of this machine; also behind the `=` of an option."""
        option, equals, path = argument.rpartition("=") if argument.startswith("-") else ("", "", argument)
        for mounted in sorted(self.mounts, key=len, reverse=True):
            if path == mounted or path.startswith(f"{mounted.rstrip('/')}/"):
                return f"{option}{equals}{self.mounts[mounted]}{path[len(mounted.rstrip('/')) :]}"
        return argument

    def _expanded(self, argument: str) -> str:
        known = self.environment
        return _REFERENCE.sub(lambda found: known.get(found["name"], found[0]), argument)

    def _field(self, path: str) -> str:
        if keyed := _KEYED.fullmatch(path):
            return str(self.pod["metadata"].get(keyed["map"], {}).get(keyed["key"], ""))
        found: object = self.pod
        for step in path.split("."):
            found = found.get(step, "") if isinstance(found, dict) else ""
        return str(found)


Behaviour: TypeAlias = Callable[[Container], Fate]


class Images:
    """The images that containers can be made of. What is offered last counts first."""

    def __init__(self) -> None:
        self._offered: tuple[tuple[str, Behaviour], ...] = ()

    def offer(self, pattern: str, behaviour: Behaviour | Fate) -> None:
        """`pattern` is a name, with `*` for anything."""
        does = behaviour if callable(behaviour) else lambda _: behaviour
        self._offered = ((pattern, does), *self._offered)

    def of(self, name: str) -> Behaviour | None:
        return next((does for pattern, does in self._offered if fnmatchcase(name, pattern)), None)
