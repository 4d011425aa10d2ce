"""What a colleague is: `colleagues/PERSON.toml` of a company, beside what `company.toml` says of everybody."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from worksample.files.config_files import AllowedText, value_fault
from worksample.records import Frozen

from .company_clock import WorkingHours


def _moment(value: object) -> object:
    """TOML's date-times without an offset count as UTC: a company has one clock."""
    if not isinstance(value, datetime):
        raise value_fault()
    return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).astimezone(UTC)


At = Annotated[datetime, BeforeValidator(_moment), AllowedText("a date and time such as 2026-03-02T09:30:00, in UTC")]

Words = Annotated[tuple[Annotated[str, Field(pattern=r"^\S(.*\S)?$")], ...], AllowedText("a list of words")]
Said = Annotated[str, Field(min_length=1, max_length=10_000), AllowedText("text of at most 10,000 characters")]


class Knowledge(Frozen):
    """One of `[[knows]]`: what only this colleague knows, and when it is told."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
    text: Said
    """As a script says it, word for word."""
    tell: Literal["asked", "always", "never"] = "asked"
    """`asked`: to who asks for it; `always`: also unasked; `never`: a secret."""
    ask: Said
    """A question for it, as the audit asks."""
    about: Words = ()
    """A script takes for this question what has all these words, or beginnings of words."""
    marks: Annotated[tuple[Said, ...], Field(min_length=1), AllowedText("a list of texts, at least one")]
    """What an answer holds that tells it, such as `4,000`: an audit finds it by these, and a secret is kept by them."""


class IssueDeed(Frozen):
    """A change of the tracker's issue whose subject begins so."""

    subject: Said
    note: str = ""
    status: str = ""
    assigned: str = ""


class FileDeed(Frozen):
    """A document that is put among the files."""

    path: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9 ._/-]{0,200}$"),
        AllowedText("a path such as finance/approval.txt"),
    ]
    text: Said


class EventDeed(Frozen):
    """An event in the colleague's own calendar."""

    title: Said
    begins: At
    ends: At


class SayDeed(Frozen):
    """Something said in a room."""

    room: str
    text: Said


class Deed(Frozen):
    """One of `[[does]]`: what a colleague may do in the services."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
    about: Said
    """What it is and when it is done, for a model that plays the colleague."""
    issue: IssueDeed | None = None
    file: FileDeed | None = None
    event: EventDeed | None = None
    say: SayDeed | None = None


class ColleagueQuestion(Frozen):
    """A question to another colleague, on behalf of whoever asked."""

    who: str
    text: Said


class ReplyRule(Frozen):
    """One of `[[rule]]`: what a script says to a message with all the words of `when`. The first that fits is taken."""

    when: Annotated[Words, Field(min_length=1)]
    after: Words = ()
    """And only once the other has said something with all of these before: what was agreed is remembered."""
    says: Said
    """`{answer}` in it is what the colleague who was asked said."""
    asks: ColleagueQuestion | None = None
    does: Words = ()
    """Ids of `[[does]]`, done before it is said."""


class ChatTrigger(Frozen):
    """Something said in the chat: by anybody who is no colleague, in a room or to this colleague."""

    words: Annotated[Words, Field(min_length=1)]
    room: str = ""


class Beginning(Frozen):
    """One of `[[begins]]`: what a colleague says first, once, at a moment of the company's clock or on an event."""

    says: Said
    to: str = ""
    room: str = ""
    at: At | None = None
    on: ChatTrigger | None = None
    does: Words = ()


class ColleagueTable(Frozen):
    """`colleagues/PERSON.toml`."""

    strategy: str = ""
    """How this colleague behaves, for a model that plays it."""
    otherwise: Said = "I am not sure what you need. Could you say it more exactly?"
    """What a script says to what no rule fits; and anybody, in place of an answer that holds a secret."""
    backing: Literal["rules", "model", "person"] = "rules"
    """Who answers: the rules and knowledge of this file, a model, or a person in the chat."""
    hours: WorkingHours | None = None
    """When the colleague works; without it always."""
    delay: Annotated[float, Field(ge=0, le=10_080), AllowedText("minutes, 0 to 10080")] = 0.0
    """That an answer takes, by the company's clock."""
    knows: Annotated[tuple[Knowledge, ...], AllowedText("tables")] = ()
    does: Annotated[tuple[Deed, ...], AllowedText("tables")] = ()
    begins: Annotated[tuple[Beginning, ...], AllowedText("tables")] = ()
    rule: Annotated[tuple[ReplyRule, ...], AllowedText("tables")] = ()


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
