"""The runner of a workplace's colleagues: reads the chat, sends the colleagues' answers, and writes a transcript.

Several conversations are answered at once; the messages of one conversation are answered in order. Model calls for
colleagues run in a separate context, so they count towards no agent's budget and appear in no agent's trajectory. The
runner decides the company times of a message and of its answer when the message arrives, so the times depend only on
the order of messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from worksample.background_services import FailureSignal
from worksample.errors import Cause, SandboxError
from worksample.fault_injection import failpoint
from worksample.files import Sink
from worksample.models import ModelService, add_priced_usage
from worksample.records import CaptureStatus, Entry, Manifest, SubmissionPart, Usage, canonical, now
from worksample.store import put_canonical
from worksample.tasks.workplace_settings import COLLEAGUE

from .chat import ChatClient, ChatMessage
from .colleague_actions import DeedPerformer, NoServices
from .colleague_profile import Beginning, Colleague, mentions
from .company_clock import CompanyClock, answer_time, time_stamp
from .responders import (
    ColleagueReply,
    ColleagueResponder,
    ConversationLine,
    ModelResponder,
    PersonResponder,
    RuleResponder,
)

MOST = 500
"""Maximum answers of one colleague. An agent that floods the chat gets no further answers."""
WAITING = 50
"""Maximum messages of one conversation that wait for an answer. Further messages are recorded and not answered."""
LINES = 20_000
"""Maximum lines of a transcript. The stored state of the chat still contains all messages."""
PAUSE = 0.2
"""Seconds between two reads of the chat."""
AGAIN = 1.0
"""Seconds after which a task that has ignored a cancellation is cancelled again."""
CANCELS = 30
"""Maximum cancellations of one task. A task that ignores all of them is left running, so that the trial can end."""
ROLE = COLLEAGUE
"""Name under which the model calls of colleagues are counted, separately from the agent's model calls."""
FILE = "colleagues.jsonl"


def choose_responders(
    colleagues: Sequence[Colleague], model: str | None, service: ModelService
) -> dict[str, tuple[Colleague, ColleagueResponder]]:
    """Return account -> (colleague, responder) for each colleague. Raises SandboxError (`service.start`) if a colleague
    needs a model and the experiment names no model.
    """
    by: dict[str, tuple[Colleague, ColleagueResponder]] = {}
    for one in colleagues:
        if one.backing == "model" and model is None:
            raise SandboxError(
                f"colleague {one.id} is played by a model, but the experiment "
        "names no model for colleagues", where="colleagues",
                next=f'write roles.{ROLE} = "provider/model"', cause=Cause.SERVICE_START,
            )  # fmt: skip
        own: dict[str, ColleagueResponder] = {
            "rules": RuleResponder(),
            "person": PersonResponder(),
            "model": ModelResponder(model or "", service),
        }
        by[one.id] = (one, own[one.backing])
    return by


@dataclass(frozen=True, slots=True)
class _PendingAnswer:
    """A message that waits for its answer, with the times on the company's clock at which the message is received and
    answered. The time of the answer is None if the colleague never answers.
    """

    message: ChatMessage
    heard: datetime
    answered: datetime | None


