"""Servers beside each other: installing, starting, a page in Chromium, a crowd at work, and what is measured of it."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any


@dataclass
class Client:
    """One person's connection: cookies, headers, JSON."""

    port: int
    host: str
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None, *, form: bool = False) -> tuple[int, bytes]:
        headers = {"Host": self.host, **self.headers}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        data = None
        if form:
            data, headers["Content-Type"] = urllib.parse.urlencode(body).encode(), "application/x-www-form-urlencoded"
        elif body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        for attempt in (0, 1):
            connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            self.connection = connection
            try:
                connection.request(method, path, data, headers)
                answer = connection.getresponse()
                content = answer.read()
                break
            except (http.client.HTTPException, OSError):
                connection.close()
                self.connection = None
                if attempt:
                    raise
        for value in answer.headers.get_all("Set-Cookie") or ():
            self.cookies |= {k: m.value for k, m in SimpleCookie(value).items()}
        return answer.status, content

    def json(self, method: str, path: str, body: Any = None) -> Any:
        status, content = self.ask(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {content[:300]!r}")
        return json.loads(content) if content else None


@dataclass
class Figures:
    """What is measured of one product; seconds, bytes, requests."""

    install: float = 0.0
    size: int = 0
    first_start: float = 0.0
    warm_start: float = 0.0
    memory: int = 0
    page_requests: int = 0
    page_bytes: int = 0
    page_ready: float = 0.0
    page_again: float = 0.0
    judged: int = 0
    per_second: float = 0.0
    claim: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def install(folder: Path, what: str) -> float:
    """Seconds to make an environment and install into it; 0 where it is there already."""
    if (folder / "done").is_file():
        return float((folder / "done").read_text(encoding="utf-8"))
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "-q", "--no-cache-dir", what], check=True, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    (folder / "done").write_text(str(seconds), encoding="utf-8")
    return seconds


def size_of(folder: Path) -> int:
    return sum(p.stat().st_blocks * 512 for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


@contextmanager
def running(command: list[str], env: dict[str, str], up: Callable[[], bool]) -> Iterator[tuple[int, float]]:
    """A server's process id and the seconds until it answered."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=os.environ | env, stdout=log, stderr=log, start_new_session=True)
        try:
            while not up():
                if process.poll() is not None or time.perf_counter() - start > 400:
                    log.seek(0)
                    raise SystemExit(f"{command[0]} did not start:\n{log.read()[-2000:].decode(errors='replace')}")
                time.sleep(0.05)
            yield process.pid, time.perf_counter() - start
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def memory_of(pid: int) -> int:
    """Resident bytes of a process and those that it started."""
    import psutil

    process = psutil.Process(pid)
    return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)))


def answers(client: Client, path: str) -> Callable[[], bool]:
    def up() -> bool:
        try:
            return client.ask("GET", path)[0] < 500
        except OSError:
            return False

    return up


def load(people: list[Any], judge: Callable[[Any], tuple[float, float] | None], seconds: float, into: Figures) -> None:
    """Everybody judges at once for some seconds; `judge` returns the seconds of both requests, None at the end."""
    until = time.perf_counter() + seconds
    lock, faults = threading.Lock(), []

    def work(person: Any) -> None:
        try:
            while time.perf_counter() < until:
                took = judge(person)
                if took is None:
                    return
                with lock:
                    into.claim.append(took[0])
                    into.submit.append(took[1])
        except (RuntimeError, OSError, http.client.HTTPException) as e:
            faults.append(e)

    start = time.perf_counter()
    threads = [threading.Thread(target=work, args=(person,)) for person in people]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    into.judged = len(into.claim)
    into.per_second = 2 * into.judged / (time.perf_counter() - start)
    if faults:
        print(f"  {len(faults)} of {len(people)} people stopped by an error, the first: {faults[0]}", file=sys.stderr)


def weigh(url: str, cookies: dict[str, str], host: str, ready: str, into: Figures) -> None:
    """Open a page in Chromium, new and again: its requests, bytes over the wire, seconds until `ready` is visible."""
    from playwright.sync_api import sync_playwright
    from screenshots import BROWSERS, FLAGS

    path = next(filter(None, map(shutil.which, BROWSERS)))
    args = [f for f in FLAGS if f != "--headless"]
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=path, args=args)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": k, "value": v, "url": f"http://{host}"} for k, v in cookies.items()])
        for again in (False, True):
            page = context.new_page()
            session = context.new_cdp_session(page)
            session.send("Network.enable")
            count: list[int] = []
            session.on("Network.loadingFinished", lambda e, count=count: count.append(int(e["encodedDataLength"])))
            start = time.perf_counter()
            page.goto(url, wait_until="commit", timeout=120_000)
            page.locator(ready).first.wait_for(state="visible", timeout=120_000)
            seconds = time.perf_counter() - start
            page.wait_for_load_state("networkidle")
            if again:
                into.page_again = seconds
            else:
                into.page_ready, into.page_requests, into.page_bytes = seconds, len(count), sum(count)
            page.close()
        browser.close()
