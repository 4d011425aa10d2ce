"""Markdown of briefs, notes and instructions: no script runs, and nothing is fetched."""

from __future__ import annotations

import html.parser
from pathlib import Path

import pytest

from app.sites import Site
from people.worlds import RUBRIC
from worksample.app.server.markdown import render, title_of
from worksample.records import Protocol, Submission

ATTACKS = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<a href='javascript:1'>",
    "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:1)", "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>1</script>)", "[x](vbscript:x)", "[x](file:///etc/passwd)", "<javascript:alert(1)>",
    "![x](http://evil.example/pixel.png)", "![x](x\"onerror=alert(1))", "[r][1]\n\n[1]: javascript:alert(1)",
    "[x](https://a.example \"\\\"onmouseover=alert(1)\")", "[x](//evil.example)", "[x](/api/v1/session)",
    "```js\"onload=alert(1)\nx\n```", "<!-- --><script>1</script>", "<![CDATA[<script>1</script>]]>", "\x00<script>",
    "<iframe srcdoc='<script>1</script>'>", "<style>*{}</style>", "| <b onclick=1> |\n|-|\n| <i> |", "&lt;script&gt;",
    "<https://ok.example/\"onclick=alert(1)>", "# <script>", "<details open ontoggle=1>",
]  # fmt: skip
TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "a", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "table", "thead", "tbody", "tr", "th", "td", "hr", "br",
}  # fmt: skip


class Reader(html.parser.HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def harmless(text: str) -> None:
    for tag, attributes in Reader(text).tags:
        assert tag in TAGS, tag
        allowed = {
            "a": {"href", "title", "rel", "target"},
            "code": {"class"},
            "ol": {"start"},
            "th": {"align"},
            "td": {"align"},
        }
        assert set(attributes) <= allowed.get(tag, set()), (tag, attributes)
        if tag == "a":
            href = attributes["href"] or ""
            assert href.startswith(("http://", "https://", "mailto:", "#")), href
            assert attributes["rel"] == "noopener noreferrer nofollow"


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_becomes_text(attack: str) -> None:
    harmless(render(attack))
    harmless(render(f"- > {attack}\n\n1. {attack}"))


def test_authors_markdown_is_rendered() -> None:
    assert render("# A\n\n*b* **c** `d` [e](https://f.example)") == (
        "<h1>A</h1>\n<p><em>b</em> <strong>c</strong> <code>d</code> "
        '<a href="https://f.example" rel="noopener noreferrer nofollow" target="_blank">e</a></p>\n'
    )
    assert '<th align="right">a</th>' in render("|a|\n|-:|\n|1|") and "<td>1</td>" in render("|a|\n|-|\n|1|")
    assert title_of("x\n# The title \ny", "z") == "The title" and title_of("x", "z") == "z"


async def test_hostile_briefs_and_notes_become_text(tmp_path: Path) -> None:
    site = Site(tmp_path, agents=1, projects=1)
    desk = site.desk
    old = desk.instances[0]
    hostile = "\n\n".join(ATTACKS)
    grading = {
        Protocol.HOLISTIC: old.grading[Protocol.HOLISTIC].replaced(notes=hostile),
        Protocol.RUBRIC: old.grading[Protocol.RUBRIC].replaced(criteria=RUBRIC),
    }
    work = old.work.replaced(brief=hostile)
    fresh = old.replaced(id="hostile", name="hostile", work=work, grading=grading)
    desk.store.commit(fresh)
    subject = desk.store.get(Submission, "s-maker-0.p0").replaced(id="s-x", instance=fresh.id, trial=None)
    desk.store.commit(subject)
    desk.open(subjects=("s-x",))
    async with site.browser("ann") as ann:
        item = await ann.claim()
        assert item["brief"] == hostile and item["brief_html"].count("&lt;script&gt;") >= 3
        for name in ("brief_html", "notes_html", "instructions_page"):
            harmless(item[name])
