"""A headless Chromium, controlled by the DevTools protocol through a pipe."""

from __future__ import annotations

__all__ = ["Browser", "Opened", "Window", "program"]

import fcntl
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# In seconds, enough for a busy machine.
_PATIENCE = 60.0
_KEYS = {"Enter": 13, "Escape": 27, "Home": 36, "End": 35, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9}


def program() -> str | None:
    """Return the path of Chromium, or None."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class RefusedError(RuntimeError):
    """The browser rejected a command."""


class Browser:
    """One browser with one window. Each command waits for its response."""

    def __init__(self, program: str, profile: Path) -> None:
        # Above 3 and 4, which Chromium uses for the pipe.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for pair in (os.pipe(), os.pipe()) for end in pair]
        theirs_in, ours_out, ours_in, theirs_out = ends
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            # Otherwise Chromium drops a click before the first frame, which takes long on a busy machine.
            "--allow-pre-commit-input",
            # Containers have little shared memory, and a page without it crashes.
            "--disable-dev-shm-usage",
        ]
        actions: list[tuple[Any, ...]] = [
            (os.POSIX_SPAWN_DUP2, theirs_in, 3),
            (os.POSIX_SPAWN_DUP2, theirs_out, 4),
            *((os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)),
        ]
        arguments = [program, *options, f"--user-data-dir={profile}", "about:blank"]
        self._process = os.posix_spawn(program, arguments, os.environ, file_actions=actions, setsid=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = ours_out, ours_in
        self._number, self._rest = 0, b""
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        attached = self.ask("Target.attachToTarget", targetId=self._page(), flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def _page(self) -> str:
        """Return the window; a browser that has just started may not have one yet."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            targets = self.ask("Target.getTargets")["targetInfos"]
            if found := [str(target["targetId"]) for target in targets if target["type"] == "page"]:
                return found[0]
            assert time.monotonic() < deadline, "the browser opens no window"
            time.sleep(0.01)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its response; earlier events are kept. Raises RefusedError."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._hear()
            if heard.get("id") == self._number:
                if "error" in heard:
                    raise RefusedError(heard["error"])
                result: dict[str, Any] = heard["result"]
                return result
            self.events.append(heard)

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._in, 1 << 20)
            assert part, "the browser has gone"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(message)
        return heard

    def close(self) -> None:
        os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._out)
        os.close(self._in)


class Window:
    """A page in the browser, and user actions."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser = browser
        self.open(url)

    def open(self, url: str) -> None:
        """Open a URL and wait until its script has run. The page changes the fragment itself."""
        self._browser.events.clear()
        self._browser.ask("Page.navigate", url=url)
        wanted, deadline = f"{url.partition('#')[0]} complete", time.monotonic() + _PATIENCE
        while self._shown() != wanted:
            assert time.monotonic() < deadline, f"never: {wanted}"
            time.sleep(0.01)

    def _shown(self) -> str:
        """Return the URL and the state of loading; empty between two pages."""
        with suppress(RefusedError):
            return str(self.js("`${location.href.split('#')[0]} ${document.readyState}`"))
        return ""

    def js(self, expression: str) -> Any:
        """Evaluate an expression in the page."""
        answer = self._browser.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true: scrolling and opening take a frame."""
        deadline = time.monotonic() + _PATIENCE
        while not self.js(expression):
            assert time.monotonic() < deadline, f"never: {expression}"
            time.sleep(0.01)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements of a selector."""
        found: list[str] = self.js(
            f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent.trim())"
        )
        return found

    def press(self, key: str) -> None:
        """Press a key."""
        known = {"windowsVirtualKeyCode": _KEYS[key]} if key in _KEYS else {"text": key}
        text = {"text": "\r"} if key == "Enter" else {}
        self._browser.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, **known, **text)
        self._browser.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, **known)

    def type(self, text: str) -> None:
        self._browser.ask("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        rectangle = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        box = self.js(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({rectangle})")
        for kind in ("mousePressed", "mouseReleased"):
            self._browser.ask(
                "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1
            )

    def prefer(self, scheme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._browser.ask("Emulation.setEmulatedMedia", features=features)

    def on_paper(self) -> None:
        """Use the styles for print, without the events."""
        self._browser.ask("Emulation.setEmulatedMedia", media="print")

    def resize(self, width: int, height: int) -> None:
        self._browser.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def pdf(self) -> int:
        """Print to PDF and return the number of bytes."""
        return len(self._browser.ask("Page.printToPDF")["data"])

    @property
    def complaints(self) -> list[str]:
        """Return errors of the browser: blocked styles and scripts, uncaught exceptions."""
        wrong = ("Log.entryAdded", "Runtime.exceptionThrown")
        return [json.dumps(e["params"]) for e in self._browser.events if e.get("method") in wrong]

    @property
    def requests(self) -> list[str]:
        """Return every requested URL."""
        sent = [e for e in self._browser.events if e.get("method") == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent]


Opened = Callable[..., Window]
