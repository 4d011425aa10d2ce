"""A workplace of a task: how it is opened, reset to its initial state, and prepared by the task's setup."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from worksample.box import Box
from worksample.errors import Cause, SandboxError
from worksample.models import ModelService
from worksample.records import Environment
from worksample.sandboxes.services import TrialServices
from worksample.sandboxes.services.service_boxes import LoadedService, ServiceBox
from worksample.tasks.workplace_settings import WORKPLACE

from .colleagues.chat import WorkplaceChat
from .colleagues.colleague_actions import ServiceDeeds
from .colleagues.colleague_profile import Colleague
from .colleagues.colleague_runner import ColleagueRunner, choose_responders
from .colleagues.company_clock import CompanyClock
from .company_reader import read_company
from .seeds import Seed, ensure_seed
from .service_programs import require_programs
from .services_box import SEED, SETUP, box_config, service_spec
from .warm_pool import SLOW, current_pool

SETUP_SECONDS = 120.0
CONTROL = "/task/scratch/control"


@dataclass(frozen=True, slots=True)
class LiveWorkplace:
    """A workplace that can be opened, with the operator's password. The password is valid only in this workplace."""

    box: ServiceBox
    operator: str
    setup: bool = False
    """Whether the task's `setup.py` must run after the services have started."""
    colleagues: tuple[Colleague, ...] = ()
    """The colleagues who answer in the chat of the workplace."""
    players: Mapping[str, str] = field(default_factory=dict)
    """Passwords of the colleagues whom a person plays, by account."""
    today: datetime = datetime(2026, 1, 5, 9, tzinfo=UTC)
    """Time at which the company's clock starts."""

    def colleague_runner(self, box: Box, model: str | None, service: ModelService) -> ColleagueRunner:
        """Return the runner of the workplace's colleagues, for the services in `box`. Raises SandboxError if a
        colleague needs a model and none is given.
        """
        by = choose_responders(self.colleagues, model, service)
        return ColleagueRunner(
            WorkplaceChat(box, self.operator),
            by,
            clock=CompanyClock(self.today),
            hands=ServiceDeeds(box, self.operator),
            move_services=partial(advance_services, box),
        )


def workplace_over_state(
    names: Sequence[str], state: Path, label: str, *, accounts: Mapping[str, str] | None = None,
    setup: Path | None = None, dialects: Sequence[str] = (),
) -> LiveWorkplace:  # fmt: skip
    """Return a workplace whose services start with a copy of a state, which belongs to a seed or an export.

    `accounts` contains passwords by person. Without `accounts`, people's own passwords open only the chat and the
    tracker; the operator's password opens every service. The programs may come from the warm pool. Raises
    SandboxUnavailable if a program is missing.
    """
    require_programs(names)
    operator = secrets.token_urlsafe(32)
    mounts = {SEED: state, **({SETUP: setup} if setup is not None else {})}
    spec = service_spec(names, accounts=accounts or {}, operator=operator, dialects=dialects)
    ahead = current_pool()

    async def take_warm(kind: str) -> LoadedService | None:
        return await ahead.take(kind, frozenset(names), spec, mounts) if ahead is not None else None

    wanted = take_warm if ahead is not None and SLOW in names else None
    box = ServiceBox(WORKPLACE, box_config(names, mounts, label), (spec,), wanted)
    return LiveWorkplace(box, operator, setup is not None)


def task_workplace(environment: Environment, folder: Callable[[str], Path], label: str) -> LiveWorkplace | None:
    """Return the workplace of a task, or None if the task has none. `folder` returns the path of a manifest's files.

    If the seed must be made, this blocks for about half a minute. Raises ManifestError if the company is invalid;
    SandboxError if the seed cannot be made; and the errors of `folder`.
    """
    source = environment.workplace
    if source is None or source.company.files is None:
        return None
    root = folder(source.company.files)
    company = read_company(root)
    seed = ensure_seed(company, root, environment.services)
    setup = folder(source.setup.files) if source.setup is not None and source.setup.files is not None else None
    made = workplace_over_state(
        environment.services, seed.state, label, accounts=seed.accounts, setup=setup, dialects=source.dialects
    )
    there = company.colleagues if "chat" in environment.services else ()
    players = {one.id: seed.accounts[one.id] for one in there if one.backing == "person"}
    return replace(made, colleagues=there, players=players, today=company.today)


def seed_of_folder(root: Path, names: Sequence[str]) -> Seed:
    """Return the seed of the company in a folder."""
    return ensure_seed(read_company(root), root, names)


async def reset_services(box: Box) -> float:
    """Reset every service to its initial state and return the seconds that the reset took. Raises SandboxError if a
    service does not start again.
    """
    try:
        connection = await box.connect(CONTROL)
        try:
            await connection.writer.write(b"reset\n")
            said = await connection.reader.read()
        finally:
            await connection.close()
    except OSError as error:
        raise SandboxError(
            f"the services cannot be reached: {error.strerror or error}",
            where="workplace",
            next="start the workplace again",
        ) from None
    word, _, seconds = said.decode("utf-8", "replace").strip().partition(" ")
    if word != "done":
        raise SandboxError(
            "the services did not come back from a reset",
            where="workplace",
            next="start the workplace again",
            cause=Cause.SERVICE_LOST,
        )
    return float(seconds)


async def advance_services(box: Box, moment: datetime) -> None:
    """Move the services' clock on to a moment of the company's time. A moment in the past changes nothing."""
    with contextlib.suppress(OSError):  # services that have ended are found by whoever asks them next
        connection = await box.connect(CONTROL)
        try:
            await connection.writer.write(f"advance {moment.timestamp():.3f}\n".encode())
            await connection.reader.read()
        finally:
            await connection.close()


async def run_setup(services: TrialServices, workplace: LiveWorkplace) -> None:
    """Run the task's `setup.py` in the services' box. Raises SandboxError (`service.start`) if it fails."""
    if not workplace.setup:
        return
    done = await services_box(services).run(
        ["python3", f"{SETUP}/setup.py"], cwd=SETUP, env=operator_environment(workplace), timeout=SETUP_SECONDS
    )
    if done.returncode or done.timed_out:
        said = done.stderr.decode("utf-8", "replace").strip()[-1000:]
        how = "did not end in time" if done.timed_out else f"ended with exit status {done.returncode}"
        raise SandboxError(
            f"setup.py {how}: {said}", where="setup/setup.py", next="correct setup.py", cause=Cause.SERVICE_START
        )


def operator_environment(workplace: LiveWorkplace) -> dict[str, str]:
    """Return the environment variables for programs that act for the platform: the setup or a grader of a task."""
    return {"WORKPLACE_OPERATOR": workplace.operator}


def services_box(services: TrialServices) -> Box:
    """Return the box of the workplace's services."""
    return next(box for box, inside in services.boxes if any(one.spec.name == WORKPLACE for one in inside))
