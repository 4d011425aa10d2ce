"""Prepare the pages of the docs in build/docs, and build or serve the site.

python docs/build.py            copy the hand-written pages and write the generated ones into build/docs
python docs/build.py build      then build the site into site/; fail on any warning
python docs/build.py serve      then serve it on a port of this machine, and follow changes of hand-written pages
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time

from generate import DOCS, ROOT, pages

STAGED = ROOT / "build" / "docs"
HAND_WRITTEN = (".md", ".csv", ".svg", ".png", ".jpg", ".webp")


def stage(since: float = 0.0) -> None:
    """Copy the hand-written files that changed since then, and write what is generated."""
    for path in DOCS.rglob("*"):
        if path.suffix in HAND_WRITTEN and path.stat().st_mtime > since:
            to = STAGED / path.relative_to(DOCS)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
    if not since:
        for name, text in pages().items():
            to = STAGED / name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(text, encoding="utf-8")


def follow() -> None:
    """Copy changed pages once a second, for ever."""
    last = time.time()
    while True:
        time.sleep(1)
        last, since = time.time(), last
        stage(since)


def main() -> int:
    """Do what the first argument says; return the exit code of Zensical."""
    shutil.rmtree(STAGED, ignore_errors=True)
    stage()
    if not sys.argv[1:]:
        return 0
    if "serve" in sys.argv:
        threading.Thread(target=follow, daemon=True).start()
        return subprocess.run([sys.executable, "-m", "zensical", "serve"], cwd=ROOT, check=False).returncode
    argv = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    done = subprocess.run(argv, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode or "No issues found" not in done.stdout:
        sys.stderr.write(done.stdout)
        return done.returncode or 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
