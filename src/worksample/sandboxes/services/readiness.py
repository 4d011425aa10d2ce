"""Waiting until a service accepts connections or answers HTTP."""

from __future__ import annotations

import asyncio
import re

from worksample.errors import Cause, SandboxError
from worksample.stall_tolerant_loop import steady_time

from .task_service import TaskService

PAUSE = 0.03
"""Seconds between two checks whether a service is ready."""
START_HINT = "correct the service in task.toml: its argv, ready or wait"
ANSWER_SECONDS = 10.0
"""Maximum seconds to wait for an HTTP answer of a service that is starting."""
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r]")


async def wait_until_ready(service: TaskService) -> None:
    """Wait until a service is ready, as its manifest defines. Raises SandboxError (`service.start`) if the service
    exits or the time runs out.
    """
    spec = service.spec
    end = steady_time() + spec.wait
    why = "nothing listens"
    while not service.ended.done():
        why = await _what_is_missing(service)
        if not why:
            return
        if steady_time() > end:
            raise _failure(service, f"was not ready within {spec.wait:g} s: {why}")
        await asyncio.wait((service.ended,), timeout=PAUSE)
    raise _failure(service, f"{service.ended.result().how} before it was ready")


async def _what_is_missing(service: TaskService) -> str:
    """Return what the service still lacks to be ready, or "" if it is ready."""
    for number, port in enumerate(service.spec.ports):
        try:
            connection = await service.dial(port)
        except (OSError, TimeoutError) as error:
            return f"port {port}: {error or 'no answer'}"
        if number or service.spec.ready == "tcp":
            connection.close()
            continue
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            writer.write(f"GET {service.spec.ready} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            async with asyncio.timeout(ANSWER_SECONDS):
                said = await reader.read(64)
        except (OSError, TimeoutError) as error:
            return f"GET {service.spec.ready}: {error or 'no answer'}"
        finally:
            writer.close()
        found = _STATUS.match(said)
        if found is None or not b"200" <= found[1] < b"400":
            return f"GET {service.spec.ready}: {said.splitlines()[0].decode('latin-1') if said else 'no answer'}"
    return ""


def _failure(service: TaskService, what: str) -> SandboxError:
    said = service.last_lines()
    text = f"{what}{'; it said: ' + said if said else ''}"
    return SandboxError(text, where=f"service {service.spec.name}", next=START_HINT, cause=Cause.SERVICE_START)
