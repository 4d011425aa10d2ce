"""Pictures of a report for the docs, by Chromium: `python tools/screenshots.py study/report`, of `tools/study.py`.

Writes report-index, -summary, -trial, -beside (agents side by side on a task) and -metrics, and the index narrow and
dark.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LARGEST = 300_000
"""Bytes of one picture."""


@dataclass(frozen=True)
class Shot:
    """One picture: which page, how large in CSS pixels, light or dark."""

    page: Path
    target: Path
    width: int = 1280
    height: int = 1400
    dark: bool = False


def take(shot: Shot) -> int:
    """Take and compress one picture; returns its bytes. Raises SystemExit where no browser is installed."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit(f"no browser\n  next: install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory(prefix="worksample-shot-") as folder:
        raw = Path(folder) / "shot.png"
        command = [
            browser,
            *FLAGS,
            *(("--blink-settings=preferredColorScheme=0",) if shot.dark else ()),
            f"--user-data-dir={folder}/profile",
            f"--window-size={shot.width},{shot.height}",
            f"--screenshot={raw}",
            shot.page.resolve().as_uri(),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        data = compressed(raw)
    if len(data) > LARGEST:
        raise SystemExit(f"{shot.target}: {len(data):,} bytes\n  next: a smaller --height")
    shot.target.parent.mkdir(parents=True, exist_ok=True)
    shot.target.write_bytes(data)
    return len(data)


def compressed(picture: Path) -> bytes:
    """The picture as a PNG of 256 colours; by octree, since a median cut turns small dots grey."""
    out = io.BytesIO()
    with Image.open(picture) as image:
        image.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
            out, "PNG", optimize=True
        )
    return out.getvalue()


def trial_page(report: Path, heading: str) -> Path:
    """The page of the trial whose heading holds `heading`, such as `hasty on logo-vector / kite`."""
    for page in sorted((report / "trials").rglob("*.html")):
        found = re.search(r"<h1>(.*?)</h1>", page.read_text(encoding="utf-8"))
        if found and heading in found[1]:
            return page
    raise SystemExit(f"no trial {heading!r} in {report}")


@dataclass(frozen=True)
class Picture:
    """A file of the docs, and what it shows."""

    name: str
    page: Path
    width: int = 1280
    height: int = 1400
    dark: bool = False


def pictures(report: Path, trial: str, task: str) -> tuple[Picture, ...]:
    """All pictures of a report."""
    index = report / "index.html"
    return (
        Picture("report-index.png", index, height=1550),
        Picture("report-dark.png", index, height=1100, dark=True),
        Picture("report-narrow.png", index, width=500, height=1300),
        Picture("report-summary.png", report / "summary.html", height=900),
        Picture("report-beside.png", report / "compare" / f"{task}.html"),
        Picture("report-trial.png", trial_page(report, trial)),
        Picture("report-metrics.png", report / "metrics.html"),
    )


def main() -> None:
    """Read the arguments and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the folder that `worksample report --out` wrote")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--trial", default="master on Weighted survey", help="which trial's page, by its heading")
    parser.add_argument("--task", default="incident-report", help="the task on which agents stand side by side")
    given = parser.parse_args()
    for one in pictures(given.report, given.trial, given.task):
        target = given.out / one.name
        size = take(Shot(one.page, target, one.width, one.height, one.dark))
        sys.stdout.write(f"{target}  {size:,} bytes\n")


if __name__ == "__main__":
    main()
