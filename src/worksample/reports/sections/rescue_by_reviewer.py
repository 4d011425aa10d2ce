"""Pass rates of re-attempts by the author and the kind of the feedback that they received."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

import polars as pl

from worksample import metrics as m
from worksample.people.access.evaluator_profile import profile_of
from worksample.records import Evaluation, Evaluator, EvaluatorKind, Feedback, Trial
from worksample.results.reattempts.feedback_prompt import words_of
from worksample.results.result_set import ResultSet

from .figure_settings import MeasureConfig
from .section import Section, SectionRow

LENGTHS = ((20, "up to 20 words"), (100, "21 to 100 words"))
LONG = "over 100 words"
UNKNOWN = "unknown"


def rescue_sections(
    results: ResultSet, config: MeasureConfig, rows: pl.DataFrame, arms: Mapping[str, Feedback]
) -> Iterator[Section]:
    """Yield the share of re-attempts that passed, by the feedback they received. rows: attempts of chains, with arm and
    trial.
    """
    again = rows.filter((pl.col("attempt") > 1) & pl.col("passed").is_not_null())
    kinds = pl.col("arm").replace_strict({a: str(f) for a, f in arms.items()}, return_dtype=pl.String)
    parts = [again.with_columns(trait=pl.lit("kind"), told=kinds)]
    traits = _traits(results, again["trial"].drop_nulls().to_list())
    if traits.height:
        parts.append(again.join(traits, on="trial", maintain_order="left"))
    if not again.height or (len(parts) == 1 and len(arms) == 1):
        return
    table = pl.concat(parts, how="diagonal")
    lines = []
    for (by, given), some in table.group_by("trait", "told", maintain_order=True):
        for group in _by_agent(some):
            cells: dict[str, Any] = {
                "task": group["task"], "instance": group["instance_name"], "how": config.how, "state": group["state"]
            }  # fmt: skip
            rate = m.rate(group["passed"], name="passed", **cells)
            lines.append((group["agent_name"][0], group["agent"][0], (str(by), str(given), rate)))
    notes = (
        "over all re-attempts with a verdict; feedback by several people counts for each of them",
        "reviewers were not assigned at random: harder jobs may have got longer feedback",
    )
    made = tuple(SectionRow(*line) for line in lines)
    yield Section("feedback-by", "Whose feedback rescues", "beyond the papers", ("by", "given", "passed"), made, notes)


def _by_agent(rows: pl.DataFrame) -> list[pl.DataFrame]:
    return rows.sort("agent_name", maintain_order=True).partition_by("agent", maintain_order=True)


def _traits(results: ResultSet, trials: list[str]) -> pl.DataFrame:
    """Return a row per trial and trait of the feedback it received: trial, trait, told."""
    fed: dict[str, tuple[str, ...]] = {}
    for experiment in results.experiments:
        made = results.store.find(Trial, experiment=experiment.id, live=True)
        fed |= {t.id: t.fed.evaluations for t in made if t.fed is not None and t.fed.evaluations}
    wanted = [id for id in dict.fromkeys(trials) if id in fed]
    ids = sorted({e for trial in wanted for e in fed[trial]})
    chunks = (ids[start : start + 500] for start in range(0, len(ids), 500))
    said = {e.id: e for chunk in chunks for e in results.store.find(Evaluation, id=chunk)}
    known = {e.id: e for e in results.store.find(Evaluator)}
    hours = _hours(known, {e.evaluator for e in said.values()})
    found = []
    for trial in wanted:
        given = [said[id] for id in fed[trial] if id in said]
        found.append((trial, "length", _length(sum(map(words_of, given)))))
        for evaluator in dict.fromkeys(e.evaluator for e in given):
            who = known.get(evaluator)
            if who is not None and who.type is EvaluatorKind.PERSON:
                found += [(trial, "domain", domain) for domain in who.domains or (UNKNOWN,)]
                found.append((trial, "hours of paid work", hours[evaluator]))
    schema = {"trial": pl.String, "trait": pl.String, "told": pl.String}
    return pl.DataFrame(found, schema=schema, orient="row").unique(maintain_order=True)


def _length(words: int) -> str:
    return next((name for most, name in LENGTHS if words <= most), LONG)


def _hours(known: Mapping[str, Evaluator], ids: set[str]) -> dict[str, str]:
    """Return, by person id, the stated hours as text: below the median, at or above it, or unknown."""
    people = {id: profile_of(known[id]).hours for id in ids if id in known and known[id].type is EvaluatorKind.PERSON}
    stated = [h for h in people.values() if h is not None]
    middle = median(stated) if stated else 0.0
    return {
        id: UNKNOWN if h is None else f"below {middle:g}" if h < middle else f"{middle:g} and more"
        for id, h in people.items()
    }
