"""Counts of unclear wording, which may only fall, and unique names of public classes."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import worksample
from repo.wording import Words, words_in, words_of

TABLE = Path(__file__).with_name("wording.toml")
SOURCE = Path(worksample.__file__).parent


def counted(found: dict[str, Words]) -> dict[str, int]:
    """The numbers that the table holds."""
    classes = Counter(name for words in found.values() for name in words.classes)
    return {
        "public classes that share a name": sum(count > 1 for count in classes.values()),
        "docstrings with a conditional where": sum(len(words.conditional_where) for words in found.values()),
        "functions called by a bare participle or pronoun": sum(len(words.bare_names) for words in found.values()),
        "docstrings that begin with neither verb nor noun": sum(len(words.odd_beginnings) for words in found.values()),
    }


def test_each_kind_of_wording_is_recognised() -> None:
    text = '''
class Answer:
    """What was said, where it is known."""

def told():
    """Say which file it is, and the line where it stands."""

def _kept(): ...
def told_apart():
    """Return the two."""
'''
    words = words_of(text)
    assert words.classes == ("Answer",)
    assert words.conditional_where == ("Answer:2",)
    assert sorted(words.bare_names) == ["_kept:8", "told:5"]
    assert words.odd_beginnings == ("Answer:2",)


def test_counts_only_fall() -> None:
    found = words_in(SOURCE)
    allowed = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    now = counted(found)
    assert set(allowed) == set(now)
    more = {name: (now[name], allowed[name]) for name in now if now[name] > allowed[name]}
    assert not more, "see CONTRIBUTING.md, plain words"
    less = {name: now[name] for name in now if now[name] < allowed[name]}
    assert not less, f"fewer than {TABLE.name} says: write these numbers there"
