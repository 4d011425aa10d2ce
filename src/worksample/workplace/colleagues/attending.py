"""Colleagues while they attend to the chat of a workplace: what they hear, what they answer, what is kept of it.

Each conversation is answered in order, several at once. The calls of models are made in a context of their own: they
count towards nobody's budget and stand in no agent's trajectory.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from worksample.errors import Cause, SandboxError
from worksample.files import Sink
from worksample.models import Service as ModelService
from worksample.models import plus
from worksample.records import CaptureStatus, Entry, Manifest, Part, Usage, canonical, now

from .answering import Answers, ByModel, ByPerson, ByRules, Heard
from .hearing import Hears, Message
from .profile import Colleague

MOST = 500
"""Answers of one colleague: who floods the chat is answered no more."""
WAITING = 50
"""Messages of one conversation that wait for an answer; further ones are heard and not answered."""
LINES = 20_000
"""Of a transcript; the chat's own state has all messages."""
PAUSE = 0.2
"""Seconds between two looks at the chat."""
ROLE = "colleague"
"""Under which their calls are counted, apart from the agent's."""
FILE = "colleagues.jsonl"


def played(
    colleagues: Sequence[Colleague], model: str | None, service: ModelService
) -> dict[str, tuple[Colleague, Answers]]:
    """Who answers for each. SandboxError (`service.start`) where one wants a model and the experiment names none."""
    by: dict[str, tuple[Colleague, Answers]] = {}
    for one in colleagues:
        if one.backing == "model" and model is None:
            raise SandboxError(
                f"{one.id} is played by a model, and the experiment names none", where="colleagues",
                next=f'write roles.{ROLE} = "provider/model"', cause=Cause.SERVICE_START,
            )  # fmt: skip
        own: dict[str, Answers] = {"rules": ByRules(), "person": ByPerson(), "model": ByModel(model or "", service)}
        by[one.id] = (one, own[one.backing])
    return by


@dataclass
class Attending:
    """Colleagues of one workplace. `lines` are the transcript: every message that one of them heard, and its answer."""

    chat: Hears
    by: Mapping[str, tuple[Colleague, Answers]]
    pause: float = PAUSE
    lines: list[dict[str, Any]] = field(default_factory=list)
    usage: Usage | None = None
    _given: dict[str, int] = field(default_factory=dict)
    _heard: dict[tuple[str, str], list[Heard]] = field(default_factory=dict)
    _waiting: dict[tuple[str, str], asyncio.Queue[Message]] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def begun(self) -> AsyncIterator[Attending]:
        """Attend until the end of the `with`, or `stop`. SandboxError where the chat does not answer."""
        after = await self.chat.now()
        self._tasks.append(asyncio.create_task(self._attend(after), context=contextvars.Context()))
        try:
            yield self
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Attend no more. What was being answered stays unanswered."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def part(self, sink: Sink) -> Part:
        """The transcript as a part of a submission."""
        data = b"".join(canonical(line) + b"\n" for line in self.lines)
        manifest = Manifest(entries=(Entry(path=FILE, size=len(data), blob=sink.put(data)),))
        digest = sink.put(canonical(manifest.plain()))
        return Part(manifest=digest, status=CaptureStatus.COMPLETE, files=1, size=len(data))

    async def _attend(self, after: int) -> None:
        while True:
            try:
                messages, after = await self.chat.heard(after)
            except SandboxError:
                await asyncio.sleep(self.pause * 5)  # a service that ended is its keeper's to say
                continue
            for one in messages:
                for who in self._meant(one):
                    self._hear(who, one)
            await asyncio.sleep(self.pause)

    def _meant(self, one: Message) -> list[str]:
        """Whom a message is for: who is written to, and in rooms who is named as `@account`. Not one another."""
        if one.by in self.by:
            return []
        if not one.room:
            return [one.to] if one.to in self.by else []
        return [who for who in self.by if re.search(rf"(?<!\w)@{re.escape(who)}(?![\w-])", one.text)]

    def _hear(self, who: str, one: Message) -> None:
        key = (who, f"#{one.room}" if one.room else one.by)
        if key not in self._waiting:
            self._waiting[key] = asyncio.Queue(WAITING)
            self._tasks.append(asyncio.create_task(self._converse(key, self._waiting[key])))
        try:
            self._waiting[key].put_nowait(one)
        except asyncio.QueueFull:
            self._keep(who, one, "", {"left": "too many messages wait"})

    async def _converse(self, key: tuple[str, str], waiting: asyncio.Queue[Message]) -> None:
        who, (colleague, by) = key[0], self.by[key[0]]
        heard = self._heard.setdefault(key, [])
        while True:
            one = await waiting.get()
            if self._given.get(who, 0) >= MOST:
                self._keep(who, one, "", {"left": f"more than {MOST} answers"})
                continue
            heard.append(Heard(one.by, one.text))
            reply = await by.answer(colleague, tuple(heard))
            if reply.usage is not None:
                self.usage = plus(self.usage, reply.usage)
            kept = self._keep(who, one, reply.text, reply.record, reply.usage)
            if reply.text:
                self._given[who] = self._given.get(who, 0) + 1
                heard.append(Heard(who, reply.text, own=True))
                try:
                    await self.chat.say(who, reply.text, to=one.by, room=one.room)
                except SandboxError as error:
                    kept["unsaid"] = error.what

    def _keep(
        self, who: str, one: Message, said: str, record: Mapping[str, Any], used: Usage | None = None
    ) -> dict[str, Any]:
        line: dict[str, Any] = {"at": now().isoformat(), "colleague": who, "by": one.by, "room": one.room}
        line |= {"heard": one.text, "said": said, **record, **({"usage": used.plain()} if used else {})}
        if len(self.lines) < LINES:
            self.lines.append(line)
        return line
