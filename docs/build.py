"""Build the docs: what is generated, then mkdocs in strict mode. `--check` fails where a generated page is stale."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*argv: str) -> None:
    """Run a tool of this environment and stop with its exit code where it fails."""
    code = subprocess.run([sys.executable, *argv], cwd=ROOT, check=False).returncode
    if code:
        sys.exit(code)


def main() -> None:
    check = "--check" in sys.argv
    for script in sorted((ROOT / "docs").glob("build_*.py")):
        run(str(script), *(["--check"] if check else []))
    if "serve" in sys.argv:
        run("-m", "mkdocs", "serve")
    else:
        run("-m", "mkdocs", "build", "--quiet", "--strict")


if __name__ == "__main__":
    main()
