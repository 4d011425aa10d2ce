"""Preferences between two deliverables from votes, and the majority of the votes on a pair (RLI 3.4, B.2).

A preference is a number for the first deliverable of a pair: 1 if it is preferred, 0 if the other is preferred, 0.5 if
neither is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from worksample.errors import UsageError
from worksample.metrics.column_checks import (
    Codes,
    Column,
    Flags,
    Floats,
    Ints,
    codes,
    flags,
    floats,
    integers,
    pair_codes,
    same_length,
    series,
)
from worksample.metrics.judgments.vote_verdicts import THREE_VOTES, VoteProtocol, count_votes, refuse_doubles

HUMAN = "human"
_SIDES = {"first": 1, "equal": 2, "second": 3}


def scale(name: str, values: Column) -> tuple[Ints, Flags]:
    """Return answers on a scale of three values as numbers, and a flag per row that is false if the row has no answer.
    The answers are 1 or "first", 2 or "equal", 3 or "second".
    """
    column = series(name, values)
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        words = column.cast(pl.String)
        unknown = sorted(set(words.drop_nulls().unique().to_list()) - set(_SIDES))
        if unknown:
            raise UsageError(
                f"unknown preference {unknown[0]!r}",
                where=f"column {name!r}",
                next="use first, equal or second, or 1, 2, 3",
            )
        column = words.replace_strict(_SIDES, default=None, return_dtype=pl.Int64)
    return integers(name, column, low=1, high=3)


def pair_preference(completion: Column, quality: Column, first_passed: Column, second_passed: Column) -> pl.Series:
    """Return each vote's preference for the first deliverable of its pair: 1, 0.5, 0, or null.

    If both deliverables passed, the answer about quality decides; otherwise the answer about completion decides. So
    "equally close" is a tie if a deliverable failed. If it is unknown whether both passed, and the two answers differ,
    the preference is null.
    """
    same_length(completion=completion, quality=quality, first_passed=first_passed, second_passed=second_passed)
    closer, closer_known = scale("completion", completion)
    better, better_known = scale("quality", quality)
    one, one_known = flags("first_passed", first_passed)
    two, two_known = flags("second_passed", second_passed)
    both = one & two & one_known & two_known
    failure = (one_known & ~one) | (two_known & ~two)
    same = closer_known & better_known & (closer == better)
    answer = np.where(both, better, closer)
    known = np.where(both, better_known, np.where(failure, closer_known, same))
    return pl.Series("preference", (3 - answer) / 2).set(pl.Series(~known.astype(bool)), None)


def project_preferences(
    project: Column,
    first: Column,
    second: Column,
    preference: Column,
    *,
    evaluator: Column | None = None,
    protocol: VoteProtocol = THREE_VOTES,
) -> pl.DataFrame:
    """Return one preference for each project and pair of agents, as a table with the columns project, first, second,
    votes, preference, reason. The input has one row per vote.

    Within a pair, `first` sorts before `second`, regardless of which deliverable was shown first. The input
    `preference` is 0, 0.5 or 1 for the row's first agent, null if the vote gave none. The majority decides. A majority
    for the tie, and votes split between all three values, give 0.5. An undecided preference is null, and its reason
    says why.
    """
    rows = same_length(project=project, first=first, second=second, preference=preference, evaluator=evaluator)
    votes, present = floats("preference", preference, low=0.0, high=1.0)
    if (wrong := present & (votes != 0) & (votes != 0.5) & (votes != 1)).any():
        raise UsageError(
            f"row {int(np.flatnonzero(wrong)[0])} has a vote other than 0, 0.5 and 1",
            where="column 'preference'",
            next="pass one of these values",
        )
    agents, sides = canonical_sides(first, second)
    one, two, flipped = sides.one[sides.key], sides.two[sides.key], sides.flipped[sides.key]
    projects = codes("project", project)
    pair, pairs = pair_codes(one, two, (len(agents), len(agents)))
    cell, cells = pair_codes(projects.index, pair, (projects.size, len(pairs)))
    if evaluator is not None and rows:
        subjects = Codes(cell, pl.Series([_name_pair(projects, pairs, agents, key) for key in cells.tolist()]))
        refuse_doubles(subjects, codes("evaluator", evaluator), present)
    toward = np.where(flipped, 1 - votes, votes)
    value = np.where(present, 1 + np.nan_to_num(toward) * 2, 0).astype(np.int64)
    counts = count_votes(cell, value, len(cells))
    decided, reason = majority(counts, protocol.planned)
    which = pairs[cells % max(len(pairs), 1)] if len(cells) else cells
    names = pl.Series(agents, dtype=pl.String)
    return pl.DataFrame(
        {
            "project": projects.labels.gather(cells // max(len(pairs), 1)),
            "first": names.gather(which // max(len(agents), 1)),
            "second": names.gather(which % max(len(agents), 1)),
            "votes": counts.sum(axis=0),
            "preference": pl.Series(decided).fill_nan(None),
            "reason": reason,
        }
    )


def _name_pair(projects: Codes, pairs: Ints, agents: list[str], key: int) -> str:
    pair = int(pairs[key % len(pairs)])
    return f"{agents[pair // len(agents)]} against {agents[pair % len(agents)]} in {projects.labels[key // len(pairs)]}"


@dataclass(frozen=True, slots=True)
class Sides:
    """Pairs of agents by row. `key[r]` is the number of the pair in row r. Its agents are `one` and `two`, with one <
    two, and a flag says whether the row lists them in reverse order.
    """

    key: Ints
    one: Ints
    two: Ints
    flipped: Flags


def canonical_sides(first: Column, second: Column) -> tuple[list[str], Sides]:
    """Return the sorted names of the agents, and the pair of agents in each row as numbers. The order of the two agents
    is the same in all rows of a pair.

    Raises UsageError if an agent is compared with itself.
    """
    left, right = codes("first", first), codes("second", second)
    agents = sorted({*left.names(), *right.names()})
    place = {name: i for i, name in enumerate(agents)}
    one = np.array([place[n] for n in left.names()], dtype=np.int64).repeat(right.size)
    two = np.tile(np.array([place[n] for n in right.names()], dtype=np.int64), left.size)
    key = left.index if right.size == 1 else left.index * right.size + right.index
    if (same := one == two).any() and (rows := np.flatnonzero(same[key])).size:
        row = int(rows[0])
        raise UsageError(
            f"row {row} compares {agents[one[key[row]]]} with itself",
            where="columns 'first' and 'second'",
            next="leave out rows that compare an agent with itself",
        )
    return agents, Sides(key, np.minimum(one, two), np.maximum(one, two), one > two)


def majority(counts: Ints, planned: int) -> tuple[Floats, NDArray[np.str_]]:
    """Return the preference of each item (NaN if undecided) and the reason if it is undecided, from the number of votes
    for second, tie and first.
    """
    total = counts.sum(axis=0)
    needed = np.maximum(total, planned)
    decided = np.where((total >= planned) & (total > 0), 0.5, np.nan)
    for value, votes in zip((0.0, 0.5, 1.0), counts, strict=True):
        decided[votes * 2 > needed] = value
    reason = np.select(
        [total == 0, np.isnan(decided) & (total * 2 < planned), np.isnan(decided)],
        ["no votes", "too few votes", "the votes are split"],
        "",
    )
    return decided, reason


def human_comparisons(project: Column, agent: Column, label: Column, *, human: str = HUMAN) -> pl.DataFrame:
    """Return each holistic verdict as a comparison of the agent with the human, as a table with the columns project,
    first (the agent), second (the human), preference.

    The preference for the agent is 0 for label 1, 0.5 for label 2, 1 for label 3, and null if the label is undecided
    (RLI 3.3).
    """
    size = same_length(project=project, agent=agent, label=label)
    values, present = integers("label", label, low=1, high=3)
    agents = series("agent", agent)
    agents = agents if agents.dtype == pl.Categorical else agents.cast(pl.String)
    if (agents == human).any():
        raise UsageError(
            f"an agent is called {human!r}", where="column 'agent'", next="pass another name for the human"
        )
    toward = values * 0.5
    toward -= 0.5
    return pl.DataFrame(
        {
            "project": series("project", project),
            "first": agents,
            "second": pl.Series([human], dtype=agents.dtype).new_from_index(0, size),
            "preference": pl.Series(toward).set(pl.Series(~present), None),
        }
    )
