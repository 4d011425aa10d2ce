"""Whole files and byte ranges, large lists and large files."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from typing import Any

import pytest

from app.content_origin.answers import INERT, guarded, policy
from app.content_origin.hosts import Shelf
from worksample.app.content_origin.blob_response import Unsatisfiable, wanted_range
from worksample.records import Entry, EntryKind, Manifest


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (None, None),
        ("bytes=0-", (0, 100)),
        ("bytes=0-0", (0, 1)),
        ("bytes=10-19", (10, 20)),
        ("bytes=90-500", (90, 100)),
        ("bytes=-10", (90, 100)),
        ("bytes=-500", (0, 100)),
        ("bytes=99-", (99, 100)),
        ("bytes=5-4", None),
        ("bytes=0-1,5-6", None),
        ("chars=0-1", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("bytes=٣-٤", None),
        ("bytes=100-", "no"),
        ("bytes=-0", "no"),
        ("bytes=999999999999999999-", "no"),
    ],
)
def test_ranges_are_parsed(said: str | None, found: Any) -> None:
    if found == "no":
        with pytest.raises(Unsatisfiable):
            wanted_range(said, 100)
    else:
        assert wanted_range(said, 100) == found


async def test_ranges_etags_and_head_requests_are_answered(shelf: Shelf) -> None:
    data = bytes(range(256)) * 40
    async with shelf.open({"a.mp4": data}) as client:
        there = "/.worksample/original?path=a.mp4"
        whole = await client.get(there)
        tag = whole.headers["etag"]
        assert whole.content == data and whole.headers["content-type"] == "video/mp4"
        assert whole.headers["cache-control"] == "private, max-age=86400, immutable"
        assert policy(whole) >= INERT
        for said, start, end in (
            ("bytes=256-511", 256, 512),
            ("bytes=-10", 10230, 10240),
            ("bytes=10000-", 10000, 10240),
        ):
            part = await client.get(there, headers={"range": said})
            assert part.status_code == 206 and part.content == data[start:end]
            assert part.headers["content-range"] == f"bytes {start}-{end - 1}/10240"
            assert part.headers["content-length"] == str(end - start)
        beyond = await client.get(there, headers={"range": "bytes=10240-"})
        assert (beyond.status_code, beyond.headers["content-range"], beyond.content) == (416, "bytes */10240", b"")
        for said in (tag, f'W/{tag}, "x"', "*"):
            same = await client.get(there, headers={"if-none-match": said})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        changed = await client.get(there, headers={"range": "bytes=0-1", "if-range": '"another"'})
        assert changed.status_code == 200 and changed.content == data
        same = await client.get(there, headers={"range": "bytes=0-1", "if-range": tag})
        assert same.status_code == 206
        head = await client.head(there, headers={"range": "bytes=0-1"})
        assert (head.status_code, head.headers["content-length"], head.content) == (206, "2", b"")
        for response in (whole, beyond, same, changed, head):
            guarded(response)


async def test_film_of_many_gigabytes_streams_without_memory(shelf: Shelf) -> None:
    size = 5 << 30
    digest = "ab" * 32
    path = shelf.folder / "s" / "blobs" / "ab" / digest
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as f:
        f.truncate(size)
        f.seek(size - 3)
        f.write(b"end")
    manifest = shelf.kept(Manifest(entries=(Entry(path="a.mp4", size=size, blob=digest),)))
    async with shelf.client(manifest) as client:
        there = "/.worksample/original?path=a.mp4"
        tail = await client.get(there, headers={"range": "bytes=-3"})
        assert tail.content == b"end" and tail.headers["content-range"] == f"bytes {size - 3}-{size - 1}/{size}"
        assert (await client.head("/a.mp4")).headers["content-length"] == str(size)
    # 64 MiB from the middle, counted and dropped as a connection would.
    got = 0
    tracemalloc.start()

    async def send(message: Any) -> None:
        nonlocal got
        got += len(message.get("body", b""))

    host = shelf.config.content_origin(shelf.label(manifest)).partition("//")[2].encode()
    headers = [(b"host", host), (b"range", b"bytes=4294967296-4362076159")]
    await shelf.app(_scope("/a.mp4", headers), asyncio.Event().wait, send)  # type: ignore[arg-type]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert got == 64 << 20 and peak < 8 << 20, peak


async def test_reading_stops_if_the_browser_disconnects(shelf: Shelf) -> None:
    manifest = shelf.taken({"a.bin": bytes(32 << 20)})
    got = 0

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal got
        got += len(message.get("body", b""))
        await asyncio.sleep(0.002)

    host = shelf.config.content_origin(shelf.label(manifest)).partition("//")[2].encode()
    await shelf.app(_scope("/a.bin", [(b"host", host)]), receive, send)  # type: ignore[arg-type]
    assert 0 < got < 16 << 20


def _scope(path: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers,
    }  # fmt: skip


async def test_list_of_ten_thousand_files_is_small(shelf: Shelf) -> None:
    paths = [f"project/part-{n % 97}/measurement-{n:05d}.csv" for n in range(10_000)]
    manifest = shelf.listed(paths)
    async with shelf.client(manifest, hidden=("maker-1", "lab/model-1", "model-1")) as client:
        await client.get("/.worksample/files")
        async with client.stream("GET", "/.worksample/files") as response:
            raw = b"".join([part async for part in response.aiter_raw()])
        assert response.headers["content-encoding"] == "gzip"
        plain = json.loads(gzip.decompress(raw))
        assert (plain["total"], plain["bytes"]) == (10_000, 10_000)
        assert [row["path"] for row in plain["entries"]] == sorted(paths)
        assert len(raw) < 100_000
        unpacked = await client.get("/.worksample/files", headers={"accept-encoding": "identity"})
        assert unpacked.json() == plain and "content-encoding" not in unpacked.headers


async def test_only_captured_files_can_be_loaded(shelf: Shelf) -> None:
    entries = (
        Entry(path="dir", kind=EntryKind.FOLDER),
        Entry(path="link", kind=EntryKind.LINK, target="/etc/passwd"),
        Entry(path="pipe", kind=EntryKind.OTHER),
        Entry(path="too-large.bin", size=10, note="larger than what is taken in"),
    )
    async with shelf.client(shelf.kept(Manifest(entries=entries))) as client:
        rows = (await client.get("/.worksample/files")).json()["entries"]
        assert [row["kind"] for row in rows] == ["folder", "link", "other", "file"]
        assert rows[3]["note"] == "larger than what is taken in"
        for path in ("dir", "link", "pipe", "too-large.bin", "none"):
            for there in (f"/{path}", f"/.worksample/original?path={path}"):
                assert (await client.get(there)).status_code == 404
        shown = (await client.get("/.worksample/view?path=link")).json()
        assert shown["kind"] == "card" and shown["meta"]["target"] == "/etc/passwd"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "path=",
        "path=no",
        "path=..%2Fa.txt",
        "path=a.txt&path=b.txt",
        "path=a.txt&download=2",
        "path=a.txt&download=1&download=1",
        "&".join(["path=a.txt"] * 9),
        "&".join(["path=a.txt"] * 21),
        "path=%FF",
        "path=a.txt%00",
        "path=\u00e4",
    ],
)
async def test_invalid_requests_are_answered(shelf: Shelf, query: str) -> None:
    async with shelf.open({"a.txt": "x"}) as client:
        response = await client.get(f"/.worksample/original?{query}")
        assert response.status_code in (400, 404, 202, 503), response.text
        assert "x" not in response.text.replace("next", "")
        guarded(response)
