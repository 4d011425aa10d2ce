"""The three classes of projects in RLI: software, research and writing, and other (RLI C.3).

RLI asked a language model to classify briefs, and the category names of Upwork. This module classifies by category
instead, so that the same suite always gets the same classes.
"""

from __future__ import annotations

from enum import StrEnum


class WorkClass(StrEnum):
    SOFTWARE = "software engineering"
    WRITING = "research and writing"
    OTHER = "other"
    UNKNOWN = "no known category"


_SOFTWARE = (
    "upwork:web-mobile-software-dev",
    "upwork:data-science-analytics/ai-machine-learning",
    "upwork:data-science-analytics/data-extraction-etl",
    "upwork:data-science-analytics/data-mining-management",
    "upwork:it-networking/database-management-administration",
    "upwork:it-networking/devops-solution-architecture",
    "ale:computing_math/software_eng",
    "ale:computing_math/data_analytics",
    "ale:computing_math/infra_cloud",
    "tac:sde",
    "tac:ds",
)
_WRITING = (
    "upwork:writing",
    "upwork:legal",
    "upwork:translation/translation-localization-services",
    "upwork:accounting-consulting/management-consulting-analysis",
    "upwork:admin-support/market-research-product-reviews",
    "ale:legal",
    "ale:education_info/translation",
    "ale:education_info/library_info",
)
_NOT_SOFTWARE = (
    "upwork:web-mobile-software-dev/product-management-scrum",
    "upwork:web-mobile-software-dev/qa-testing",
    "upwork:web-mobile-software-dev/web-mobile-design",
)
"""Categories that belong to software by their name but need no coding. RLI's own example is testing a game."""


def work_class(category: str) -> WorkClass:
    """Return the class of a category id of `worksample.tasks.taxonomy`; UNKNOWN for any other text."""
    from worksample.errors import UsageError
    from worksample.tasks.taxonomy import lookup

    try:
        found = lookup(category)
    except UsageError:
        return WorkClass.UNKNOWN
    places = {found.id, found.top}
    if found.id in _NOT_SOFTWARE:
        return WorkClass.OTHER
    if places & set(_SOFTWARE):
        return WorkClass.SOFTWARE
    return WorkClass.WRITING if places & set(_WRITING) else WorkClass.OTHER
