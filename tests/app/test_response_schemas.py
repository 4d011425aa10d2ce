"""Responses to an evaluator match the schema, and invalid requests get an explanation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.sites import Site, problem
from worksample.app.judging.schemas import AnswerReceipt, DraftView, ItemView

ANSWER = {"score": 1, "justification": "plan.pdf lacks the second floor"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, agents=1, projects=1)


async def test_responses_match_the_schema(site: Site) -> None:
    site.desk.open()
    async with site.browser("ann", "evaluator") as ann:
        claimed = await ann.post("/claims", {})
        item = claimed.json()
        assert claimed.headers["content-type"] == "application/json"
        assert claimed.headers["cache-control"] == "no-store"
        assert ItemView.model_validate(item).model_dump(mode="json") == item
        here = f"/items/{item['id']}"
        again = (await ann.get(here)).json()
        assert {**again, "expires": 0} == {**item, "expires": 0}
        kept = (await ann.put(f"{here}/draft", {"revision": 0, "payload": ANSWER})).json()
        assert DraftView.model_validate(kept).model_dump(mode="json") == kept
        long = {"revision": 1, "payload": {**ANSWER, "justification": "word " * 2000}}
        assert (await ann.put(f"{here}/draft", long)).status_code == 200
        packed, plain = await ann.get(here), await ann.get(here, headers={"accept-encoding": "identity"})
        assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
        assert {**packed.json(), "expires": 0} == {**plain.json(), "expires": 0}
        given = (await ann.post(f"{here}/submit", {"payload": ANSWER, "key": "k"})).json()
        assert AnswerReceipt.model_validate(given).model_dump(mode="json") == given


@pytest.mark.parametrize(
    ("verb", "path", "body", "status"),
    [
        ("post", "/claims", {"round": 3}, 400),
        ("post", "/claims", {"more": 1}, 400),
        ("post", "/claims", [], 400),
        ("post", "/claims", {"round": "nowhere"}, 400),
        ("put", "/items/abc/draft", {"revision": -1, "payload": {}}, 400),
        ("put", "/items/abc/draft", {"revision": 0, "payload": {}}, 404),
        ("post", "/items/abc/submit", {"payload": {}}, 400),
        ("post", "/items/abc/submit", {"payload": {}, "key": "k"}, 404),
        ("post", "/items/abc/heartbeat", None, 404),
        ("post", f"/items/{'a' * 101}/heartbeat", None, 400),
        ("post", "/items/a.b/heartbeat", None, 404),
        ("post", "/items/abc/heartbeat/", None, 404),
        ("put", "/items/abc/heartbeat", None, 405),
    ],
)
async def test_invalid_requests_are_explained(site: Site, verb: str, path: str, body: Any, status: int) -> None:
    async with site.browser("ann", "evaluator") as ann:
        problem(await getattr(ann, verb)(path, body), status)
