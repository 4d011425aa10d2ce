"""Who is in which channel of TheAgentCompany's Rocket.Chat, as its database has it before a task begins.

What its list of people says of channels differs: it names some that are not there, and leaves out who is in the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

_ALL = (
    "alex_turner", "chen_xinyi", "david_wong", "emily_zhou", "emma_lewis", "huang_jie", "jessica_chen",
    "jessica_lee", "li_ming", "liu_qiang", "mark_johnson", "mike_chen", "priya_sharma", "sarah_johnson",
    "sophia_rodriguez", "wang_fang", "zhang_wei",
)  # fmt: skip
GENERAL = "general"
"""Where everybody is."""
ROOMS: Mapping[str, tuple[str, ...]] = {
    "engineering": ("sarah_johnson",),
    "help-desk": tuple(one for one in _ALL if one not in ("alex_turner", "li_ming", "liu_qiang", "sarah_johnson")),
    "hr-announcements": ("chen_xinyi", "mike_chen"),
    "kudos": (*(one for one in _ALL if one != "emma_lewis"), "theagentcompany"),
    "product": ("huang_jie", "sarah_johnson", "sophia_rodriguez"),
    "project-ai": ("liu_qiang", "mike_chen", "sarah_johnson", "sophia_rodriguez", "wang_fang"),
    "project-graphdb": ("li_ming", "liu_qiang", "priya_sharma", "sarah_johnson", "sophia_rodriguez"),
    "project-lowcode": ("alex_turner", "liu_qiang", "sarah_johnson", "sophia_rodriguez"),
    "project-search": ("huang_jie", "priya_sharma", "sarah_johnson", "sophia_rodriguez"),
    "project-streamdb": ("liu_qiang", "sarah_johnson", "sophia_rodriguez", "zhang_wei"),
    "project-webcrawler": ("emily_zhou", "liu_qiang", "priya_sharma", "sarah_johnson", "sophia_rodriguez"),
    "random": ("emma_lewis", "jessica_chen", "liu_qiang", "mark_johnson", "mike_chen", "sarah_johnson", "wang_fang"),
    "sales-marketing": ("jessica_lee", "mark_johnson"),
    "tech-talk": (
        "alex_turner", "emily_zhou", "emma_lewis", "jessica_lee", "li_ming", "liu_qiang", "mike_chen", "priya_sharma",
        "sarah_johnson", "sophia_rodriguez", "wang_fang",
    ),
}  # fmt: skip
"""The people whom everybody knows of: those who made the database are left out."""


def channels(people: Collection[str], owner: str) -> dict[str, dict[str, Any]]:
    """The keys of each channel of a company of these people. `owner`: of all, as who administers them there."""
    rooms: dict[str, dict[str, Any]] = {GENERAL: {"owners": [owner]}}
    for name, members in ROOMS.items():
        rooms[name] = {"members": [one for one in members if one in people], "open": True, "owners": [owner]}
    return rooms
