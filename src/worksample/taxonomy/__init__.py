"""Categories of work: Upwork (RLI), the domains of Agents' Last Exam, the departments of TheAgentCompany."""

from .category import Category
from .lookup import TAXONOMIES, categories, lookup, slug, suggest, title_of

__all__ = ["TAXONOMIES", "Category", "categories", "lookup", "slug", "suggest", "title_of"]
