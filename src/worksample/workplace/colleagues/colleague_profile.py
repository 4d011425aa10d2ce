"""The profile of a colleague: the file `colleagues/PERSON.toml` in a company's folder. It adds to the person's entry in
`company.toml`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from worksample.files.config_files import AllowedText, value_fault
from worksample.records import Frozen

from .company_clock import WorkingHours


def _moment(value: object) -> object:
    """Return a TOML date-time in UTC. A date-time without an offset counts as UTC, because a company has only one
    clock.
    """
    if not isinstance(value, datetime):
        raise value_fault()
    return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).astimezone(UTC)


At = Annotated[datetime, BeforeValidator(_moment), AllowedText("a date and time such as 2026-03-02T09:30:00, in UTC")]

Words = Annotated[tuple[Annotated[str, Field(pattern=r"^\S(.*\S)?$")], ...], AllowedText("a list of words")]
Utterance = Annotated[str, Field(min_length=1, max_length=10_000), AllowedText("text of at most 10,000 characters")]


class Knowledge(Frozen):
    """An entry of `[[knows]]`: something that only this colleague knows, and the condition under which the colleague
    tells it.
    """

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
    text: Utterance
    """The knowledge as a text. A colleague played by rules says this text word for word."""
    tell: Literal["asked", "always", "never"] = "asked"
    """When the colleague tells the knowledge. `asked`: to anybody who asks for it; `always`: also without being asked;
    `never`: it is a secret.
    """
    ask: Utterance
    """A question that asks for this knowledge. The audit sends it to the colleague."""
    about: Words = ()
    """Words of a question for this knowledge. A colleague played by rules tells the knowledge if a message contains all
    of these words, or words that begin with them.
    """
    marks: Annotated[tuple[Utterance, ...], Field(min_length=1), AllowedText("a list of texts, at least one")]
    """Texts such as `4,000` that appear in every answer that tells this knowledge. The audit recognises such answers by
    them. For a secret, an answer that contains a mark is withheld.
    """


class IssueDeed(Frozen):
    """A change of the issue in the tracker whose subject begins with `subject`."""

    subject: Utterance
    note: str = ""
    status: str = ""
    assigned: str = ""


class FileDeed(Frozen):
    """A new document that a colleague adds to the company's files."""

    path: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9 ._/-]{0,200}$"),
        AllowedText("a path such as finance/approval.txt"),
    ]
    text: Utterance


class EventDeed(Frozen):
    """A new event in the calendar of the colleague."""

    title: Utterance
    begins: At
    ends: At


class SayDeed(Frozen):
    """A message that a colleague sends in a chat room."""

    room: str
    text: Utterance


class Deed(Frozen):
    """An entry of `[[does]]`: an action that a colleague may do in the services."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$"), AllowedText("lower case letters, digits, _ and -")]
    about: Utterance
    """What the deed is and when it is done. A model that plays the colleague reads this text."""
    issue: IssueDeed | None = None
    file: FileDeed | None = None
    event: EventDeed | None = None
    say: SayDeed | None = None


class ColleagueQuestion(Frozen):
    """A question that a colleague sends to another colleague on behalf of the person who asked."""

    who: str
    text: Utterance


class ReplyRule(Frozen):
    """An entry of `[[rule]]`: the answer to a message that contains all the words of `when`, for a colleague played by
    rules. The first matching rule applies.
    """

    when: Annotated[Words, Field(min_length=1)]
    after: Words = ()
    """Words of an earlier message. The rule applies only if an earlier message of the conversation contained all of
    them.
    """
    says: Utterance
    """The text of the answer. `{answer}` is replaced by the answer of the other colleague to whom the rule sends a
    question.
    """
    asks: ColleagueQuestion | None = None
    does: Words = ()
    """Ids of the `[[does]]` entries that the colleague does before the answer."""


class ChatTrigger(Frozen):
    """A chat message that triggers an event: a message in a room or to this colleague, from anybody who is not a
    colleague.
    """

    words: Annotated[Words, Field(min_length=1)]
    room: str = ""


class Beginning(Frozen):
    """An entry of `[[begins]]`: an opening message that a colleague sends once, at a time of the company's clock or
    after a trigger.
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
    """How this colleague behaves. A model that plays the colleague reads this text."""
    otherwise: Utterance = "I am not sure what you need. Could you say it more exactly?"
    """The answer of a colleague played by rules if no rule fits. Every colleague also gives this answer instead of an
    answer that contains a secret.
    """
    backing: Literal["rules", "model", "person"] = "rules"
    """Who answers for the colleague: the rules and knowledge in this file, a model, or a person in the chat."""
    hours: WorkingHours | None = None
    """Working hours of the colleague. Without working hours, the colleague is always at work."""
    delay: Annotated[float, Field(ge=0, le=10_080), AllowedText("minutes, 0 to 10080")] = 0.0
    """Minutes that the colleague takes to answer, on the company's clock."""
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
    """Return a text in a form for comparison: lower or upper case makes no difference, blanks are single, marks of
    emphasis are left out, and numbers have no thousands separators.
    """
    text = re.sub(r"[*`]+", "", text)
    return " ".join(re.sub(r"(?<=\d)[,'’ \u202f](?=\d{3}(\D|$))", "", text).casefold().split())


def tells(text: str, knowledge: Knowledge) -> bool:
    """Return whether a text contains all marks of a piece of knowledge."""
    return all(_holds(text, mark) for mark in knowledge.marks)


def leaks(text: str, knowledge: Knowledge) -> bool:
    """Return whether a text contains at least one mark of a piece of knowledge."""
    return any(_holds(text, mark) for mark in knowledge.marks)


def _holds(text: str, mark: str) -> bool:
    """Return whether a text contains a mark as a whole word or number. For example, `4000` does not contain `400`."""
    return re.search(rf"(?<!\w){re.escape(normalise(mark))}(?!\w)", normalise(text)) is not None


def mentions(text: str, words: tuple[str, ...]) -> bool:
    """Return whether, for each of the given words, a text contains a word that begins with it."""
    said = normalise(text)
    return all(re.search(rf"(?<!\w){re.escape(normalise(word))}", said) is not None for word in words)
