"""Web pages: shown unchanged in their own origin; this module counts their requests."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from .conversion_job import ConversionJob, ViewDraft
from .text_encoding import decode

SCANNED = 4 << 20
_LINKS = {"src", "href", "data", "poster", "srcset"}
_LOADED = {"script", "link", "img", "iframe", "source", "video", "audio", "object", "embed", "track", "image"}


class _Scan(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.near: dict[str, None] = {}
        self.hosts: dict[str, None] = {}
        self.title, self.scripts, self.canvas = "", 0, False
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title"
        self.scripts += tag == "script"
        self.canvas |= tag == "canvas"
        if tag in _LOADED:
            for name, value in attrs:
                if name in _LINKS and value:
                    self._note(value.split()[0] if value.split() else "")

    def handle_data(self, data: str) -> None:
        if self._in_title and len(self.title) < 200:
            self.title += data.strip()[:200]

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False

    def _note(self, target: str) -> None:
        far = re.match(r"(?:https?:)?//([^/?#]+)", target, re.I)
        if far and len(self.hosts) < 100:
            self.hosts[far.group(1).lower()[:100]] = None
        elif not far and not re.match(r"[a-z][a-z0-9+.-]*:|#", target, re.I) and len(self.near) < 500:
            self.near[re.split(r"[?#]", target)[0]] = None


def convert(job: ConversionJob) -> ViewDraft:
    scan = _Scan()
    scan.feed(decode(job.head(SCANNED), whole=False) or "")
    external = sorted(scan.hosts)
    made = ViewDraft(
        "site", meta={"entry": job.path, "title": scan.title, "scripts": scan.scripts, "canvas": scan.canvas}
    )
    made.meta["external"] = external
    made.beside = list(scan.near)
    if external:
        made.problem = f"it wants {len(external)} outside hosts, which are blocked: {', '.join(external[:5])}"
    return made
