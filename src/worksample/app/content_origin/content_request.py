"""Helpers of the content origin's routes: services, query fields, request bodies, and the lookup of a file by its
paths.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from starlette.requests import Request

from worksample.app.content_origin.error_responses import ContentRefused, not_found
from worksample.app.content_origin.file_tree import FileTree, FileTreeCache
from worksample.app.prerendering.view_preparer import ViewPending
from worksample.records import Entry
from worksample.viewing import View

if TYPE_CHECKING:
    from worksample.app.content_origin.blocked_requests import BlockedRequests
    from worksample.app.content_origin.capability_hosts import Grant
    from worksample.app.server.route_services import AppServices

DEPTH = 8
"""Most levels of archives within archives."""
FIELDS = 20
ARCHIVE_SECONDS = 20.0
"""Seconds that a request waits until an archive is unpacked."""


@dataclass(frozen=True)
class ContentServices:
    """The objects that all routes of the content origin share; one per server process."""

    services: AppServices
    trees: FileTreeCache
    reports: BlockedRequests
    asking: set[str] = field(default_factory=set)
    """Labels with a database query in progress."""

    async def tree(self, digest: str, hidden: tuple[str, ...]) -> FileTree:
        found = self.trees.find_cached(digest, hidden)
        return found if found is not None else await asyncio.to_thread(self.trees.find, digest, hidden)

    async def root(self, grant: Grant) -> FileTree:
        return await self.tree(grant.manifest, grant.hidden)

    async def unpacked_tree(self, tree: FileTree, entry: Entry, *, wait: float = 1.0) -> FileTree | ViewPending:
        """Return the file tree of an unpacked archive, or ViewPending. Raises ContentRefused if the file was not
        unpacked.
        """
        shown = await self.services.view_preparer.view(tree.digest, entry.path, wait=wait)
        if isinstance(shown, ViewPending):
            return shown
        if "unpacked" not in shown.files:
            raise not_found()
        return await self.tree(shown.files["unpacked"], tree.hidden)

    async def follow(
        self, grant: Grant, paths: list[str], *, wait: float = 1.0
    ) -> tuple[FileTree, Entry] | ViewPending:
        """Find the file at the last of the paths; each path lies in the archive before it. Raises ContentRefused."""
        if not paths or len(paths) > DEPTH:
            raise not_found()
        tree = await self.root(grant)
        for path in paths[:-1]:
            found = await self.unpacked_tree(tree, find_entry(tree, path), wait=wait)
            if isinstance(found, ViewPending):
                return found
            tree = found
        return tree, find_entry(tree, paths[-1])

    async def view(
        self, grant: Grant, paths: list[str], *, wait: float = 1.0
    ) -> tuple[FileTree, Entry, View] | ViewPending:
        """Find a file as `follow` does, and its view."""
        found = await self.follow(grant, paths, wait=wait)
        if isinstance(found, ViewPending):
            return found
        shown = await self.services.view_preparer.view(found[0].digest, found[1].path, wait=wait)
        return shown if isinstance(shown, ViewPending) else (*found, shown)


def find_entry(tree: FileTree, path: str) -> Entry:
    entry = tree.find(path)
    if entry is None:
        raise not_found()
    return entry


def query_fields(request: Request) -> dict[str, list[str]]:
    """Parse the query string into its fields by name. Raises ContentRefused if it is malformed."""
    try:
        pairs = parse_qsl(
            request.scope["query_string"].decode("ascii"), keep_blank_values=True, errors="strict",
            max_num_fields=FIELDS,
        )  # fmt: skip
    except ValueError as e:
        raise ContentRefused(400, "the query cannot be read") from e
    out: dict[str, list[str]] = {}
    for name, value in pairs:
        out.setdefault(name, []).append(value)
    return out


def single_field(fields: dict[str, list[str]], name: str, usual: str = "") -> str:
    """Return the value of a field that may occur once. Raises ContentRefused if it occurs twice."""
    values = fields.get(name, [usual])
    if len(values) != 1:
        raise ContentRefused(400, "a field of the query occurs twice")
    return values[0]


def number_field(fields: dict[str, list[str]], name: str, digits: int = 8) -> int:
    """Return a field as a whole number; 0 if it is missing. Raises ContentRefused for other text or too many digits."""
    text = single_field(fields, name, "0")
    if not (text.isascii() and text.isdigit() and len(text) <= digits):
        raise ContentRefused(400, "a number in the query is not a short whole number")
    return int(text)


def link(verb: str, paths: list[str], **more: str) -> str:
    """Build an address below `/.worksample/` on this host."""
    fields = [("path", path) for path in paths] + list(more.items())
    return f"/.worksample/{verb}?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in fields)


def require_ready(found: tuple[FileTree, Entry] | tuple[FileTree, Entry, View] | ViewPending) -> None:
    """Raise ContentRefused (503, with Retry-After) if the view is not ready yet."""
    if isinstance(found, ViewPending):
        raise ContentRefused(503, "the file is still being converted; try again shortly", {"retry-after": "1"})


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Read the whole body of a request. Raises ContentRefused if it is too large, too slow or incomplete."""
    said = request.headers.get("content-length", "0")
    if not (said.isascii() and said.isdigit()) or int(said) > most:
        raise ContentRefused(413, f"the request body has more than {most} bytes")
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ContentRefused(400, "the request body ended early")
                size += len(message.get("body", b""))
                if size > most:
                    raise ContentRefused(413, f"the request body has more than {most} bytes")
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError as e:
        raise ContentRefused(408, f"the request body did not arrive within {seconds:g} seconds") from e
