"""Deliverables as web sites, and the media types of files."""

from __future__ import annotations

import gzip

from hypothesis import given
from hypothesis import strategies as st

from app.content_origin.answers import INERT, guarded, policy
from app.content_origin.hosts import Shelf
from worksample.app.content_origin.media_types import PAGES, SAFE, by_content


async def test_single_file_is_never_served_as_a_page(shelf: Shelf) -> None:
    pages = {
        "a.html": "<script>1</script>",
        "a.xhtml": "<html/>",
        "a.xml": "<x/>",
        "a.htm": "x",
        "a.js": "1",
        "a.mhtml": "x",
    }
    async with shelf.open({**pages, "a.svg": "<svg/>", "noext": "<script>1</script>"}) as client:
        for name in pages:
            response = await client.get(f"/.worksample/original?path={name}")
            assert response.headers["content-type"] == "text/plain; charset=utf-8" and policy(response) >= INERT
        assert (await client.get("/.worksample/original?path=noext")).headers[
            "content-type"
        ] == "application/octet-stream"
        svg = await client.get("/.worksample/original?path=a.svg")
        assert svg.headers["content-type"] == "image/svg+xml" and policy(svg) >= INERT
        assert "script-src" not in svg.headers["content-security-policy"]


@given(st.binary(max_size=64), st.sampled_from(["audio", "page/0", "media/1", "text", "html", "layout/0"]))
def test_artefacts_are_never_served_as_pages(head: bytes, name: str) -> None:
    kind = by_content(head, name)
    assert kind.partition(";")[0] not in PAGES - {"image/svg+xml"}
    assert "html" not in kind and "javascript" not in kind


def test_single_files_have_no_executable_type() -> None:
    kinds = {kind.partition(";")[0] for kind in SAFE.values()}
    assert not kinds & (PAGES - {"image/svg+xml"}) and not any("script" in kind for kind in kinds)


async def test_site_has_its_types_and_policy(shelf: Shelf) -> None:
    files = {
        "index.html": "<p>hi",
        "m.mjs": "1",
        "a.wasm": b"\0asm",
        "s.css": "a{}",
        "d.json": "{}",
        "f.woff2": b"x",
        "p.svg": "<svg/>",
        "latin.html": b'<meta charset="latin1">\xe4',
        "x.unknown": "?",
    }
    wanted = {
        "": "text/html; charset=utf-8", "m.mjs": "text/javascript", "a.wasm": "application/wasm", "s.css": "text/css",
        "d.json": "application/json", "f.woff2": "font/woff2", "p.svg": "image/svg+xml", "latin.html": "text/html",
        "x.unknown": "application/octet-stream",
    }  # fmt: skip
    async with shelf.open(files) as client:
        for path, kind in wanted.items():
            response = await client.get(f"/{path}")
            assert response.headers["content-type"] == kind
            guarded(response)
            said = policy(response)
            assert (
                "connect-src 'self' data: blob:" in said
                and "object-src 'none'" in said
                and "form-action 'none'" in said
            )
            assert "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:" in said
            assert response.headers["cross-origin-resource-policy"] == "same-origin"


async def test_compressed_site_files_are_passed_through(shelf: Shelf) -> None:
    bomb = gzip.compress(bytes(64 << 20))
    files = {
        "g.wasm.br": b"\x0b\x02\x80asm\x03", "g.js.gz": gzip.compress(b"run()"), "bomb.data.gz": bomb,
        "lies.js.gz": b"not gzip", "data.csv.gz": gzip.compress(b"a,b"), "a.tar.gz": gzip.compress(b"x"),
    }  # fmt: skip
    async with shelf.open(files) as client:
        for path, kind, coding in (
            ("g.wasm.br", "application/wasm", "br"), ("g.js.gz", "text/javascript", "gzip"),
            ("bomb.data.gz", "application/octet-stream", "gzip"), ("lies.js.gz", "application/octet-stream", None),
            ("data.csv.gz", "application/octet-stream", None), ("a.tar.gz", "application/octet-stream", None),
        ):  # fmt: skip
            async with client.stream("GET", f"/{path}", headers={"range": "bytes=0-1"}) as response:
                raw = b"".join([part async for part in response.aiter_raw()])
            assert (response.headers["content-type"], response.headers.get("content-encoding")) == (kind, coding), path
            assert raw == (files[path] if coding else files[path][:2])


