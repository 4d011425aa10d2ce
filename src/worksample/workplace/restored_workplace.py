"""A workplace that is restored from the state in a submission, for graders that query the services. This works even
long after the trial.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import ExportError
from worksample.records import CaptureStatus, Environment, Origin, Submission
from worksample.tasks.workplace_settings import WORKPLACE

from .company_reader import read_company
from .state_compatibility import require_state
from .workplace import LiveWorkplace, seed_of_folder, workplace_over_state

if TYPE_CHECKING:
    from collections.abc import Mapping


def exported_state(submission: Submission, environment: Environment, folder: Callable[[str], Path]) -> Path:
    """Return the folder with the state of the services in a submission. For a control of the task, return the initial
    state.

    `folder` returns the path of a manifest's files. Raises ExportError if the export is incomplete or of an
    incompatible version.
    """
    part, where = submission.parts.get("exports"), f"export of {submission.id}"
    if part is None and submission.origin is Origin.CONTROL:
        return seed_of_folder(folder(_company(environment)), environment.services).state
    if part is None or part.status is not CaptureStatus.COMPLETE:
        why = part.reason if part is not None else "the submission has no exported state"
        raise ExportError(
            f"the export is incomplete: {why or 'it was cut off'}", where=where, next="run the trial again"
        )
    state = folder(part.manifest) / WORKPLACE
    require_state(state, environment.services, where=where)
    return state


def restore_workplace(
    state: Path, environment: Environment, folder: Callable[[str], Path], label: str
) -> LiveWorkplace:
    """Return a workplace whose services start with a state, in a separate box. The operator, and the people whose
    password the company sets, can log in.

    Raises SandboxUnavailable if this machine lacks the programs of the services.
    """
    assert environment.workplace is not None, "gradings with a workplace are of tasks with one"
    accounts, dialects = _company_passwords(folder(_company(environment))), environment.workplace.dialects
    return workplace_over_state(environment.services, state, label, accounts=accounts, dialects=dialects)


def _company(environment: Environment) -> str:
    assert environment.workplace is not None, "gradings with a workplace are of tasks with one"
    assert environment.workplace.company.files is not None, "an instance holds its company"
    return environment.workplace.company.files


def _company_passwords(root: Path) -> Mapping[str, str]:
    """Return the passwords that the company sets. The other passwords were random and existed only on the machine of
    the trial.
    """
    return {person.id: person.password for person in read_company(root).person if person.password}