@dataclass
class ColleagueRunner:
    """The runner of the colleagues of one workplace. `lines` is the transcript: every message to a colleague, with the
    colleague's answer.
    """

    chat: ChatClient
    by: Mapping[str, tuple[Colleague, ColleagueResponder]]
    pause: float = PAUSE
    again: float = AGAIN
    clock: CompanyClock = field(default_factory=lambda: CompanyClock(datetime(2026, 1, 5, 9, tzinfo=UTC)))
    hands: DeedPerformer = field(default_factory=NoServices)
    move_services: Callable[[datetime], Awaitable[None]] | None = None
    """Function that moves the services' clock on to the time of an answer before anything of the answer is done."""
    lines: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage | None = None
    failure: FailureSignal = field(default_factory=FailureSignal)
    """Signal that fails if an error of the platform prevents a colleague from answering. An agent that did not get an
    answer cannot be judged by what it does afterwards.
    """
    _stopping: bool = False
    _after: int = 0
    """Position in the chat up to which the runner has read messages."""
    _given: dict[str, int] = field(default_factory=dict)
    _heard: dict[tuple[str, str], list[ConversationLine]] = field(default_factory=dict)
    _waiting: dict[tuple[str, str], asyncio.Queue[_PendingAnswer]] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _begun: set[tuple[str, int]] = field(default_factory=set)
    _spoken: list[tuple[str, str, str, str]] = field(default_factory=list)
    """Messages that the runner sent from accounts of colleagues played by a person. The person wrote all other messages
    of these accounts.
    """

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[ColleagueRunner]:
        """Answer messages in the chat until the `async with` block ends or `stop` is called. Raises SandboxError if the
        chat does not answer.

        Opening messages that are due are sent before the block begins.
        """
        self._after = await self.chat.position()
        await self._begin_due(None)
        self._start_task(self._attend(), contextvars.Context())
        try:
            yield self
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Stop answering. Pending answers are dropped. Messages that a person wrote since the last read are still
        recorded.

        Tasks are cancelled repeatedly, because a library may swallow a cancellation. The number of cancellations is
        limited, so that no trial waits forever.
        """
        self._stopping = True
        for _ in range(CANCELS):
            if not (left := [task for task in self._tasks if not task.done()]):
                break
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=self.again)
        if any(isinstance(answers, PersonResponder) for _, answers in self.by.values()):
            with contextlib.suppress(SandboxError):
                await self._read_chat()
        if unended := sum(not task.done() for task in self._tasks):
            self._add_line({"at": now().isoformat(), "colleague": "", "unended": unended})
        await asyncio.gather(*(task for task in self._tasks if task.done()), return_exceptions=True)
        for answers in {id(by): by for _, by in self.by.values() if isinstance(by, ModelResponder)}.values():
            while answers.cancelled_usage:
                self._add_usage(answers.cancelled_usage.pop())

    def _start_task(self, work: Coroutine[Any, Any, None], context: contextvars.Context, who: str = "") -> None:
        """Run a task until `stop` is called. `who` is the colleague whose conversation the task serves, or "" for all
        colleagues.
        """
        task = asyncio.create_task(work, context=context)
        task.add_done_callback(lambda done: self._on_task_end(done, who))
        self._tasks.append(task)

    def _on_task_end(self, task: asyncio.Task[None], who: str) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        self._add_line(
            {"at": now().isoformat(), "colleague": who, "crashed": f"{type(error).__name__}: {error}"[:1000]}
        )
        if not self._stopping:
            self.failure.fail(error)

    def part(self, sink: Sink) -> SubmissionPart:
        """Return the transcript as a part of a submission."""
        data = b"".join(canonical(line) + b"\n" for line in self.lines)
        manifest = Manifest(entries=(Entry(path=FILE, size=len(data), blob=sink.put(data)),))
        digest = put_canonical(sink, manifest.plain())
        return SubmissionPart(manifest=digest, status=CaptureStatus.COMPLETE, files=1, size=len(data))

    async def _read_chat(self) -> list[ChatMessage]:
        """Return the messages since the last read."""
        messages, self._after = await self.chat.messages_since(self._after)
        for one in messages:
            self._record_own_message(one)
        return messages

    async def _attend(self) -> None:
        while True:
            try:
                messages = await self._read_chat()
            except SandboxError:
                await asyncio.sleep(self.pause * 5)  # if the service has ended, its keeper reports that
                continue
            for one in messages:
                for who in self._addressed_colleagues(one):
                    self._enqueue(who, one)
                await self._begin_due(one)
            await asyncio.sleep(self.pause)

    def _addressed_colleagues(self, one: ChatMessage) -> list[str]:
        """Return the colleagues to whom a message is addressed: the recipient, or in a room every colleague named as
        `@account`. Messages written by colleagues have no addressees, because `_ask` handles questions among
        colleagues.
        """
        if one.by in self.by:
            return []
        if not one.room:
            return [one.to] if one.to in self.by else []
        return [who for who in self.by if re.search(rf"(?<!\w)@{re.escape(who)}(?![\w-])", one.text)]

    def _record_own_message(self, one: ChatMessage) -> None:
        """Record a message of a person who plays a colleague."""
        if one.by not in self.by or not isinstance(self.by[one.by][1], PersonResponder):
            return
        words = (one.by, one.text, one.to, one.room)
        if words in self._spoken:
            self._spoken.remove(words)
            return
        line = {"at": now().isoformat(), "colleague": one.by, "to": one.to, "room": one.room}
        self._add_line({**line, "clock": self.clock.now.isoformat(), "said": one.text, "person": True})

    def _enqueue(self, who: str, one: ChatMessage) -> None:
        key = (who, f"#{one.room}" if one.room else one.by)
        colleague, heard = self.by[who][0], self.clock.hear()
        due = _PendingAnswer(one, heard, answer_time(colleague.hours, colleague.delay, heard))
        if due.answered is not None:
            self.clock.advance_to(due.answered)
        if key not in self._waiting:
            self._waiting[key] = asyncio.Queue(WAITING)
            self._start_task(self._converse(key, self._waiting[key]), contextvars.copy_context(), who)
        try:
            self._waiting[key].put_nowait(due)
        except asyncio.QueueFull:
            self._record_answer(who, due, ColleagueReply("", record={"left": "too many messages wait"}))

    async def _converse(self, key: tuple[str, str], waiting: asyncio.Queue[_PendingAnswer]) -> None:
        while True:
            await self._answer(key, await waiting.get())

    async def _answer(self, key: tuple[str, str], due: _PendingAnswer) -> str:
        """Answer a message, and return the text that was sent. Questions to other colleagues and deeds that belong to
        the answer are done first.
        """
        who, one = key[0], due.message
        colleague, by = self.by[who]
        if self._given.get(who, 0) >= MOST:
            self._record_answer(who, due, ColleagueReply("", record={"left": f"more than {MOST} answers"}))
            return ""
        heard = self._heard.setdefault(key, [])
        heard.append(ConversationLine(one.by, one.text))
        if due.answered is None:
            self._record_answer(who, due, ColleagueReply("", record={"left": "is not at work within a year"}))
            return ""
        failpoint("colleague.answer")
        reply = await by.answer(colleague, tuple(heard))
        self._add_usage(reply.usage)
        record: dict[str, Any] = {}
        if reply.asks is not None and one.by not in self.by:  # a colleague asked by another one asks nobody else
            told = await self._ask(who, reply.asks.who, reply.asks.text, record)
            again = await by.complete(colleague, tuple(heard), replace(reply, usage=None), told)
            self._add_usage(again.usage)
            both = [used for used in (reply.usage, again.usage) if used is not None]
            reply = replace(again, usage=reduce(add_priced_usage, both) if both else None)
        if self.move_services is not None:
            await self.move_services(due.answered)
        if reply.does:
            record["did"] = await self._do(colleague, reply.does)
        late = colleague.hours is not None or colleague.delay > 0
        said = (
            f"{time_stamp(due.answered)} {reply.text}"
            if reply.text and late and due.answered > due.heard
            else reply.text
        )
        kept = self._record_answer(who, due, reply, said, **record)
        if reply.text:
            self._given[who] = self._given.get(who, 0) + 1
            heard.append(ConversationLine(who, reply.text, own=True))
            await self._say(who, said, one.by, one.room, kept)
        return reply.text

    def _add_usage(self, used: Usage | None) -> None:
        if used is not None and used.requests:
            self.usage = add_priced_usage(self.usage, used)

    async def _say(self, who: str, text: str, to: str, room: str, kept: dict[str, Any]) -> None:
        if isinstance(self.by[who][1], PersonResponder):
            self._spoken.append((who, text, to, room))
        try:
            await self.chat.say(who, text, to=to, room=room)
        except SandboxError as error:
            kept["unsaid"] = error.what

    async def _ask(self, who: str, other: str, text: str, record: dict[str, Any]) -> str:
        """Send a question of the colleague `who` to the colleague `other` and return the answer. Both messages appear
        in the chat.
        """
        record["asked"] = {"who": other, "text": text}
        if other not in self.by or other == who:
            record["asked"]["failed"] = "there is no such colleague"
            return ""
        heard, colleague = self.clock.hear(), self.by[other][0]
        due = _PendingAnswer(ChatMessage(who, text, other), heard, answer_time(colleague.hours, colleague.delay, heard))
        if due.answered is not None:
            self.clock.advance_to(due.answered)
        await self._say(who, text, other, "", record["asked"])
        answer = await self._answer((other, who), due)
        record["asked"]["answer"] = answer
        return answer

    async def _do(self, colleague: Colleague, ids: Sequence[str]) -> dict[str, str]:
        """Do deeds of a colleague. Return the id of each deed with "done" or the reason why it failed. Each deed is
        done only once per trial, however often an agent asks for it.
        """
        out = {}
        for deed in (one for one in colleague.does if one.id in ids):
            done = (colleague.id, -1 - colleague.does.index(deed))
            if done in self._begun:
                out[deed.id] = "done before"
                continue
            self._begun.add(done)
            try:
                await self.hands.do(colleague.id, deed)
                if deed.say is not None:  # last, so that a refused deed is not announced
                    await self.chat.say(colleague.id, deed.say.text, to="", room=deed.say.room)
                out[deed.id] = "done"
            except SandboxError as error:
                out[deed.id] = error.what
        return out

    async def _begin_due(self, one: ChatMessage | None) -> None:
        """Send the opening messages that are due on the company's clock or are triggered by the message `one`."""
        for who, (colleague, _) in self.by.items():
            for number, first in enumerate(colleague.begins):
                if (who, number) not in self._begun and self._is_due(who, first, one):
                    self._begun.add((who, number))
                    await self._begin_conversation(colleague, first)

    def _is_due(self, who: str, first: Beginning, one: ChatMessage | None) -> bool:
        if first.at is not None:
            return first.at <= self.clock.now
        if first.on is None or one is None or one.by in self.by:
            return False
        here = one.room == first.on.room if first.on.room else one.to == who
        return here and mentions(one.text, first.on.words)

    async def _begin_conversation(self, colleague: Colleague, first: Beginning) -> None:
        who = colleague.id
        at = first.at if first.at is not None else self.clock.now
        line: dict[str, Any] = {"at": now().isoformat(), "colleague": who, "to": first.to, "room": first.room}
        line |= {"began": at.isoformat(), "said": first.says}
        if first.does:
            line["did"] = await self._do(colleague, first.does)
        self._add_line(line)
        self._heard.setdefault((who, f"#{first.room}" if first.room else first.to), []).append(
            ConversationLine(who, first.says, own=True)
        )
        await self._say(who, first.says, first.to, first.room, line)

    def _record_answer(
        self, who: str, due: _PendingAnswer, reply: ColleagueReply, said: str = "", **record: Any
    ) -> dict[str, Any]:
        one, answered = due.message, due.answered
        line: dict[str, Any] = {"at": now().isoformat(), "colleague": who, "by": one.by, "room": one.room}
        line |= {"clock": due.heard.isoformat(), "answered": answered.isoformat() if answered else None}
        line |= {"heard": one.text, "said": said, **reply.record, **record}
        return self._add_line(line | ({"usage": reply.usage.plain()} if reply.usage else {}))

    def _add_line(self, line: dict[str, Any]) -> dict[str, Any]:
        if len(self.lines) < LINES:
            self.lines.append(line)
        return line
