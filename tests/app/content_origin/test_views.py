"""Views, artefacts, pages and queries of real deliverables, through the content origin."""

from __future__ import annotations

import asyncio
import io
import json
import re
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.content_origin.hosts import Shelf, viewed
from viewing import material

pytestmark = [pytest.mark.box, pytest.mark.converters]
HIDDEN = ("maker-1", "model-1")


async def test_view_has_addresses_and_no_digest(shelf: Shelf) -> None:
    async with shelf.open(
        {"sub/a.md": "# Hi\n![p](maker-1.png)", "sub/maker-1.png": material.picture("PNG")}, HIDDEN
    ) as client:
        shown = await viewed(client, "sub/a.md")
        assert (shown["kind"], shown["inspectable"]) == ("markdown", True)
        assert shown["meta"]["beside"] == {"maker-1.png": "sub/█████.png"}
        assert set(shown["files"]) == {"source", "text", "html", "lines"}
        assert not re.search("[0-9a-f]{64}", json.dumps(shown["files"]))
        for name, there in shown["files"].items():
            response = await client.get(there)
            assert response.status_code == 200 and "html" not in response.headers["content-type"], name
        assert (await client.get(shown["files"]["source"])).text.startswith("# Hi")
        assert (await client.get("/.worksample/artefact?path=sub/a.md&name=none")).status_code == 404
        picture = await client.get("/.worksample/original", params={"path": "sub/█████.png"})
        assert picture.headers["content-type"] == "image/png"


@pytest.mark.thorough(quick="app/content_origin/test_view_preparation.py::test_concurrent_requests_share_one_box")
async def test_slow_view_reports_progress_and_arrives(shelf: Shelf) -> None:
    async with shelf.open({"book.xlsx": material.workbook(a=[[1, "=A1+1"]])}) as client:
        first = await client.get("/.worksample/view?path=book.xlsx")
        assert first.status_code == 202 and first.headers["retry-after"] == "1"
        assert set(first.json()) == {"state", "seconds"}
        assert (await client.get("/.worksample/artefact?path=book.xlsx&name=pdf")).status_code == 503
        shown = await viewed(client, "book.xlsx")
        pdf = await client.get(shown["files"]["pdf"], headers={"range": "bytes=0-4"})
        assert (pdf.content, pdf.headers["content-type"]) == (b"%PDF-", "application/pdf")
        assert "sandbox" in pdf.headers["content-security-policy"]
        assert (await client.get(shown["files"]["0/0"])).json() == [[1, 2]]


async def test_archives_are_browsed_and_sites_in_them_work(shelf: Shelf) -> None:
    inner = material.packed({"deep/maker-1.md": "# Deep"})
    site = {"site/index.html": '<script src="/app.js">', "site/app.js": "run()", "in.zip": inner}
    async with shelf.open({"all by maker-1.zip": material.packed(site)}, HIDDEN) as client:
        archive = "all by █████.zip"
        shown = await viewed(client, archive)
        assert shown["kind"] == "archive" and "unpacked" not in shown["files"]
        listed = (await client.get("/.worksample/files", params={"path": archive})).json()
        assert [e["path"] for e in listed["entries"] if e["kind"] == "file"] == [
            "in.zip",
            "site/app.js",
            "site/index.html",
        ]
        await viewed(client, archive, "in.zip")
        chain = [archive, "in.zip"]
        rows = (await client.get("/.worksample/files", params={"path": chain})).json()["entries"]
        assert rows[-1]["path"] == "deep/█████.md"
        deep = await viewed(client, *chain, "deep/█████.md")
        assert deep["kind"] == "markdown"
        assert (await client.get(deep["files"]["html"])).text == "<h1>Deep</h1>\n"
        for digest in ("unpacked",):
            assert (
                await client.get("/.worksample/artefact", params={"path": archive, "name": digest})
            ).status_code == 404
        tree = await client.get(shown["files"]["tree"])
        assert "maker" not in tree.text.lower()
        # As a site, the archive is a folder.
        page = await client.get("/all%20by%20maker-1.zip/site/")
        assert page.status_code == 200 and page.text == '<script src="/app.js">'
        referer = str(client.base_url).rstrip("/") + "/all%20by%20maker-1.zip/site/"
        moved = await client.get("/app.js", headers={"referer": referer})
        assert moved.headers["location"] == "/all%20by%20maker-1.zip/site/app.js"
        assert (await client.get(moved.headers["location"])).text == "run()"
        assert (await client.get("/all%20by%20maker-1.zip/site/../../x")).status_code == 404


