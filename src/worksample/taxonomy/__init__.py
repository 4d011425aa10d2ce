"""Categories of work: Upwork (RLI), the domains of Agents' Last Exam, the departments of TheAgentCompany."""

from .category import Category
from .expert_sets import EXPERT_SETS, ExpertSet, set_of, spread
from .lookup import TAXONOMIES, categories, lookup, slug, suggest, title_of

__all__ = [
    "EXPERT_SETS",
    "TAXONOMIES",
    "Category",
    "ExpertSet",
    "categories",
    "lookup",
    "set_of",
    "slug",
    "spread",
    "suggest",
    "title_of",
]
