"""Weighted survey: figures within tolerances, the chart read back from its drawing, the text for its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from drawing import Box, boxes, labels, name_of, size

from worksample.kit import (
    Case,
    Check,
    DeliverableError,
    Grade,
    close,
    every,
    mentions,
    number,
    numbers_in,
    plain_text,
    says,
    weighted,
    words,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

BAR = "#1f6f8b"
SLACK = 0.015
"""Share of the tallest bar by which heights, widths and the baseline may be off."""
WORDS = 120
BYTES = 1 << 20
"""A chart of a few bars takes some thousands."""


def figures(got: Any, want: Mapping[str, float], tolerance: float, what: str) -> Check:
    """The share of the figures that are right."""
    if not isinstance(got, dict):
        return Check(0.0, f"{what} is no object")
    mine = {plain_text(k): v for k, v in got.items()}
    found = {name: number(mine.get(plain_text(name))) for name in want}
    wrong = [n for n, v in found.items() if v is None or not close(v, want[n], tolerance)]
    note = "; ".join(f"{what} {n}: {found[n]} instead of {want[n]:.2f}" for n in wrong)
    return Check(1 - len(wrong) / len(want), note)


def shares(got: Mapping[str, Any], want: Mapping[str, Any], tolerance: float) -> Check:
    right = figures(got.get("shares"), want["shares"], tolerance, "shares")
    named = plain_text(got.get("largest")) == plain_text(want["largest"])
    return every([right, Check.of(named, f"largest is {got.get('largest')!r}")]) if right.passed else right


def groups(got: Mapping[str, Any], want: Mapping[str, Any], tolerance: float) -> Check:
    found = got.get("by_group")
    mine = {plain_text(k): v for k, v in found.items()} if isinstance(found, dict) else {}
    checks = [figures(mine.get(plain_text(g)), v, tolerance, g) for g, v in want["by_group"].items()]
    return Check(sum(c.fraction for c in checks) / len(checks), "; ".join(c.reason for c in checks if c.reason))


def chart(case: Case) -> Element:
    if case.output("chart.svg").stat().st_size > BYTES:
        raise DeliverableError(f"is larger than {BYTES:,} bytes", where="chart.svg")
    return case.svg("chart.svg")


def bars_of(root: Element, count: int) -> list[Box]:
    """The bars from left to right. DeliverableError where there are not `count` of them, or the picture is no chart."""
    alien = [name_of(e) for e in root.iter() if name_of(e) in ("image", "script", "foreignObject", "use")]
    if alien:
        raise DeliverableError(f"holds {alien[0]!r}", where="chart.svg")
    width, height = size(root)
    if height <= 0 or not close(width / height, 800 / 500, relative=0.02):
        raise DeliverableError(f"is {width:g} wide and {height:g} high, not 800 by 500", where="chart.svg")
    found = sorted((b for b in boxes(root) if b.fill == BAR), key=lambda b: b.left)
    if len(found) != count:
        raise DeliverableError(f"has {len(found)} shapes in {BAR}, not {count} bars", where="chart.svg")
    outside = [b for b in found if b.left < -1 or b.top < -1 or b.right > width + 1 or b.bottom > height + 1]
    if outside and root.get("viewBox") is not None:
        raise DeliverableError("has bars outside of the picture", where="chart.svg")
    return found


def bars(root: Element, want: Sequence[float]) -> Check:
    found = bars_of(root, len(want))
    tallest = max(b.height for b in found)
    slack = SLACK * tallest
    base, width = found[0].bottom, found[0].width
    checks = [
        Check.of(all(abs(b.bottom - base) <= slack for b in found), "the bars stand on different baselines"),
        Check.of(all(abs(b.width - width) <= SLACK * width for b in found), "the bars differ in width"),
        Check.of(all(a.right <= b.left + 0.5 for a, b in pairwise(found)), "bars overlap"),
        Check.of(tallest >= 0.3 * size(root)[1], "the tallest bar takes less than a third of the height"),
    ]
    for i, (bar, share) in enumerate(zip(found, want, strict=True), 1):
        shown = share / max(want) * tallest
        right = abs(bar.height - shown) <= slack
        checks.append(Check.of(right, f"bar {i} is {bar.height:.1f} high instead of {shown:.1f}"))
    return Check.of(every(checks).passed, every(checks).reason)


def label_checks(root: Element, answers: Sequence[str], want: Sequence[float]) -> Check:
    """Answer and share stand as texts whose nearest bar is the right one."""
    found = bars_of(root, len(want))
    near: list[list[str]] = [[] for _ in found]
    for label in labels(root):
        gaps = [max(b.left - label.x, 0.0, label.x - b.right) for b in found]
        near[gaps.index(min(gaps))].append(label.text)
    missing = []
    for texts, answer, share in zip(near, answers, want, strict=True):
        if plain_text(answer) not in runs([t for t in texts if "%" not in t]):
            missing.append(f"no text {answer!r} at its bar")
        if not any("%" in t and any(close(shown(n), share, 0.051) for n in numbers_in(t)) for t in texts):
            missing.append(f"no text '{share:.1f} %' at the bar of {answer!r}")
    return Check(1 - len(missing) / (2 * len(answers)), "; ".join(missing[:6]))


def runs(texts: Sequence[str]) -> set[str]:
    """The texts, and those of up to three lines, which follow each other."""
    spans = [(i, i + n) for n in (1, 2, 3) for i in range(len(texts) - n + 1)]
    return {plain_text(" ".join(texts[a:b])) for a, b in spans}


def shown(value: float) -> float:
    """`12.3 %` is read as 0.123 where the sign stands close, else as 12.3."""
    return 100 * value if abs(value) <= 1 else value


def summary(text: str, want: Mapping[str, Any]) -> Check:
    length = words(text)
    text = text.replace("%", " ").replace("**", " ")
    share, margin = want["shares"][want["largest"]], want["margin_of_error"]
    checks = [
        Check.of(0 < length <= WORDS, f"{length} words"),
        mentions(text, [want["largest"]]),
        says(text, share, tolerance=0.051),
        says(text, margin, tolerance=0.051),
        says(text, want["respondents"]),
    ]
    joined = every(checks)
    return Check.of(joined.passed, joined.reason)


def grade(case: Case) -> Grade:
    want, tolerance = case.ref_json("findings.json"), case.setting("tolerance")
    answers = case.setting("answers")
    heights = [want["shares"][a] for a in answers]

    def findings() -> dict[str, Any]:
        found = case.json("findings.json")
        if not isinstance(found, dict):
            raise DeliverableError("is no object", where="findings.json")
        return found

    def single(name: str, allowed: float) -> Check:
        return figures(findings(), {name: want[name]}, allowed, "findings.json")

    return weighted(
        case,
        respondents=lambda: single("respondents", 0),
        shares=lambda: shares(findings(), want, tolerance["share"]),
        groups=lambda: groups(findings(), want, tolerance["share"]),
        uncertainty=lambda: every(
            [single(n, tolerance[n]) for n in ("effective_sample", "margin_of_error")],
        ),
        bars=lambda: bars(chart(case), heights),
        labels=lambda: label_checks(chart(case), answers, heights),
        summary=lambda: summary(case.text("summary.md"), want),
    )
