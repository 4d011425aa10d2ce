"""A small sound package, to be spoilt in one place at a time."""

from __future__ import annotations

from pathlib import Path

CANARY = "worksample-canary-0c0ffee0-1234-4abc-8def-0123456789ab"
TASK = f"""
id = "small"
title = "A small task"
version = "1.0"
canary = "{CANARY}"

[about]
category = "upwork:writing/content-writing"
occupation = "27-3043"
tier = "easy"
value = {{ low = 10, high = 20, currency = "EUR", date = 2026-11-01, source = "illustrative" }}
hours = {{ low = 0.5, high = 1, date = 2026-11-01, source = "illustrative" }}

[environment]
limits = {{ time = 60, memory = "1.5GiB", disk = "500 MB" }}

[deliverables]
"answer.txt" = {{ format = "txt", about = "the answer" }}

[grading.program]
timeout = 10
memory = "512MiB"
settings = {{ tolerance = 0.1 }}

[[instance]]
name = "one"
inputs = "inputs/one"
reference = "reference/one"
settings = {{ month = "March" }}

[[instance]]
name = "two"
inputs = "inputs/two"
reference = "reference/two"
settings = {{ month = "April" }}
"""
CRITERIA = """
[[criterion]]
id = "right"
text = "The answer is right."
points = 2

[[criterion]]
id = "style"
text = "The answer is well put."
importance = "optional"
by = "person"
"""
GRADE = """
from worksample.kit import Case, Grade, checklist, exact

def grade(case: Case) -> Grade:
    return checklist(case, right=lambda: exact(case.output("answer.txt"), case.reference("answer.txt")))
"""


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def small(folder: Path) -> Path:
    """The package, in `folder/small`."""
    root = folder / "small"
    write(
        root,
        {
            "task.toml": TASK,
            "criteria.toml": CRITERIA,
            "grade.py": GRADE,
            "brief.md": "## Work description\nAnswer for {{month}}.\n## Deliverables\nanswer.txt\n",
            "notes.md": "Look closely.",
            "inputs/one/question.txt": "1?",
            "inputs/two/question.txt": "2?",
            "reference/one/answer.txt": "1",
            "reference/two/answer.txt": "2",
            "probes/size.sh": "wc -c /task/output/*",
            "rules/words.py": "WORDS = 3",
            "cases/wrong/case.toml": 'about = "wrong"\ninstance = "one"\nscore = 0\npasses = { right = false }\n',
            "cases/wrong/output/answer.txt": "7",
        },
    )
    return root