async def test_folders_serve_index_pages_and_no_listing(shelf: Shelf) -> None:
    files = {"index.html": "root", "sub/index.htm": "sub", "bare/a.txt": "x", "deep/er/page.html": "deep"}
    async with shelf.open(files) as client:
        assert (await client.get("/")).text == "root"
        moved = await client.get("/sub?a=1%0d%0ab")
        assert (moved.status_code, moved.headers["location"]) == (307, "/sub/?a=1%0d%0ab")
        guarded(moved)
        assert (await client.get("/sub/")).text == "sub"
        for path in ("/bare", "/bare/", "/deep/", "/deep/er/", "/index.html/", "/none"):
            response = await client.get(path)
            assert response.status_code in (404, 200) and "a.txt" not in response.text
    async with shelf.open({"a.txt": "x"}) as client:
        response = await client.get("/")
        assert response.status_code == 404
        guarded(response)


async def test_redirects_stay_on_the_host(shelf: Shelf) -> None:
    files = {
        "evil.test/index.html": "x",
        "index.html": "x",
        "\\evil.test/index.html": "y",
        "sub/index.html": "",
        "sub/@evil.test": "z",
    }
    async with shelf.open(files) as client:
        for path in ("//evil.test", "/evil.test", "/%5cevil.test", "/@evil.test", "///evil.test/", "/%09/evil.test"):
            request = client.build_request("GET", path)
            request.url = request.url.copy_with(raw_path=path.encode())
            response = await client.send(request)
            assert response.status_code in (307, 404)
            place = response.headers.get("location", "/ok")
            assert place[0] == "/" and place[1:2] not in ("/", "\\"), place


async def test_site_in_a_folder_resolves_root_paths(shelf: Shelf) -> None:
    files = {
        "out/site/index.html": '<script src="/assets/a.js">', "out/site/assets/a.js": "1", "assets/only.js": "2",
        "out/other/index.html": "", "out/other/assets/b.js": "3",
    }  # fmt: skip
    async with shelf.open(files) as client:
        origin = str(client.base_url).rstrip("/")
        page = {"referer": f"{origin}/out/site/index.html"}
        found = await client.get("/assets/a.js?v=1", headers=page)
        assert (found.status_code, found.headers["location"]) == (307, "/out/site/assets/a.js?v=1")
        assert found.headers["cache-control"] == "no-store"
        deep = {"referer": f"{origin}/out/site/assets/x/y.css"}
        assert (await client.get("/assets/a.js", headers=deep)).headers["location"] == "/out/site/assets/a.js"
        # What is there under its own address is that.
        assert (await client.get("/assets/only.js", headers=page)).text == "2"
        # Workers and strict pages send no referrer: folders with a page are looked through.
        assert (await client.get("/assets/b.js")).headers["location"] == "/out/other/assets/b.js"
        for wrong in ("http://evil.test/out/site/", f"{origin}/../..", f"{origin}/%00/", "http://[", "\xff"):
            headers = [(b"referer", wrong.encode("latin-1"))]
            assert (await client.get("/nothing.js", headers=headers)).status_code == 404


async def test_service_workers_and_own_tabs_are_refused(shelf: Shelf) -> None:
    async with shelf.open({"index.html": "<p>", "sw.js": "1", "p.svg": "<svg/>", "p.png": b"x"}) as client:
        for headers in ({"service-worker": "script"}, {"sec-fetch-dest": "serviceworker"}):
            response = await client.get("/sw.js", headers=headers)
            assert response.status_code == 403
            guarded(response)
        for path in ("/", "/index.html", "/p.svg"):
            alone = await client.get(path, headers={"sec-fetch-dest": "document"})
            assert alone.status_code == 403 and policy(alone) >= INERT
            framed = await client.get(path, headers={"sec-fetch-dest": "iframe"})
            assert framed.status_code == 200 and framed.headers["vary"] == alone.headers["vary"] == "Sec-Fetch-Dest"
        assert (await client.get("/p.png", headers={"sec-fetch-dest": "document"})).status_code == 200
