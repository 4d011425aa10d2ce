"""Media models: pictures, speech and films, by the clients of OpenAI and Google (RLI B.6).

Each request is priced by its result, counts towards the budget of the trial, and is recorded in its transcript. Clients
retry a busy service a few times; after that the request has failed, and the agent is told.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worksample.errors import PlanError
from worksample.extras import need

from .call_failure import reason_of
from .price import Price
from .request_account import CURRENT as ACCOUNT

if TYPE_CHECKING:
    import openai
    from google.genai import Client
    from google.genai.types import GenerateContentResponse

PROVIDERS = ("openai", "google")
LARGEST = 64 << 20
"""Maximum number of bytes of a picture, a recording or a film."""
LONGEST = 32_000
"""Maximum number of characters of a request's text."""
SECONDS, FILM_SECONDS, POLL = 300.0, 1200.0, 5.0
"""Maximum seconds of a request, and of the making of a film; seconds between two questions whether a film is ready."""
FILM_LENGTHS = (4, 8, 12)
CURRENT: ContextVar[MediaServices | None] = ContextVar("worksample_media", default=None)
"""Services of the media models of the current trial."""


class MediaFailed(Exception):
    """Error of a request to a media model. The text is for the agent."""


@dataclass(frozen=True, slots=True)
class MediaServices:
    """Addresses and prices of media models. `args` returns the arguments of a model's client."""

    args: Callable[[str], Mapping[str, Any]]
    prices: Mapping[str, Price] = field(default_factory=dict)
    retries: int = 2

    def cost_of(self, model: str, *, pictures: int = 0, characters: int = 0, seconds: float = 0) -> float | None:
        """Return the cost of a result in US dollars, or None if the model has no price for results of this kind."""
        price = self.prices.get(model)
        if price is None:
            return None
        parts = (
            (pictures, price.picture, 1.0), (characters, price.characters, 1e-6), (seconds, price.second, 1.0)
        )  # fmt: skip
        if any(amount and unit is None for amount, unit, _ in parts):
            return None
        return sum(amount * (unit or 0.0) * scale for amount, unit, scale in parts)

    async def picture(self, model: str, prompt: str, size: str, sources: Sequence[bytes] = ()) -> bytes:
        """Make a picture, or edit `sources` (PNG, JPEG or WebP). Return the bytes of a picture. Raises MediaFailed."""

        async def by_openai(client: openai.AsyncOpenAI, name: str) -> bytes:
            if sources:
                files = [(f"source-{n}.png", data) for n, data in enumerate(sources)]
                made = await client.images.edit(model=name, prompt=prompt, image=files, size=size)
            else:
                made = await client.images.generate(model=name, prompt=prompt, size=size)
            data = made.data[0].b64_json if made.data else None
            if not data:
                raise MediaFailed("the service answered without a picture")
            return base64.b64decode(data)

        async def by_google(client: Client, name: str) -> bytes:
            from google.genai import types

            parts: list[Any] = [types.Part.from_bytes(data=data, mime_type="image/png") for data in sources]
            made = await client.aio.models.generate_content(model=name, contents=[*parts, prompt])
            return _inline_data(made)

        return await self._ask(model, prompt, self.cost_of(model, pictures=1), by_openai, by_google)

    async def speech(self, model: str, text: str, voice: str) -> bytes:
        """Return a recording of the text: MP3 from OpenAI, raw 24 kHz PCM from Google. Raises MediaFailed."""

        async def by_openai(client: openai.AsyncOpenAI, name: str) -> bytes:
            made = await client.audio.speech.create(model=name, voice=voice, input=text, response_format="mp3")
            return made.content

        async def by_google(client: Client, name: str) -> bytes:
            config: Any = {
                "response_modalities": ["AUDIO"],
                "speech_config": {"voice_config": {"prebuilt_voice_config": {"voice_name": voice}}},
            }
            made = await client.aio.models.generate_content(model=name, contents=text, config=config)
            return _inline_data(made)

        return await self._ask(model, text, self.cost_of(model, characters=len(text)), by_openai, by_google)

    async def film(self, model: str, prompt: str, seconds: int) -> bytes:
        """Make a film of 4, 8 or 12 seconds. Return the bytes of an MP4 file. Raises MediaFailed."""

        async def by_openai(client: openai.AsyncOpenAI, name: str) -> bytes:
            job: Any = await client.videos.create(model=name, prompt=prompt, seconds=str(seconds))  # type: ignore[arg-type]
            while job.status in ("queued", "in_progress"):
                await asyncio.sleep(POLL)
                job = await client.videos.retrieve(job.id)
            if job.status != "completed":
                raise MediaFailed(f"the film was not made: {job.error.message if job.error else job.status}")
            return (await client.videos.download_content(job.id)).content

        async def by_google(client: Client, name: str) -> bytes:
            job: Any = await client.aio.models.generate_videos(
                model=name, prompt=prompt, config={"number_of_videos": 1, "duration_seconds": seconds}
            )
            while not job.done:
                await asyncio.sleep(POLL)
                job = await client.aio.operations.get(job)
            films = (job.response.generated_videos if job.response else None) or []
            if not films or films[0].video is None:
                raise MediaFailed(f"the film was not made: {job.error or 'the service answered without a film'}")
            return films[0].video.video_bytes or await client.aio.files.download(file=films[0].video)

        cost = self.cost_of(model, seconds=seconds)
        return await self._ask(model, prompt, cost, by_openai, by_google, FILM_SECONDS)

    async def _ask(
        self,
        model: str,
        text: str,
        cost: float | None,
        by_openai: Callable[[openai.AsyncOpenAI, str], Awaitable[bytes]],
        by_google: Callable[[Client, str], Awaitable[bytes]],
        seconds: float = SECONDS,
    ) -> bytes:
        """Make one request, and record it with its cost. Raises MediaFailed."""
        account = ACCOUNT.get()
        if len(text) > LONGEST:
            raise MediaFailed(f"the text has {len(text)} characters; at most {LONGEST} are allowed")
        if account is not None and (why := account.lacks_room(cost)):
            raise MediaFailed(why)
        provider, _, name = model.partition("/")
        need("models")
        request = (
            self._by_openai(model, name, by_openai)
            if provider == "openai"
            else by_google(self._google(model, film=seconds == FILM_SECONDS), name)
        )
        try:
            async with asyncio.timeout(seconds):
                data = await request
        except MediaFailed as error:
            _record(model, text, None, str(error))
            raise
        except TimeoutError:
            _record(model, text, None, "timeout")
            raise MediaFailed(f"the media service did not answer within {seconds:.0f} seconds") from None
        except Exception as error:
            said = reason_of(error)
            _record(model, text, None, said)
            raise MediaFailed(f"the media service failed, which is not your fault: {said}") from error
        if account is not None:
            account.charge_unit(cost)
        _record(model, text, cost, "", len(data))
        if len(data) > LARGEST:
            raise MediaFailed(f"the result has {len(data)} bytes; at most {LARGEST} are kept")
        return data

    async def _by_openai(
        self, model: str, name: str, ask: Callable[[openai.AsyncOpenAI, str], Awaitable[bytes]]
    ) -> bytes:
        import openai

        url, key = self.args(model).get("base_url"), os.environ.get("OPENAI_API_KEY") or "none"
        async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=self.retries) as client:
            return await ask(client, name)

    def _google(self, model: str, *, film: bool) -> Client:
        """Return Google's client. Films are offered only by the platform for enterprises (Vertex), says the client."""
        from google import genai

        url = self.args(model).get("base_url")
        options: Any = {"base_url": url} if url else None
        key = os.environ.get("GOOGLE_API_KEY") or os.environ.get("GEMINI_API_KEY") or "none"
        return genai.Client(vertexai=film, api_key=key, http_options=options)


def _inline_data(answer: GenerateContentResponse) -> bytes:
    """Return the picture or recording of Google's answer. Raises MediaFailed if it has none."""
    content = answer.candidates[0].content if answer.candidates else None
    for part in (content.parts if content is not None else None) or ():
        if part.inline_data is not None and part.inline_data.data:
            return part.inline_data.data
    raise MediaFailed("the service answered without a picture or recording")


def _record(model: str, text: str, cost: float | None, fault: str, size: int = 0) -> None:
    """Write the request into the transcript of the trial."""
    from inspect_ai.log import transcript

    told: dict[str, Any] = {"model": model, "text": text[:2000], "bytes": size, "cost": cost}
    transcript().info({**told, "fault": fault[:1000]} if fault else told, source="media")


def check_media_model(model: str, kind: str) -> None:
    """Raise PlanError if the name of a media model names no provider of media."""
    if model.partition("/")[0] not in PROVIDERS or not model.partition("/")[2]:
        raise PlanError(
            f"{model!r} is not a model for media", where=f"settings.media.{kind}", next="openai/NAME or google/NAME"
        )
