"""Pictures of a report for the docs, by Chromium: `python tools/screenshots.py worksample-demo/report`.

Writes report-index.png, report-trial.png and, where the report has that page, report-metrics.png.
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
    """The picture as a PNG of 256 colours."""
    out = io.BytesIO()
    with Image.open(picture) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def trial_page(report: Path, heading: str) -> Path:
    """The page of the trial whose heading holds `heading`, such as `hasty on logo-vector / kite`."""
    for page in sorted((report / "trials").rglob("*.html")):
        found = re.search(r"<h1>(.*?)</h1>", page.read_text(encoding="utf-8"))
        if found and heading in found[1]:
            return page
    raise SystemExit(f"no trial {heading!r} in {report}")


def main() -> None:
    """Read the arguments and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path, help="the folder that `worksample report --out` wrote")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--trial", default="hasty on survey-chart", help="which trial's page, by its heading")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=1400)
    parser.add_argument("--dark", action="store_true")
    given = parser.parse_args()
    pages = {
        "report-index.png": given.report / "index.html",
        "report-trial.png": trial_page(given.report, given.trial),
        "report-metrics.png": given.report / "metrics.html",
    }
    for name, page in pages.items():
        if page.is_file():
            size = take(Shot(page, given.out / name, given.width, given.height, given.dark))
            sys.stdout.write(f"{given.out / name}  {size:,} bytes\n")


if __name__ == "__main__":
    main()
