"""Colleagues with hours, who begin conversations, ask one another and do deeds: same messages, same times."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openai_server import says, serving
from workplace.colleagues.test_colleague_runner import Room
from worksample.errors import SandboxError
from worksample.models import ModelService
from worksample.workplace.colleagues.colleague_audit import ColleagueFault, audit
from worksample.workplace.colleagues.colleague_profile import (
    Beginning,
    ChatTrigger,
    Colleague,
    ColleagueQuestion,
    Deed,
    IssueDeed,
    Knowledge,
    ReplyRule,
    SayDeed,
)
from worksample.workplace.colleagues.colleague_runner import ColleagueRunner
from worksample.workplace.colleagues.company_clock import CompanyClock, WorkingHours, answer_time
from worksample.workplace.colleagues.responders import (
    ColleagueResponder,
    ConversationLine,
    ModelResponder,
    PersonResponder,
    RuleResponder,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
MONDAY = datetime(2026, 3, 16, 8, tzinfo=UTC)
MODEL = "openai-api/local/colleague-1"
RATE = Knowledge(id="rate", text="The rate is 4.5 %.", ask="What is the rate?", about=("rate",), marks=("4.5",))
DARIO = Colleague(id="dario", name="Dario", knows=(RATE,), hours=WorkingHours(begin="10:00", end="12:00"), delay=30)
APPROVE = Deed(
    id="approve", about="Once the sum is 1200.", issue=IssueDeed(subject="Laptops", status="Resolved"),
    say=SayDeed(room="office", text="Approved."),
)  # fmt: skip
HELENA = Colleague(
    id="helena",
    name="Helena",
    hours=WorkingHours(),
    does=(APPROVE,),
    rule=(
        ReplyRule(
            when=("rate",), asks=ColleagueQuestion(who="dario", text="What is the rate?"), says="Dario says: {answer}"
        ),
        ReplyRule(when=("1200",), says="I have approved it.", does=("approve",)),
    ),
    begins=(
        Beginning(says="Good morning, please see me about the laptops.", to="jules", at=MONDAY),
        Beginning(says="I leave for the bank now.", room="office", at=datetime(2026, 3, 16, 10, tzinfo=UTC)),
        Beginning(
            says="What is wrong with the invoice?", to="jules", on=ChatTrigger(words=("invoice",), room="office")
        ),
    ),
)


@dataclass
class Done:
    """Services that keep what was done in them."""

    deeds: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False

    async def do(self, who: str, deed: Deed) -> None:
        if self.broken:
            raise SandboxError("the tracker does not answer", where="colleagues")
        self.deeds.append((who, deed.id))


async def played(
    asked: list[tuple[str, str, str]], *, hands: Done, dario: ColleagueResponder | None = None
) -> ColleagueRunner:
    """Somebody says all of it, each once the last was answered: (to, room, text)."""
    chat = Room()
    by = {"helena": (HELENA, RuleResponder()), "dario": (DARIO, dario or RuleResponder())}
    async with ColleagueRunner(chat, by, pause=0.002, clock=CompanyClock(MONDAY), hands=hands).run() as attended:
        for to, room, text in asked:
            kind = "heard" if to or "@" in text else "began"
            before = sum(kind in one and one.get("by") in ("jules", None) for one in attended.lines)
            await chat.say("jules", text, to=to, room=room)
            await chat.until(
                lambda _, n=before, kind=kind: sum(
                    kind in one and one.get("by") in ("jules", None) for one in attended.lines
                ) > n
            )  # fmt: skip
    return attended


async def test_clock_advances_by_messages() -> None:
    """8:00: who works from 9 answers at 9, and the next one hears it after that."""
    hands = Done()
    attended = await played([("helena", "", "Hello?"), ("dario", "", "What is the rate?")], hands=hands)
    first, leaves = sorted((one for one in attended.lines if "began" in one), key=lambda one: one["began"])
    hello, rate = (one for one in attended.lines if "heard" in one)
    assert (first["began"], first["said"]) == (MONDAY.isoformat(), HELENA.begins[0].says)
    assert (hello["clock"], hello["answered"]) == ("2026-03-16T08:00:00+00:00", "2026-03-16T09:00:00+00:00")
    assert hello["said"].startswith("[Monday, 16 March, 09:00] ")
    assert (rate["clock"], rate["answered"]) == ("2026-03-16T09:00:00+00:00", "2026-03-16T10:30:00+00:00")
    assert rate["said"] == "[Monday, 16 March, 10:30] The rate is 4.5 %."
    assert (leaves["began"], leaves["said"]) == ("2026-03-16T10:00:00+00:00", "I leave for the bank now.")
    again = await played([("helena", "", "Hello?"), ("dario", "", "What is the rate?")], hands=Done())
    times = [[(one.get("clock"), one.get("answered")) for one in a.lines if "clock" in one] for a in (attended, again)]
    assert times[0] == times[1]


async def test_colleague_asks_another_and_reports_the_answer() -> None:
    attended = await played([("helena", "", "What rate do we pay?")], hands=Done())
    dario, helena = [one for one in attended.lines if "heard" in one]
    assert (dario["colleague"], dario["by"], dario["said"]) == (
        "dario", "helena", "[Monday, 16 March, 10:30] The rate is 4.5 %."
    )  # fmt: skip
    assert helena["said"].endswith("Dario says: The rate is 4.5 %.")
    assert helena["asked"] == {"who": "dario", "text": "What is the rate?", "answer": "The rate is 4.5 %."}


async def test_missing_answer_is_reported() -> None:
    attended = await played([("helena", "", "What rate do we pay?")], hands=Done(), dario=PersonResponder())
    [told] = [one["said"] for one in attended.lines if one.get("by") == "jules"]
    assert told.endswith("Dario says: (no answer)")


async def test_deed_is_done_once() -> None:
    hands = Done()
    asked = [("helena", "", "It is 1200 EUR."), ("helena", "", "1200, as I said.")]
    attended = await played(asked, hands=hands)
    assert hands.deeds == [("helena", "approve")]
    assert [one["did"] for one in attended.lines if "did" in one] == [{"approve": "done"}, {"approve": "done before"}]
    broken = await played(asked[:1], hands=Done(broken=True))
    assert [one["did"] for one in broken.lines if "did" in one] == [{"approve": "the tracker does not answer"}]


async def test_colleague_begins_once_on_an_event_and_not_on_colleagues_words() -> None:
    asked = [("", "office", "The invoice of Ott is wrong."), ("", "office", "@helena the invoice!")]
    attended = await played(asked, hands=Done())
    began = [one["said"] for one in attended.lines if "began" in one]
    assert began.count("What is wrong with the invoice?") == 1


async def test_model_asks_and_acts_by_separate_lines() -> None:
    answers = [
        says("One moment.\n[ask dario] What is the rate?"),
        says("It is 4.5 %.\n[do approve]\n[do nothing-known]"),
    ]
    with serving(answers) as served:
        by = ModelResponder(MODEL, ModelService(args=served.args))
        heard = (ConversationLine("jules", "What rate do we pay, for 1200?"),)
        reply = await by.answer(HELENA, heard)
        assert (reply.text, reply.asks) == ("One moment.", ColleagueQuestion(who="dario", text="What is the rate?"))
        told = await by.complete(HELENA, heard, reply, "The rate is 4.5 %.")
    assert (told.text, told.does, told.asks) == ("It is 4.5 %.", ("approve",), None)
    assert told.usage is not None and told.usage.calls == 2
    prompt = served.requests[0]["messages"][0]["content"]
    assert "[do approve]" in prompt and "[ask ID]" in prompt
    assert served.requests[1]["messages"][-1]["content"].startswith("dario: The rate")


async def test_audit_finds_unasked_deeds() -> None:
    eager = HELENA.replaced(rule=(ReplyRule(when=("good",), says="Approved!", does=("approve",)),))
    found = await audit([eager, DARIO], lambda _: RuleResponder(), repeats=1)
    assert {(one.fault, one.about) for one in found.findings} == {(ColleagueFault.ACTS, "approve")}
    assert (await audit([HELENA, DARIO], lambda _: RuleResponder(), repeats=1)).findings == ()


DAYS = st.lists(st.sampled_from(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]), max_size=7, unique=True)


@given(
    DAYS, st.integers(0, 22), st.integers(1, 60 * 24 * 10), st.floats(0, 5000), st.lists(st.integers(0, 9), max_size=3)
)
def test_answer_comes_in_working_hours_and_after_the_question(
    days: list[str], begin: int, minutes: int, delay: float, away: list[int]
) -> None:
    off = tuple(date(2026, 3, 16) + timedelta(days=n) for n in away)
    hours = WorkingHours.model_validate(
        {"days": days, "begin": f"{begin:02}:30", "end": f"{begin + 1:02}:00", "away": off}
    )
    heard = MONDAY + timedelta(minutes=minutes)
    at = answer_time(hours, delay, heard)
    if at is None:
        assert not days
        return
    assert at >= heard + timedelta(minutes=delay)
    assert hours.works(at.date()) and hours.next(at) == at
