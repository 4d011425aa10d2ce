"""Detection of possible personal identifiers: Presidio's patterns, own patterns, and lists of names. People decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from worksample.extras import lacks

from .name_lists import NameLists

CHUNK_LENGTH = 2_000
"""The number of characters that are searched together. The patterns' time grows faster than the text."""
LEAST_CONFIDENCE = 0.4
"""The smallest confidence of Presidio that counts. A match without a checksum or a distinctive form is below it."""
CANDIDATE_LIMIT = 200
"""The number of a job's candidates that are kept. All are counted."""
UNDETECTABLE = (
    "faces, voices and handwriting",
    "text in pictures, scanned pages, audio and video",
    "names that are in no list or not in Latin letters, and names of companies without their legal form",
    "nicknames, and details that identify a person only together",
)
"""Personal data that this search cannot detect."""
_RECOGNISERS = (
    "IbanRecognizer", "CreditCardRecognizer", "IpRecognizer", "CryptoRecognizer",
    "UsSsnRecognizer", "UsItinRecognizer", "UkNinoRecognizer", "NhsRecognizer", "EsNifRecognizer", "EsNieRecognizer",
    "ItFiscalCodeRecognizer", "PlPeselRecognizer", "FiPersonalIdentityCodeRecognizer", "InPanRecognizer",
    "InAadhaarRecognizer", "AuTfnRecognizer", "AuMedicareRecognizer", "SgFinRecognizer", "DeTaxIdRecognizer",
    "DeSocialSecurityRecognizer", "DeVatIdRecognizer", "SePersonnummerRecognizer",
)  # fmt: skip
_REGIONS = ("US", "GB", "DE", "FR", "IN", "CA", "BR", "ES", "IT", "PL", "AU", "NL")
"""Regions whose national telephone numbers are detected. Numbers that begin with + are detected for all regions."""
_VERSION = re.compile(r"\d+(?:\.\d+){2,}|.*\d{4}-\d{2}-\d{2}|\d{8}(?:\.\d+)+")
"""Versions and dates, which are not telephone numbers."""
_BLOB = re.compile(r"[0-9A-Za-z+/=_]{200,}")
"""Encoded bytes and digests: they hold no identifiers, and they are the slowest to search."""
_OWN_PATTERNS = {
    "PROFILE": re.compile(
        r"\b(?:linkedin\.com/in|facebook\.com|instagram\.com|x\.com|twitter\.com|t\.me|wa\.me|upwork\.com/freelancers"
        r"|github\.com)/[\w.~%-]{2,60}(?![\w./~%-])"
    ),
    "ADDRESS": re.compile(
        r"\b\d{1,5}[A-Za-z]?,? (?:[A-Z][\w'-]+ ){1,3}"
        r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Way)\b"
        r"|\b[A-ZÄÖÜ][\wäöüß-]+(?:straße|strasse|str\.|weg|gasse|platz|allee) ?\d{1,4}[a-z]?\b"
    ),
}
"""Own patterns for kinds that Presidio leaves to language models."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may identify a person. `where`: `title`, `description`, `name of FILE`, `FILE` or `FILE: FIELD`."""

    kind: str
    text: str
    where: str
    count: int = 1

    def plain(self) -> dict[str, Any]:
        """Return the candidate as JSON types."""
        return {"kind": self.kind, "text": self.text, "where": self.where, "count": self.count}


