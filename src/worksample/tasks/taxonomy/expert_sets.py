"""Sets of experts by the categories that they know: those of UpBench (3.1, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "set:"
"""Prefix of a set's name among an expert's domains."""


@dataclass(frozen=True, slots=True)
class ExpertSet:
    """People who are asked about work of these categories."""

    name: str
    title: str
    categories: tuple[str, ...]
    """Ids of top categories of Upwork's."""

    def covers(self, category: str) -> bool:
        """Return whether a category is one of the set's, or lies below one."""
        return any(category == own or category.startswith(own + "/") for own in self.categories)


EXPERT_SETS = (
    ExpertSet(
        "general", "General",
        ("upwork:accounting-consulting", "upwork:admin-support", "upwork:sales-marketing", "upwork:translation",
         "upwork:writing"),
    ),
    ExpertSet(
        "tech", "Tech",
        ("upwork:web-mobile-software-dev", "upwork:engineering-architecture", "upwork:data-science-analytics"),
    ),
)  # fmt: skip
"""UpBench's two, of five and three categories."""


def set_of(category: str) -> ExpertSet | None:
    """Return the set whose experts are asked about work of a category; None if there is none."""
    return next((one for one in EXPERT_SETS if one.covers(category)), None)


def expand_sets(domains: tuple[str, ...]) -> tuple[str, ...]:
    """Replace `set:tech` among domains by its categories; an unknown set stays as it is."""
    known = {PREFIX + one.name: one.categories for one in EXPERT_SETS}
    return tuple(dict.fromkeys(c for d in domains for c in known.get(d, (d,))))
