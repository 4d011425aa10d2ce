"""Deeds of colleagues in real services, visible to everybody afterwards."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest

from workplace.test_workplace_services import ME, ask, opened
from worksample.workplace.colleagues.chat import WorkplaceChat
from worksample.workplace.colleagues.colleague_actions import ServiceDeeds
from worksample.workplace.colleagues.colleague_profile import (
    Colleague,
    Deed,
    EventDeed,
    FileDeed,
    IssueDeed,
    ReplyRule,
    SayDeed,
)
from worksample.workplace.colleagues.colleague_runner import ColleagueRunner
from worksample.workplace.colleagues.responders import RuleResponder
from worksample.workplace.workplace import services_box

pytestmark = [
    pytest.mark.box,
    pytest.mark.workplace,
    pytest.mark.long(seconds=30),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
CLOSED = "Sums are rounded line by line"
TEXT = "5 % for each invoice.\nÜberall."
TALK = EventDeed(
    title="Talk, with Jo; all",
    begins=datetime(2026, 3, 11, 9, tzinfo=UTC),
    ends=datetime(2026, 3, 11, 10, tzinfo=UTC),
)
TAKE = IssueDeed(subject="Print the station", note="Mine now.", assigned="rosa")
OPEN = IssueDeed(subject=CLOSED, status="New")
DOES = (
    Deed(id="memo", about="Writes it down.", file=FileDeed(path="finance/new folder/memo.txt", text=TEXT)),
    Deed(id="talk", about="Finds an hour.", event=TALK),
    Deed(id="word", about="Says so.", say=SayDeed(room="general", text="It is agreed.")),
    Deed(id="take", about="Takes it.", issue=TAKE, say=SayDeed(room="general", text="I take it.")),
    Deed(id="open", about="Opens a closed one.", issue=OPEN, say=SayDeed(room="general", text="It is open again.")),
    Deed(id="odd", about="A status that there is not.", issue=IssueDeed(subject=CLOSED, status="Odd")),
    Deed(id="who", about="Somebody who is not there.", issue=IssueDeed(subject=CLOSED, assigned="nobody")),
    Deed(id="none", about="An issue that there is not.", issue=IssueDeed(subject="No such issue", note="x")),
    Deed(id="out", about="A room that there is not.", say=SayDeed(room="nowhere", text="Hello?")),
)
INES = Colleague(id="ines", name="Ines", rule=(ReplyRule(when=("now",), says="Done.", does=("talk",)),), does=DOES[1:2])
ROSA = Colleague(
    id="rosa", name="Rosa", does=DOES,
    rule=(ReplyRule(when=("now",), says="Done.", does=tuple(one.id for one in DOES)),),
)  # fmt: skip


async def test_deeds_of_colleagues_appear_in_the_services() -> None:
    """And what a service refuses or ignores is said, and announced to nobody."""
    async with opened() as (services, workplace, box):
        own = services_box(services)
        by = {one.id: (one, RuleResponder()) for one in (ROSA, INES)}
        chat = WorkplaceChat(own, workplace.operator)
        async with ColleagueRunner(chat, by, pause=0.01, hands=ServiceDeeds(own, workplace.operator)).run() as attended:
            for who in by:
                await chat.say("assistant", "Do it now, please.", to=who, room="")
            async with asyncio.timeout(120):
                while sum("did" in one for one in attended.lines) < len(by):
                    await asyncio.sleep(0.05)
        did = {one["colleague"]: one["did"] for one in attended.lines if "did" in one}
        said = await ask(
            box,
            ("GET", "http://files:8092/finance/new%20folder/memo.txt", ME, ""),
            ("GET", "http://calendar:5232/rosa/calendar/talk.ics", ME, ""),
            ("GET", "http://calendar:5232/ines/calendar/talk.ics", ME, ""),
            ("GET", "http://chat:3000/api/rooms/general?newest=1", ME, ""),
            ("GET", "http://tracker:8091/issues.json?status_id=*&subject=~Print", ME, ""),
        )
        (memo, talk, other, room, issues) = said
    assert memo == (200, TEXT)
    for status, text in (talk, other):
        assert status == 200, text
        assert "DTSTART:20260311T090000Z" in text
        assert "Talk\\, with Jo\\; all" in text
    words = [(one["by"], one["text"]) for one in json.loads(room[1])["messages"]]
    assert ("rosa", "It is agreed.") in words and ("rosa", "I take it.") in words
    assert ("rosa", "It is open again.") not in words
    [issue] = json.loads(issues[1])["issues"]
    assert issue["assigned_to"]["name"].startswith("Rosa")
    assert did["ines"] == {"talk": "done"}
    failed = {one: how for one, how in did["rosa"].items() if how != "done"}
    assert failed.keys() == {"open", "odd", "who", "none", "out"}
    assert failed["open"].startswith("the tracker does not let rosa change status of issue")
    assert failed["open"].endswith("it is still Closed")
    assert failed["odd"] == "the workplace's tracker has no status 'Odd'"
    assert failed["who"] == "the workplace's tracker has no account 'nobody'"
    assert failed["none"] == "the workplace's tracker has no issue 'No such issue'"
    assert "/api/rooms/nowhere" in failed["out"]
