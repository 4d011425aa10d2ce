"""Accounts of model requests. The maximum usage of a request is reserved before it is sent, and replaced by the real
usage afterwards.

Every request of a trial, of a judge's question and of a colleague's turn belongs to one `ModelAccount`. If the caller
stops waiting for a request (at a limit, a timeout or the end of the work), the request continues in the background for
a while, so that its usage becomes known. If it is still open after that, it counts as *unsettled*, with the maximum
usage that it may have had.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.records import Usage

from .call_failure import status_of
from .http_exchanges import Fate, HttpExchange, fate_of_status, never_sent
from .price import Price
from .token_estimate import Size, size_of_answer
from .usage import ESTIMATED, MILLION, add_priced_usage, is_plausible, output_usage

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

GRACE = 30.0
"""Maximum seconds for which a request continues after its caller has stopped waiting for it."""
LEAST_GRACE = 5.0
SLOWER = 3.0
"""A request whose caller has stopped waiting may take this many times as long in total as the slowest answered request.
It may also take twice as long as its caller waited.
"""
UNKNOWN_ANSWER = 128_000
"""Assumed maximum number of tokens of an answer if the limit of the model is unknown. No known service returns more."""
CURRENT: ContextVar[ModelAccount | None] = ContextVar("worksample_account", default=None)
"""The account in which the requests of the current context are recorded."""


@dataclass(frozen=True, slots=True)
class CallLimit:
    """The maximum usage of one request. `longest` is the maximum number of tokens of its answer; None if unknown."""

    prompt: int
    longest: int | None = None
    price: Price | None = None

    @property
    def answer(self) -> int:
        return UNKNOWN_ANSWER if self.longest is None else self.longest

    @property
    def tokens(self) -> int:
        return self.prompt + self.answer

    @property
    def cost(self) -> float | None:
        """The maximum cost of the request in US dollars. None if the model has no price."""
        if self.price is None:
            return None
        dearest = max(self.price.input, self.price.cache_write or 0.0)
        return (self.prompt * dearest + self.answer * self.price.output) / MILLION

    @property
    def usage(self) -> Usage:
        """The usage to record for the request while it is unsettled."""
        return Usage(unsettled=1, unsettled_tokens=self.tokens, unsettled_cost=self.cost)


@dataclass(eq=False)
class SentRequest:
    """A request that was passed to a provider."""

    model: str
    most: CallLimit
    prompt: int
    """Estimated number of tokens of the request's prompt."""
    exchanges: list[HttpExchange] = field(default_factory=list)
    reports_requests: bool = False
    """True if the provider's client reports the HTTP requests that it sends."""
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds_waited(self) -> float:
        """Return the seconds since the request was sent."""
        return time.monotonic() - self.began

    @property
    def unsent(self) -> bool:
        """Return whether it is certain that nothing of the request was sent to the service."""
        return self.reports_requests and not self.exchanges


