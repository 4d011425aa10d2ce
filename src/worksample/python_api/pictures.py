"""The report's plots for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.extras import need
from worksample.files.scratch import scratch

if TYPE_CHECKING:
    import polars as pl

    from worksample.store import Store


@dataclass(frozen=True)
class Picture:
    """A plot, and exactly what is drawn."""

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
    """The plots of the leaderboard by name. MissingExtra without the extra `report`."""
    need("report")
    import polars as pl

    from worksample.reports.board import board_of
    from worksample.reports.experiments import find_experiments, release_dates
    from worksample.reports.plots import Canvas
    from worksample.reports.static_site.charts import board_charts
    from worksample.results.result_set import ResultSet, WorkRules

    found = find_experiments(store, experiments)
    work = ResultSet(store, found, WorkRules())
    frame = work.frame(work.primary)
    with scratch("plots") as folder:
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
