"""Next step after a run: what the experiment still needs, and the command that continues it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from worksample.extras import install_command, lacks

from .human_slots_text import open_work_text

if TYPE_CHECKING:
    from worksample.experiments.experiment_runner import RunResult
    from worksample.experiments.status import Status
    from worksample.store import Store


NEEDS = {"report": "report", "review": "review", "serve": "review"}
"""Name of the extra that a command needs, by command."""


def count_of(number: int, what: str) -> str:
    """Return a number with its noun: `1 slot`, `2 slots`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def typeable(line: str) -> str:
    """Return a command line that the user can type. If an extra of the command is missing, the pip command that
    installs it comes first.
    """
    verbs = re.findall(r"\bworksample (\w+)", line)
    missing = sorted({NEEDS[verb] for verb in verbs if verb in NEEDS and lacks(NEEDS[verb])})
    return f"{install_command(*missing)}, then {line}" if missing else line


def next_step(done: RunResult, store: Store, folder: str | None) -> tuple[str, str]:
    """Return a text that says what is left to do ("" if nothing is left), and the command that continues. `folder` is
    the store that the user named; None means the default store.
    """
    from worksample.experiments.experiment_lookup import short_name
    from worksample.records import Experiment

    status = done.status
    experiment = store.get(Experiment, status.experiment)
    name = short_name(store, experiment)
    where = f" --store {shlex.quote(folder)}" if folder else ""
    resume = f"worksample resume {name}{where}"
    if not status.planned and not status.handed_in:
        return "nothing is handed in yet", f"worksample submit --table FILE --experiment {name}{where}, then {resume}"
    if done.interrupted:
        kept = f"{status.finished} of {status.planned - status.not_attemptable} trials are finished and kept"
        return f"stopped: {kept}", resume
    if status.open > status.places:
        failed = count_of(status.open - status.places, "slot")
        return f"still open: {failed}; all tries failed for reasons other than the agent", resume
    if status.due:
        return f"due: {count_of(status.due, 're-attempt')} of failed work", resume
    if status.places:
        return open_work_text(store, experiment), f"worksample serve{where}, then {resume}"
    return _judging(status, chained=experiment.lock.chain is not None, name=f"{name}{where}")


def _judging(status: Status, *, chained: bool, name: str) -> tuple[str, str]:
    """Return a text that says which judging is left ("" if none is left), and the command that continues."""
    report, resume = f"worksample report {name} --out report", f"worksample resume {name}"
    if status.waits_for_people:
        said = f"waits for people: {count_of(status.waits_for_people, 'submission')}"
        if status.to_label:
            said += f", and for labels of the judge's answers: {count_of(status.to_label, 'submission')}"
        again = f"{resume}, then " if status.to_label or chained else ""
        return said, f"worksample review --experiment {name}, then {again}{report}"
    if status.to_label:
        said = f"waits for people's labels of the judge's answers: {count_of(status.to_label, 'submission')}"
        return said, f"worksample review --experiment {name}, then {resume}"
    if status.waits_for_judge:
        waiting = count_of(status.waits_for_judge, "submission")
        return f"waits for a judge: {waiting}; no judge is configured, or none was available", resume
    if status.ungraded:
        said = f"ungraded: {count_of(status.ungraded, 'submission')}; the report says why"
        return said, f"{report}, then worksample grade {name} with a fixed grader (--task DIR)"
    return "", report
