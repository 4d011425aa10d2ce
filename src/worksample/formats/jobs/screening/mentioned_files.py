"""Files, links and numbers of files that a posting mentions. Comparing them with the job's files shows what is
missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

_FORMATS = """
pdf docx? xlsx? xlsm csv tsv pptx? odt ods odp rtf txt md json xml zip rar 7z jpe?g png gif svg tiff? webp heic psd ai
indd eps dwg dxf step stp stl obj skp ifc mp3 wav m4a mp4 mov avi mkv html? sql db sqlite py js ipynb epub key numbers
pages
"""
_ENDINGS = "|".join(_FORMATS.split())
_FILE = re.compile(rf"(?<![\w/@.-])([\w][\w()&+,'-]*(?:\.[\w-]+)*\.(?:{_ENDINGS}))(?![\w-]|\.\w)", re.IGNORECASE)
_QUOTED = re.compile(rf"[\"“‘'`]([^\"“”‘’'`\n/]{{1,120}}\.(?:{_ENDINGS}))[\"”’'`]", re.IGNORECASE)
_LINK = re.compile(r"\bhttps?://[^\s<>\"')\]]{4,500}")
_NUMBERS = {
    w: n
    for n, w in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2
    )
}
_COUNT = re.compile(
    rf"\b(\d{{1,4}}|{'|'.join(_NUMBERS)})\s+(?:attached\s+)?"
    r"(files|documents|images|photos|pictures|pdfs|spreadsheets|attachments)\b",
    re.IGNORECASE,
)
_KINDS = {
    "images": ["jpg", "jpeg", "png", "gif", "svg", "tif", "tiff", "webp", "heic", "psd"],
    "pdfs": ["pdf"],
    "spreadsheets": ["xls", "xlsx", "xlsm", "csv", "tsv", "ods"],
    "documents": ["pdf", "doc", "docx", "odt", "rtf", "txt", "md"],
}
_KINDS |= dict.fromkeys(("photos", "pictures"), _KINDS["images"])
_ATTACHED = re.compile(r"\battached|enclosed|provided|included|uploaded|attachments\b", re.IGNORECASE)


def named_files(text: str) -> tuple[str, ...]:
    """Return the file names in a text, each once. Web addresses do not count."""
    without = _LINK.sub(" ", text)
    quoted = [m[1].strip() for m in _QUOTED.finditer(without)]
    loose = [m[1] for m in _FILE.finditer(_QUOTED.sub(" ", without))]
    return tuple(dict.fromkeys([*quoted, *loose]))


def links(text: str) -> tuple[str, ...]:
    """Return the web addresses in a text, each once. They are not opened."""
    return tuple(dict.fromkeys(m[0].rstrip(".,;:") for m in _LINK.finditer(text)))


def missing_files(named: Iterable[str], there: Iterable[str]) -> tuple[str, ...]:
    """Return the names that no file has, ignoring case and folder."""
    have = {_bare_name(path) for path in there}
    return tuple(name for name in dict.fromkeys(named) if _bare_name(name) not in have)


def _bare_name(path: str) -> str:
    return re.sub(r"[\s_]+", " ", unicodedata.normalize("NFC", PurePosixPath(path).name)).casefold()


def miscounted_files(text: str, there: Iterable[str]) -> tuple[str, ...]:
    """Return a sentence for each number of attached files in a text that differs from the number of actual files."""
    endings = [PurePosixPath(path).suffix.lstrip(".").lower() for path in there]
    out = []
    for sentence in re.split(r"(?<=[.!?\n])\s+", text):
        if not _ATTACHED.search(sentence):
            continue
        for match in _COUNT.finditer(sentence):
            mentioned = _NUMBERS.get(match[1].lower()) or int(match[1])
            wanted = _KINDS.get(match[2].lower())
            have = len(endings) if wanted is None else sum(e in wanted for e in endings)
            if mentioned != have:
                out.append(f"the posting mentions {match[0].strip()}; there {'is' if have == 1 else 'are'} {have}")
    return tuple(dict.fromkeys(out))
