"""Headless Chromium, spoken to over a pipe. In: a page's path. Out: what its scripts answer, and what went wrong in it.

`with open_browser() as browser: page = browser.open(path)`, then `page.run("document.title")` gives the title.
No port is opened and no driver is needed: the browser reads commands from its file descriptor 3 and answers on 4.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SECONDS = 60.0
_NONE_FOUND = "no Chromium found: install Debian's package `chromium`, or name the program in the variable CHROMIUM"


class BrowserMissing(RuntimeError):
    """There is no browser to check the page in."""


def find_browser() -> str:
    """The program's path. Raises BrowserMissing."""
    named = os.environ.get("CHROMIUM")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise BrowserMissing(f"{_NONE_FOUND} (now '{named}')" if named else _NONE_FOUND)
    return found


class Browser:
    """One running browser."""

    def __init__(self, process: subprocess.Popen[bytes], commands: int, answers: int) -> None:
        self._process, self._commands, self._answers = process, commands, answers
        self._buffer = b""
        self._last = 0
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """One command's result. Events that arrive meanwhile are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        end = time.monotonic() + _SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._answers, 1 << 16) if ready else b""
            assert piece, f"the browser gave no answer (status {self._process.poll()})"
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        answer: dict[str, Any] = json.loads(message)
        return answer

    def open(self, path: Path, width: int = 1440, height: int = 900) -> Page:
        """A page from a file, drawn."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Runtime", "Log", "Page", "Network"):
            page.ask(f"{domain}.enable")
        page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.ask("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + _SECONDS
        while page.run("document.readyState") != "complete":
            assert time.monotonic() < end, "the page was not loaded"
            time.sleep(0.02)
        return page


class Page:
    """One page in a browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command's result."""
        return self._browser.ask(method, self._session, **parameters)

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON can hold it."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """One key, down and up."""
        codes = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "Tab": 9}
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            extra = text if kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key], **extra)

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of the first element that matches, scrolled into view."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', inline: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def faults(self) -> list[str]:
        """What the page's console shows as an error or a warning, and each fault of a script."""
        found = []
        for event in self._own_events():
            method, said = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(str(said["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
                found.append(str(said["args"]))
            elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
                found.append(said["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        sent = (e for e in self._own_events() if e["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(self, path: Path) -> None:
        """What a person would see, as PNG."""
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def _own_events(self) -> Iterator[dict[str, Any]]:
        self.run("0")  # what was said before is here now
        yield from (event for event in self._browser.events if event.get("sessionId") == self._session)


def _open_pipe() -> list[int]:
    """The reading and the writing end, both with numbers that the shell's redirection to 3 and 4 can't meet."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in ends]
    for end in ends:
        os.close(end)
    return moved


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser with a profile of its own, ended afterwards. Raises BrowserMissing."""
    program = find_browser()
    read_commands, commands = _open_pipe()
    answers, write_answers = _open_pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = [
            program, "--headless", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars",
        ]  # fmt: skip
        if os.geteuid() == 0:
            words.append("--no-sandbox")  # which the browser refuses to use as root
        place = f'exec "$@" 3<&{read_commands} 4>&{write_answers}'
        process = subprocess.Popen(
            ["bash", "-c", place, "browser", *words], pass_fds=(read_commands, write_answers),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read_commands)
        os.close(write_answers)
        try:
            yield Browser(process, commands, answers)
        finally:
            os.close(commands)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(answers)
