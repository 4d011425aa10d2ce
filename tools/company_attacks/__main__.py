"""python -m tools.company_attacks [TASK ...] [--each] [--json FILE]: cheats and honest variations of each task.

Each variation is a control script that is performed in the services and graded in a box, as an agent's work is. A cheat
must earn nothing, or no more than the work that it follows; right work that is done or worded in another way must
earn everything. Without `--each`, cheats that do not hinder each other are performed together, and so are the ways of
working; together they find what each finds alone, as long as no one of them undoes another's effect.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .performed import Outcome, attack
from .variations import TASKS, variations_of


def main(words: list[str]) -> int:
    """Print a table of all variations; 1 if one of them has the wrong score."""
    parser = argparse.ArgumentParser(prog="python -m tools.company_attacks", description=__doc__)
    parser.add_argument("tasks", nargs="*", help="default: all tasks of Quaymark")
    parser.add_argument("--each", action="store_true", help="perform every variation alone")
    parser.add_argument("--only", default="", help="only variations whose names contain this")
    parser.add_argument("--json", type=Path, help="write the results to this file, too")
    given = parser.parse_args(words)
    found: list[Outcome] = []
    for task in given.tasks or TASKS:
        chosen = [one for one in variations_of(task, each=given.each) if given.only in one.name]
        for outcome in attack(task, chosen):
            found.append(outcome)
            print(outcome.line, flush=True)
    wrong = [one for one in found if not one.right]
    print(f"{len(found)} variations of {len({one.task for one in found})} tasks: {len(wrong)} wrong")
    if given.json:
        given.json.write_text(json.dumps([one.plain() for one in found], indent=1) + "\n", encoding="utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
