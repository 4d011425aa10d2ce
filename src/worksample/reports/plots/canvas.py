"""Where plots are drawn: one folder, one style, three files a plot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import polars as pl

INK, ACCENT, SOFT, BAD = "#37474f", "#00796b", "#b0bec5", "#b3261e"
THOUSAND = 1000
PALETTE = ("#00796b", "#5c6bc0", "#ef6c00", "#8e24aa", "#c62828", "#6d4c41", "#0288d1", "#7cb342", "#455a64", "#fbc02d")
"""One colour per series; read in order and begun again where there are more."""
WIDTH = 6.4
"""Inches."""
DPI = 130
LONGEST = 38
"""Characters of a label."""
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "worksample",
    "text.parse_math": False,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": SOFT,
    "grid.alpha": 0.35,
}
_FONTS = ("Liberation Sans", "DejaVu Sans")
"""The first that is installed; the last comes with the library that draws."""


@dataclass(frozen=True, slots=True)
class Plot:
    """`name` is that of its files, without ending; it is always ours, never an agent's or a task's."""

    name: str
    caption: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A plot's files, its caption and the text of the axis that carries figures. `share`: 0..1 as percent."""

    name: str
    caption: str
    says: str
    share: bool = False


@dataclass
class Canvas:
    """Draws into `folder` (made when first needed) and remembers in order what it drew."""

    folder: Path
    prefix: str = ""
    """Before the name of every file."""
    plots: list[Plot] = field(default_factory=list)

    @contextmanager
    def drawing(self, height: float) -> Iterator[tuple[Any, Any]]:
        """A figure of our style with one set of axes; `height` in inches. Save it before the block ends."""
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.font_manager import fontManager

        family = fonts(font.name for font in fontManager.ttflist)
        with mpl.rc_context(cast(Any, {**_STYLE, "font.family": family})):
            figure = Figure(figsize=(WIDTH, height), layout="constrained")
            yield figure, figure.subplots()

    def save(self, figure: Any, axis: Axis | Plot, data: pl.DataFrame) -> None:
        """Write SVG, PNG and CSV. Equal figures give equal bytes."""
        name = self.prefix + axis.name
        self.folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.folder / f"{name}.svg", format="svg", metadata={"Date": None})
        figure.savefig(self.folder / f"{name}.png", format="png", dpi=DPI, metadata={"Software": None})
        data.write_csv(self.folder / f"{name}.csv")
        self.plots.append(Plot(name, axis.caption))


def fonts(installed: Iterable[str]) -> list[str]:
    """Of the fonts that we draw with those that are there: each that is not costs a warning for every text."""
    here = set(installed)
    return [name for name in _FONTS if name in here] or ["sans-serif"]


def label(text: str) -> str:
    """A name as a plot can show it: cut, and without characters that its fonts lack or that are not printable."""
    shown = "".join(c if c.isprintable() and ord(c) < 0x530 else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def colour(place: int) -> str:
    return PALETTE[place % len(PALETTE)]


def percent_ticks(axis: Any) -> None:
    """Print an axis of shares in percent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))


def plain_ticks(axis: Any) -> None:
    """Print a linear axis of amounts with separators: 0.5, 200, 10,000."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if abs(v) >= THOUSAND else f"{v:g}"))


def log_axis(axis: Any) -> None:
    """Print a logarithmic axis in plain numbers: 0.5, 2, 10, 2,000."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    wide = low <= 0 or high / low > 100
    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= THOUSAND else f"{v:g}"))
    axis.set_minor_formatter(NullFormatter())
