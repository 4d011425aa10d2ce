"""Tables of a census, beside a market sample if there is one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from worksample.reports.figure_formatting import DASH

from .census import Census, CensusItem
from .market_sample import Market
from .project_classes import WorkClass

NONE = "(none)"


@dataclass(frozen=True, slots=True)
class DescriptionTable:
    """A table of a description. `rows` contain a text for each of `columns`; counts, shares and amounts are formatted
    as text.
    """

    id: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return the table as JSON types."""
        return {
            "id": self.id,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(r) for r in self.rows],
            "notes": list(self.notes),
        }


def tables_of(
    census: Census, market: Market | None = None, *, illustrative: bool = False
) -> tuple[DescriptionTable, ...]:
    """Return every table that the census supports; `illustrative` lets illustrative prices and hours count."""
    return (
        _classes(census, market),
        _shares(
            "categories", "Categories: category", census, market, lambda i: i.category or NONE, lambda r: r.category
        ),
        _shares("tiers", "Tiers: tier", census, None, lambda i: i.tier or NONE, lambda r: ""),
        _amounts(census, market, illustrative=illustrative),
        _files(census),
        _graders(census),
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else DASH


def shares(
    census: Census, market: Market | None, of: Callable[[CensusItem], str], of_market: Callable[[Any], str]
) -> Iterator[tuple[str, int, int]]:
    """Yield each category's name, number of instances, and number of jobs on the market. The categories that are most
    frequent in the suite come first, then those only on the market.
    """
    ours = Counter(of(i) for i in census.items)
    theirs: Counter[str] = Counter()
    for row in market.rows if market else ():
        theirs[of_market(row)] += row.count
    for name in sorted({*ours, *theirs}, key=lambda n: (-ours[n], -theirs[n], n)):
        yield name, ours[name], theirs[name]


def _shares(
    id: str,
    title: str,
    census: Census,
    market: Market | None,
    of: Callable[[CensusItem], str],
    of_market: Callable[[Any], str],
) -> DescriptionTable:
    whole, jobs = len(census.items), market.jobs if market else 0
    rows, missing = [], 0
    for name, ours, theirs in shares(census, market, of, of_market):
        line = (name, str(ours), _share(ours, whole))
        rows.append((*line, str(theirs), _share(theirs, jobs)) if market else line)
        missing += theirs if not ours else 0
    title, _, head = title.partition(": ")
    heads: tuple[str, ...] = (head, "instances", "share")
    notes: tuple[str, ...] = ()
    if market:
        heads = (*heads, f"jobs in {market.name}", "share of jobs")
        notes = (f"{_share(missing, jobs)} of the sample's jobs are in a {head} that the suite lacks.",)
    return DescriptionTable(id, title, heads, tuple(rows), notes)


def _classes(census: Census, market: Market | None) -> DescriptionTable:
    table = _shares(
        "classes", "Classes of work: class of work", census, market, lambda i: i.kind.value, lambda r: r.kind.value
    )
    order = {kind.value: place for place, kind in enumerate(WorkClass)}
    rows = tuple(sorted(table.rows, key=lambda r: order[r[0]]))
    note = "RLI's three classes (C.3), here decided by the category: docs/how-to/read-results.md has the table."
    return DescriptionTable("classes", table.title, table.columns, rows, (note, *table.notes))


@dataclass(frozen=True, slots=True)
class _Sum:
    least: float
    median: float
    mean: float
    most: float
    total: float


def _summary(weighted: Iterable[tuple[float, int]]) -> _Sum | None:
    """Return the summary of values with counts; the median of an even number is the middle of the two."""
    pairs = sorted(weighted)
    count = sum(n for _, n in pairs)
    if not count:
        return None

    def at(place: int) -> float:
        for value, n in pairs:
            place -= n
            if place < 0:
                return value
        raise AssertionError

    total = sum(v * n for v, n in pairs)
    median = (at((count - 1) // 2) + at(count // 2)) / 2
    return _Sum(pairs[0][0], median, total / count, pairs[-1][0], total)


def _amounts(census: Census, market: Market | None, *, illustrative: bool) -> DescriptionTable:
    heads = ("amount", "known", "least", "median", "mean", "most", "total")
    counted = [i for i in census.items if illustrative or not i.illustrative]
    left = len(census.items) - len(counted)
    hours = [(i.hours.middle, 1) for i in counted if i.hours is not None]
    dollars = [(i.dollars, 1) for i in counted if i.dollars is not None]
    whole = len(census.items)
    rows = [_amount("US dollars", dollars, whole), _amount("human hours", hours, whole)]
    if market:
        money = [(r.dollars, r.count) for r in market.rows if r.dollars is not None]
        time = [(r.hours, r.count) for r in market.rows if r.hours is not None]
        rows += [_amount(f"US dollars, {market.name}", money, market.jobs)]
        rows += [_amount(f"human hours, {market.name}", time, market.jobs)]
    notes = ["Ranges count with their midpoint (RLI C.5); other currencies than US dollars are not converted."]
    if left:
        notes.append(f"{left} instances have only illustrative prices or hours: left out. --illustrative counts them.")
    invented = sum(i.illustrative for i in counted)
    if invented:
        notes.append(f"{invented} instances have only illustrative prices or hours: counted, as requested.")
    return DescriptionTable("amounts", "Prices and hours", heads, tuple(rows), tuple(notes))


def _amount(name: str, values: Sequence[tuple[float, int]], whole: int) -> tuple[str, ...]:
    known = f"{sum(n for _, n in values)} of {whole}"
    found = _summary(values)
    if found is None:
        return (name, known, *[DASH] * 5)
    return (name, known, *(f"{v:,.2f}" for v in (found.least, found.median, found.mean, found.most, found.total)))


def file_counts(census: Census) -> list[tuple[str, int, int, int]]:
    """Return each file type with the number of instances that have it as an input, in the reference and as a named
    deliverable; most frequent first.
    """
    parts = [
        Counter(t for i in census.items for t in set(getattr(i, p))) for p in ("inputs", "reference", "deliverables")
    ]
    names = sorted({n for c in parts for n in c}, key=lambda n: (-sum(c[n] for c in parts), n))
    return [(n, parts[0][n], parts[1][n], parts[2][n]) for n in names]


def _files(census: Census) -> DescriptionTable:
    rows = tuple((name, str(a), str(b), str(c)) for name, a, b, c in file_counts(census))
    whole = len(census.items) or 1
    notes = []
    for part, says in (("inputs", "inputs"), ("reference", "references")):
        files = sum(len(getattr(i, part)) for i in census.items)
        kinds = len({t for i in census.items for t in getattr(i, part)})
        notes.append(f"{says}: {files / whole:.1f} files per instance, {kinds} types in all.")
    columns = ("type", "instances with it as input", "in the reference", "as deliverable")
    return DescriptionTable("files", "File types", columns, rows, (*notes, "As in RLI's Figure 14."))


def _graders(census: Census) -> DescriptionTable:
    whole = len(census.items)
    counts = Counter(g for i in census.items for g in set(i.graders))
    rows = tuple((n, str(c), _share(c, whole)) for n, c in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    note = "Protocols, and the compositions and modes of the kit that the graders' code calls; they overlap."
    return DescriptionTable("graders", "Kinds of grader", ("kind", "instances", "share"), rows, (note,))
