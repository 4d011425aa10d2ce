"""Responses of the content origin by address, without a box or a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.content_origin.answers import APP, VIEWER, guarded
from app.content_origin.hosts import Shelf
from worksample.app.content_origin.blob_response import attachment


async def test_only_live_labels_are_answered(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    manifest = shelf.taken({"index.html": "<p>hi"})
    origin = shelf.config.content_origin(shelf.label(manifest))
    async with shelf.at(origin) as good, shelf.at(origin.upper().replace("HTTP:", "http:")) as loud:
        assert (await good.get("/")).status_code == 200 == (await loud.get("/")).status_code
        shelf.services.people.accounts.logout(shelf.token)
        shelf.services.capabilities.forget(shelf.token)
        for path in ("/", "/index.html", "/.worksample/files", "/.worksample/view?path=index.html"):
            response = await good.get(path)
            assert response.status_code == 404 and "this address has expired" in response.text
            guarded(response)
    for host in (
        "ws.localhost:8765",
        "v.ws.localhost:8765",
        "x.c.evil.test",
        f"{'a' * 52}.c.ws.localhost.evil.test:8765",
    ):
        async with shelf.at(f"http://{host}") as client:
            response = await client.get("/")
            assert response.status_code == 421 and "<p>" not in response.text
            guarded(response)
    for label in ("a" * 52, "a" * 20, "a.b"):
        async with shelf.at(shelf.config.content_origin(label)) as client:
            assert (await client.get("/")).status_code == 404


async def test_each_path_allows_its_methods(shelf: Shelf) -> None:
    async with shelf.open({"index.html": "<p>hi"}) as client:
        for path in ("/", "/.worksample/files", "/.worksample/view?path=index.html", "/.worksample/nothing"):
            for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "BREW"):
                response = await client.request(method, path)
                assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD"), (method, path)
                guarded(response)
        assert (await client.get("/.worksample/query")).headers["allow"] == "POST"
        assert (await client.options("/")).status_code == 405
        asked = await client.options("/.worksample/query", headers={"origin": VIEWER})
        assert asked.status_code == 204 and asked.headers["access-control-allow-origin"] == VIEWER
        assert asked.headers["access-control-allow-methods"] == "POST"
        head = await client.head("/")
        assert head.status_code == 200 and head.headers["content-length"] == "5" and head.content == b""


async def test_only_app_and_viewer_may_read(shelf: Shelf) -> None:
    async with shelf.open({"index.html": "<p>hi"}) as client:
        for origin in (APP, VIEWER, "http://evil.test", "null", "http://ws.localhost:8766", str(client.base_url)[:-1]):
            response = await client.get("/.worksample/files", headers={"origin": origin})
            allowed = response.headers.get("access-control-allow-origin")
            assert allowed == (origin if origin in (APP, VIEWER) else None)
            assert "Origin" in response.headers["vary"]
            assert "access-control-allow-credentials" not in response.headers
            assert "access-control-allow-origin" not in (await client.get("/", headers={"origin": origin})).headers


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt", "/a/../../secret.txt",
        "/a%2fb.txt", "/a%2Fb.txt", "//a/b.txt", "/a//b.txt", "/./a/b.txt", "/a/%2e/b.txt", "/a/b.txt%00",
        "/a/b.txt%00.html", "/..%5csecret.txt", "/..\\secret.txt", "/%c0%ae%c0%ae/secret.txt", "/%252e%252e/secret.txt",
        "/etc/passwd", "/a/", "/a", "/.worksample", "/.worksample/", "/.worksample/../a/b.txt", "/.worksample/x",
        "/" + "a/" * 3000, "/%", "/%zz", "/\xff",
    ],
)  # fmt: skip
async def test_paths_cannot_leave_the_deliverable(shelf: Shelf, path: str) -> None:
    (shelf.folder / "secret.txt").write_text("secret")
    async with shelf.open({"a/b.txt": "inside"}) as client:
        raw = path.encode("latin-1", "replace")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": raw.decode("latin-1"), "raw_path": raw,
            "query_string": b"", "headers": [(b"host", client.base_url.netloc)],
        }  # fmt: skip
        status, body = await bare(shelf, scope)
        assert status in (404, 414) and b"secret" not in body and b"inside" not in body
        assert (await client.get("/a/b.txt")).text == "inside"


async def bare(shelf: Shelf, scope: dict[str, Any]) -> tuple[int, bytes]:
    """An answer to a request that no client would send."""
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)

    await shelf.app(scope, receive, send)  # type: ignore[arg-type]
    assert any(name == b"content-security-policy" for name, _ in said[0]["headers"])
    return said[0]["status"], b"".join(m.get("body", b"") for m in said[1:])


async def test_odd_names_are_found_and_headers_stay_valid(shelf: Shelf) -> None:
    names = {
        'a "b".txt': b"quotes",
        "x\r\nSet-Cookie: ws=evil.txt": b"lines",
        "ü/日本.txt": b"scripts",
        "100%.txt": b"percent",
        "semi;colon, comma.txt": b"marks",
        "-rf": b"dash",
        "a\\b.txt": b"back",
    }
    manifest = shelf.taken(names)
    async with shelf.client(manifest) as client:
        listed = {row["path"] for row in (await client.get("/.worksample/files")).json()["entries"]}
        for name, data in names.items():
            quoted = name.replace("%", "%25").replace("\r\n", "%0D%0A")
            assert quoted in listed
            response = await client.get("/.worksample/original", params={"path": quoted, "download": "1"})
            assert response.content == data and "set-cookie" not in response.headers
            assert response.headers["content-disposition"].startswith('attachment; filename="')
            address = "/" + "/".join(_coded(step) for step in name.split("/"))
            assert (await client.get(address)).content == data, address


def _coded(step: str) -> str:
    from urllib.parse import quote

    return quote(step, safe="")


@given(st.text(min_size=1))
def test_file_name_stays_within_its_header(name: str) -> None:
    header = attachment(name)
    assert header.isascii() and header.isprintable() and header.count('"') == 2
    assert header.rpartition("''")[2].replace("%", "").replace("_", "").replace("-", "").replace(".", "").replace(
        "~", ""
    ).isalnum() or not header.rpartition("''")[2].strip("%_-.~")


async def test_download_names_match_browsers() -> None:
    assert attachment('Übersicht "1".pdf') == (
        "attachment; filename=\"_bersicht _1_.pdf\"; filename*=UTF-8''%C3%9Cbersicht%20%221%22.pdf"
    )
