"""An agent's task receives samples one by one until the feed ends."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from worksample.runs.slot_queue import SampleFeed


async def test_samples_wait_until_requested_and_none_follows_the_end() -> None:
    feed = SampleFeed()
    assert not feed.empty
    feed.give(cast("Any", "first"))
    feed.give(cast("Any", "second"))
    feed.close()
    assert not feed.empty
    assert await feed.next() == ["first", "second"]
    assert feed.empty
    assert await feed.next() is None


async def test_waiting_task_is_woken_by_a_sample_and_by_the_end() -> None:
    feed = SampleFeed()
    for given in ("first", None):
        asked = asyncio.create_task(feed.next())
        await asyncio.sleep(0)
        assert not asked.done()
        if given:
            feed.give(cast("Any", given))
            assert await asked == [given]
        else:
            feed.close()
            assert await asked is None
