"""Decision whether the request or the service caused a failed model call. If the evidence is not sufficient, a control
question decides.

A program in a box may send any request. The program is at fault if its request cannot be sent, or if the service
rejects the request but answers a plain question with the same key. In all other cases the service is at fault.
"""

from __future__ import annotations

import asyncio
import copy
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from worksample.errors import WorksampleError

from .call_failure import REFUSED, chain_of, failed_connection, out_of_credit, status_of
from .response_validation import NoAnswerError
from .send_observer import REJECTED, NotSentError, SendProgress
from .service_wait_time import excuse

if TYPE_CHECKING:
    from inspect_ai.model import Model

CONTROL = "control"
"""The role of control questions in the usage of a trial. Their usage is paid for by the trial but is not the agent's
work.
"""
QUESTION = "Answer with the word yes."
TOKENS = 256
"""Maximum number of tokens of the answer to a control question. Reasoning models need some tokens before they answer.
"""
HOLDS = 30.0
"""Seconds for which an answered control question counts as proof that the service works."""


@dataclass
class ControlQuestion:
    """A plain question that tests whether a model's service works at this moment."""

    model: Model
    _answered: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def answers(self) -> bool:
        """Ask the control question and return whether the service answered it. If the service answered it less than
        `HOLDS` seconds ago, return True without asking.

        If the question exceeds a limit of the sample, the limit's error is raised.
        """
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


async def is_requests_fault(error: BaseException, seen: SendProgress, control: ControlQuestion) -> bool:
    """Return whether the request, and not the service, made a call fail.

    A request that could not be sent is at fault only if the service answers a control question. If it does not, the
    platform's connection may be broken. The service is at fault if it cannot be reached, rejects the key (401, 402), is
    overloaded (429) or fails (5xx). The request is then retried, because a single error does not prove who caused it.
    """
    status = status_of(error)
    if status in REJECTED:
        drawn = True
    elif was_caused_by(error, NotSentError) or seen.failed_before_sending(error):
        drawn = await control.answers()
    elif any(map(out_of_credit, chain_of(error))) or was_caused_by(error, NoAnswerError) or failed_connection(error):
        drawn = False
    elif status is None:
        drawn = not seen.reports_requests and await control.answers()
    else:
        drawn = status in REFUSED and await control.answers()
    if drawn:
        excuse(seen.event)
    return drawn


def was_caused_by(error: BaseException, kind: type[BaseException]) -> bool:
    """Return whether an error, or any error that caused it, is of the given type."""
    return any(isinstance(link, kind) for link in chain_of(error))
