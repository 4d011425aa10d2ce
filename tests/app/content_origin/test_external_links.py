"""Documents with external links: no external host is contacted during conversion or viewing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.content_origin.hostile import World, world
from app.content_origin.stage import static
from app.round.driving import chromium, serving
from viewing import material
from worksample.app.content_origin.capability_hosts import Capabilities
from worksample.people import People
from worksample.people.clock import now_in_microseconds
from worksample.store import Store, put_canonical
from worksample.viewing import View, prepare

pytestmark = [pytest.mark.box, pytest.mark.converters, pytest.mark.browser, pytest.mark.long]


NOTEBOOK = "/.worksample/page?path=n.ipynb&name=html&n=1"


def linked_docx(url: str) -> bytes:
    """A Word document whose picture, template and field lie elsewhere."""
    start = "http://schemas.openxmlformats.org"
    office = f"{start}/officeDocument/2006/relationships"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/>'
    )
    picture = (
        '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="990000" cy="990000"/><wp:docPr id="1" name="p"/><a:graphic>'
        f'<a:graphicData uri="{start}/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/>'
        '<pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="r1"/><a:stretch><a:fillRect/></a:stretch>'
        '</pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="990000" cy="990000"/></a:xfrm>'
        '<a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
    )
    spaces = (
        f'xmlns:w="{start}/wordprocessingml/2006/main" xmlns:r="{office}" xmlns:a="{start}/drawingml/2006/main" '
        f'xmlns:wp="{start}/drawingml/2006/wordprocessingDrawing" xmlns:pic="{start}/drawingml/2006/picture"'
    )
    field = f'<w:fldSimple w:instr=" INCLUDETEXT &quot;{url}/hit/field&quot; "><w:r><w:t>f</w:t></w:r></w:fldSimple>'

    def relations(*rows: str) -> str:
        return f'<Relationships xmlns="{start}/package/2006/relationships">{"".join(rows)}</Relationships>'

    def far(id: str, kind: str, name: str) -> str:
        return f'<Relationship Id="{id}" Type="{office}/{kind}" Target="{url}/hit/{name}" TargetMode="External"/>'

    near = f'<Relationship Id="r1" Type="{office}/officeDocument" Target="word/document.xml"/>'
    return material.packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{start}/package/2006/content-types">{types}</Types>',
            "_rels/.rels": relations(near),
            "word/document.xml": f"<w:document {spaces}><w:body>{picture}<w:p>{field}</w:p></w:body></w:document>",
            "word/_rels/document.xml.rels": relations(far("r1", "image", "docx"), far("r2", "oleObject", "ole")),
            "word/_rels/settings.xml.rels": relations(far("r1", "attachedTemplate", "template")),
        }
    )


def flat_sheet(url: str) -> str:
    """A spreadsheet that asks for a web service, a picture and another sheet."""
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in (
            ("office", "office"), ("table", "table"), ("text", "text"), ("draw", "drawing"),
            ("svg", "svg-compatible"), ("of", "of"),
        )
    )  # fmt: skip
    formula = f"of:=WEBSERVICE(&quot;{url}/hit/webservice&quot;)"
    cell = f'<table:table-cell table:formula="{formula}" office:value-type="string"/>'
    image = (
        f'<table:table-cell><draw:frame svg:width="2cm" svg:height="2cm"><draw:image xlink:href="{url}/hit/ods" '
        'xlink:type="simple"/></draw:frame></table:table-cell>'
    )
    kind = 'office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet"'
    return (
        f'<?xml version="1.0"?><office:document {spaces} xmlns:xlink="http://www.w3.org/1999/xlink" {kind}>'
        f'<office:body><office:spreadsheet><table:table table:name="s"><table:table-row>{cell}{image}'
        "</table:table-row></table:table>"
        f'<table:table table:name="t"><table:table-source xlink:href="{url}/hit/source" table:filter-name="calc8"/>'
        "</table:table></office:spreadsheet></office:body></office:document>"
    )


def files(url: str) -> dict[str, bytes | str]:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="9" height="9" '
        f'onload="fetch(\'{url}/hit/onload\')"><style>@import url("{url}/hit/svgimport");</style>'
        f'<script>document.title="ran";fetch("{url}/hit/svgscript");new Image().src="{url}/hit/svgimage"</script>'
        f'<image href="{url}/hit/svghref" width="9" height="9"/><use x:href="{url}/hit/svguse#a"/>'
        f'<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="{url}/hit/svgframe"/></foreignObject></svg>'
    )
    html = (
        f'<script>fetch("{url}/hit/notebook",{{mode:"no-cors"}})</script><img src="{url}/hit/notebookimg"><b id=n>n</b>'
    )
    leave = f"<script>setTimeout(() => {{ location = '{url}/hit/leave' }}, 1000)</script>"
    output = {
        "output_type": "display_data",
        "data": {"text/html": html + "<script>n.textContent='ran'</script>" + leave},
    }
    cells = [
        {"cell_type": "markdown", "source": f"![]({url}/hit/cell)"},
        {"cell_type": "code", "source": "x", "execution_count": 1, "outputs": [output]},
    ]
    return {
        "linked.docx": linked_docx(url), "linked.fods": flat_sheet(url), "drawing.svg": svg,
        "a.md": f"![]({url}/hit/mdimage) <img src='{url}/hit/mdraw'> [l]({url}/hit/mdlink)",
        "b.tex": f"\\includegraphics{{{url}/hit/tex}} \\input{{/etc/passwd}} \\href{{{url}/hit/texlink}}{{x}}",
        "c.html": f'<link rel=stylesheet href="{url}/hit/html"><a href="{url}/hit/link">x</a>',
        "n.ipynb": json.dumps({"cells": cells, "nbformat": 4}),
        "list.m3u8": f"#EXTM3U\n#EXTINF:1,\n{url}/hit/playlist\n#EXT-X-ENDLIST\n",
        "scene.obj": f"mtllib {url}/hit/mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "entity.svg": f'<!DOCTYPE s SYSTEM "{url}/hit/dtd" [<!ENTITY e SYSTEM "{url}/hit/entity">]>'
        '<svg xmlns="http://www.w3.org/2000/svg">&e;</svg>',
    }  # fmt: skip


class Looked:
    """All of it converted and looked at, from the viewer's place and in tabs of their own."""

    def __init__(self, folder: Path, outside: World, store: Store) -> None:
        people = People(store)
        account = people.accounts.create("Ada", ["evaluator"])
        token = people.accounts.redeem(people.accounts.one_time_link("Ada"))
        manifest = material.take(store, folder / "w", files(outside.url))
        self.views: dict[str, View] = asyncio.run(prepare(store, manifest))
        self.converting = set(outside.hits), outside.met
        digest = put_canonical(store.blobs, manifest.plain())
        label = Capabilities(store, now_in_microseconds).mint_all(token, account.id, "item", {"AD-1": digest})["AD-1"]
        with serving(store, pages=static(folder)) as served:
            origin = served.config.content_origin(label)
            self.look(origin, served.config.viewer_origin)
        self.looking = outside.hits

    def look(self, origin: str, viewer: str) -> None:
        with chromium() as browser:
            self.titles: dict[str, Any] = {}
            context = browser.new_context()
            for path in self.places():
                page = context.new_page()
                page.goto(origin + path, wait_until="load")
                page.wait_for_timeout(300)
                self.titles[path] = [page.title(), page.evaluate("document.documentElement.textContent")]
                page.close()
            page = context.new_page()
            page.goto(viewer)
            call = "src => { const f = document.createElement('iframe'); f.src = src; document.body.append(f) }"
            page.evaluate(call, origin + NOTEBOOK)
            page.wait_for_timeout(400)
            self.framed = page.frames[1].evaluate("document.querySelector('#n').textContent")
            page.wait_for_timeout(1_500)

    def places(self) -> list[str]:
        return [
            "/.worksample/artefact?path=drawing.svg&name=source",
            "/.worksample/original?path=drawing.svg",
            "/.worksample/original?path=c.html",
            "/.worksample/page?path=a.md&name=html",
            "/.worksample/page?path=b.tex&name=html",
            NOTEBOOK,
        ]


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looked]:
    folder = tmp_path_factory.mktemp("links")
    with world() as outside, Store.open(folder / "s", create=True) as store:
        yield Looked(folder, outside, store)


def test_conversion_contacts_no_host(looked: Looked) -> None:
    assert looked.converting == (set(), 0)


def test_documents_with_external_links_are_shown(looked: Looked) -> None:
    kinds = {path: view.kind for path, view in looked.views.items()}
    shown = {"linked.docx": "pdf", "linked.fods": "workbook", "drawing.svg": "image", "a.md": "markdown"}
    assert {path: kinds[path] for path in shown} == shown
    assert kinds["c.html"] == "site" and kinds["n.ipynb"] == "notebook" and kinds["scene.obj"] == "model"


def test_viewing_contacts_no_host(looked: Looked) -> None:
    assert not looked.looking


def test_script_in_a_drawing_does_not_run_in_its_own_tab(looked: Looked) -> None:
    for path in looked.places()[:2]:
        assert looked.titles[path][0] != "ran", path


def test_script_in_a_notebook_runs_isolated(looked: Looked) -> None:
    assert looked.framed == "ran"
    # In a tab of its own it could leave: it is not shown there.
    assert "inside the review app" in looked.titles[NOTEBOOK][1]


def test_page_in_its_own_tab_is_shown_as_text(looked: Looked) -> None:
    assert "<link rel=stylesheet" in looked.titles["/.worksample/original?path=c.html"][1]
