"""The static site of `worksample report`: from aggregates down to the brief, deliverables, grade and transcript of a
single trial.

The site sends no requests, and its only script sorts tables. The Content-Security-Policy of the pages forbids
everything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.extras import need
from worksample.files.swap_folder import replace_folder
from worksample.records import Instance, Submission, Task, Value
from worksample.records.value_and_hours import Hours
from worksample.reports.chosen_experiments import (
    find_experiments,
    heading_of,
    is_private,
    release_dates,
    require_same_lock,
)
from worksample.reports.heat_map import causes_of, heat_of, shade, task_page
from worksample.reports.leaderboard_frame import Leaderboard, add_reasons, board_of
from worksample.reports.plots import Canvas
from worksample.store import Store
from worksample.tasks.taxonomy import title_of

from .charts import board_charts, heat_charts, measured_charts
from .page_templates import Pages, address_of
from .section_tables import view_of
from .summary import summary_of
from .trial_page import TrialPages, page_of

if TYPE_CHECKING:
    import polars as pl

    from worksample.reports.sections import MeasureConfig

LINKS = (
    ("index.html", "Leaderboard"),
    ("summary.html", "In short"),
    ("metrics.html", "Metrics"),
    ("work.html", "The work"),
)

HANDED_IN = {"person": "handed in by a person", "external": "handed in from elsewhere"}
CODE = 1 << 20
"""Maximum number of bytes that are read from a source file of a grader."""
WITH_STRUCK = ("scores", "automation", "rubric")
"""Names of the sections that are shown a second time, with struck work included, if any work is struck."""


@dataclass(frozen=True)
class ReportConfig:
    """Contents of a report. The report of a private suite contains only aggregates, whatever the config says."""

    name: str = ""
    """Heading of the report. By default, the names of the experiments are used."""
    illustrative: bool = False
    """Whether prices that are only illustrative count as dollars."""
    measures: MeasureConfig | None = None
    """Settings of the report's figures. `illustrative` of the report applies to these figures too."""
    app: str = ""
    """Address of the review app, such as `https://review.example.org`, to which pages of trials link."""
    pages: bool = True
    """Whether to write a page for each trial and each handed-in submission. Without them, tasks have the most detailed
    pages.
    """
    on_page: Callable[[int, int], None] = lambda done, of: None
    """Function that is called after each trial's page with the number of pages written and the total, for a progress
    bar.
    """


def write_report(
    store: Store, experiments: Sequence[str], out: Path, config: ReportConfig | None = None
) -> Leaderboard:
    """Write the site to `out` and return the leaderboard that it shows. Raises PlanError if the locks differ.

    If the process is killed, either the old report or the new one is there, complete. Layout: index.html, summary.html,
    metrics.html, work.html, leaderboard.json, metrics.json, style.css, plots/, tasks/<task>.html, compare/<task>.html,
    trials/<two>/<id>.html, handed-in/<two>/<id>.html, files/.
    """
    from worksample.results.result_set import ResultSet, WorkRules

    need("report")
    config = config or ReportConfig()
    found = find_experiments(store, experiments)
    require_same_lock(found)
    measures = config.measures
    rules = WorkRules(judged_by=measures.judged_by, where=measures.where) if measures else None
    work = ResultSet(store, found, rules)
    frame = work.frame(work.primary)
    how = measures.how if measures else None
    board = add_reasons(store, board_of(frame, tuple(found), illustrative=config.illustrative, how=how))
    if rules is not None and rules.where:
        board = replace(board, notes=(f"Only work with {rules.where}.", *board.notes))
    with replace_folder(out) as folder:
        _Site(store, folder, frame, board, config, work.handed_in).write()
    return board


