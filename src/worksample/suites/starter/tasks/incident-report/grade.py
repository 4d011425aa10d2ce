"""Grades an incident report: form, timeline in UTC, figures, cause, actions, and that it does not contradict itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from written import Section, plain, sections

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Case, Check, Grade, average, close, every, number, numbers_in, weighted, words

HEADINGS = ("Summary", "Timeline", "Impact", "Root cause", "Resolution", "Actions")
WORDS = (300, 1_000)
PER_SECTION = 20
ROWS = 8
KEYS = {"incident", "files", "events", "measures", "cause", "ruled_out", "examined", "told", "actions"}
SIZE = 200_000


@dataclass
class Report:
    """The delivered report beside what it should say."""

    case: Case

    @cached_property
    def want(self) -> dict[str, Any]:
        want = self.case.ref_json("expected.json")
        if not isinstance(want, dict) or not want.keys() >= KEYS:
            raise ReferenceUnreadable(f"lacks some of {', '.join(sorted(KEYS))}", where="expected.json")
        return want

    @cached_property
    def source(self) -> str:
        text = self.case.text("report.md")
        if len(text) > SIZE:
            raise DeliverableError(f"is longer than {SIZE:,} characters", where="report.md")
        return text

    @cached_property
    def sections(self) -> list[Section]:
        return sections(self.source)

    def section(self, name: str) -> Section:
        found = next((s for s in self.sections if s.heading.casefold() == name.casefold()), None)
        if found is None:
            raise DeliverableError(f"has no section {name!r}", where="report.md")
        return found

    def table(self, section: str, *columns: str) -> list[dict[str, str]]:
        for rows in self.section(section).tables:
            if rows and all(c in rows[0] for c in columns):
                return rows
        raise DeliverableError(
            f"the section {section!r} has no table {' / '.join(columns)} with rows", where="report.md"
        )

    @cached_property
    def timeline(self) -> list[dict[str, str]]:
        return self.table("Timeline", "Time (UTC)", "Event", "Source")

    @cached_property
    def impact(self) -> dict[str, str]:
        return {plain(r["Measure"]).casefold(): r["Value"] for r in self.table("Impact", "Measure", "Value")}


def moment(text: str) -> str:
    """A cell's date and time as YYYY-MM-DD HH:MM, or nothing."""
    match = re.match(r"\s*(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d)?\s*(?:UTC|Z)?\s*$", text)
    return f"{match.group(1)} {match.group(2)}" if match else ""


def structure(report: Report) -> Check:
    """Headings, lengths, no hints left."""
    found = [(s.level, s.heading) for s in report.sections if s.level <= 2]
    wanted = [(1, f"Incident report: {report.want['incident']}"), *((2, h) for h in HEADINGS)]
    count = words(report.source)
    short = [h for h in HEADINGS if h not in ("Timeline", "Impact") and words(report.section(h).body) < PER_SECTION]
    hints = re.findall(r"<[a-zA-Z][^<>\n]{3,}>", report.source)
    return every(
        [
            Check.of(found == wanted, f"headings: {', '.join(h for _, h in found)[:300]}"),
            Check.of(not hints, f"hints left: {', '.join(hints[:3])}"),
            Check.of(not short, f"fewer than {PER_SECTION} words: {', '.join(short)}"),
            Check.of(WORDS[0] <= count <= WORDS[1], f"{count} words"),
        ]
    )


def timeline(report: Report) -> Check:
    """The share of the necessary events that stand at their time, with their source; 0 for a table out of order."""
    rows = report.timeline
    times = [moment(r["Time (UTC)"]) for r in rows]
    known = set(report.want["files"])
    form = every(
        [
            Check.of(all(times), "a time is not written as YYYY-MM-DD HH:MM"),
            Check.of(all(a <= b for a, b in pairwise(times)), "the rows are not in order"),
            Check.of(len(rows) >= ROWS, f"{len(rows)} rows"),
            Check.of(all(named(r["Source"]) & known for r in rows), "a source is no file of the material"),
        ]
    )
    if not form.passed:
        return form
    checks = []
    for event in report.want["events"]:
        right = any(
            when in event["at"]
            and any(word in row["Event"].casefold() for word in event["words"])
            and named(row["Source"]) & set(event["source"])
            for when, row in zip(times, rows, strict=True)
        )
        checks.append(Check.of(right, f"{event['name']}: not there, or at another time, or from another source"))
    return average(checks)


def named(text: str) -> set[str]:
    return {word.strip("`.,;()") for word in re.split(r"[\s,;/]+", text)}


