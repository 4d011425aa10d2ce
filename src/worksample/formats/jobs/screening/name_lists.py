"""Detection of names of people and companies by word lists, without a language model."""

from __future__ import annotations

import importlib
import pkgutil
import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property

_WORD = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’-]*[\w]"
_SEQUENCE = re.compile(
    rf"\b{_WORD}(?:[ \u00a0](?:(?:van|von|de|der|den|del|da|di|la|le|bin|al|el)[ ])*(?:[A-Z]\.[ ]?)?{_WORD})+"
)
_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Frau|Señora?|Monsieur|Madame|Sig(?:nor|ra)?)\.?[ ]"
    rf"({_WORD}(?:[ ]{_WORD})?)"
)
_COMPANY = re.compile(
    rf"\b({_WORD}(?:[ &]{{1,3}}{_WORD}){{0,4}})[ ,]{{1,2}}"
    r"(?:Inc|LLC|Ltd|Limited|GmbH|AG|KG|Corp|Corporation|B\.?V|S\.?A|S\.?r\.?l|Pty|PLC|Oy|A/S)\b\.?"
)
_PARTICLES = frozenset(("van", "von", "de", "der", "den", "del", "da", "di", "la", "le", "bin", "al", "el"))
_COMMON_WORD_LINES = """
the a an and or of for in on to with by from at as is are was be this that these those new open all any no not my your
server advanced apache python java google microsoft amazon linux windows mac chrome firefox excel word power data api
web january february march april may june july
august september october november december monday tuesday wednesday thursday
friday saturday sunday north south east west united states kingdom university institute license version table figure
chapter section page note see
"""
_COMMON_WORDS = frozenset(_COMMON_WORD_LINES.split())
_ADDRESS = re.compile(r"\S+@\S+|\S+://\S+|\w+(?:\.\w+)+(?:/\S*)?")
_LATIN = re.compile(r"[A-Za-zÀ-ÿĀ-ž'’-]{2,}\Z")


def fold_name(word: str) -> str:
    """Return a word in lower case, without accents and the genitive `'s`."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(c))
    return re.sub(r"['’]s$", "", plain)


class NameLists:
    """Given names and family names from Faker's locales, those in Latin letters."""

    @cached_property
    def lists(self) -> tuple[frozenset[str], frozenset[str]]:
        """(given names, family names), in lower case."""
        from faker.providers import person

        given: set[str] = set()
        family: set[str] = set()
        for found in pkgutil.iter_modules(person.__path__):
            provider = importlib.import_module(f"{person.__name__}.{found.name}").Provider
            for name in dir(provider):
                words = getattr(provider, name)
                kind = given if name.startswith("first_name") else family if name.startswith("last_name") else None
                if kind is not None and isinstance(words, dict | tuple | list | set):
                    kind.update(fold_name(w) for w in words if isinstance(w, str) and _LATIN.match(w))
        return frozenset(given - _COMMON_WORDS), frozenset(family - _COMMON_WORDS)

    def people(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans that are probably people's names: a given name with a family name, or a title with a name."""
        given, family = self.lists
        # Addresses are left out: they contain names in lower case.
        lower = {fold_name(w) for w in re.findall(r"(?<![\w'’-])[a-zß-ÿ]{3,}", _ADDRESS.sub(" ", text))}
        for match in _TITLED.finditer(text):
            yield match.span()
        for match in _SEQUENCE.finditer(text):
            at = match.start()
            words = [(m[0], at + m.start(), at + m.end()) for m in re.finditer(r"[\w'’.-]+", match[0])]
            at = 0
            while at < len(words) - 1:
                until = self._last_word(words, at, given, family, lower)
                if until:
                    yield words[at][1], words[until][2]
                    at = until
                at += 1

    @staticmethod
    def _last_word(
        words: list[tuple[str, int, int]], at: int, given: frozenset[str], family: frozenset[str], lower: set[str]
    ) -> int:
        """Return the index of the last word of a name that begins at word `at`; 0 if no name begins at `at`."""
        first = fold_name(words[at][0])
        until = at + 1
        while until < len(words) - 1 and (words[until][0].lower() in _PARTICLES or len(words[until][0]) <= 2):
            until += 1
        last = fold_name(words[until][0])
        if last in _COMMON_WORDS or first in _COMMON_WORDS:
            return 0
        if first not in given:
            return until if last in given and first in family and first not in lower else 0
        return until if (last in family and last not in lower) or (last not in lower and first not in lower) else 0

    @staticmethod
    def companies(text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans that end in a company's legal form, such as "Ltd"."""
        for match in _COMPANY.finditer(text):
            yield match.span()