class _Site:
    def __init__(
        self, store: Store, out: Path, every: pl.DataFrame, board: Leaderboard, config: ReportConfig,
        handed_in: Sequence[Submission],
    ) -> None:  # fmt: skip
        """`every`: the whole frame of verdicts; `frame` has only its slots, since handed-in work was not planned."""
        self.store, self.out, self.every, self.board, self.config = store, out, every, board, config
        self.frame = every.filter(every["slot"].is_not_null())
        self.handed_in = handed_in
        self.instances: dict[str, Instance] = {}
        self.held_out = is_private(store, board.experiments)
        self.colours: dict[str, str] = {}
        self.titles = {id: task.title for task in store.find(Task) for id in task.instances}
        links = LINKS[:-1] if self.held_out else LINKS
        self.pages = Pages(
            out, config.name or heading_of(board.experiments), unsandboxed=board.unsandboxed, links=links,
            app=address_of(config.app),
        )  # fmt: skip
        self.page = self.pages.page

    def write(self) -> None:
        for folder in (self.out, self.out / "tasks", self.out / "trials"):
            folder.mkdir(parents=True, exist_ok=True)
        self.pages.style()
        (self.out / "leaderboard.json").write_text(
            json.dumps(self.board.plain(), indent=1, default=str), encoding="utf-8"
        )
        order = [row.name for row in self.board.rows]
        heat, groups = heat_of(self.frame, order=order), heat_of(self.frame, "category", order)
        canvas = Canvas(self.out / "plots", colours=self.colours)
        board_charts(canvas, self.board, self.frame, release_dates(self.store))
        shown = len(canvas.plots)
        heat_charts(canvas, None if self.held_out else heat, groups)
        fields = {id.partition("/")[0] for id in self.frame["category"].unique() if id}
        titles = {id: title_of(id) for id in fields}
        found = summary_of(self.board, self.frame, titles, illustrative=self.config.illustrative)
        self.page("summary.html", "summary.html", "", sortable=True, summary=found)
        self.page(
            "index.html",
            "index.html",
            "",
            sortable=True,
            summary=found,
            task_titles={} if self.held_out else self.task_titles(),
            task_pages={} if self.held_out else {t: task_page(t) for t in self.every["task"].unique().sort()},
            board=self.board,
            plots=canvas.plots[:shown],
            heat=heat,
            groups=groups,
            heat_plots=canvas.plots[shown:],
            causes=causes_of(self.frame, heat.agents),
            counts=self.counts(),
            experiments=[_experiment(e) for e in self.board.experiments],
            held_out=self.held_out,
        )
        self.metrics()
        if self.held_out:
            return
        self.work()
        for rows in self.every.partition_by("task", maintain_order=True):
            self.task(rows)
        if self.config.pages:
            self.trials()

    def metrics(self) -> None:
        """Write metrics.html and metrics.json: every section, and the figures with struck work counted."""
        from worksample.reports.sections import MeasureConfig, measure

        config = replace(self.config.measures or MeasureConfig(), illustrative=self.config.illustrative)
        sections = list(measure(self.store, self.board.experiments, config))
        if any(s.id.startswith("integrity") for s in sections):
            everything = measure(self.store, self.board.experiments, replace(config, struck=False))
            sections += [
                replace(s, id=f"{s.id}-with-struck", title=f"{s.title}, with struck work counted")
                for s in everything
                if s.id in WITH_STRUCK
            ]
        (self.out / "metrics.json").write_text(json.dumps([s.plain() for s in sections], indent=1), encoding="utf-8")
        canvas = Canvas(self.out / "plots", colours=self.colours)
        measured_charts(canvas, sections)
        views = [view_of(s) for s in sections]
        self.page("metrics.html", "metrics.html", "", sortable=True, sections=views, plots=canvas.plots)

    def work(self) -> None:
        """Write work.html: what the planned instances consist of."""
        from worksample.reports.suite_description import (
            DescribeConfig,
            census_of,
            description_of,
            draw_description,
            grader_forms,
        )

        instances = [
            self.instance(id) for id in self.frame["instance"].unique().sort().to_list() or self.planned_instances()
        ]
        forms = {i.task: grader_forms(self.code_of(i)) for i in instances}
        census = census_of(self.board.experiments[0].lock.suite, instances, self.store.manifest, forms=forms)
        found = description_of(census, DescribeConfig(illustrative=self.config.illustrative))
        self.page(
            "describe.html",
            "work.html",
            "",
            heading=f"{self.pages.common['title']}: the work",
            tables=found.tables,
            plots=draw_description(found, Canvas(self.out / "plots", prefix="work-")),
            size=(len(census.items), census.tasks),
            market="",
            correlation=found.correlation,
        )

    def planned_instances(self) -> list[str]:
        """Return the ids of the instances in the experiments' locks."""
        return sorted({id for e in self.board.experiments for id in e.lock.instances})

    def code_of(self, instance: Instance) -> Iterator[bytes]:
        """Yield the sources of an instance's graders."""
        for digest in dict.fromkeys(g.grader for g in instance.grading.values()):
            for entry in self.store.manifest(digest).files:
                if entry.path.endswith(".py") and entry.blob:
                    yield self.store.blobs.read(entry.blob, limit=CODE)

    def instance(self, id: str) -> Instance:
        if id not in self.instances:
            self.instances[id] = self.store.get(Instance, id)
        return self.instances[id]

    def task_titles(self) -> dict[str, str]:
        """Return titles by task name."""
        pairs = self.every.unique("task").select("task", "instance").sort("task").iter_rows()
        return {task: self.titles.get(id) or self.instance(id).title for task, id in pairs}

    def counts(self) -> dict[str, int]:
        states = dict(self.frame["state"].value_counts().iter_rows())
        return {
            "planned": self.frame.height,
            "agents": self.frame["agent"].n_unique(),
            "instances": self.frame["instance"].n_unique(),
            "tasks": self.frame["task"].n_unique(),
            "valid": states.get("valid", 0),
            "ungraded": states.get("ungraded", 0),
            "broken": int(self.frame["broken"].sum()),
            "infrastructure_failed": states.get("infrastructure", 0),
            "not_attemptable": states.get("not_attemptable", 0),
            "open": states.get("pending", 0),
        }

    def task(self, rows: pl.DataFrame) -> None:
        instances = []
        for group in rows.partition_by("instance", maintain_order=True):
            instance = self.instance(group["instance"][0])
            trials = [_line(r, pages=self.config.pages) for r in group.iter_rows(named=True)]
            instances.append({"name": instance.name, "brief": instance.work.brief, "trials": trials})
        first = self.instance(rows["instance"][0])
        about = {
            "name": first.task,
            "title": self.titles.get(first.id, first.title),
            "version": first.version,
            "category": first.about.category,
            "tier": first.about.tier,
            "value": _amount(first.about.value),
            "hours": _amount(first.about.hours),
            "licence": first.about.licence,
            "provenance": first.about.provenance,
        }
        page = task_page(first.task)
        compared = page if self.config.pages and rows.filter(_has_page()).height > 1 else ""
        self.page(
            "task.html", f"tasks/{page}", "../", sortable=True, task=about, instances=instances, compared=compared
        )

    def trials(self) -> None:
        rows = self.every.filter(_has_page())
        order = [row.name for row in self.board.rows]
        titles = self.task_titles()
        pages = TrialPages(
            self.store, self.pages, self.board.experiments, self.instance, order, titles, self.handed_in
        )  # fmt: skip
        pages.write(rows, self.config.on_page)


