"""The built front end: which files are served, and how long they are cached."""

from __future__ import annotations

import gzip
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from app.sites import Site, ask
from worksample.app import AppConfig

SCRIPT = "console.log(1);" * 500


@pytest.fixture
def site(tmp_path: Path) -> Site:
    folder = tmp_path / "static"
    (folder / "assets" / "maps").mkdir(parents=True)
    (folder / "index.html").write_text("<p>the app")
    (folder / "assets" / "app-1a2b.js").write_text(SCRIPT)
    (folder / "assets" / "code-3c.wasm").write_bytes(b"\0asm" + b"\0" * 4000)
    (folder / "assets" / "maps" / "x.bcmap").write_bytes(b"m")
    (folder / "assets" / "small.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "assets" / "out.txt").symlink_to(tmp_path / "secret.txt")
    return Site(tmp_path, agents=1, projects=1)


async def get(site: Site, path: str, **headers: str) -> httpx.Response:
    async with site.browser() as browser:
        return await browser.client.get(path, headers={"Accept-Encoding": "identity", **headers})


async def test_assets_are_cached_for_good_and_pages_are_not(site: Site) -> None:
    asset = await get(site, "/assets/app-1a2b.js")
    assert asset.text == SCRIPT and asset.headers["content-type"] == "text/javascript; charset=utf-8"
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    page = await get(site, "/")
    assert page.headers["cache-control"] == "no-cache" and page.headers["content-type"] == "text/html; charset=utf-8"
    again = await get(site, "/", **{"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"") and "content-length" not in again.headers
    (site.config.static / "index.html").write_text("<p>built again")
    assert (await get(site, "/")).text == "<p>built again"


async def test_large_texts_are_compressed_on_request(site: Site) -> None:
    async with site.browser() as browser:
        request = browser.client.build_request("GET", "/assets/app-1a2b.js", headers={"Accept-Encoding": "br, gzip"})
        response = await browser.client.send(request, stream=True)
        raw = b"".join([part async for part in response.aiter_raw()])
        assert response.headers["content-encoding"] == "gzip" and gzip.decompress(raw).decode() == SCRIPT
        assert len(raw) < 500 and response.headers["vary"] == "Accept-Encoding"
    for accept in ("gzip;q=0", "br", ""):
        assert "content-encoding" not in (await get(site, "/assets/app-1a2b.js", **{"Accept-Encoding": accept})).headers
    assert "content-encoding" not in (await get(site, "/assets/small.svg", **{"Accept-Encoding": "gzip"})).headers
    assert (await get(site, "/assets/code-3c.wasm")).headers["content-type"] == "application/wasm"


async def test_every_app_page_is_the_same_html(site: Site) -> None:
    for path in ("/link", "/queues", "/rounds/abc", "/x.html", "/apix", "/.well-known/x"):
        assert (await get(site, path)).text == "<p>the app", path


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/%2e%2e/%2e%2e/secret.txt",
        "/assets/out.txt",
        "/assets//etc/passwd", "/assets/", "/assets/maps", "/assets/app-1a2b.js/", "/assets/a%00b", "/assets/..\\x",
        "/assets/" + "a" * 5000, "/assets/./app-1a2b.js", "/assets/app-1A2B.js", "/assets/%ff",
    ],
)  # fmt: skip
async def test_files_outside_assets_are_not_served(site: Site, path: str) -> None:
    # As it stands: clients would tidy it up before sending.
    status, _, body = await ask(site, "ws.localhost:8765", path=unquote(path))
    assert (status, body) == (404, b"")


async def test_folder_within_assets_is_served(site: Site) -> None:
    assert (await get(site, "/assets/maps/x.bcmap")).content == b"m"


async def test_front_end_refuses_writes(site: Site) -> None:
    async with site.browser() as browser:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert (await browser.client.request(method, "/")).status_code == 405
        head = await browser.client.head("/")
        assert head.content == b"" and head.headers["content-length"] == str(len("<p>the app"))


async def test_missing_build_names_the_build_command(tmp_path: Path) -> None:
    site = Site(tmp_path, AppConfig(static=tmp_path / "none"), agents=1, projects=1)
    page = await get(site, "/")
    assert page.status_code == 503 and page.headers["content-type"] == "text/plain; charset=utf-8"
    assert "./dev web" in page.text
    async with site.browser("ann") as ann:
        assert (await ann.get("/me")).status_code == 200, "the API works without it"
