"""Chromium, headless, driven over the pipe of its DevTools protocol: opens a page, clicks, reads, takes pictures."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe"
).split()
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"
PATIENCE = 60  # s: a loaded machine may take long; nothing here is a measurement


def executable() -> str | None:
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


class Browser:
    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in os.pipe())
        self.source, to_write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in os.pipe())
        # The protocol is spoken on descriptors 3 and 4; a shell puts the pipes there without disturbing Python's own.
        command = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", executable() or "chromium", *FLAGS]
        command += [OFFLINE, f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(
            command, pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.count, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def message(self, until: float) -> dict:
        while b"\0" not in self.buffer:
            if not select.select([self.source], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.source, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method: str, **parameters: object) -> dict:
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.message(until)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def evaluate(self, expression: str) -> object:
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, expression: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.evaluate(expression):
            if time.monotonic() > until:
                raise TimeoutError(
                    f"{expression} did not come true; errors: {self.evaluate('document.body.dataset.errors')}"
                )
            time.sleep(0.05)

    def size(self, width: int, height: int, phone: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)

    def open(self, path: pathlib.Path, fragment: str = "") -> None:
        """Loads a page and waits until it says that it is drawn."""
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + fragment)
        said = "document.body.dataset.drawn || document.body.dataset.errors"
        self.wait_for(f"document.readyState === 'complete' && document.body && ({said})")

    def requested(self) -> list[str]:
        """Addresses that the page asked for since it was opened."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, x: float, y: float) -> None:
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def key(self, name: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def picture(self, path: pathlib.Path, full: bool = True) -> None:
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        path.write_bytes(base64.b64decode(taken["data"]))

    def pdf(self, path: pathlib.Path) -> None:
        made = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(made["data"]))

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.session = None
            self.call("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        self.folder.cleanup()
