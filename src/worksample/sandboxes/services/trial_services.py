"""The services of a trial. They are started before the agent begins, watched while the agent works, and closed at the
end of the trial.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from worksample.background_services import FailureSignal
from worksample.box import Box
from worksample.errors import AgentError, Cause, SandboxError
from worksample.sandboxes import open_box
from worksample.sandboxes.cancellation_shield import to_the_end
from worksample.sandboxes.endpoints import Target

from .readiness import wait_until_ready
from .service_boxes import ServiceBox
from .task_service import ServiceEnd, ServiceTarget, TaskService

RETRY = "run the experiment again; if it repeats, correct the service in task.toml"


class TrialServices:
    """The running services of one trial."""

    def __init__(self, boxes: Sequence[tuple[Box, tuple[TaskService, ...]]], asked_before: bool) -> None:
        self.boxes = tuple(boxes)
        self._by_name = {one.spec.name: one for _, inside in self.boxes for one in inside}
        self._asked_before = asked_before
        self.failure = FailureSignal()
        """Signal that fails if a service ends while the trial needs it.

        The error is usually SandboxError: `service.asked` if the agent was using the service, otherwise `service.lost`.
        If a service also ended during the agent's use in an earlier try of the same work, the agent's requests are the
        cause, and the error is AgentError (`agent.service`).
        """
        for service in self._by_name.values():
            service.ended.add_done_callback(lambda fallen: self.failure.fail(self._failure(fallen.result())))

    def target(self, to: str) -> Target:
        """Return the target that `service:NAME` or `service:NAME:PORT` stands for."""
        _, name, *port = to.split(":")
        service = self._by_name[name]
        return ServiceTarget(service, int(port[0]) if port else service.spec.ports[0])

    def _failure(self, fallen: ServiceEnd) -> Exception:
        said = self._by_name[fallen.name].last_lines()
        where, text = f"service {fallen.name}", f"{fallen.how}{'; it said: ' + said if said else ''}"
        if not fallen.asked:
            return SandboxError(text, where=where, next=RETRY, cause=Cause.SERVICE_LOST)
        if self._asked_before:
            return AgentError(f"{text}; the same happened in an earlier try", where=where, cause=Cause.AGENT_SERVICE)
        return SandboxError(f"{text}, while the agent was using it", where=where, next=RETRY, cause=Cause.SERVICE_ASKED)


@asynccontextmanager
async def open_services(
    boxes: Sequence[ServiceBox], kind: str, *, asked_before: bool = False
) -> AsyncIterator[TrialServices]:
    """Open all boxes at the same time and start the services of each box in order. A service is started when the
    service before it is ready.

    `asked_before` says whether a service ended while the agent was using it in an earlier try of this work. Raises
    SandboxError (`service.start`) if a service cannot be started.
    """
    async with AsyncExitStack() as stack:
        opened = [_OpeningBox(box, kind) for box in boxes]
        for one in opened:
            stack.push_async_callback(one.close)
        opening = [asyncio.create_task(one.open()) for one in opened]
        try:
            await asyncio.gather(*opening)
        finally:
            for task in opening:
                task.cancel()
            await to_the_end(asyncio.gather(*opening, return_exceptions=True))
        yield TrialServices([(one.box, tuple(one.services)) for one in opened], asked_before)


class _OpeningBox:
    """A box that is being opened, with its services."""

    def __init__(self, plan: ServiceBox, kind: str) -> None:
        self._plan, self._stack = plan, AsyncExitStack()
        self._kind = kind
        self.services: list[TaskService] = []
        self.box: Box

    async def open(self) -> None:
        """Open the box and start its services. If that fails, `close` ends everything that was started."""
        given = await self._plan.loaded(self._kind) if self._plan.loaded is not None else None
        if given is not None:
            self.box = given.service.box
            self._stack.push_async_callback(given.close)
            self.services.append(given.service)
            await wait_until_ready(given.service)
            return
        try:
            self.box = await self._stack.enter_async_context(open_box(self._plan.config, kind=self._kind))
        except SandboxError as error:
            where = f"box of service {self._plan.services[0].name}"
            raise SandboxError(error.what, where=where, next=error.next, cause=Cause.SERVICE_START) from error
        for spec in self._plan.services:
            service = await TaskService.begin(spec, self.box)
            self._stack.push_async_callback(service.close)
            self.services.append(service)
            await wait_until_ready(service)

    async def close(self) -> None:
        """Close the services and the box."""
        await to_the_end(self._stack.aclose())
