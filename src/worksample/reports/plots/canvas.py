"""The canvas on which plots are drawn: one folder, one style, and several files per plot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import polars as pl

INK, ACCENT, SOFT, BAD = "#37474f", "#00796b", "#b0bec5", "#b3261e"
THOUSAND = 1000
PAPER, EMPTY = "#ffffff", "#eceff1"
PALETTE = ("#00796b", "#5c6bc0", "#ef6c00", "#8e24aa", "#c62828", "#6d4c41", "#0288d1", "#7cb342", "#455a64", "#fbc02d")
"""Colours of series, in order; repeated if there are more series."""
_DARK = {
    INK: "#cfd8dc", SOFT: "#546e7a", PAPER: "#1c2326", EMPTY: "#263238", "#00796b": "#4db6ac", "#5c6bc0": "#9fa8da",
    "#ef6c00": "#ffb74d", "#8e24aa": "#ce93d8", "#c62828": "#ef9a9a", "#6d4c41": "#bcaaa4", "#0288d1": "#4fc3f7",
    "#7cb342": "#aed581", "#455a64": "#90a4ae", "#fbc02d": "#fff176",
}  # fmt: skip
"""Replacements for the platform's colours in plots on dark pages."""
WIDTH = 6.4
"""Width of a plot in inches."""
DPI = 130
LONGEST = 38
"""Maximum number of characters of a label in a plot."""
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "worksample",
    "text.parse_math": False,
    "text.color": INK,
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
"""Fonts in order of preference; the last one comes with the drawing library."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawn plot. `name` is the name of its files without suffix. The platform chooses it, never an agent or a
    task.
    """

    name: str
    caption: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Texts of a plot: the name of its files, its caption and the label of its axis. `share` is true if the values are
    shares in 0..1, which are printed in percent.
    """

    name: str
    caption: str
    says: str
    share: bool = False


@dataclass
class Canvas:
    """A writer of plots: it draws into `folder` (created when first needed) and records the plots in order."""

    folder: Path
    prefix: str = ""
    """Text with which the name of every file begins."""
    plots: list[Plot] = field(default_factory=list)
    colours: dict[str, str] = field(default_factory=dict)
    """Colours by name. Canvases that share this dictionary draw a name in the same colour in all their plots."""

    def colour_of(self, name: str) -> str:
        """Return the colour of an agent, or of another name that occurs in many plots. A name gets its colour when it
        is first used.
        """
        return self.colours.setdefault(name, colour(len(self.colours)))

    @contextmanager
    def drawing(self, height: float) -> Iterator[tuple[Any, Any]]:
        """Open a figure in our style with one set of axes; `height` in inches. Save it before the block ends."""
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.font_manager import fontManager

        family = fonts(font.name for font in fontManager.ttflist)
        with mpl.rc_context(cast(Any, {**_STYLE, "font.family": family})):
            figure = Figure(figsize=(WIDTH, height), layout="constrained")
            yield figure, figure.subplots()

    def save(self, figure: Any, axis: Axis | Plot, data: pl.DataFrame) -> None:
        """Write a plot as SVG, as SVG for dark pages, as PNG and as CSV. Equal plots give equal bytes."""
        lay_out(figure)
        name = self.prefix + axis.name
        self.folder.mkdir(parents=True, exist_ok=True)
        light = self.folder / f"{name}.svg"
        figure.savefig(light, format="svg", metadata={"Date": None})
        (self.folder / f"{name}-dark.svg").write_text(_darken(light.read_text("utf-8")), "utf-8")
        figure.savefig(self.folder / f"{name}.png", format="png", dpi=DPI, metadata={"Software": None})
        data.write_csv(self.folder / f"{name}.csv")
        self.plots.append(Plot(name, axis.caption))


def lay_out(figure: Any) -> None:
    """Arrange all elements of a figure once. Otherwise the drawing library would repeat this for each file."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def fonts(installed: Iterable[str]) -> list[str]:
    """Return the platform's fonts that are installed. A missing font would cause a warning for every text."""
    here = set(installed)
    return [name for name in _FONTS if name in here] or ["sans-serif"]


_COLOURS = re.compile(rf"(?<=[:=\"\s])(?:{'|'.join(_DARK)})(?=[;\"\s])")


def _darken(svg: str) -> str:
    """Return an SVG with the platform's colours replaced by those for dark pages. Other colours, such as those of a
    colour map, stay.

    Only colours in styles and attributes are replaced, so a name that is drawn as text is not changed.
    """
    return _COLOURS.sub(lambda found: _DARK[found[0]], svg)


def label(text: str) -> str:
    """Return a name as a label of a plot: shortened, and without characters that are not printable or that the fonts do
    not have.
    """
    shown = "".join(c if c.isprintable() and ord(c) < 0x530 else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def colour(place: int) -> str:
    return PALETTE[place % len(PALETTE)]


def percent_ticks(axis: Any) -> None:
    """Print an axis of shares in percent."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{round(100 * v, 6):g}%"))


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
