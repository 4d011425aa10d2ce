"""What a colleague is: `colleagues/PERSON.toml` of a company, beside what `company.toml` says of everybody."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from worksample.manifests import Says
from worksample.records import Frozen

Words = Annotated[tuple[Annotated[str, Field(pattern=r"^\S(.*\S)?$")], ...], Says("a list of words")]
Said = Annotated[str, Field(min_length=1, max_length=10_000), Says("text of at most 10,000 characters")]


class Knowledge(Frozen):
    """One of `[[knows]]`: what only this colleague knows, and when it is told."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), Says("lower case letters, digits, _ and -")]
    text: Said
    """As a script says it, word for word."""
    tell: Literal["asked", "always", "never"] = "asked"
    """`asked`: to who asks for it; `always`: also unasked; `never`: a secret."""
    ask: Said
    """A question for it, as the audit asks."""
    about: Words = ()
    """A script takes for this question what has all these words, or beginnings of words."""
    marks: Annotated[tuple[Said, ...], Field(min_length=1), Says("a list of texts, at least one")]
    """What an answer holds that tells it, such as `4,000`: an audit finds it by these, and a secret is kept by them."""


class Rule(Frozen):
    """One of `[[rule]]`: what a script says to a message with all the words of `when`. The first that fits is taken."""

    when: Annotated[Words, Field(min_length=1)]
    after: Words = ()
    """And only once the other has said something with all of these before: what was agreed is remembered."""
    says: Said


class ColleagueTable(Frozen):
    """`colleagues/PERSON.toml`."""

    strategy: str = ""
    """How this colleague behaves, for a model that plays it."""
    otherwise: Said = "I am not sure what you need. Could you say it more exactly?"
    """What a script says to what no rule fits; and anybody, in place of an answer that holds a secret."""
    backing: Literal["rules", "model", "person"] = "rules"
    """Who answers: the rules and knowledge of this file, a model, or a person in the chat."""
    knows: Annotated[tuple[Knowledge, ...], Says("tables")] = ()
    rule: Annotated[tuple[Rule, ...], Says("tables")] = ()


class Colleague(ColleagueTable):
    """With who it is."""

    id: str
    name: str
    role: str = ""
    responsibilities: str = ""

    @property
    def secrets(self) -> tuple[Knowledge, ...]:
        return tuple(one for one in self.knows if one.tell == "never")


def plain(text: str) -> str:
    """Text as it is compared: one case, one blank between words, numbers without thousands' separators."""
    return " ".join(re.sub(r"(?<=\d)[,'’ \u202f](?=\d{3}(\D|$))", "", text).casefold().split())


def tells(text: str, knowledge: Knowledge) -> bool:
    """Whether a text holds all marks of a piece of knowledge."""
    return all(_holds(text, mark) for mark in knowledge.marks)


def leaks(text: str, knowledge: Knowledge) -> bool:
    """Whether a text holds any mark of it."""
    return any(_holds(text, mark) for mark in knowledge.marks)


def _holds(text: str, mark: str) -> bool:
    """As a whole: `400` is not in `4000`."""
    return re.search(rf"(?<!\w){re.escape(plain(mark))}(?!\w)", plain(text)) is not None


def mentions(text: str, words: tuple[str, ...]) -> bool:
    """Whether a text has all of the words, or words that begin so."""
    said = plain(text)
    return all(re.search(rf"(?<!\w){re.escape(plain(word))}", said) is not None for word in words)
