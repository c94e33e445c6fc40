"""Pages in a headless Chromium, by its DevTools protocol."""

from __future__ import annotations

import base64
import io
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
]


def found() -> str | None:
    """Return the program, None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chromium:
    """One window; `offline` has it look up no name but those of this machine."""

    def __init__(self, width: int = 640, height: int = 480, *, offline: bool = False) -> None:
        program = found()
        assert program, "apt-get install chromium"
        self._profile = Path(tempfile.mkdtemp())
        alone = ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--proxy-server=127.0.0.1:9"]
        flags = [*FLAGS, f"--user-data-dir={self._profile}", f"--window-size={width},{height}", *alone[: 2 * offline]]
        self._process = subprocess.Popen([program, *flags, "about:blank"], stderr=subprocess.DEVNULL)
        self._id, self.events = 0, list[dict[str, Any]]()
        self._page = self._connect()
        self.call("Page.enable")
        self.call("Network.enable")
        self.call("Runtime.enable")
        self.resize(width, height)

    def _connect(self) -> Any:
        from websockets.sync.client import connect

        ready, end = self._profile / "DevToolsActivePort", time.monotonic() + 30.0
        while not (ready.exists() and ready.read_text().count("\n")):
            assert time.monotonic() < end, "Chromium does not start"
            time.sleep(0.05)
        port = ready.read_text().splitlines()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            (page,) = (tab for tab in json.load(answer) if tab["type"] == "page")
        return connect(page["webSocketDebuggerUrl"], max_size=None, open_timeout=30, ping_interval=None)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command."""
        self._id += 1
        self._page.send(json.dumps({"id": self._id, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._page.recv(timeout=60))
            if answer.get("id") == self._id:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def open(self, url: str) -> None:
        """Go to a page, and wait until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads(self._page.recv(timeout=60)))

    def resize(self, width: int, height: int) -> None:
        """Give the page this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def evaluate(self, code: str) -> Any:
        """Return the value of an expression of JavaScript."""
        return self.call("Runtime.evaluate", expression=code, returnByValue=True)["result"].get("value")

    def only_the_scene(self) -> None:
        """Hide panels and messages, for good."""
        style = "*:not(:has(canvas)):not(canvas):not(head):not(style):not(script) { visibility: hidden !important }"
        self.evaluate(f"document.head.insertAdjacentHTML('beforeend', '<style>{style}</style>')")

    def requests(self) -> list[str]:
        """Return what was asked for since the page was opened."""
        self.evaluate("0")
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def png(self) -> bytes:
        """Return what is seen."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def pixels(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return what is seen (height, width, 3)."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.png())).convert("RGB"))

    def until(self, seen: Callable[[Any], bool], seconds: float = 120.0) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return what is seen once it is as wanted, or after some time."""
        end = time.monotonic() + seconds
        while not seen(picture := self.pixels()) and time.monotonic() < end:
            time.sleep(0.5)
        return picture

    def still(self, seconds: float = 120.0) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Return what is seen once it has not changed for a second."""
        picture, since, end = self.pixels(), time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < min(end, since + 1.0):
            time.sleep(0.2)
            if not np.array_equal(picture, now := self.pixels()):
                picture, since = now, time.monotonic()
        return picture

    def close(self) -> None:
        """End it."""
        self._page.close()
        self._process.terminate()
        self._process.wait(timeout=20)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()