async def test_markdown_and_tex_pages_are_rendered(shelf: Shelf) -> None:
    source = (
        "# Title\n![p](<my pic.png>) ![out](http://evil.test/x.png) [b](b.md#x) [data](t.csv) [web](http://evil.test/)\n"
        "[s](javascript:alert(1)) <script>alert(1)</script> [gone](nope.md)\n\n|a|b|\n|:-:|-|\n|1|2|\n"
    )
    files = {
        "a.md": source,
        "my pic.png": material.picture("PNG"),
        "b.md": "b",
        "t.csv": "1,2",
        "m.tex": r"$x^2$ \href{http://evil.test}{l}",
    }
    async with shelf.open(files) as client:
        await viewed(client, "a.md")
        page = await client.get("/.worksample/page?path=a.md&name=html&theme=dark")
        assert page.headers["content-type"] == "text/html; charset=utf-8" and 'data-theme="dark"' in page.text
        body = page.text.partition("<main>")[2]
        assert 'src="/.worksample/original?path=my%20pic.png"' in body
        assert (
            'href="/.worksample/page?path=b.md&amp;name=html"' in body
            and 'href="/.worksample/original?path=t.csv"' in body
        )
        assert 'data-outside="http://evil.test/"' in body and "<script" not in body
        assert not re.search(r'href="(?!/\.worksample/)', body)
        said = page.headers["content-security-policy"]
        assert "script-src" not in said and "default-src 'none'" in said and "sandbox allow-same-origin" in said
        await viewed(client, "m.tex")
        tex = await client.get("/.worksample/page?path=m.tex&name=html")
        assert "<math" in tex.text and 'href="http' not in tex.text
        for wrong in ("theme=blue", "n=-1", "n=x", "n=1&n=2", "n=1234567890"):
            assert (await client.get(f"/.worksample/page?path=a.md&{wrong}")).status_code == 400
        assert (await client.get("/.worksample/page?path=a.md&name=text")).status_code == 404
        await viewed(client, "t.csv")
        assert (await client.get("/.worksample/page?path=t.csv&name=html")).status_code == 404


def book() -> str:
    html = {"output_type": "display_data", "data": {"text/html": ["<b id=x>one</b>", "<script>run()</script>"]}}
    text = {"output_type": "stream", "name": "stdout", "text": "plain"}
    cells = [
        {"cell_type": "markdown", "source": "# A"},
        {"cell_type": "code", "source": "x", "execution_count": 1, "outputs": [text, html, html]},
    ]
    return json.dumps({"cells": cells, "nbformat": 4})


@pytest.mark.thorough(quick="app/content_origin/test_views.py::test_markdown_and_tex_pages_are_rendered")
async def test_notebook_and_card_pages_are_rendered(shelf: Shelf, tmp_path: Path) -> None:
    async with shelf.open({"n.ipynb": book(), "d.apkg": material.deck(tmp_path)}) as client:
        await viewed(client, "n.ipynb")
        page = await client.get("/.worksample/page?path=n.ipynb&name=html&n=1")
        assert page.text.count("<b id=x>one</b><script>run()</script>") == 2 and "plain" not in page.text
        said = page.headers["content-security-policy"]
        assert "sandbox allow-scripts" in said and "allow-same-origin" not in said and "connect-src" not in said
        assert "default-src 'none'" in said and "img-src data: blob:" in said
        assert (await client.get("/.worksample/page?path=n.ipynb&name=html&n=9")).status_code == 404
        await viewed(client, "d.apkg")
        card = await client.get("/.worksample/page?path=d.apkg&name=html&n=0")
        assert (
            "Longest?" in card.text and '<img src="/.worksample/artefact?path=d.apkg&amp;name=media%2F0"' in card.text
        )
        assert "script-src" not in card.headers["content-security-policy"]
        picture = await client.get("/.worksample/artefact?path=d.apkg&name=media/0")
        assert picture.headers["content-type"] == "image/png"