@dataclass(eq=False)
class ModelAccount:
    """Account of the requests of one trial, or of one question to a judge. It belongs to a single event loop.

    `cost` and `tokens` limit the sum of settled, unsettled and reserved usage.
    """

    prices: Mapping[str, Price]
    cost: float | None = None
    tokens: int | None = None
    answered: Usage = field(default_factory=Usage)
    """Usage of the answers that reached the caller."""
    lost: Usage = field(default_factory=Usage)
    """Usage of requests whose answers did not reach the caller. It is exact or an upper bound."""
    charged: float = 0.0
    """Part of `lost`, in US dollars, that was counted against the budget of the work although the service did not
    confirm it.
    """
    charged_tokens: int = 0
    _slowest: float = 0.0
    _reserved: list[CallLimit] = field(default_factory=list)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)
    _given_up: dict[asyncio.Future[Any], SentRequest] = field(default_factory=dict)

    @contextmanager
    def current(self) -> Iterator[ModelAccount]:
        """Record the requests made within the block in this account."""
        token = CURRENT.set(self)
        try:
            yield self
        finally:
            CURRENT.reset(token)

    def charge_unit(self, cost: float | None) -> None:
        """Record a request that is priced by its result, such as a picture. `cost` is in US dollars; None if the model
        has no price. The cost counts towards the limits of the work.
        """
        self.answered = add_usage(
            self.answered, Usage(calls=1, cost=cost, priced=cost is not None, unpriced=cost is None)
        )
        _charge(0, cost or 0.0)

    def lacks_room(self, cost: float | None) -> str:
        """Return why a request of this cost may not be made under the budget, or "" if it may."""
        if self.cost is None:
            return ""
        if cost is None:
            return "this model has no price, so it cannot be used under a budget in dollars"
        spent = (self.total.cost or 0.0) + (self.total.unsettled_cost or 0.0)
        return f"it costs ${cost:.4g}, which the rest of the budget does not cover" if spent + cost > self.cost else ""

    @property
    def total(self) -> Usage:
        """The usage of all requests, as far as it is known."""
        return add_usage(self.answered, self.lost)

    @asynccontextmanager
    async def reserve(self, most: CallLimit) -> AsyncIterator[None]:
        """Reserve the maximum usage of a call. Wait until the limits have room for it.

        If no other call is in progress, a call starts at once. Limits are checked before and after each call, so at
        most one call can exceed them, whatever the number of simultaneous calls.
        """
        while not self._has_room(most):
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            finally:
                self._waiting.remove(waiter)
        self._reserved.append(most)
        try:
            yield
        finally:
            self._reserved.remove(most)
            self._wake()

    def _wake(self) -> None:
        """Make waiting calls check again whether the limits have room for them."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _has_room(self, most: CallLimit) -> bool:
        under_way = [*self._reserved, *(sent.most for sent in self._given_up.values())]
        if not under_way:
            return True
        held, total = (*under_way, most), self.total
        if self.cost is not None:
            spent = (total.cost or 0.0) + (total.unsettled_cost or 0.0)
            if spent + sum(one.cost or 0.0 for one in held) > self.cost:
                return False
        if self.tokens is not None:
            spent_tokens = total.tokens + total.unsettled_tokens
            return spent_tokens + sum(one.tokens for one in held) <= self.tokens
        return True

    async def send(self, request: Awaitable[Any], sent: SentRequest) -> Any:
        """Send a request and return the provider's answer. If the caller is cancelled, the request continues in the
        background until `settle`.
        """
        task: asyncio.Future[Any] = asyncio.ensure_future(request)
        try:
            result = await asyncio.shield(task)
        except asyncio.CancelledError:
            self._give_up(task, sent)
            raise
        except Exception as error:
            self._fail(error, sent)
            raise
        self._take(result, sent, late=False)
        return result

    def _take(self, result: Any, sent: SentRequest, *, late: bool) -> None:
        """Record the result of a request: an answer, an error that the provider returned, or an answer without text."""
        output = result[0] if isinstance(result, tuple) else result
        if isinstance(output, Exception):
            self._fail(output, sent)
            return
        if is_refused_for_length(output):
            self._lose([Fate.FAILED, *_earlier(sent)], sent)
            return
        if not output.choices and (output.usage is None or not is_plausible(output.usage)):
            self._lose([*_earlier(sent), self._unread(sent)], sent)
            return
        self._lose(_earlier(sent), sent)
        used = output_usage(output.usage, sent.model, self.prices, estimated=is_estimated(output))
        if late or not output.choices:
            self.lost = add_usage(self.lost, used)
            if late:
                _charge(used.tokens, used.cost or 0.0)
        else:
            self.answered = add_usage(self.answered, used)
            self._slowest = max(self._slowest, sent.seconds_waited)

    def _fail(self, error: BaseException, sent: SentRequest) -> None:
        """Record a call whose last request failed with an error."""
        if sent.unsent:
            return
        fates = _fates(sent, error)
        self._lose([*fates[:-1], self._unread(sent) if fates[-1] is Fate.ANSWERED else fates[-1]], sent)

    def _unread(self, sent: SentRequest) -> Fate:
        """Record an answer that arrived completely but could not be read. Its tokens are estimated."""
        body = sent.exchanges[-1].body if sent.exchanges else None
        if body is None:
            return Fate.UNSETTLED
        from inspect_ai.model import ModelUsage

        said = min(Size(body).tokens, sent.most.answer)
        used = ModelUsage(input_tokens=sent.prompt, output_tokens=said, total_tokens=sent.prompt + said)
        self.lost = add_usage(self.lost, output_usage(used, sent.model, self.prices, estimated=True))
        return Fate.ANSWERED

    def _lose(self, fates: list[Fate], sent: SentRequest) -> None:
        """Record requests that got no answer. A failure that the service itself reports does not count against the
        budget.
        """
        price = self.prices.get(sent.model)
        free = Usage(cost=None if price is None else 0.0, priced=price is not None)
        for fate in fates:
            if fate is Fate.FAILED:
                self.lost = add_usage(self.lost, free.replaced(failed=1))
            elif fate is Fate.UNSETTLED:
                self.lost = add_usage(self.lost, sent.most.usage)

    def _give_up(self, task: asyncio.Future[Any], sent: SentRequest) -> None:
        self._given_up[task] = sent
        task.add_done_callback(self._book_late)
        # Wait as long again as it has waited, or as long as the slowest answered request suggests.
        more = max(LEAST_GRACE, sent.seconds_waited, SLOWER * self._slowest - sent.seconds_waited)
        asyncio.get_running_loop().call_later(min(GRACE, more), task.cancel)

    def _book_late(self, task: asyncio.Future[Any]) -> None:
        """Record the usage of a request that finished in the background."""
        sent = self._given_up.pop(task, None)
        asyncio.get_running_loop().call_soon(self._wake)  # runs after the request is booked
        error = None if task.cancelled() else task.exception()
        if sent is None:
            return
        if task.cancelled():
            if sent.unsent:
                return
            self._lose([Fate.UNSETTLED, *_earlier(sent)], sent)
            if sent.most.longest is not None:  # an assumed longest answer does not use up a budget
                self.charged += sent.most.cost or 0.0
                self.charged_tokens += sent.most.tokens
                _charge(sent.most.tokens, sent.most.cost or 0.0)
        elif error is not None:
            self._fail(error, sent)
        else:
            self._take(task.result(), sent, late=True)

    async def settle(self, seconds: float | None = None) -> Usage:
        """Wait for the requests that continue in the background, and record them.

        Wait at most `seconds`, or by default as long as each request may continue. Return the usage, so far, of
        requests whose answers did not reach the caller.
        """
        if self._given_up and (seconds is None or seconds > 0):
            await asyncio.wait(tuple(self._given_up), timeout=GRACE if seconds is None else seconds)
        return self.close()

    def close_total(self) -> Usage:
        """Close the account and return the usage of all requests. Requests that are still open count as unsettled."""
        self.close()
        return self.total

    def close(self) -> Usage:
        """Record all open requests as unsettled, without waiting for them."""
        for task, sent in tuple(self._given_up.items()):
            del self._given_up[task]
            if task.done() and not task.cancelled() and task.exception() is None:
                self._take(task.result(), sent, late=True)
            elif not sent.unsent:
                self._lose([Fate.UNSETTLED, *_earlier(sent)], sent)
            task.cancel()
        return self.lost


def add_usage(a: Usage, b: Usage) -> Usage:
    """Return the sum of two usages. A usage without any request changes nothing."""
    if not a.requests:
        return b
    return add_priced_usage(a, b) if b.requests else a


def is_estimated(output: ModelOutput) -> bool:
    """Return whether the token counts of an answer are the platform's estimates."""
    return bool((output.metadata or {}).get(ESTIMATED))


