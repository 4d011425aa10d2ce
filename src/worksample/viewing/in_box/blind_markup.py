"""Blind copies of SVG and HTML. Traces of editors and generators are removed; all other bytes stay."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.parsers import expat

from .blind_embedded_pictures import clean_pictures
from .conversion_job import ConversionJob

TELLING = re.compile(
    r"generat|creat|author|export|produc|powered|copyright|\(c\)|©|(?:made|built|written|drawn|designed|saved)\s+"
    r"(?:with|by|from|in)|mirrored|claude|gpt|openai|anthropic|gemini|copilot|llama|mistral|deepseek|qwen|@",
    re.I,
)
"""Pattern of comments that identify the maker of a file. Other comments stay, because frameworks use them as
markers.
"""
_META = {
    "generator", "author", "creator", "publisher", "copyright", "owner", "designer", "progid", "originator",
    "dc.creator", "dc.publisher", "dcterms.creator", "article:author", "application-name", "web_author", "reply-to",
    "twitter:creator", "twitter:site", "og:site_name",
}  # fmt: skip
_ELEMENTS = {"metadata", "namedview", "rdf", "xmpmeta", "pgf", "creator"}
_SPACES = re.compile(
    r"inkscape|sodipodi|adobe|sketch|figma|corel|serif|boxy|vectornator|purl\.org/dc|creativecommons", re.I
)
"""Pattern of XML namespaces of editors. Attributes in these namespaces draw nothing."""
_PICTURE = re.compile(rb"(data:image/(?:png|jpe?g|webp|gif);base64,)([A-Za-z0-9+/=\s]{64,})()", re.I)
LARGEST = 32 << 20
Cut = tuple[int, int, bytes]


def scrub(job: ConversionJob, leaks: list[str]) -> bytes | None:
    if job.size > LARGEST:
        raise ValueError("the file is too large to be anonymised")
    data = job.file.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data[:2].count(0):
        leaks.append("markup in UTF-16 is not rewritten; it may name its maker")
        return None
    return pictures(svg(data) if job.family == "svg" else html(data))


def pictures(data: bytes) -> bytes:
    """Remove the metadata of pictures embedded in the text."""
    return clean_pictures(data, _PICTURE)


def splice(data: bytes, cuts: list[Cut]) -> bytes:
    """Replace each range (start, end) of the data. A range inside another range is ignored."""
    out, at = [], 0
    for start, end, instead in sorted(cuts):
        if start >= at:
            out += [data[at:start], instead]
            at = end
    return b"".join([*out, data[at:]])


def svg(data: bytes) -> bytes:
    """Remove from an SVG its metadata, the elements and attributes of editors, comments and `Created with ...`. Raises
    ExpatError.
    """
    scan = _Svg(data)
    return splice(data, scan.cuts)


class _Svg:
    """Finder of the ranges that must be removed from an SVG. Its parser expands no entities."""

    def __init__(self, data: bytes) -> None:
        self.data, self.cuts = data, list[Cut]()
        self._open: int | None = None
        self._depth = self._since = 0
        self._desc: list[str] | None = None
        self._known: dict[str, str] = {}
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CommentHandler = self._comment
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._refuse
        parser.ProcessingInstructionHandler = self._instruction
        parser.ordered_attributes = True
        self._parser = parser
        parser.Parse(data, True)

    def _refuse(self, *_: object) -> None:
        raise ValueError("the XML defines entities")

    def _start(self, name: str, attributes: list[str]) -> None:
        at = self._parser.CurrentByteIndex
        self._depth += 1
        pairs = dict(zip(attributes[::2], attributes[1::2], strict=True))
        self._known |= {k.removeprefix("xmlns:"): v for k, v in pairs.items() if k.startswith("xmlns:")}
        if self._open is not None:
            return
        prefix, _, local = name.rpartition(":")
        foreign = bool(prefix) and bool(_SPACES.search(self._known.get(prefix, prefix)))
        if local.lower() in _ELEMENTS or foreign:
            self._open, self._since = at, self._depth
        elif local.lower() in ("desc", "title"):
            self._open, self._since, self._desc = at, self._depth, []
        else:
            self._attributes(at, pairs)

    def _attributes(self, at: int, pairs: dict[str, str]) -> None:
        names = [n for n in pairs if ":" in n and not n.startswith(("xmlns:", "xml:", "xlink:"))]
        names = [n for n in names if _SPACES.search(self._known.get(n.partition(":")[0], ""))]
        names += [n for n in ("data-generator", "data-author", "content-creator") if n in pairs]
        if names:
            tag = self._tag_end(at)
            for name in names:
                value = rb"\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+')"
                found = re.compile(rb"\s" + re.escape(name.encode()) + value).search(self.data, at, tag)
                if found:
                    self.cuts.append((found.start(), found.end(), b""))

    def _end(self, name: str) -> None:
        if self._open is not None and self._depth == self._since:
            if self._desc is None or TELLING.search("".join(self._desc)):
                self.cuts.append((self._open, self._tag_end(self._parser.CurrentByteIndex), b""))
            self._open, self._desc = None, None
        self._depth -= 1

    def _text(self, text: str) -> None:
        if self._desc is not None:
            self._desc.append(text)

    def _comment(self, _: str) -> None:
        at = self._parser.CurrentByteIndex
        self.cuts.append((at, self.data.index(b"-->", at) + 3, b""))

    def _instruction(self, target: str, _: str) -> None:
        if target.lower() != "xml-stylesheet":
            at = self._parser.CurrentByteIndex
            self.cuts.append((at, self.data.index(b"?>", at) + 2, b""))

    def _tag_end(self, at: int) -> int:
        """Return the position after the `>` of the tag that starts at `at`. A `>` inside a quoted value does not end
        the tag.
        """
        quote = 0
        for place in range(at, len(self.data)):
            byte = self.data[place]
            if quote:
                quote = 0 if byte == quote else quote
            elif byte in b"\"'":
                quote = byte
            elif byte == 0x3E:
                return place + 1
        raise ValueError("a tag of the file has no end")


def html(data: bytes) -> bytes:
    """Remove from HTML the `<meta>` elements with authors and programs. Identifying comments become empty comments, so
    that other nodes keep their positions.
    """
    text = data.decode("latin-1")
    scan = _Html(text)
    scan.feed(text)
    return splice(data, scan.cuts)


class _Html(HTMLParser):
    """Finder of the ranges that must be removed from HTML. The bytes are decoded so that one character is one byte,
    because only ASCII characters matter.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.text, self.cuts = text, list[Cut]()
        self._lines = [0, *(m.end() for m in re.finditer("\n", text))]

    def _position(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "meta":
            said = {(value or "").strip().lower() for name, value in attrs if name in ("name", "property")}
            if said & _META:
                self._cut_meta(self.get_starttag_text() or "")
        elif tag == "link" and any(n == "rel" and (v or "").lower() in ("author", "publisher") for n, v in attrs):
            self._cut_meta(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_comment(self, data: str) -> None:
        at = self._position()
        if TELLING.search(data) and self.text.startswith("<!--", at) and not data.lstrip().startswith("[if"):
            end = at + 4 + len(data)
            self.cuts.append((at + 4, min(end, len(self.text)), b""))

    def _cut_meta(self, tag: str) -> None:
        at = self._position()
        if self.text.startswith(tag, at):
            self.cuts.append((at, at + len(tag), b""))
