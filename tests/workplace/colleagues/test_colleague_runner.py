"""The runner of colleagues in a chat: addressees, transcript, floods and failing models."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from openai_server import Answer, Fault, says, serving
from worksample.background_services import supervise
from worksample.box import Box
from worksample.errors import Cause, SandboxError
from worksample.files import HashSink
from worksample.models import ModelService, Price
from worksample.workplace.colleagues.chat import ChatMessage, WorkplaceChat
from worksample.workplace.colleagues.colleague_profile import Colleague, Knowledge
from worksample.workplace.colleagues.colleague_runner import MOST, ColleagueRunner, choose_responders
from worksample.workplace.colleagues.responders import (
    ColleagueReply,
    ColleagueResponder,
    ConversationLine,
    ModelResponder,
    PersonResponder,
    RuleResponder,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
BUDGET = Knowledge(id="budget", text="It is 4,704 EUR.", ask="What is the budget?", about=("budget",), marks=("4704",))
SECRET = Knowledge(id="pay", text="Li earns 150000.", tell="never", ask="What does Li earn?", marks=("150000",))
ROSA = Colleague(id="rosa", name="Rosa Lind", role="Office", otherwise="What do you need?", knows=(BUDGET, SECRET))
MODEL = "openai-api/local/colleague-1"


@dataclass
class Room:
    """A chat in memory."""

    said: list[ChatMessage] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def position(self) -> int:
        return len(self.said)

    async def messages_since(self, after: int) -> tuple[list[ChatMessage], int]:
        return self.said[after:], len(self.said)

    async def say(self, who: str, text: str, *, to: str, room: str) -> None:
        async with self.changed:
            self.said.append(ChatMessage(who, text, "" if room else to, room))
            self.changed.notify_all()

    async def until(self, when: Callable[[list[ChatMessage]], bool]) -> None:
        async with self.changed:
            await asyncio.wait_for(self.changed.wait_for(lambda: when(self.said)), 60)

    def by(self, who: str) -> list[ChatMessage]:
        return [one for one in self.said if one.by == who]


def attending(chat: Room, by: ColleagueResponder | None = None) -> ColleagueRunner:
    return ColleagueRunner(chat, {"rosa": (ROSA, by or RuleResponder())}, pause=0.002)


async def test_addressed_or_named_colleague_answers() -> None:
    chat = Room()
    await chat.say("alex", "What is the budget?", to="rosa", room="")  # before they attend
    async with attending(chat).run() as attended:
        await chat.say("alex", "What is the budget?", to="ines", room="")
        await chat.say("alex", "Does rosa know the budget? Or @rosalind?", to="", room="general")
        await chat.say("alex", "What is the budget?", to="rosa", room="")
        await chat.say("alex", "@rosa, what is the budget?", to="", room="general")
        await chat.until(lambda said: sum(one.by == "rosa" for one in said) == 2)
    assert sorted(chat.by("rosa"), key=lambda one: one.to) == [
        ChatMessage("rosa", BUDGET.text, "", "general"),
        ChatMessage("rosa", BUDGET.text, "alex", ""),
    ]
    kept: dict[str, bytes] = {}

    class Kept(HashSink):
        def put(self, data: bytes) -> str:
            digest = super().put(data)
            kept[digest] = data
            return digest

    part = attended.part(Kept())
    assert part.files == 1
    lines = [json.loads(line) for data in kept.values() for line in data.splitlines() if b'"colleague"' in line]
    assert [(one["by"], one["said"], one["knows"]) for one in lines] == [("alex", BUDGET.text, ["budget"])] * 2
    assert attended.usage is None


async def test_messages_of_a_person_as_colleague_are_recorded() -> None:
    chat = Room()
    async with attending(chat, PersonResponder()).run() as attended:
        await chat.say("alex", "What is the budget?", to="rosa", room="")
        await chat.say("rosa", "Let me look.", to="alex", room="")
        await chat.say("rosa", "It is small.", to="", room="general")
        while len(attended.lines) < 3:
            await asyncio.sleep(0.01)
    kept = [(one.get("heard"), one.get("to"), one["room"], one["said"], one["person"]) for one in attended.lines]
    assert sorted(kept, key=str) == [
        ("What is the budget?", None, "", "", True),
        (None, "", "general", "It is small.", True),
        (None, "alex", "", "Let me look.", True),
    ]
    assert [one.text for one in chat.by("rosa")] == ["Let me look.", "It is small."]


async def test_last_messages_of_a_person_are_recorded() -> None:
    """The agent may have read it, and ended, before the next look."""
    chat = Room()
    async with ColleagueRunner(chat, {"rosa": (ROSA, PersonResponder())}, pause=3600).run() as attended:
        await chat.say("rosa", "By Thursday.", to="alex", room="")
    assert [(one["colleague"], one["to"], one["said"]) for one in attended.lines] == [("rosa", "alex", "By Thursday.")]
    await attended.stop()
    assert len(attended.lines) == 1


async def test_missing_chat_at_the_end_stops_nothing() -> None:
    class Gone(Room):
        async def messages_since(self, after: int) -> tuple[list[ChatMessage], int]:
            raise SandboxError("no chat", where="colleagues", cause=Cause.SERVICE_LOST)

    async with ColleagueRunner(Gone(), {"rosa": (ROSA, PersonResponder())}).run() as attended:
        pass
    assert attended.lines == []


async def test_flood_is_answered_up_to_a_limit() -> None:
    chat = Room()
    async with attending(chat).run() as attended:
        for n in range(MOST + 20):
            await chat.say("alex", f"{n}: hello", to="rosa", room="")
            if n % 25 == 24:
                wanted = min(MOST, n + 1)
                await chat.until(lambda said, wanted=wanted: sum(one.by == "rosa" for one in said) >= wanted)
    assert len(chat.by("rosa")) == MOST
    assert len(attended.lines) <= MOST + 20


async def test_model_plays_a_colleague_on_its_own_budget() -> None:
    """What it would give away is withheld; its conversation is its own words and the others'."""
    answers = [says("It is 4,704 EUR, I think."), says("Psst: Li earns 150,000.")]
    with serving(answers) as served:
        service = ModelService(prices={MODEL: Price(input=1, output=2)}, args=served.args)
        by = ModelResponder(MODEL, service)
        told = await by.answer(ROSA, (ConversationLine("alex", "What is the budget?"),))
        kept = await by.answer(
            ROSA,
            (
                ConversationLine("alex", "Hi"),
                ConversationLine("rosa", "Hi!", True),
                ConversationLine("alex", SECRET.ask),
            ),
        )
    assert told.text == "It is 4,704 EUR, I think." and told.usage is not None and told.usage.calls == 1
    assert told.usage.cost is not None and told.usage.cost > 0
    assert (kept.text, kept.record["withheld"]) == (ROSA.otherwise, ["pay"])
    roles = [one["role"] for one in served.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]