async def test_queries_are_answered_one_at_a_time(shelf: Shelf, tmp_path: Path) -> None:
    rows = [("INSERT INTO t VALUES (?, ?)", (n, f"row {n}")) for n in range(1_200)]
    data = material.database(tmp_path / "x.db", ("CREATE TABLE t (a, b)", ()), *rows)
    async with shelf.open({"x.db": data}) as client:

        async def ask(sql: str) -> httpx.Response:
            return await client.post("/.worksample/query", json={"path": ["x.db"], "sql": sql})

        found = (await ask("SELECT a, b FROM t WHERE a = 7")).json()
        assert found == {"columns": ["a", "b"], "rows": [[7, "row 7"]], "truncated": False, "problem": ""}
        both = await asyncio.gather(ask("SELECT * FROM t"), ask("SELECT 1"))
        assert sorted(r.status_code for r in both) == [200, 429]
        many = next(r for r in both if r.status_code == 200).json()
        assert (many["truncated"] and len(many["rows"]) == 1_000) or many["rows"] == [[1]]
        for sql in (
            "DROP TABLE t",
            "INSERT INTO t VALUES (1, 2)",
            "ATTACH '/etc/passwd' AS p",
            "SELECT load_extension('x')",
            "nonsense",
        ):
            answer = (await ask(sql)).json()
            assert answer["problem"] and not answer["rows"], sql
        assert (await ask("SELECT count(*) FROM t")).json()["rows"] == [[1_200]]


def bomb_png() -> bytes:
    """A small picture that says it is a huge one."""
    png = material.picture("PNG")
    head = b"IHDR" + (60_000).to_bytes(4, "big") * 2 + png[24:29]
    return png[:12] + head + zlib.crc32(head).to_bytes(4, "big") + png[33:]


def tar_out() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("../../out.txt", "/abs.txt", "ok.txt"):
            info = tarfile.TarInfo(name)
            info.size = 1
            archive.addfile(info, io.BytesIO(b"x"))
        link = tarfile.TarInfo("sneaky")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
    return out.getvalue()


@pytest.mark.long
async def test_bombs_and_escaping_archives_get_cards(shelf: Shelf) -> None:
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number in range(5):
            archive.writestr(f"{number}.bin", bytes(64 << 20))
    files: dict[str, bytes | str] = {
        "bomb.zip": zeros.getvalue(), "bomb.png": bomb_png(), "out.tar": tar_out(),
        "out.zip": material.packed({"../../evil.txt": "x", "/abs.txt": "y", "ok.txt": "fine"}),
    }  # fmt: skip
    async with shelf.open(files) as client:
        shown = await viewed(client, "bomb.zip")
        assert "holds more than is unpacked" in shown["problem"]
        # What was unpacked stays within its limit; the rest is listed alone.
        assert (await client.get("/.worksample/files?path=bomb.zip")).json()["bytes"] <= 256 << 20
        picture = await viewed(client, "bomb.png")
        assert picture["kind"] == "card" and "pixels" in picture["problem"]
        for path in ("out.tar", "out.zip"):
            await viewed(client, path)
            rows = (await client.get(f"/.worksample/files?path={path}")).json()["entries"]
            assert [row["path"] for row in rows] == ["ok.txt"]
            for step in ("../../out.txt", "/abs.txt", "sneaky", "sneaky/passwd"):
                inner: Any = {"path": [path, step]}
                assert (await client.get("/.worksample/original", params=inner)).status_code == 404
    assert not list(shelf.folder.rglob("evil.txt")) and not list(shelf.folder.rglob("out.txt"))