@dataclass
class IdentifierFinder:
    """A finder of identifiers by Presidio's patterns and lists of names. The first search takes seconds to prepare."""

    names: NameLists = field(default_factory=NameLists)

    @staticmethod
    def if_installed() -> IdentifierFinder | None:
        """Return a finder; None if the extra `pii` is not installed."""
        return None if lacks("pii") else IdentifierFinder()

    @cached_property
    def libraries(self) -> str:
        """The names and versions of the libraries that search."""
        from importlib.metadata import version

        return f"presidio-analyzer {version('presidio-analyzer')}, names of Faker {version('faker')}"

    @cached_property
    def _recognisers(self) -> list[Any]:
        from presidio_analyzer import predefined_recognizers as theirs
        from tldextract import TLDExtract

        # By default, tldextract downloads a list of domains and caches it.
        offline = TLDExtract(suffix_list_urls=(), cache_dir=None)

        class EmailRecognizer(theirs.EmailRecognizer):
            def validate_result(self, pattern_text: str) -> bool:
                return bool(offline(pattern_text.rpartition("@")[2]).top_domain_under_public_suffix)

        phones = theirs.PhoneRecognizer(supported_regions=_REGIONS)
        return [EmailRecognizer(), phones, *(getattr(theirs, name)() for name in _RECOGNISERS)]

    def find(self, texts: Iterable[tuple[str, str]]) -> tuple[Candidate, ...]:
        """Return the candidates in (place, text) pairs, one for each text and place, with the most certain kinds
        first.
        """
        seen: dict[tuple[str, str, str], int] = {}
        for where, text in texts:
            for kind, candidate in self._find_in(text):
                key = (kind, candidate, where)
                seen[key] = seen.get(key, 0) + 1
        found = [Candidate(kind, candidate, where, count) for (kind, candidate, where), count in seen.items()]
        return tuple(sorted(found, key=lambda c: (c.kind in ("PERSON", "COMPANY"), c.kind, c.where, c.text)))

    def _find_in(self, text: str) -> Iterator[tuple[str, str]]:
        for chunk in chunks(_BLOB.sub(" ", text)):
            spans = [(0.9, start, end, "PERSON") for start, end in self.names.people(chunk)]
            spans += [(0.8, start, end, "COMPANY") for start, end in self.names.companies(chunk)]
            spans += [
                (1.0, m.start(), m.end(), kind)
                for kind, pattern in _OWN_PATTERNS.items()
                for m in pattern.finditer(chunk)
            ]
            for recogniser in self._recognisers:
                for match in recogniser.analyze(chunk, recogniser.supported_entities, None):
                    if match.score >= LEAST_CONFIDENCE and _is_plausible(
                        match.entity_type, chunk[match.start : match.end]
                    ):
                        spans.append((1.0 + match.score, match.start, match.end, match.entity_type))
            for _, start, end, kind in without_overlaps(spans):
                yield kind, " ".join(chunk[start:end].split())


def _is_plausible(kind: str, text: str) -> bool:
    if kind != "PHONE_NUMBER":
        return True
    return sum(c.isdigit() for c in text) >= 7 and not _VERSION.fullmatch(text.split(" - ", maxsplit=1)[0])


def chunks(text: str) -> Iterator[str]:
    """Yield a text in pieces of at most CHUNK characters that end at a line break, else at a space."""
    while len(text) > CHUNK_LENGTH:
        cut = max(text.rfind("\n", 1, CHUNK_LENGTH), text.rfind(" ", CHUNK_LENGTH // 2, CHUNK_LENGTH))
        cut = cut if cut > 0 else CHUNK_LENGTH
        yield text[:cut]
        text = text[cut:]
    if text.strip():
        yield text


def without_overlaps(spans: list[tuple[float, int, int, str]]) -> list[tuple[float, int, int, str]]:
    """Return spans without overlaps, by position. Of overlapping spans the most certain is kept, then the longest."""
    disjoint: list[tuple[float, int, int, str]] = []
    for span in sorted(spans, key=lambda s: (-s[0], s[1] - s[2], s[1], s[3])):
        if all(span[2] <= other[1] or span[1] >= other[2] for other in disjoint):
            disjoint.append(span)
    return sorted(disjoint, key=lambda s: s[1])


def searched_texts(title: str, description: str, files: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield (place, text) for each text of a job. files: path -> the entry by `in_box.file_reader`."""
    yield "title", title
    yield "description", description
    for path, entry in files.items():
        # Words of a file name are separated by spaces, as in a text.
        yield f"name of {path}", re.sub(r"[_/]+|(?<=[a-z])(?=[A-Z])", " ", path.rpartition(".")[0] or path)
        yield path, str(entry.get("text", ""))
        for name, text in dict(entry.get("meta", {})).items():
            yield f"{path}: {name}", str(text)
