"""The built front end: two pages, and assets whose file names contain a hash of their content."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import threading
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from .compression import takes_gzip

MISSING = b"The front end is not built. Type: ./dev web   (the API at /api/v1 works without it)\n"
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".map": "application/json",
}
_PACKED = frozenset({".js", ".mjs", ".css", ".html", ".svg", ".wasm", ".json", ".map", ".txt", ".bcmap", ".ttf"})
_SMALL = 1024
Pair = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Asset:
    """A file to serve; `packed`: gzipped content, "" if compression saves nothing."""

    type: bytes
    etag: bytes
    body: bytes
    packed: bytes


class StaticPages:
    """Server of one folder's files: `page` at all paths that are no asset's, or at `/` alone."""

    def __init__(self, page: str, folder: Path, *, everywhere: bool) -> None:
        self._page, self._everywhere, self._folder = page, everywhere, folder
        self._known: dict[tuple[str, int, int], Asset] = {}
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await _answer(scope, send, 405, [(b"allow", b"GET, HEAD")], b"")
            return
        path: str = scope["path"]
        is_asset = path.startswith("/assets/")
        name = path[1:] if is_asset else self._page
        if not is_asset and path != "/" and not self._everywhere:
            await _answer(scope, send, 404, [], b"")
            return
        asset = await run_in_threadpool(self._find, name)
        if asset is None:
            text = b"" if is_asset else MISSING
            await _answer(
                scope, send, 404 if is_asset else 503, [(b"content-type", b"text/plain; charset=utf-8")], text
            )
            return
        keep = b"public, max-age=31536000, immutable" if is_asset else b"no-cache"
        await self._send(scope, send, asset, keep)

    async def _send(self, scope: Scope, send: Send, asset: Asset, keep: bytes) -> None:
        asked: dict[bytes, bytes] = dict(scope["headers"])
        headers: list[Pair] = [(b"cache-control", keep), (b"etag", asset.etag), (b"vary", b"Accept-Encoding")]
        if asset.etag in (tag.strip() for tag in asked.get(b"if-none-match", b"").split(b",")):
            await _answer(scope, send, 304, headers, b"")
            return
        headers.append((b"content-type", asset.type))
        body = asset.body
        if asset.packed and takes_gzip(asked.get(b"accept-encoding", b"").decode("latin-1")):
            headers.append((b"content-encoding", b"gzip"))
            body = asset.packed
        await _answer(scope, send, 200, headers, body)

    def _find(self, name: str) -> Asset | None:
        """Load a file of the folder, cached until it changes; None if there is none."""
        path = PurePosixPath(name)
        if not name.isprintable() or "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
            return None
        place = self._folder / path
        try:
            if not place.resolve().is_relative_to(self._folder.resolve()) or not place.is_file():
                return None
            status = place.stat()
            key = (name, status.st_mtime_ns, status.st_size)
            with self._lock:
                if key not in self._known:
                    self._known[key] = _load(place)
                return self._known[key]
        except OSError:
            return None


def _load(place: Path) -> Asset:
    body = place.read_bytes()
    suffix = place.suffix.lower()
    type = _TYPES.get(suffix) or mimetypes.guess_type(place.name)[0] or "application/octet-stream"
    packed = gzip.compress(body, 6, mtime=0) if suffix in _PACKED and len(body) > _SMALL else b""
    if len(packed) >= len(body):
        packed = b""
    return Asset(type.encode(), b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"', body, packed)


async def _answer(scope: Scope, send: Send, status: int, headers: list[Pair], body: bytes) -> None:
    length = [] if status == 304 else [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
