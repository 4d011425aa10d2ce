"""Sets of experts, defined by the categories of work that they know. The sets are those of UpBench (3.1, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "set:"
"""Prefix that marks the name of an expert set in an expert's list of domains."""


@dataclass(frozen=True, slots=True)
class ExpertSet:
    """Experts who evaluate work of certain categories."""

    name: str
    title: str
    categories: tuple[str, ...]
    """Ids of top-level categories of Upwork."""

    def covers(self, category: str) -> bool:
        """Return whether a category belongs to the set, directly or through the category above it."""
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
"""The two expert sets of UpBench, with five and three categories of Upwork."""


def set_of(category: str) -> ExpertSet | None:
    """Return the expert set that evaluates work of this category; None if no set does."""
    return next((one for one in EXPERT_SETS if one.covers(category)), None)


def expand_sets(domains: tuple[str, ...]) -> tuple[str, ...]:
    """Replace each name of an expert set, such as `set:tech`, by the categories of this set. Unknown names are not
    changed.
    """
    known = {PREFIX + one.name: one.categories for one in EXPERT_SETS}
    return tuple(dict.fromkeys(c for d in domains for c in known.get(d, (d,))))
