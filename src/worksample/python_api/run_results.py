"""The results of a run, as frames and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.extras import need
from worksample.files.scratch_folder import scratch_folder

from .event_loops import call
from .stores_and_packages import use_store

if TYPE_CHECKING:
    import polars as pl

    from worksample.experiments.status import Status
    from worksample.reports.leaderboard_frame import Leaderboard
    from worksample.reports.sections import MeasureConfig
    from worksample.reports.static_site.site import ReportConfig
    from worksample.store import Store


@dataclass(frozen=True)
class Run:
    """An experiment in its current state. Every frame is read from the store when it is requested."""

    store: str
    """The store's folder or URL."""
    status: Status
    """Counts of slots: planned, finished, open, graded, waiting, ungraded; cost in US dollars."""
    interrupted: bool = False

    @property
    def experiment(self) -> str:
        """Return the id, as the command line takes it."""
        return self.status.experiment

    @property
    def complete(self) -> bool:
        """True if every planned slot is finished, and graded or waiting for people or a judge."""
        return self.status.complete

    @property
    def slots(self) -> pl.DataFrame:
        """Return a row per planned slot with its verdict; a null score is not 0 (docs/reference/store.md)."""
        from worksample.results.slot_results import slots_df

        with use_store(self.store) as store:
            return slots_df(store, self.experiment)

    @property
    def trials(self) -> pl.DataFrame:
        """Return a row per trial: ending, seconds, cost, tokens (docs/reference/store.md)."""
        from worksample.store.dataframes import trials_df

        with use_store(self.store) as store:
            return trials_df(store, self.experiment)

    @property
    def evaluations(self) -> pl.DataFrame:
        """Return a row per evaluation (docs/reference/store.md)."""
        from worksample.store.dataframes import evaluations_df

        with use_store(self.store) as store:
            return evaluations_df(store, self.experiment)

    @property
    def board(self) -> Leaderboard:
        """Return the leaderboard of agents, each figure with its interval and counts."""
        from worksample.reports.leaderboard_frame import leaderboard

        with use_store(self.store) as store:
            return leaderboard(store, [self.experiment])

    def figures(self, config: MeasureConfig | None = None) -> pl.DataFrame:
        """Return every figure that the data support, a row each (docs/reference/metrics.md)."""
        from worksample.reports.sections import figures_df, measure

        with use_store(self.store) as store:
            return figures_df(measure(store, [self.experiment], config))

    def pictures(self) -> dict[str, Picture]:
        """Return the report's plots by name; needs the extra `report`."""
        with use_store(self.store) as store:
            return pictures(store, [self.experiment])

    def report(self, out: str | Path) -> Path:
        """Write the report into a folder, and return the page to open. Needs the extra `report`."""
        call(lambda stop: self._write_report(Path(out)))
        return Path(out) / "index.html"

    def _write_report(self, out: Path) -> None:
        with use_store(self.store) as store:
            board_and_site(store, [self.experiment], out)

    def __repr__(self) -> str:
        s = self.status
        rest = {"open": s.open, "ungraded": s.ungraded, "waiting for people": s.waits_for_people,
                "waiting for a judge": s.waits_for_judge, "to label": s.to_label,
                "not attemptable": s.not_attemptable}  # fmt: skip
        told = "".join(f", {count} {what}" for what, count in rest.items() if count)
        return f"Run({self.experiment}: {s.graded} graded of {s.planned} planned{told}, in {self.store})"

    def _repr_html_(self) -> str:
        """Return the text of `repr` and, if anything is finished, the leaderboard, for a notebook."""
        from html import escape

        board = self.board._repr_html_() if self.status.finished else ""
        return f"<p>{escape(repr(self))}</p>{board}"


def name_of(experiment: str | Run) -> str:
    """Return the name or id of an experiment."""
    return experiment.experiment if isinstance(experiment, Run) else experiment


@dataclass(frozen=True)
class Picture:
    """A plot with the data that it shows."""

    caption: str
    svg: str
    data: pl.DataFrame

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the SVG."""
        Path(path).write_text(self.svg, "utf-8")

    def __repr__(self) -> str:
        return f"Picture({self.caption!r}, {self.data.height} rows)"


def pictures(store: Store, experiments: Sequence[str]) -> dict[str, Picture]:
    """Return the leaderboard's plots by name. Raises MissingExtra without the extra `report`."""
    need("report")
    import polars as pl

    from worksample.reports.chosen_experiments import find_experiments, release_dates
    from worksample.reports.leaderboard_frame import board_of
    from worksample.reports.plots import Canvas
    from worksample.reports.static_site.charts import board_charts
    from worksample.results.result_set import ResultSet, WorkRules

    found = find_experiments(store, experiments)
    work = ResultSet(store, found, WorkRules())
    frame = work.frame(work.primary)
    with scratch_folder("plots") as folder:
        canvas = Canvas(folder)
        board = board_of(frame, tuple(found))
        board_charts(canvas, board, frame.filter(frame["slot"].is_not_null()), release_dates(store))
        return {
            plot.name: Picture(
                plot.caption,
                (canvas.folder / f"{plot.name}.svg").read_text("utf-8"),
                pl.read_csv(canvas.folder / f"{plot.name}.csv"),
            )
            for plot in canvas.plots
        }


def board_and_site(
    store: Store, names: Sequence[str], out: Path | None, config: ReportConfig | None = None
) -> Leaderboard:
    """Return the leaderboard, and write the site to `out` if it is given."""
    if out is not None:
        from worksample.reports.static_site.site import write_report

        return write_report(store, names, out, config)
    from worksample.reports.leaderboard_frame import leaderboard
    from worksample.results.result_set import WorkRules

    illustrative = bool(config and config.illustrative)
    if config is None or config.measures is None:
        return leaderboard(store, names, illustrative=illustrative)
    asked = config.measures
    rules = WorkRules(judged_by=asked.judged_by, where=asked.where)
    return leaderboard(store, names, illustrative=illustrative, rules=rules, how=asked.how)
