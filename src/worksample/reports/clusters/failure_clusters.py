"""Failures of agents by cluster of criteria, as in UpBench's Figure 8 and failure frequencies (5.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import polars as pl

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.extras import need
from worksample.records import Experiment, Instance, Protocol
from worksample.results.result_set import ResultSet
from worksample.store import Store

from .cluster_labels import label_groups
from .clustering import MORE, ClusterConfig, Linkage, cluster_vectors, rand_index, stability
from .embedding import embed

PROTOCOLS = (Protocol.RUBRIC, Protocol.CHECKPOINTS)


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """A cluster as a line of the table. `share` is the cluster's share of all criteria; `failed` is its share of all
    failed answers.
    """

    label: str
    example: str
    criteria: int
    share: m.Estimate
    failed: m.Estimate
    failure: dict[str, m.Estimate]
    """The rate at which each agent failed criteria of this cluster, by agent."""


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """Clusters of criteria, largest first. `rest` is the number of criteria in clusters that are not listed."""

    lines: tuple[ClusterLine, ...]
    criteria: int
    answers: int
    rest: int
    by: str
    linkage: str
    cut: float
    silhouette: float | None
    held: dict[str, float]
    """Adjusted Rand index of these clusters with those of another choice, by choice: resamples (the mean), other
    linkages, another embedding.
    """

    def plain(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        told = {name: getattr(self, name) for name in self.__slots__ if name != "lines"}
        lines = [
            {
                "label": li.label, "example": li.example, "criteria": li.criteria, "share": li.share.as_dict(),
                "failed": li.failed.as_dict(), "failure": {a: e.as_dict() for a, e in li.failure.items()},
            }
            for li in self.lines
        ]  # fmt: skip
        return {**told, "lines": lines}


def cluster_criteria(
    store: Store,
    experiments: Sequence[Experiment],
    config: ClusterConfig | None = None,
    *,
    by: str = "tfidf",
    beside: str = "",
    base_url: str = "",
) -> ClusterReport:
    """Group the criteria of all instances of the experiments, and count how often agents failed each group. `beside`
    names a second embedding to compare with.

    Criteria with the same text are embedded once and counted each time. An answer is the majority of the deciding
    round's evaluators on a criterion of a submission; a skipped criterion has no answer. Raises UsageError if the texts
    cannot be grouped; MissingExtra if the embedding needs an extra that is not installed.
    """
    need("report" if by == "tfidf" else "clusters")
    config = config or ClusterConfig()
    criteria = _criteria(store, experiments)
    texts = criteria["text"].unique(maintain_order=True).to_list() if criteria.height else []
    if len(texts) < 3:
        said = f"{len(texts)} different criteria in these experiments are too few to group: 3 are needed"
        raise UsageError(said, next=MORE)
    made = embed(texts, by, base_url=base_url)
    found = cluster_vectors(made.vectors, config)
    held = {}
    scores = stability(made.vectors, found, config)
    if scores:
        held[f"{len(scores)} resamples of four fifths"] = sum(scores) / len(scores)
    for other in get_args(Linkage):
        if other != config.linkage:
            again = cluster_vectors(made.vectors, ClusterConfig(linkage=other))
            held[f"{other} linkage"] = rand_index(found.groups, again.groups)
    if beside:
        second = embed(texts, beside, base_url=base_url)
        held[second.by] = rand_index(found.groups, cluster_vectors(second.vectors, config).groups)
    places = dict(zip(texts, found.groups.tolist(), strict=True))
    criteria = criteria.with_columns(cluster=pl.col("text").replace_strict(places, return_dtype=pl.Int64))
    answers = _answers(store, experiments).join(criteria, on=["instance", "criterion"], how="inner")
    labels = label_groups(texts, found.groups)
    shown = list(range(min(int(found.groups.max()) + 1, config.shown)))
    lines = tuple(_line(g, labels[g], criteria, answers) for g in shown)
    rest = criteria.filter(~pl.col("cluster").is_in(shown)).height
    return ClusterReport(
        lines, criteria.height, answers.height, rest, made.by, config.linkage, found.cut, found.silhouette, held
    )


def _line(g: int, label: str, criteria: pl.DataFrame, answers: pl.DataFrame) -> ClusterLine:
    mine = criteria.filter(pl.col("cluster") == g)
    failed = answers.filter(~pl.col("passed"))
    here = answers.filter(pl.col("cluster") == g)

    def share(frame: pl.DataFrame, name: str) -> m.Estimate:
        # Criteria of one task have one author, so tasks are the units.
        return m.rate(frame["cluster"] == g, task=frame["task"], name=name)

    failure = {
        agent: m.rate(~rows["passed"], task=rows["task"], instance=rows["instance"], name=f"failed by {agent}")
        for (agent,), rows in sorted(here.partition_by("label", as_dict=True).items())
    }
    return ClusterLine(
        label, mine["text"][0], mine.height, share(criteria, "share"), share(failed, "share of failed"), failure
    )


def _criteria(store: Store, experiments: Sequence[Experiment]) -> pl.DataFrame:
    """Return a table with a row for each leaf of the tree of each instance's criteria."""
    rows = []
    for id in dict.fromkeys(i for e in experiments for i in e.lock.instances):
        instance = store.get(Instance, id)
        seen: set[str] = set()
        for protocol in PROTOCOLS:
            grading = instance.grading.get(protocol)
            for leaf in grading.criteria.leaves if grading else ():
                if leaf.id not in seen:
                    seen.add(leaf.id)
                    rows.append({"instance": id, "task": instance.task, "criterion": leaf.id, "text": leaf.text})
    return pl.DataFrame(rows, schema=dict.fromkeys(("instance", "task", "criterion", "text"), pl.String))


def _answers(store: Store, experiments: Sequence[Experiment]) -> pl.DataFrame:
    """Return a table with a row per submission and answered criterion: `instance`, `criterion`, `label` (agent, arm,
    attempt), `passed`.
    """
    parts = [
        pl.DataFrame(schema={"instance": pl.String, "criterion": pl.String, "label": pl.String, "passed": pl.Boolean})
    ]
    for experiment in experiments:
        work = ResultSet(store, [experiment])
        for protocol in PROTOCOLS:
            frame = (
                work.frame(protocol).drop_nulls("submission").select("instance", "entry_label", subject="submission")
            )
            for judged in work.judgments.under(protocol).deciding:
                said = judged.criteria.filter(pl.col("passed").is_not_null() & pl.col("skip").is_null())
                votes = said.group_by("subject", criterion="name").agg(yes=pl.col("passed").cast(pl.Float64).mean())
                told = votes.filter(pl.col("yes") != 0.5).with_columns(passed=pl.col("yes") > 0.5)
                joined = told.join(frame, on="subject", how="inner")
                parts.append(
                    joined.select("instance", "criterion", "passed", label="entry_label").select(parts[0].columns)
                )
    return pl.concat(parts)
