"""One port for three origins: the host name selects the application."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.sites import Site, ask
from worksample.app import AppConfig
from worksample.errors import UsageError

LABEL = "a" * 52


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "static" / "assets").mkdir(parents=True)
    (tmp_path / "static" / "index.html").write_text("<p>the app")
    (tmp_path / "static" / "viewer.html").write_text("<p>the viewer")
    (tmp_path / "static" / "assets" / "x-1234.js").write_text("1")
    return Site(tmp_path, agents=1, projects=1)


async def test_host_names_route_to_their_applications(site: Site) -> None:
    assert (await ask(site, "ws.localhost:8765"))[2] == b"<p>the app"
    assert (await ask(site, "WS.localhost:8765"))[2] == b"<p>the app"
    assert (await ask(site, "v.ws.localhost:8765"))[2] == b"<p>the viewer"
    status, _, body = await ask(site, f"{LABEL}.c.ws.localhost:8765")
    assert status in (401, 403, 404, 410) and b"the " not in body


@pytest.mark.parametrize(
    "hosts",
    [
        (), ("ws.localhost:8765", "ws.localhost:8765"), ("ws.localhost:8765", "evil.example"), ("ws.localhost",),
        ("ws.localhost:80",), ("ws.localhost:08765",), ("ws.localhost:8765.",), ("ws.localhost.:8765",),
        ("evil.example:8765",), ("127.0.0.1:8765",), ("localhost:8765",), ("xws.localhost:8765",),
        ("x.ws.localhost:8765",), ("v.v.ws.localhost:8765",), ("c.ws.localhost:8765",), ("ws.localhost:8765 ",),
        ("ws.localhost:8765/",), ("a@ws.localhost:8765",), ("ws.localhost:8765,ws.localhost:8765",), ("",),
        ("a" * 31 + ".c.ws.localhost:8765",), ("a" * 53 + ".c.ws.localhost:8765",),
        ("a1" * 20 + ".c.ws.localhost:8765",), (f"x.{LABEL}.c.ws.localhost:8765",), (f"{LABEL}.c.ws.localhost",),
        (f"{LABEL}.c.wsxlocalhost:8765",), ("ws.localhost:8765\x00",), ("wß.localhost:8765",),
    ],
)  # fmt: skip
async def test_unknown_hosts_get_only_the_right_address(site: Site, hosts: tuple[str, ...]) -> None:
    for path in ("/", "/api/v1/me", "/assets/x-1234.js"):
        status, headers, body = await ask(site, *hosts, path=path)
        assert status == 421 and b"the address that `worksample review`" in body
        assert headers["content-type"] == "text/plain; charset=utf-8" and headers["x-content-type-options"] == "nosniff"
        assert set(headers) == {"content-type", "content-length", "x-content-type-options", "connection"}


async def test_absolute_request_target_is_refused(site: Site) -> None:
    for path in ("http://ws.localhost:8765/", "*", ""):
        assert (await ask(site, "ws.localhost:8765", path=path))[0] == 421


async def test_viewer_host_serves_two_files(site: Site) -> None:
    viewer = "v.ws.localhost:8765"
    assert (await ask(site, viewer, path="/assets/x-1234.js"))[2] == b"1"
    for path in ("/api/v1/me", "/api/v1/openapi.json", "/index.html", "/viewer.html", "/queues", "/assets/", "/assets"):
        status, headers, body = await ask(site, viewer, path=path)
        assert status == 404 and body == b"", path
        assert "set-cookie" not in headers
    assert (await ask(site, viewer, method="POST"))[0] == 405


async def test_content_host_has_no_app_routes(site: Site) -> None:
    for path in ("/api/v1/me", "/api/v1/openapi.json", "/assets/x-1234.js", "/"):
        status, _, body = await ask(site, f"{LABEL}.c.ws.localhost:8765", path=path)
        assert status >= 400 and b"the app" not in body and b"SignedOut" not in body


async def test_each_origin_has_its_security_policy(site: Site) -> None:
    content = "http://*.c.ws.localhost:8765"
    _, app, _ = await ask(site, "ws.localhost:8765")
    assert app["content-security-policy"] == (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: {content}; font-src 'self'; "
        f"connect-src 'self' {content}; frame-src http://v.ws.localhost:8765 {content}; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    )
    assert app["referrer-policy"] == "no-referrer" and app["cross-origin-opener-policy"] == "same-origin"
    assert "camera=()" in app["permissions-policy"] and "unsafe" not in app["content-security-policy"]
    _, viewer, _ = await ask(site, "v.ws.localhost:8765")
    assert "frame-ancestors http://ws.localhost:8765" in viewer["content-security-policy"]
    assert "script-src 'self' 'wasm-unsafe-eval' blob:;" in viewer["content-security-policy"]
    # Chromium logs an error for a directive that it does not know.
    assert "webrtc" not in app["content-security-policy"] + viewer["content-security-policy"]
    for status, headers, _ in (
        await ask(site, "ws.localhost:8765", path="/api/v1/nope"), await ask(site, "ws.localhost:8765", path="/api"),
        await ask(site, "ws.localhost:8765", path="/assets/nope.js"),
    ):  # fmt: skip
        assert status in (401, 404) and headers["content-security-policy"] == app["content-security-policy"]


async def test_tls_sets_strict_transport_security(tmp_path: Path) -> None:
    config = AppConfig(host="review.example.org", port=443, scheme="https", static=tmp_path)
    site = Site(tmp_path, config, agents=1, projects=1)
    status, headers, body = await ask(site, "review.example.org")
    assert status == 503 and b"./dev web" in body
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert "https://*.c.review.example.org" in headers["content-security-policy"]
    assert (await ask(site, "review.example.org:443"))[0] == 421


@pytest.mark.parametrize("host", ["localhost", "a b.example", "ex_ample.org", "", "a..b", "münchen.example"])
def test_host_without_subdomains_is_refused(host: str) -> None:
    with pytest.raises(UsageError):
        AppConfig(host=host)


async def test_websockets_are_closed(site: Site) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await site.app({"type": "websocket", "path": "/", "headers": [(b"host", b"ws.localhost:8765")]}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
