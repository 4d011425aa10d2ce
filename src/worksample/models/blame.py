"""Whose fault a failed model call is: told by evidence, and where that is not enough by a request of our own.

A program in a box may ask anything. What cannot be sent is its fault, and so is what a service rejects that answers a
plain question at the same time, with the same key. All else is the service's.
"""

from __future__ import annotations

import asyncio
import copy
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from worksample.errors import WorksampleError

from .excused_waiting import excuse
from .failure import REFUSED, chain_of, failed_connection, out_of_credit, status_of
from .response_validation import NoAnswerError
from .send_observer import REJECTED, NotSentError, Sending

if TYPE_CHECKING:
    from inspect_ai.model import Model

CONTROL = "control"
"""The role of our own questions: their usage is the trial's, and not the agent's work."""
QUESTION = "Answer with the word yes."
TOKENS = 256
"""Most that an answer to our own question may take: models that think need some to begin with."""
HOLDS = 30.0
"""Seconds for which an answer to our own question says that the service answers."""


@dataclass
class ControlQuestion:
    """Whether a model's service answers a plain question right now."""

    model: Model
    _answered: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answers(self) -> bool:
        """Ask, unless it was answered just before. A limit of the sample is raised as anywhere."""
        from inspect_ai.model import GenerateConfig
        from inspect_ai.util import LimitExceededError

        async with self._lock:
            if self._answered is not None and time.monotonic() - self._answered < HOLDS:
                return True
            asked = copy.copy(self.model)
            asked._set_role(CONTROL)
            try:
                await type(asked).generate(asked, QUESTION, config=GenerateConfig(max_tokens=TOKENS))
            except (LimitExceededError, WorksampleError):
                raise
            except Exception:  # noqa: BLE001 - whatever a provider's client raises, the service did not answer
                return False
            self._answered = time.monotonic()
            return True


async def by_request(error: BaseException, seen: Sending, control: ControlQuestion) -> bool:
    """Whether what was asked made a call fail, and not its service.

    What was never sent is the request's fault only if a plain question goes through at the same time: else our own side
    is broken. A service that cannot be reached, takes no key (401, 402), is overloaded (429) or breaks (5xx) is to
    blame itself: it gets the retries that it needs, and who brought that about is not told by one answer.
    """
    status = status_of(error)
    if status in REJECTED:
        drawn = True
    elif within(error, NotSentError) or seen.never_left(error):
        drawn = await control.answers()
    elif any(map(out_of_credit, chain_of(error))) or within(error, NoAnswerError) or failed_connection(error):
        drawn = False
    elif status is None:
        drawn = not seen.told and await control.answers()
    else:
        drawn = status in REFUSED and await control.answers()
    if drawn:
        excuse(seen.event)
    return drawn


def within(error: BaseException, kind: type[BaseException]) -> bool:
    """Whether an error is of a kind, or came about by one."""
    return any(isinstance(link, kind) for link in chain_of(error))