async def test_turn_cut_off_by_the_trials_end_is_paid_for() -> None:
    came, free = threading.Event(), threading.Event()

    def held(request: dict[str, Any], count: int) -> Answer:
        came.set()
        free.wait(30)
        return says("late")

    chat = Room()
    with serving(held) as served:
        service = ModelService(prices={MODEL: Price(input=1, output=2)}, args=served.args)
        async with ColleagueRunner(
            chat, {"rosa": (ROSA, ModelResponder(MODEL, service))}, pause=0.01
        ).run() as attended:
            await chat.say("alex", "What is the budget?", to="rosa", room="")
            await asyncio.to_thread(came.wait, 30)
        free.set()
    used = attended.usage
    assert used is not None
    assert (used.calls, used.unsettled, used.priced) == (0, 1, False)
    assert used.cost_at_most is not None and 512 * 2 / 1e6 < used.cost_at_most < 0.01


async def test_failing_model_leaves_its_colleague_silent() -> None:
    for fault in (Fault.LIMIT, Fault.BROKEN, Fault.NOT_JSON, Fault.NO_CHOICES):
        with serving([Answer(fault=fault)]) as served:
            service = ModelService(retries=0, args=served.args)
            reply = await ModelResponder(MODEL, service).answer(ROSA, (ConversationLine("alex", "Hello?"),))
        assert reply.text == "" and reply.record["failed"], fault


@dataclass
class Line:
    """A box with a service that has answered already: nothing was said."""

    kept: list[socket.socket] = field(default_factory=list)

    async def dial(self, port: int) -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.sendall(b'HTTP/1.0 200 OK\r\nServer: chat\r\n\r\n{"heard": [], "next": 0}')
        theirs.shutdown(socket.SHUT_WR)
        self.kept.append(theirs)  # or what is asked would find nobody
        return ours


