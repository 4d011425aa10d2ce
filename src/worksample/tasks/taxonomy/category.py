"""One category of work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    """`id` is `taxonomy:category` or `taxonomy:category/subcategory`, as it stands in `About.category`."""

    id: str
    title: str
    parent: str = ""
    """Id of the category above; empty for a top one."""

    @property
    def taxonomy(self) -> str:
        return self.id.partition(":")[0]

    @property
    def top(self) -> str:
        """Id of the top category: its own, or its parent's."""
        return self.parent or self.id
