"""Program in the box that fetches one page and prints it as JSON: `{"url", "status", "kind", "text"}`, or for a search
`{"results": [{"title", "url", "content"}]}`, or `{"fault"}`. Standard library only.
"""

from __future__ import annotations

import html.parser
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

LARGEST = 5 << 20
"""Maximum number of bytes of a page that are read."""
LONGEST = 400_000
"""Maximum number of characters of a page's text that are printed."""
SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
LINES = frozenset(
    {"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "table", "pre"}
)


class PageText(html.parser.HTMLParser):
    """Parser that collects the visible text of a page, with the addresses of links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in SILENT:
            self._silent += 1
        if tag in LINES:
            self.parts.append("\n")
        if tag == "a":
            self._links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT and self._silent:
            self._silent -= 1
        if tag in LINES:
            self.parts.append("\n")
        if tag == "a" and self._links and (link := self._links.pop()).startswith(("http:", "https:", "/")):
            self.parts.append(f" ({link})")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()) for line in "".join(self.parts).splitlines())
        return "\n".join(line for line in lines if line)


def fetch(url: str, seconds: float) -> tuple[str, int, str, bytes]:
    """Return the final address, status, content type and content of a page. Raises OSError or ValueError."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("the address must begin with http:// or https://")
    asked = urllib.request.Request(url, headers={"User-Agent": "Mozilla/5.0 (compatible; worksample)"})
    try:
        with urllib.request.urlopen(asked, timeout=seconds) as answer:
            return answer.url, answer.status, answer.headers.get("Content-Type", ""), answer.read(LARGEST)
    except urllib.error.HTTPError as error:
        with error:
            return error.url or url, error.code, error.headers.get("Content-Type", ""), error.read(LARGEST)


def page(url: str, seconds: float) -> dict[str, object]:
    """Return a page as text."""
    final, status, kind, data = fetch(url, seconds)
    media, _, rest = kind.partition(";")
    charset = rest.partition("charset=")[2].strip().strip('"') or "utf-8"
    if b"\0" in data[:4096]:
        return {"url": final, "status": status, "kind": media, "text": f"[{len(data)} bytes that are not text]"}
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    if "html" in media:
        parser = PageText()
        parser.feed(text)
        text = parser.text
    return {"url": final, "status": status, "kind": media or "unknown type", "text": text[:LONGEST]}


def search(address: str, query: str, seconds: float) -> dict[str, object]:
    """Return the results of a search service."""
    joint = "&" if "?" in address else "?"
    url = f"{address}{joint}{urllib.parse.urlencode({'q': query, 'format': 'json'})}"
    _, status, _, data = fetch(url, seconds)
    if status != 200:
        return {"fault": f"the search service answered with status {status}"}
    rows = json.loads(data).get("results", [])[:20]
    keys = ("title", "url", "content")
    return {"results": [{key: str(row.get(key) or "")[:2000] for key in keys} for row in rows]}


def main() -> None:
    """Answer the request on standard input."""
    given = json.loads(sys.stdin.read())
    try:
        found = (
            search(given["url"], given["query"], given["seconds"])
            if "query" in given
            else page(given["url"], given["seconds"])
        )
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        found = {"fault": f"{given['url']} cannot be read: {error}"}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