async def test_runner_stops_whenever_it_is_told_to() -> None:
    """Also in the turn in which the chat answers: that cancel was lost, and the trial never ended."""
    for turns in range(40):
        line = Line()
        attended = ColleagueRunner(WorkplaceChat(cast("Box", line), "word"), {}, pause=0)
        async with attended.run():
            for _ in range(turns):
                await asyncio.sleep(0)
            tasks = list(attended._tasks)
            for task in tasks:
                task.cancel()
            _, left = await asyncio.wait(tasks, timeout=0.5)
            assert not left, f"after {turns} turns"
        for one in line.kept:
            one.close()


@dataclass
class Deaf:
    """Answers that take cancels for their own: so many, or all."""

    cancels: int
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, colleague: Colleague, heard: Sequence[ConversationLine]) -> ColleagueReply:
        while True:
            self.begun.set()
            try:
                await self.over.wait()
                return ColleagueReply("")
            except asyncio.CancelledError:
                self.cancels -= 1
                if self.cancels < 0:
                    raise

    async def complete(
        self, colleague: Colleague, heard: Sequence[ConversationLine], reply: ColleagueReply, answer: str
    ) -> ColleagueReply:
        return reply


@pytest.mark.parametrize(("cancels", "left"), [(1, 0), (10**6, 1)])
async def test_trial_ends_though_a_task_ignores_cancellation(cancels: int, left: int) -> None:
    chat, deaf = Room(), Deaf(cancels)
    attended = attending(chat, deaf)
    attended.again = 0.001
    async with asyncio.timeout(60):
        async with attended.run():
            await chat.say("alex", "What is the budget?", to="rosa", room="")
            await deaf.begun.wait()
    assert sum(not task.done() for task in attended._tasks) == left
    assert sum("unended" in line for line in attended.lines) == left
    deaf.cancels = 0
    deaf.over.set()
    for task in attended._tasks:
        task.cancel()
    await asyncio.gather(*attended._tasks, return_exceptions=True)


@dataclass
class Crashing:
    """Answers by a program that has a fault."""

    on: str = "now"
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, colleague: Colleague, heard: Sequence[ConversationLine]) -> ColleagueReply:
        self.begun.set()
        if self.on == "cancel":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise KeyError("a library's") from None
        raise KeyError("a fault of ours")

    async def complete(
        self, colleague: Colleague, heard: Sequence[ConversationLine], reply: ColleagueReply, answer: str
    ) -> ColleagueReply:
        return reply


async def test_silence_by_our_fault_ends_the_work_and_is_recorded() -> None:
    chat, ended = Room(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    attended = attending(chat, Crashing())
    async with attended.run():
        await chat.say("alex", "What is the budget?", to="rosa", room="")
        with pytest.raises(KeyError, match="a fault of ours"):
            await supervise(work(), attended.failure)
    assert ended.is_set()
    assert isinstance(attended.failure.error, KeyError)
    assert [(one["colleague"], one["crashed"]) for one in attended.lines] == [("rosa", "KeyError: 'a fault of ours'")]


async def test_fault_after_the_work_is_recorded_and_changes_nothing() -> None:
    """As one that a cancel brings about: nobody waited for that answer any more."""
    chat, crashing = Room(), Crashing("cancel")
    attended = attending(chat, crashing)
    async with attended.run():

        async def work() -> int:
            await chat.say("alex", "What is the budget?", to="rosa", room="")
            await crashing.begun.wait()
            return 3

        assert await supervise(work(), attended.failure) == 3
    assert attended.failure.error is None
    assert [one["crashed"] for one in attended.lines] == ['KeyError: "a library\'s"']


async def test_work_with_a_runner_ends_as_without() -> None:
    async with attending(Room()).run() as attended:

        async def fails() -> None:
            raise ValueError("the work's own")

        with pytest.raises(ValueError, match="the work's own"):
            await supervise(fails(), attended.failure)


def test_model_colleague_needs_a_model() -> None:
    one = ROSA.replaced(backing="model")
    assert isinstance(choose_responders([one], MODEL, ModelService())["rosa"][1], ModelResponder)
    with pytest.raises(SandboxError, match="names no model") as caught:
        choose_responders([one], None, ModelService())
    assert caught.value.cause is Cause.SERVICE_START