def _has_page() -> pl.Expr:
    """Return the condition for rows with a page: trials and handed-in work."""
    import polars as pl

    return pl.col("trial").is_not_null() | pl.col("slot").is_null()


def _line(row: dict[str, Any], *, pages: bool) -> dict[str, Any]:
    valid = row["state"] == "valid"
    return {
        "agent": row["entry_label"],
        "repeat": row["repeat"],
        "ending": HANDED_IN[row["harness"]]
        if row["slot"] is None
        else row["cause"] or row["ending"] or row["state"].replace("_", " "),
        "score": row["score"] if valid else None,
        "state": "the deliverable crashed its grader" if row["broken"] else row["state"].replace("_", " "),
        "shade": shade(row["score"] if valid else None),
        "cost": row["cost"],
        "seconds": row["seconds"],
        "steps": row["steps"],
        "page": page_of(row) if pages else "",
    }


def _amount(amount: Value | Hours | None) -> str:
    if amount is None:
        return "not known"
    unit = f" {amount.currency}" if isinstance(amount, Value) else " h"
    span = f"{amount.low:g}" if amount.low == amount.high else f"{amount.low:g} to {amount.high:g}"
    return f"{span}{unit} ({amount.source.value.replace('_', ' ')}, {amount.date})"


def _experiment(experiment: Any) -> dict[str, Any]:
    lock = experiment.lock
    facts = [
        ("suite", lock.suite),
        ("lock", lock.comparable[:16]),
        ("protocol", lock.protocol.value),
        ("sandbox", "none: run unsandboxed" if lock.sandbox == "none" else lock.sandbox),
        ("repeats", experiment.repeats),
        ("seed", experiment.seed),
        *((f"role {role}", model) for role, model in sorted(lock.roles.items())),
        *sorted(lock.versions.items()),
    ]
    return {
        "name": experiment.name,
        "id": experiment.id,
        "at": experiment.at,
        "author": experiment.author,
        "facts": facts,
    }
