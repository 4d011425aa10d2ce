"""A request's body within its limits."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from .refused import ContentRefused


async def read(request: Request, most: int, seconds: float) -> bytes:
    """Raises Refused for a body that is larger, or slower, or not whole."""
    said = request.headers.get("content-length", "0")
    if not (said.isascii() and said.isdigit()) or int(said) > most:
        raise ContentRefused(413, f"a body has at most {most} bytes")
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ContentRefused(400, "the body is not whole")
                size += len(message.get("body", b""))
                if size > most:
                    raise ContentRefused(413, f"a body has at most {most} bytes")
                parts.append(message.get("body", b""))
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError as e:
        raise ContentRefused(408, f"a body has to come within {seconds:g} seconds") from e
