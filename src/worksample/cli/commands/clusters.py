"""`worksample clusters`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from worksample.cli.output import json_option, open_store, printable, say_json, store_option, table

if TYPE_CHECKING:
    from worksample.reports.clusters import ClusterReport
    from worksample.reports.clusters.clustering import Linkage


@click.command("clusters")
@click.argument("experiments", nargs=-1)
@click.option("--by", default=None, metavar="NAME", help="tfidf (default), minilm, or provider/model.")
@click.option(
    "--beside", default=None, metavar="NAME", help="A second embedding, to check whether it finds the same clusters."
)
@click.option("--base-url", default=None, metavar="URL", help="The provider's address; default: PROVIDER_BASE_URL.")
@click.option("--count", default=None, type=click.IntRange(1, 1000), help="Clusters to list; default: 20.")
@click.option(
    "--linkage", default=None, type=click.Choice(["average", "complete", "ward"]),
    help="How the distance between two clusters is measured; default: average.",
)  # fmt: skip
@click.option(
    "--distance",
    default=None,
    type=click.FloatRange(0),
    help="The distance at which to cut the tree; default: where the silhouette is highest.",
)
@store_option
@json_option
def command(
    experiments: tuple[str, ...],
    by: str | None,
    beside: str | None,
    base_url: str | None,
    count: int | None,
    linkage: Linkage | None,
    distance: float | None,
    store: str | None,
    as_json: bool | None,
) -> None:
    """Group the criteria of rubrics and checkpoints that ask for the same thing, and show which of them agents fail.

    EXPERIMENTS are names or ids, by default the latest. Each cluster is labelled with its most typical terms.
    """
    from worksample.experiments.experiment_lookup import find_experiment
    from worksample.reports.clusters import ClusterConfig, cluster_criteria

    config = ClusterConfig(shown=count or 20, linkage=linkage or "average", distance=distance)
    with open_store(store) as opened:
        chosen = [find_experiment(opened, name) for name in experiments or ("",)]
        found = cluster_criteria(opened, chosen, config, by=by or "tfidf", beside=beside or "", base_url=base_url or "")
    if as_json:
        say_json(found.plain())
        return
    _show(found)


def _show(found: ClusterReport) -> None:
    from worksample.cli.commands.metrics import figure_text

    agents = sorted({a for line in found.lines for a in line.failure})
    columns = ("cluster", "criteria", "of all", "of failed", *(f"failed by {a}" for a in agents))
    rows = [
        (
            line.label, line.criteria, figure_text(line.share), figure_text(line.failed),
            *(figure_text(line.failure[a]) if a in line.failure else "–" for a in agents),
        )
        for line in found.lines
    ]  # fmt: skip
    table("", columns, rows, right=columns[1:])
    width = "none" if found.silhouette is None else f"{found.silhouette:.2f}"
    click.echo(
        printable(f"  {found.criteria} criteria, {found.answers} answers; {found.rest} criteria in smaller clusters")
    )
    click.echo(f"  by {found.by}; {found.linkage} linkage, cut at {found.cut:.2f}, silhouette {width}")
    for name, score in found.held.items():
        click.echo(printable(f"  adjusted Rand index with {name}: {score:.2f}"))
