"""Decide whose fault a failed model call is: by evidence, and if that is not enough, by a control question of ours.

A program in a box may ask anything. A request that cannot be sent is the program's fault, and so is one that a service
rejects while it answers a plain question with the same key. Everything else is the service's fault.
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
from .send_observer import REJECTED, NotSentError, SendProgress

if TYPE_CHECKING:
    from inspect_ai.model import Model

CONTROL = "control"
"""The role of our control questions: their usage counts for the trial, but not as the agent's work."""
QUESTION = "Answer with the word yes."
TOKENS = 256
"""Most tokens of an answer to a control question: models that think need some before they answer."""
HOLDS = 30.0
"""Seconds for which an answered control question shows that the service works."""


@dataclass
class ControlQuestion:
    """A plain question that shows whether a model's service works right now."""

    model: Model
    _answered: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answers(self) -> bool:
        """Ask the question, unless it was answered moments ago. A limit of the sample is raised as usual."""
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


async def by_request(error: BaseException, seen: SendProgress, control: ControlQuestion) -> bool:
    """Whether the request made a call fail, and not the service.

    A request that was never sent is at fault only if a plain question succeeds at the same time; otherwise our side is
    broken. A service that cannot be reached, rejects the key (401, 402), is overloaded (429) or fails (5xx) is at fault
    itself: it gets its retries, because one answer does not show who caused the failure.
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
    """Whether an error, or any error that caused it, is of a kind."""
    return any(isinstance(link, kind) for link in chain_of(error))
