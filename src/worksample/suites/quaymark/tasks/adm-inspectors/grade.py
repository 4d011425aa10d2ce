"""One hour for three people."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from worksample.kit import Case, Check, Grade, checkpoints
from worksample.kit.statements import check_closing, plain
from worksample.kit.workplace import Workplace

FILE = "office/inspectors-2026-03.md"
ASKED = {"sven": ("14:00",), "grace": ("afternoon",), "sofia": ("15:00",)}
MINUTES, INVITED = 60, {"sven", "grace", "sofia"}


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

    def event() -> Check:
        own = [one for one in office.events("jules") if "inspectors" in one.title.casefold()]
        right = len(own) == 1 and own[0].begins == begins and own[0].ends == begins + timedelta(minutes=MINUTES)
        invited = {address.partition("@")[0] for one in own for address in one.with_}
        good = right and invited - {"jules"} == INVITED
        return Check.of(
            good,
            f"{len(own)} events; invited: {', '.join(sorted(invited))}",
            at=office.requested("calendar", "PUT", "/jules/calendar/*", by="jules"),
        )

    def note() -> Check:
        said = plain(office.file(FILE).decode("utf-8", "replace"))
        right = (
            re.search(r"day: 2026-03-18", said)
            and re.search(r"from: 14[:.]00", said)
            and all(re.search(rf"with: [^:]*\b{who}", said) for who in INVITED)
        )
        return Check.of(
            bool(right), "it lacks day, time or people", at=office.requested("files", "PUT", f"/{FILE}", by="jules")
        )

    def closed() -> Check:
        when = re.compile(r"\b14([:.]00| ?h\b| ?(-|to) ?15| uhr)|\b2 ?p\.?m|\b2 (to|until) 3")
        return check_closing(
            office, "office", "A tour for the inspectors", "jules", when.search, lacks="no comment says when"
        )

    return checkpoints(case, asked=asked, event=event, note=note, closed=closed)
