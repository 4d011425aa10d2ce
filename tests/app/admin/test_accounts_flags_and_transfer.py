"""Accounts, flags, imports, exports and supported formats, through the API."""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl
import pytest

from app.admin.conftest import Served
from worksample.people import Denied, close_flag, raise_flag
from worksample.people.access.tokens import hash_token


async def test_accounts_are_listed_and_changed(served: Served) -> None:
    rows = {row["name"]: row for row in await served.get("/accounts")}
    assert list(rows) == ["an admin", "an evaluator", "an expert", "an reviewer"]
    one = rows["an evaluator"]
    assert one["roles"] == ["evaluator"] and not one["disabled"] and one["last_active"] == served.desk.clock.now
    assert one["profile"] == {
        "domains": [], "skills": [], "hours": None, "earnings": None, "rating": None, "pay_rate": None,
    }  # fmt: skip
    changed = await served.patch(f"/accounts/{one['id']}", {"roles": ["expert", "evaluator"]})
    assert changed["roles"] == ["evaluator", "expert"] and not changed["disabled"]
    changed = await served.patch(f"/accounts/{one['id']}", {"disabled": True})
    assert changed["disabled"] and changed["roles"] == ["evaluator", "expert"]
    await served.patch(f"/accounts/{one['id']}", {"roles": []}, status=400)
    await served.patch(f"/accounts/{one['id']}", {"password": "x" * 20}, status=400)
    await served.patch("/accounts/abc", {"disabled": True}, status=404)


@pytest.mark.parametrize("change", [{"roles": ["reviewer"]}, {"disabled": True}])
async def test_last_admin_cannot_be_removed(served: Served, change: dict[str, Any]) -> None:
    me = served.people["admin"].id
    await served.patch(f"/accounts/{me}", change, status=409)
    await served.patch(f"/accounts/{served.people['expert'].id}", {"roles": ["admin"]})
    await served.patch(f"/accounts/{me}", change)


async def test_invitations_work_once_and_are_listed_without_tokens(served: Served) -> None:
    made = await served.post("/invitations", {"roles": ["expert"]}, status=201)
    assert made["link"] == f"http://ws.localhost:8765/invite#{made['token']}"
    assert made["expires"] == served.desk.clock.now + 7 * 24 * 3600 * 10**6
    rows = await served.get("/invitations")
    mine = [row for row in rows if row["author"] == "an admin"]
    assert [(r["roles"], r["used"]) for r in mine] == [(["expert"], None)]
    assert made["token"] not in json.dumps(rows)
    served.desk.people.accounts.accept(made["token"], "dora", "a password of some words")
    (mine,) = [row for row in await served.get("/invitations") if row["author"] == "an admin"]
    assert mine["used"] == served.desk.clock.now
    await served.post("/invitations", {"roles": []}, status=400)
    await served.post("/invitations", {"roles": ["king"]}, status=400)


async def test_one_time_link_signs_in_once(served: Served) -> None:
    made = await served.post(f"/accounts/{served.people['expert'].id}/link")
    start, _, token = made["link"].partition("#")
    assert start == "http://ws.localhost:8765/link"
    assert made["expires"] == served.desk.clock.now + 15 * 60 * 10**6
    me = await served.post("/session/link", {"token": token, "bearer": True}, role="nobody")
    assert me["account"]["name"] == "an expert"
    await served.post("/session/link", {"token": token}, role="nobody", status=403)
    await served.post("/accounts/abc/link", status=404)


async def test_flagged_items_can_be_withdrawn(served: Served) -> None:
    desk, person = served.desk, served.people["evaluator"]
    round = desk.open()
    item = desk.people.drafting.claim(person, round.id)
    assert item is not None
    raise_flag(desk.people.store, item.id, person, "broken file", "plan.pdf: does not open", clock=desk.people.clock)
    (flag,) = await served.get("/flags")
    assert (flag["kind"], flag["text"], flag["name"]) == ("broken file", "plan.pdf: does not open", "an evaluator")
    assert (flag["item"], flag["round"], flag["instance"], flag["withdrawn"]) == (
        item.id, round.id, item.instance, False,
    )  # fmt: skip
    await served.post(f"/items/{item.id}/withdraw", status=204)
    assert (await served.get("/flags"))[0]["withdrawn"]
    assert (await served.get(f"/rounds/{round.id}"))["progress"]["withdrawn"] == 1
    await served.post("/items/abc/withdraw", status=400)


async def test_flag_is_closed_once_and_stays_on_record(served: Served) -> None:
    desk, person = served.desk, served.people["evaluator"]
    item = desk.people.drafting.claim(person, desk.open().id)
    assert item is not None
    for text in ("does not open", "nor does this"):
        raise_flag(desk.people.store, item.id, person, "broken file", text, clock=desk.people.clock)
        desk.clock.pass_(1)
    flag = (await served.get("/flags"))[1]
    assert flag["text"] == "does not open" and flag["closed"] is None
    close = f"/flags/{flag['id']}/close"
    for note in ("", "  \n", "x" * 5001):
        await served.post(close, {"note": note}, status=400)
    await served.post(close, {"note": " opens in another viewer "}, status=204)
    other, closed = await served.get("/flags")
    assert closed == {
        **flag, "closed": {"note": "opens in another viewer", "by": "an admin", "at": desk.clock.now},
    }  # fmt: skip
    assert other["closed"] is None
    # Whoever raised them reads what became of them, and no name of who made what.
    (past,) = await served.get("/history", role="evaluator")
    assert [(f["kind"], f["text"], f["answer"]) for f in past["flags"]] == [
        ("broken file", "nor does this", ""), ("broken file", "does not open", "opens in another viewer"),
    ]  # fmt: skip
    await served.post(f"/flags/{other['id']}/close", {"note": "not maker-0, maker-1"}, status=204)
    (past,) = await served.get("/history", role="evaluator")
    assert past["flags"][0]["answer"] in ("not █████, maker-1", "not maker-0, █████")
    await served.post(close, {"note": "again"}, status=409)
    await served.post("/flags/abc/close", {"note": "of none"}, status=404)
    with pytest.raises(Denied):
        close_flag(desk.people.store, person, other["id"], "by the person", clock=desk.people.clock)