def is_refused_for_length(output: ModelOutput) -> bool:
    """Return whether an output means that the service refused the prompt as too long."""
    return bool(output.choices) and output.stop_reason == "model_length" and output.usage is None


def estimate(output: ModelOutput, prompt: int) -> None:
    """Estimate the token counts that the service does not report, or reports with impossible values. Mark the output as
    estimated.

    Tokens that are included only in the total count as tokens of the answer, because some services include reasoning
    there and charge for it.
    """
    from inspect_ai.model import ModelUsage

    if not output.choices or is_refused_for_length(output):
        return
    used = output.usage if output.usage is not None and is_plausible(output.usage) else ModelUsage()
    read, written = used.input_tokens_cache_read or 0, used.input_tokens_cache_write or 0
    said = size_of_answer(output).tokens
    no_prompt, no_answer = used.input_tokens + read + written == 0, used.output_tokens == 0 and said > 0
    if not (no_prompt or no_answer):
        apart = used.total_tokens - used.input_tokens - read - written - used.output_tokens
        if apart > 0:
            output.usage = used.model_copy(update={"output_tokens": used.output_tokens + apart})
            if apart != used.reasoning_tokens:
                output.metadata = {**(output.metadata or {}), ESTIMATED: True}
        return
    given = prompt if no_prompt else used.input_tokens
    spoken = said if no_answer else used.output_tokens
    output.usage = used.model_copy(
        update={"input_tokens": given, "output_tokens": spoken, "total_tokens": given + read + written + spoken}
    )
    output.metadata = {**(output.metadata or {}), ESTIMATED: True}


def _earlier(sent: SentRequest) -> list[Fate]:
    """Return the outcomes of the HTTP requests that the provider's client sent before its last one."""
    return [one.fate for one in sent.exchanges[:-1] if one.fate is not Fate.ANSWERED]


def _fates(sent: SentRequest, error: BaseException) -> list[Fate]:
    """Return the outcomes of all HTTP requests of a failed call. The last request may have got an answer that could not
    be read.
    """
    unsent, status = never_sent(error), status_of(error)
    if not sent.exchanges:
        return [Fate.FAILED if unsent else Fate.UNSETTLED if status is None else fate_of_status(status)]
    fates = [Fate.FAILED if unsent and one.response is None else one.fate for one in sent.exchanges]
    return [*(fate for fate in fates[:-1] if fate is not Fate.ANSWERED), fates[-1]]


def _charge(tokens: int, cost: float) -> None:
    """Count usage against Inspect's limits for the work that made the request, if these limits are still in force."""
    from inspect_ai.model import ModelUsage
    from inspect_ai.util._limit import record_model_cost, record_model_usage

    record_model_usage(ModelUsage(total_tokens=tokens))
    if cost:
        record_model_cost(cost)
