"""Media types by file extension, else by the first bytes. The lists belong to this package and do not depend on the
machine.
"""

from __future__ import annotations

_PICTURES = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "bmp": "image/bmp", "ico": "image/vnd.microsoft.icon", "avif": "image/avif", "svg": "image/svg+xml",
}  # fmt: skip
_MEDIA = {
    "mp4": "video/mp4", "m4v": "video/mp4", "webm": "video/webm", "ogv": "video/ogg", "mov": "video/quicktime",
    "mkv": "video/x-matroska", "mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "oga": "audio/ogg",
    "opus": "audio/ogg", "flac": "audio/flac", "aac": "audio/aac", "m4a": "audio/mp4",
}  # fmt: skip
_DATA = {
    "pdf": "application/pdf", "json": "application/json", "geojson": "application/json", "glb": "model/gltf-binary",
    "gltf": "model/gltf+json", "stl": "model/stl", "obj": "model/obj", "mtl": "model/mtl", "wasm": "application/wasm",
    "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
}  # fmt: skip
_TEXTS = (
    "txt md markdown csv tsv log xml yaml yml toml ini cfg py ts tsx jsx sh sql r c h cpp java rs go tex srt vtt "
    "html htm xhtml xht mhtml js mjs cjs css"
)
PLAIN, BYTES = "text/plain; charset=utf-8", "application/octet-stream"
SAFE = _PICTURES | _MEDIA | _DATA | dict.fromkeys(_TEXTS.split(), PLAIN)
"""Types of single files; none is an HTML page. SVG opens as a page in its own tab, where its sandbox blocks scripts."""
SITE = SAFE | {
    "html": "text/html", "htm": "text/html", "xhtml": "application/xhtml+xml", "xht": "application/xhtml+xml",
    "xml": "application/xml", "js": "text/javascript", "mjs": "text/javascript", "cjs": "text/javascript",
    "css": "text/css", "map": "application/json", "webmanifest": "application/manifest+json",
    "vtt": "text/vtt; charset=utf-8", "data": BYTES, "mem": BYTES, "unityweb": BYTES,
}  # fmt: skip
"""Types of a web site's files."""
PAGES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "image/svg+xml"})
"""Types that a browser runs as documents."""
PACKED = {"br": "br", "gz": "gzip"}
"""Content codings by extension. Web games ship compressed files, which the browser unpacks by this coding."""
_UNPACKABLE = frozenset({"js", "mjs", "css", "html", "htm", "wasm", "data", "json", "svg", "mem", "map", "unityweb"})
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"), (b"OggS", "audio/ogg"), (b"fLaC", "audio/flac"), (b"ID3", "audio/mpeg"),
    (b"glTF", "model/gltf-binary"), (b"\x1a\x45\xdf\xa3", "video/webm"), (b"BM", "image/bmp"),
)  # fmt: skip
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def extension(name: str) -> str:
    """Return the extension of a path in lower case; "" if it has none."""
    return name.rpartition("/")[2].rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""


def by_name(name: str) -> str:
    """Return the media type of a single file."""
    return SAFE.get(extension(name), BYTES)


def by_content(head: bytes, name: str) -> str:
    """Return the media type of an artefact by its first bytes; never a page's type. `name`: the artefact's name."""
    for start, kind in _MAGIC:
        if head.startswith(start):
            return kind
    if head[:4] == b"RIFF" and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head[4:8] == b"ftyp":
        return "audio/mp4" if name == "audio" else "image/avif" if head[8:11] == b"avi" else "video/mp4"
    if head[:2] in (b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"):
        return "audio/mpeg"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if name.startswith("layout/") or name.endswith(".svg") or (name.startswith("media/") and b"<svg" in text):
        return "image/svg+xml"
    if text[:1] in (b"{", b"["):
        return "application/json"
    return PLAIN if b"\0" not in head else BYTES


def of_site(name: str, head: bytes) -> tuple[str, str]:
    """Return media type and content coding ("" for none) of a web site's file."""
    ending = extension(name)
    inner = name[: -len(ending) - 1] if ending else name
    coding = PACKED.get(ending, "")
    if coding and extension(inner) in _UNPACKABLE and (coding == "br" or head[:2] == b"\x1f\x8b"):
        return SITE.get(extension(inner), BYTES), coding
    kind = SITE.get(ending, BYTES)
    if kind == "text/html" and b"charset" not in head.lower() and not head.startswith((b"\xfe\xff", b"\xff\xfe")):
        return f"{kind}; charset=utf-8", ""
    return kind, ""