async def test_open_invitation_can_be_revoked(served: Served) -> None:
    kept, gone = [await served.post("/invitations", {"roles": ["expert"]}, status=201) for _ in range(2)]
    ids = {row["id"] for row in await served.get("/invitations")}
    (id,) = [id for id in ids if id == hash_token(gone["token"])[:16]]
    await served.post(f"/invitations/{id}/revoke", status=204)
    rows = {row["id"]: row for row in await served.get("/invitations")}
    assert set(rows) == ids and [row["id"] for row in rows.values() if row["revoked"]] == [id]
    assert rows[id]["used"] is None
    body = {"token": gone["token"], "name": "dora", "password": "a password of some words"}
    await served.post("/invitations/accept", body, role="nobody", status=403)
    await served.post(f"/invitations/{id}/revoke", status=409)
    served.desk.people.accounts.accept(kept["token"], "dora", "a password of some words")
    await served.post(f"/invitations/{hash_token(kept['token'])[:16]}/revoke", status=409)
    await served.post("/invitations/abcdef/revoke", status=404)


async def test_rounds_are_exported_in_every_format(served: Served) -> None:
    desk = served.desk
    round = desk.open()
    said = {"score": 2, "justification": "all of it"}
    desk.work_off([desk.hire(name) for name in ("ann", "bob", "cem")], lambda account, item: said)
    client = served.by["admin"]
    found = {}
    for name in ("jsonl", "precomputed", "parquet", "csv"):
        answer = await client.get(f"/api/v1/rounds/{round.id}/export", params={"format": name})
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith(f'attachment; filename="{round.id}-{name}.')
        assert "html" not in answer.headers["content-type"]
        found[name] = answer.content
    assert len(found["jsonl"].splitlines()) == 12
    assert {row["value"] for row in json.loads(found["precomputed"])} == {1.0}
    assert pl.read_parquet(io.BytesIO(found["parquet"])).height == 12
    assert found["csv"].decode().splitlines()[0].startswith("subject,evaluator,minutes,at,score,justification")
    await served.get(f"/rounds/{round.id}/export?format=xlsx", status=400)
    await served.get(f"/rounds/{round.id}/export", status=400)

    body = {"form": "holistic", "format": "csv", "data": found["csv"].decode()}
    made = await served.post("/imports", body, status=201)
    assert (made["evaluations"], made["subjects"], made["again"]) == (12, 4, False)
    assert (await served.post("/imports", body, status=201))["again"]
    row = next(r for r in await served.get("/rounds") if r["id"] == made["round"])
    assert row["state"] == "imported" and set(row["progress"]) == {"none"}
    dashboard = await served.get(f"/rounds/{made['round']}/dashboard")
    assert dashboard["agreement"]["share"]["value"] == 1.0 and len(dashboard["leniency"]) == 3
    votes = await served.get(f"/rounds/{made['round']}/votes")
    assert {v["voter"]["account"] for v in votes["votes"]} == {None}
    assert {v["voter"]["name"] for v in votes["votes"]} == {"ann", "bob", "cem"}


async def test_faulty_import_lists_every_row_and_imports_nothing(served: Served) -> None:
    rows = [{"subject": f"s-{n}", "evaluator": "ann", "score": 1, "justification": "w"} for n in range(25)]
    rows.append({"subject": "s-maker-0.p0", "evaluator": "ann", "score": 7, "justification": "w"})
    data = "\n".join(json.dumps(row) for row in rows)
    refused = await served.post("/imports", {"form": "holistic", "format": "jsonl", "data": data}, status=422)
    faults = refused["error"]["faults"]
    assert list(faults) == [f"row {n}" for n in range(1, 27)]
    assert "score" in faults["row 26"]
    refused = await served.post("/imports", {"form": "holistic", "format": "csv", "data": 'a,"b'}, status=422)
    assert refused["error"]["kind"] == "ImportFailed"
    odd = b'{"form": "holistic", "format": "csv", "data": "\\ud800"}'
    kind = {"content-type": "application/json"}
    answer = await served.by["admin"].post("/api/v1/imports", content=odd, headers=kind)
    assert answer.status_code in (400, 422), answer.text
    assert await served.get("/rounds") == []


async def test_supported_formats_are_listed(served: Served) -> None:
    formats = {row["title"]: row for row in await served.get("/formats")}
    assert formats["PDF"]["extensions"] == ["pdf"] and formats["PDF"]["kind"] == "pdf"
    found = await served.get("/conversions")
    assert found["folders"] == 0 and found["running"] == [] and found["faults"] == []
