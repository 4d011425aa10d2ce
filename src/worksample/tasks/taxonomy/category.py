"""Categories of work, and functions that find them in the taxonomies that are part of Worksample."""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from worksample.ascii_names import plain_letters
from worksample.errors import UsageError


@dataclass(frozen=True, slots=True)
class Category:
    """A category of work. `id` is `taxonomy:category` or `taxonomy:category/subcategory`, as in `About.category`."""

    id: str
    title: str
    parent: str = ""
    """Id of the category above; empty for a category at the top level."""

    @property
    def taxonomy(self) -> str:
        return self.id.partition(":")[0]

    @property
    def top(self) -> str:
        """Id of the category at the top level: the parent's id, or the category's own id if it has no parent."""
        return self.parent or self.id


TAXONOMIES = ("upwork", "ale", "tac")


def slug(title: str) -> str:
    """Convert a title to the form that ids use: `Data Extraction/ETL` becomes `data-extraction-etl`, `Logo für` becomes
    `logo-fur`.
    """
    return re.sub(r"[^a-z0-9]+", "-", plain_letters(title).lower()).strip("-")


@cache
def categories(taxonomy: str) -> tuple[Category, ...]:
    """Return all categories of a taxonomy, each followed by its subcategories. Raises UsageError if the name is not in
    `TAXONOMIES`.
    """
    if taxonomy not in TAXONOMIES:
        raise UsageError(f"there is no taxonomy {taxonomy!r}", where="taxonomy", next=f"one of {', '.join(TAXONOMIES)}")
    data = tomllib.loads(resources.files(__package__).joinpath("data", f"{taxonomy}.toml").read_text("utf-8"))
    found = []
    for key, entry in data["categories"].items():
        top = Category(f"{taxonomy}:{key}", entry["title"])
        found.append(top)
        inner = entry.get("subcategories", {})
        named = inner.items() if isinstance(inner, dict) else ((slug(title), title) for title in inner)
        found += [Category(f"{top.id}/{name}", title, top.id) for name, title in named]
    return tuple(found)


@cache
def _index() -> dict[str, Category]:
    return {c.id: c for name in TAXONOMIES for c in categories(name)}


def lookup(id: str) -> Category:
    """Return the category with this id, such as `upwork:writing/content-writing`. Raises UsageError with the most
    similar ids if there is no such category.
    """
    found = _index().get(id)
    if found is None:
        near = suggest(id)
        raise UsageError(
            f"there is no category {id!r}" + (f"; the nearest are {', '.join(near)}" if near else ""),
            where="taxonomy",
            next="pick one of docs/reference/task-package.md",
        )
    return found


def title_of(id: str) -> str:
    """Return the readable title of a category, such as `Writing: Content Writing`. For an unknown id, return the id."""
    found = _index().get(id)
    if found is None:
        return id
    return f"{_index()[found.parent].title}: {found.title}" if found.parent else found.title


def suggest(id: str, count: int = 3) -> tuple[str, ...]:
    """Return up to `count` ids of categories that are most similar to a misspelt id, best first."""
    known = list(_index())
    head, mark, tail = id.lower().partition(":")
    if not mark:
        tail = head
    last = slug(tail.rpartition("/")[2])
    near = difflib.get_close_matches(id.lower(), known, count, 0.6)
    by_end = {k.rpartition("/")[2].rpartition(":")[2]: k for k in reversed(known)}
    ends = [by_end[e] for e in difflib.get_close_matches(last, list(by_end), count, 0.6)]
    inside = [k for k in known if last and last in k.rpartition(":")[2]]
    same = [k for k in (*near, *ends, *inside) if not mark or k.startswith(head + ":")]
    return tuple(dict.fromkeys((*same, *near, *ends, *inside)))[:count]
