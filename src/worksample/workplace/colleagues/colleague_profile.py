"""The profile of a colleague: `colleagues/PERSON.toml` of a company, beside what `company.toml` says of everybody."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from worksample.files.config_files import AllowedText, value_fault
from worksample.records import Frozen

from .company_clock import WorkingHours


def _moment(value: object) -> object:
    """Return a TOML date-time in UTC; without an offset it counts as UTC, since a company has one clock."""
    if not isinstance(value, datetime):
        raise value_fault()
    return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).astimezone(UTC)


At = Annotated[datetime, BeforeValidator(_moment), AllowedText("a date and time such as 2026-03-02T09:30:00, in UTC")]

Words = Annotated[tuple[Annotated[str, Field(pattern=r"^\S(.*\S)?$")], ...], AllowedText("a list of words")]
Utterance = Annotated[str, Field(min_length=1, max_length=10_000), AllowedText("text of at most 10,000 characters")]


class Knowledge(Frozen):
    """An entry of `[[knows]]`: something that only this colleague knows, and when it is told."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
    text: Utterance
    """The text, as a script says it word for word."""
    tell: Literal["asked", "always", "never"] = "asked"
    """`asked`: to anybody who asks for it; `always`: also unasked; `never`: a secret."""
    ask: Utterance
    """A question for it, which the audit asks."""
    about: Words = ()
    """A script takes a message with all of these words, or words that begin so, as the question for it."""
    marks: Annotated[tuple[Utterance, ...], Field(min_length=1), AllowedText("a list of texts, at least one")]
    """Texts such as `4,000` by which an audit recognises that an answer tells it, and by which secrets are withheld."""


class IssueDeed(Frozen):
    """A change of the tracker's issue whose subject begins with `subject`."""

    subject: Utterance
    note: str = ""
    status: str = ""
    assigned: str = ""


class FileDeed(Frozen):
    """A document that is added to the files."""

    path: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9 ._/-]{0,200}$"),
        AllowedText("a path such as finance/approval.txt"),
    ]
    text: Utterance


class EventDeed(Frozen):
    """An event in the colleague's own calendar."""

    title: Utterance
    begins: At
    ends: At


class SayDeed(Frozen):
    """A message in a room."""

    room: str
    text: Utterance


class Deed(Frozen):
    """An entry of `[[does]]`: something that a colleague may do in the services."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
    about: Utterance
    """What it is and when it is done, for a model that plays the colleague."""
    issue: IssueDeed | None = None
    file: FileDeed | None = None
    event: EventDeed | None = None
    say: SayDeed | None = None


class ColleagueQuestion(Frozen):
    """A question to another colleague, on behalf of the person who asked."""

    who: str
    text: Utterance


class ReplyRule(Frozen):
    """An entry of `[[rule]]`: a script's answer to a message with all the words of `when`. The first matching rule
    applies.
    """

    when: Annotated[Words, Field(min_length=1)]
    after: Words = ()
    """The rule applies only if an earlier message had all of these words."""
    says: Utterance
    """The answer; `{answer}` is replaced by what the asked colleague said."""
    asks: ColleagueQuestion | None = None
    does: Words = ()
    """Ids of `[[does]]`, done before the answer."""


class ChatTrigger(Frozen):
    """A message by anybody who is not a colleague, in a room or to this colleague."""

    words: Annotated[Words, Field(min_length=1)]
    room: str = ""


class Beginning(Frozen):
    """An entry of `[[begins]]`: a message that a colleague sends first, once, at a time of the company's clock or on an
    event.
    """

    says: Utterance
    to: str = ""
    room: str = ""
    at: At | None = None
    on: ChatTrigger | None = None
    does: Words = ()


class ColleagueTable(Frozen):
    """The content of `colleagues/PERSON.toml`."""

    strategy: str = ""
    """How this colleague behaves, for a model that plays it."""
    otherwise: Utterance = "I am not sure what you need. Could you say it more exactly?"
    """A script's answer if no rule fits; and everybody's instead of an answer that contains a secret."""
    backing: Literal["rules", "model", "person"] = "rules"
    """Who answers: the rules and knowledge of this file, a model, or a person in the chat."""
    hours: WorkingHours | None = None
    """Working hours; without them the colleague always works."""
    delay: Annotated[float, Field(ge=0, le=10_080), AllowedText("minutes, 0 to 10080")] = 0.0
    """Minutes that an answer takes, by the company's clock."""
    knows: Annotated[tuple[Knowledge, ...], AllowedText("tables")] = ()
    does: Annotated[tuple[Deed, ...], AllowedText("tables")] = ()
    begins: Annotated[tuple[Beginning, ...], AllowedText("tables")] = ()
    rule: Annotated[tuple[ReplyRule, ...], AllowedText("tables")] = ()


class Colleague(ColleagueTable):
    """A colleague's table together with the person's id, name and role."""

    id: str
    name: str
    role: str = ""
    responsibilities: str = ""

    @property
    def secrets(self) -> tuple[Knowledge, ...]:
        return tuple(one for one in self.knows if one.tell == "never")


def normalise(text: str) -> str:
    """Return a text for comparison: one case, single blanks, numbers without thousands separators."""
    return " ".join(re.sub(r"(?<=\d)[,'’ \u202f](?=\d{3}(\D|$))", "", text).casefold().split())


def tells(text: str, knowledge: Knowledge) -> bool:
    """Return whether a text holds all marks of a piece of knowledge."""
    return all(_holds(text, mark) for mark in knowledge.marks)


def leaks(text: str, knowledge: Knowledge) -> bool:
    """Return whether a text holds any mark of a piece of knowledge."""
    return any(_holds(text, mark) for mark in knowledge.marks)


def _holds(text: str, mark: str) -> bool:
    """Return whether a text holds a mark as a whole: `400` is not in `4000`."""
    return re.search(rf"(?<!\w){re.escape(normalise(mark))}(?!\w)", normalise(text)) is not None


def mentions(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a text contains words that begin with each of the given words."""
    said = normalise(text)
    return all(re.search(rf"(?<!\w){re.escape(normalise(word))}", said) is not None for word in words)
