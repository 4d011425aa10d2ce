"""Progress of a run in a notebook: one line that changes."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.kernel = None
from IPython.utils.capture import capture_output
from worksample.experiments.run_listener import RunTally
from worksample.experiments.run_progress import NotebookCell, in_notebook, watcher
assert in_notebook() and isinstance(watcher(silent=False), NotebookCell)
tally = RunTally(planned=3)
with capture_output() as shown:
    cell = watcher(silent=False)
    cell.begin(tally)
    tally.finished = tally.graded = 2
    cell.end()
for one in shown.outputs:
    print(one.data["text/plain"], "again" if one.update else "first")
print(shown.stderr)
"""


def test_notebook_shows_one_changing_line() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "0/3 trials · failed 0 · graded 0 · ungraded 0 · $0.00 first",
        "2/3 trials · failed 0 · graded 2 · ungraded 0 · $0.00 again",
    ]
