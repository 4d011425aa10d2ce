# ruff: noqa: E501
"""A demo, as it stands in the end."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import check_closing, plain
from worksample.kit.workplace import Workplace

ASKED = {"oskar": ("2026-02",)}
MINUTES, INVITED = 60, {"petra", "oskar", "aiko"}


def grade(case: Case) -> Grade:
    office = Workplace(case.folder("exports") / "workplace")
    begins = datetime.fromisoformat(case.ref_json("answer.json")["begins"]).replace(tzinfo=UTC)

    def asked() -> Check:
        at = {who: office.told("jules", who, *marks) for who, marks in ASKED.items()}
        known = [one for one in at.values() if one is not None]
        missing = [who for who, one in at.items() if one is None]
        return Check(
            len(known) / len(at),
            f"not asked: {', '.join(missing)}" if missing else "",
            max(known) if not missing else None,
        )

    def picture() -> Check:
        promised = office.told("jules", "aiko", "I forgot it")
        there = "product/demo/board.txt" in office.files("*") and b"Drawn by Aiko" in office.file(
            "product/demo/board.txt"
        )
        mine = office.requested("files", "PUT", "/product/demo/board.txt", by="jules")
        return Check.of(
            promised is not None and there and mine is None,
            "Aiko was not reminded, or the picture is not hers",
            at=promised,
        )

    def event() -> Check:
        own = [one for one in office.events("jules") if "demo" in one.title.casefold()]
        right = len(own) == 1 and own[0].begins == begins and own[0].ends == begins + timedelta(minutes=MINUTES)
        invited = {address.partition("@")[0] for one in own for address in one.with_}
        good = right and invited - {"jules"} == INVITED
        return Check.of(
            good,
            f"{len(own)} events; invited: {', '.join(sorted(invited))}",
            at=office.requested("calendar", "PUT", "/jules/calendar/*", by="jules"),
        )

    def pushed() -> Check:
        said = plain(office.repository("insights").file("DEMO.md").decode("utf-8", "replace"))
        right = re.search(r"date: 2026-03-19", said) and re.search(r"set: (set )?2026-02", said)
        return Check.of(
            bool(right),
            "it names another day or set",
            at=office.requested("git", "POST", "/insights.git/git-receive-pack", by="jules"),
        )

    def closed() -> Check:
        day, hour = re.compile(r"thu|\b19\b|19th|19\."), re.compile(r"\b13([:.]00| ?h\b| ?(-|to) ?14| uhr)|\b1 ?p\.?m")
        return check_closing(
            office, "dispatch", "Demo of the temperature board", "jules", lambda text: day.search(text) and hour.search(text),
            lacks="no comment says when",
        )  # fmt: skip

    return checkpoints(case, asked=asked, picture=picture, event=event, pushed=pushed, closed=closed)