def figures(report: Report) -> Check:
    """The share of the measures that are right."""
    checks = []
    for name, want in report.want["measures"].items():
        value = report.impact.get(name.casefold(), "")
        if isinstance(want, str):
            right = moment(value) == want
        else:
            found = amount(value)
            right = found is not None and close(found, want, 0.005)
        checks.append(Check.of(right, f"{name}: {value[:40]!r}"))
    return average(checks)


def amount(text: str) -> float | None:
    """The one number in a cell; a currency or a unit may stand beside it."""
    found = numbers_in(text)
    return found[0] if len(found) == 1 else number(text)


def cause(report: Report) -> Check:
    """The labelled lines, and what was changed."""
    body = report.section("Root cause").body
    lines = {}
    for line in body.splitlines():
        match = re.match(r"(Cause|Ruled out):\s*(.*)", plain(line), re.IGNORECASE)
        if match:
            lines[match.group(1).casefold()] = set(re.findall(r"CHG-\d+", match.group(2)))
    out = lines.get("ruled out", set())
    told = plain(body).casefold()
    missing = [words for words in report.want["told"] if not any(spoken(told, w) for w in words)]
    return every(
        [
            Check.of(lines.get("cause") == {report.want["cause"]}, f"cause: {sorted(lines.get('cause', []))}"),
            Check.of(set(report.want["ruled_out"]) <= out <= set(report.want["examined"]), f"ruled out: {sorted(out)}"),
            Check.of(not missing, f"not told: {', '.join(' or '.join(w) for w in missing)}"),
        ]
    )


def spoken(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", text) is not None


def consistent(report: Report) -> Check:
    """No time beside the timeline, and no figure in the summary that the Impact table does not have."""
    clock = {moment(r["Time (UTC)"])[-5:] for r in report.timeline}
    elsewhere = [s.body for s in report.sections if s.heading != "Timeline"]
    stray = sorted({t for text in elsewhere for t in re.findall(r"(?<![\d:])\d{1,2}:\d\d(?![\d:])", text)} - clock)
    summary = report.section("Summary").prose
    values = [amount(v) for v in report.impact.values() if not moment(v)]
    own = [v for v in values if v is not None]
    spoken_of = numbers_in(summary)
    minutes = [number(m) for m in re.findall(r"(?<![\d.,])(\d[\d.,]*)[\s\u00a0-]*min(?:ute)?s?\b", summary)]
    before, behind = r"(?:EUR|USD|€|\$)\s?(\d[\d.,\u00a0 ]*\d|\d)", r"(?<![\d.,])(\d[\d.,]*)\s?(?:EUR|USD|€|\$)"
    money = re.findall(f"{before}|{behind}", summary)
    given = [*minutes, *(number((a or b).strip(" .,")) for a, b in money)]
    odd = [g for g in given if g is None or not any(close(g, v, 0.005) for v in own)]
    key = ("duration (minutes)", "failed requests", "lost revenue")
    unsaid = []
    for name in key:
        value = amount(report.impact.get(name, ""))
        if value is None or not any(close(n, value, 0.005) for n in spoken_of):
            unsaid.append(name)
    return every(
        [
            Check.of(not stray, f"times that the timeline does not have: {', '.join(stray[:5])}"),
            Check.of(not unsaid, f"not in the summary as in the Impact table: {', '.join(unsaid)}"),
            Check.of(not odd, f"figures in the summary that the Impact table does not have: {odd[:5]}"),
        ]
    )


def actions(report: Report) -> Check:
    """The agreed actions and no others."""
    rows = report.table("Actions", "Action", "Owner", "Due")
    agreed = len(report.want["actions"])
    checks = [Check.of(len(rows) == agreed, f"{len(rows)} in the table of actions, {agreed} agreed")]
    for want in report.want["actions"]:
        right = any(
            want["owner"].casefold() in row["Owner"].casefold()
            and row["Due"].strip() == want["due"]
            and any(word in row["Action"].casefold() for word in want["words"])
            for row in rows
        )
        checks.append(Check.of(right, f"{want['owner']}: action or date"))
    return every(checks)


def grade(case: Case) -> Grade:
    report = Report(case)
    _ = report.want
    return weighted(
        case,
        structure=lambda: structure(report),
        timeline=lambda: timeline(report),
        figures=lambda: figures(report),
        cause=lambda: cause(report),
        consistent=lambda: consistent(report),
        actions=lambda: actions(report),
    )
