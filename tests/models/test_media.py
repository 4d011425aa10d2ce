"""Media models through the providers' own clients against a service on loopback, and the agent's tools for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.desk_material import instance_at, work_here
from models.media_service import MP3, MP4, PCM, PNG, media_service
from openai_server import calls, serving
from worksample.agents import check_agent, define
from worksample.errors import PlanError
from worksample.models import ModelService
from worksample.models.media import CURRENT, MediaFailed, MediaServices
from worksample.models.price import Price
from worksample.models.request_account import ModelAccount

PRICES = {
    "openai/gpt-image-1": Price(input=0, output=0, picture=0.04),
    "openai/tts-1": Price(input=0, output=0, characters=15.0),
    "openai/sora-2": Price(input=0, output=0, second=0.1),
    "google/veo-3.0-generate-preview": Price(input=0, output=0, second=0.4),
}


def services_at(server: Any, *, google: bool = False, retries: int = 2) -> MediaServices:
    url = server.url if google else f"{server.url}/v1"
    return MediaServices(lambda model: {"base_url": url}, PRICES, retries)


async def test_openais_client_makes_edits_speaks_and_films() -> None:
    account = ModelAccount(PRICES, cost=10.0)
    with media_service() as server, account.current():
        media = services_at(server)
        assert await media.picture("openai/gpt-image-1", "a cat", "1024x1024") == PNG
        assert await media.picture("openai/gpt-image-1", "with a hat", "1024x1024", [PNG]) == PNG
        assert await media.speech("openai/tts-1", "Hello.", "alloy") == MP3
        assert await media.film("openai/sora-2", "a boat", 4) == MP4
    paths = [path for path, _ in server.seen]
    assert paths == [
        "/v1/images/generations", "/v1/images/edits", "/v1/audio/speech", "/v1/videos", "/v1/videos/v1/content",
    ]  # fmt: skip
    assert account.total.calls == 4
    assert account.total.cost == pytest.approx(2 * 0.04 + 6 * 15e-6 + 4 * 0.1)
    assert account.total.priced


async def test_googles_client_makes_pictures_speech_and_films() -> None:
    with media_service() as server:
        media = services_at(server, google=True)
        assert await media.picture("google/gemini-image", "a cat", "1024x1024", [PNG]) == PNG
        assert await media.speech("google/gemini-tts", "Hello.", "Kore") == PCM
        assert await media.film("google/veo-3.0-generate-preview", "a boat", 8) == MP4


@pytest.mark.parametrize(("busy", "passes"), [(1, True), (99, False)])
async def test_busy_service_is_asked_again_and_then_told_to_the_agent(busy: int, passes: bool) -> None:
    account = ModelAccount(PRICES, cost=10.0)
    with media_service(busy) as server, account.current():
        media = services_at(server, retries=1)
        if passes:
            assert await media.picture("openai/gpt-image-1", "a cat", "1024x1024") == PNG
        else:
            with pytest.raises(MediaFailed, match=r"not your fault.*slow down"):
                await media.picture("openai/gpt-image-1", "a cat", "1024x1024")
            assert not account.total.cost and len(server.seen) == 2


async def test_budget_caps_media_and_unpriced_models_are_refused_under_a_budget() -> None:
    account = ModelAccount(PRICES, cost=0.05)
    with media_service() as server, account.current():
        media = services_at(server)
        await media.picture("openai/gpt-image-1", "one", "1024x1024")
        with pytest.raises(MediaFailed, match="rest of the budget"):
            await media.picture("openai/gpt-image-1", "two", "1024x1024")
        with pytest.raises(MediaFailed, match="has no price"):
            await media.picture("openai/other", "three", "1024x1024")
    assert len(server.seen) == 1


async def test_worker_makes_a_picture_edits_it_and_is_capped(tmp_path: Path) -> None:
    picture, edited = (str(tmp_path / "output" / name) for name in ("cat.png", "hat.png"))
    answers = [
        calls("make_image", prompt="a cat", path=picture),
        calls("make_image", prompt="with a hat", path=edited, sources=[picture]),
        calls("make_image", prompt="more", path=edited),
        calls("submit"),
    ]
    media = {"image": "openai/gpt-image-1", "calls": 2}
    agent = define(harness="worker", model="openai-api/local/model-1", settings={"media": media})
    with serving(answers) as served, media_service() as server:
        token = CURRENT.set(services_at(server))
        log = await work_here(agent, instance_at(tmp_path), tmp_path, ModelService(args=served.args))
        CURRENT.reset(token)
    sample = log.samples[0]
    assert sample.error is None and Path(picture).read_bytes() == PNG and Path(edited).read_bytes() == PNG
    results = [m.error.message if m.error else m.text for m in sample.messages if m.role == "tool"]
    assert "all 2 calls of media models are used up" in results[2]
    told = [e.data for e in sample.events if e.event == "info" and e.source == "media"]
    assert [(one["model"], one["cost"]) for one in told] == [("openai/gpt-image-1", 0.04)] * 2
    assert "make_image" in served.requests[0]["messages"][0]["content"]


def test_name_without_a_provider_of_media_is_refused_before_the_run(tmp_path: Path) -> None:
    agent = define(harness="worker", model="a/b", settings={"media": {"image": "dall-e"}})
    with pytest.raises(PlanError, match="is not a model for media"):
        check_agent(agent, instance_at(tmp_path))
    plain = define(harness="worker", model="a/b")
    assert "media" not in plain.settings
    check_agent(define(harness="worker", model="a/b", settings={"media": {"speech": "local"}}), instance_at(tmp_path))
