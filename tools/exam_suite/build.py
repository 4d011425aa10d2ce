"""Build the exam suite from its seeded programs: `python -m exam_suite.build [TASK ...]` in `tools/`, with `tests/` on
the path.
"""

from __future__ import annotations

import subprocess
import sys

from exam_suite import business, engineering, health, media, sciences, society
from exam_suite.exam_task import SUITE, ExamTask, write_package

TASKS: tuple[ExamTask, ...] = (
    *engineering.TASKS, *sciences.TASKS, *health.TASKS, *business.TASKS, *media.TASKS, *society.TASKS,
)  # fmt: skip


def main(names: list[str]) -> int:
    """Build the named tasks, or all, and print what is wrong."""
    wrong: list[str] = []
    for task in TASKS:
        if not names or task.id in names:
            try:
                wrong += write_package(task)
            except (RuntimeError, OSError) as error:
                wrong.append(f"{task.id}: {error}")
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(SUITE)], check=True)
    for fault in wrong:
        print(fault)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
