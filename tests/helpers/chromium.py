"""A page in headless Chromium, driven over a pipe: real clicks and keys, screenshots, downloads, messages."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-extensions",
    "--remote-debugging-pipe",
)
# Chromium reads commands from descriptor 3 and writes answers to 4.
_LAUNCH = (
    "import fcntl, os, sys; one, other = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]); "
    "os.dup2(one, 3); os.dup2(other, 4); os.execv(sys.argv[3], sys.argv[3:])"
)
_KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "Tab": ("Tab", 9, ""),
}
_PATIENCE = 60.0  # seconds


class Browser:
    """Headless Chromium with one page; use it in a `with` block.

    Args:
        folder: Folder for the profile and for downloads.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.messages: list[str] = []
        self.requests: list[str] = []
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        command = [sys.executable, "-ISc", _LAUNCH, str(read), str(write), CHROMIUM, *_FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._buffer, self._number, self._session = b"", 0, None
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._write)
        self._process.terminate()
        self._process.wait(timeout=_PATIENCE)
        os.close(self._read)

    def call(self, method: str, **settings: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": settings}
        if self._session is not None and not method.startswith("Browser."):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self) -> Any:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 2**20)
            if not part:
                raise RuntimeError("Chromium has ended.")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        answer = json.loads(text)
        self._note(answer.get("method"), answer.get("params", {}))
        return answer

    def _note(self, method: str | None, settings: Any) -> None:
        """Keep messages of the console, errors and requests."""
        if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.messages.append(json.dumps(settings))
        if method == "Network.requestWillBeSent":
            self.requests.append(settings["request"]["url"])

    def visit(self, path: Path, anchor: str = "") -> None:
        """Open a file and wait until its scripts ran; messages and requests are counted from here."""
        self.messages, self.requests = [], []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.as_uri() + anchor)
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _PATIENCE
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.05)

    def size(self, width: int, height: int, scale: float = 1.0) -> None:
        """Give the window a size; a narrow one is a phone."""
        phone = width < 600
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )

    def media(self, kind: str = "", scheme: str = "light") -> None:
        """Choose screen or print, light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=kind, features=features)

    def click(self, selector: str) -> None:
        """Click the middle of the first element that matches."""
        found = json.dumps(selector)
        self.evaluate(f"document.querySelector({found}).scrollIntoView({{block: 'center'}})")
        box = self.evaluate(
            f"(() => {{const b = document.querySelector({found}).getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2];})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def press(self, *keys: str) -> None:
        """Press keys: single characters, or names such as "Enter"."""
        for key in keys:
            name, code, text = _KEYS.get(key, (key, ord(key[0].upper()), key))
            for kind in ("keyDown", "keyUp"):
                held = {"text": text} if text and kind == "keyDown" else {}
                self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code, **held)

    def type(self, text: str) -> None:
        """Write a text into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def screenshot(self, path: Path) -> None:
        """Save what the window shows as PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def downloaded(self, name: str) -> Path:
        """Wait for a download and return its file."""
        path, end = self.folder / name, time.monotonic() + _PATIENCE
        while not path.exists() or not path.stat().st_size:
            if time.monotonic() > end:
                raise TimeoutError(name)
            time.sleep(0.05)
        return path
