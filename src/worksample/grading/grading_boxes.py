"""The boxes of a grading: their mounted folders and their limits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.box import BoxConfig, BoxLimits, Endpoint, Mount
from worksample.errors import CaptureError, Cause, GraderError
from worksample.records import CaptureStatus, EndpointSpec, Environment, Grading, Instance, Origin, Submission
from worksample.sandboxes.capture import ABORTED, COLLECTED, ROOT_LAYER, STEP_OUTPUT, STEPS, STEPS_SUMMARY
from worksample.sandboxes.images import CachedImage, prepare_image, task_image
from worksample.sandboxes.live_verification import VERIFIED, KeptVerification, is_live, kept_verification
from worksample.sandboxes.task_verifier import Verifier
from worksample.tasks.workplace_settings import WORKPLACE
from worksample.workplace.restored_workplace import exported_state, restore_workplace
from worksample.workplace.workplace import LiveWorkplace
from worksample.workplace.workplace import operator_environment as environment_for

if TYPE_CHECKING:
    from worksample.store import Store

TIMEOUT = 120.0
"""Default time limit of a grader, in seconds."""
MEMORY = 2 << 30
"""Default memory limit of a grader, in bytes."""
OUTPUT = 8 << 20
"""Maximum number of bytes that a grader may print."""
GRADER, PROBES = "/task/grader", "/task/probes"
EXPORTS, TRAJECTORY, BROWSED, DESKTOP = "/task/exports", "/task/trajectory", "/task/browsed", "/task/desktop"
RESULT, SCRATCH = "/task/result", "/task/scratch"
DELIVERED = "/task/delivered"
"""Path of the original submission in the grading box, if the grader works on a writable copy."""
PARTS = {"probes": PROBES, "exports": EXPORTS, "trajectory": TRAJECTORY, "browser": BROWSED, "desktop": DESKTOP}
_RUN_AGAIN = "worksample run, for a submission with all of its evidence"


@dataclass(frozen=True, slots=True)
class GraderLimits:
    """Limits of a grader: `timeout` in seconds, and `memory` in bytes."""

    timeout: float = TIMEOUT
    memory: int = MEMORY

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> GraderLimits:
        """Read the limits from the keys `timeout` and `memory` in a grading's settings."""
        return cls(float(settings.get("timeout", TIMEOUT)), int(settings.get("memory", MEMORY)))


@dataclass(frozen=True, slots=True)
class GradingBoxes:
    """The boxes that grading one submission needs. `folders` contains the paths in the grading box by the names that
    the kit's `Case` uses.
    """

    grading: BoxConfig
    running: BoxConfig
    """The box for programs of the agent. It contains submission, inputs and software, but not the reference."""
    folders: Mapping[str, str]
    verifying: Verifier | KeptVerification | None = None
    workplace: LiveWorkplace | None = None
    """The workplace whose services run during the grading, with the state stored in the submission. None if the grader
    does not need it.
    """
    behind: Mapping[Endpoint, str] = field(default_factory=dict)
    """The service behind each endpoint of the grading box, as `service:NAME:PORT`."""


def grading_boxes(store: Store, submission: Submission, instance: Instance, grading: Grading) -> GradingBoxes:
    """Unpack all folders from the store, and return the boxes that mount them. The submission is mounted at the path at
    which the agent made it.

    Raises ImageError if an image is not available; GraderError if evidence is missing; and the errors of
    `Store.folder`.
    """
    paths = instance.work.environment.paths
    given = {
        "input": (paths.input, instance.work.inputs),
        "software": (paths.software, instance.work.software),
        "output": (paths.output, submission.parts["output"].manifest),
    }
    shown = {name: (target, str(store.folder(digest))) for name, (target, digest) in given.items()}
    own = {
        "reference": (paths.reference, str(store.folder(grading.reference))),
        "grader": (GRADER, str(store.folder(grading.grader))),
    }
    for name, target in PARTS.items():
        part = submission.parts.get(name)
        if part is not None and part.status is not CaptureStatus.ABSENT:
            own[name] = (target, str(store.folder(part.manifest)))
    image = task_image(instance.work.environment, store.folder)
    root = image.root if image is not None else None
    verifying = verifier_of(store, submission, instance, grading, image)
    if root is not None:  # the programs of a grader start in the folder of inputs or scratch
        root = replace(root, workdir="", entrypoint=())
    workplace = None
    if grading.settings.get("workplace"):
        environment = instance.work.environment
        state = exported_state(submission, environment, store.folder)
        workplace = restore_workplace(state, environment, store.folder, f"grade-{submission.id}")
        if "exports" not in own:  # a control submission: the initial state
            own["exports"] = (f"{EXPORTS}/{WORKPLACE}", str(state))
    limits = GraderLimits.of(grading.settings)
    copied = bool(grading.settings.get("writable"))
    graded = {**shown, "output": (DELIVERED, shown["output"][1])} if copied else shown
    work = instance.work.environment.limits
    return GradingBoxes(
        grading=BoxConfig(
            mounts=_mounts({**graded, **own}),
            output=RESULT,
            scratch=SCRATCH,
            writable=(paths.output,) if copied else (),
            env=(("PYTHONHASHSEED", "0"), ("PYTHONDONTWRITEBYTECODE", "1"), *_workplace_variables(workplace)),
            network="endpoints" if workplace is not None else "none",
            endpoints=workplace_endpoints(instance.work.environment) if workplace is not None else (),
            limits=BoxLimits(memory=limits.memory, processes=128, disk=512 << 20, output=OUTPUT),
            python="platform",
            label="grade",
        ),
        running=BoxConfig(
            mounts=_mounts(shown),
            output=RESULT,
            scratch=SCRATCH,
            limits=BoxLimits(memory=work.memory, processes=work.processes, disk=work.disk, output=OUTPUT),
            python="toolbox" if root is None else "none",
            root=root,
            label="grade-run",
        ),
        folders={**{name: target for name, (target, _) in {**shown, **own}.items()}, **_exports(own)},
        verifying=verifying,
        workplace=workplace,
        behind={Endpoint(one.name, one.port): one.to for one in workplace_endpoint_specs(instance.work.environment)},
    )


def workplace_endpoints(environment: Environment) -> tuple[Endpoint, ...]:
    """Return the endpoints at which a grader reaches the workplace's services. They have the same names as in the
    agent's box.
    """
    return tuple(Endpoint(one.name, one.port) for one in workplace_endpoint_specs(environment))


def workplace_endpoint_specs(environment: Environment) -> tuple[EndpointSpec, ...]:
    """Return the endpoints of an environment that lead to the workplace's services."""
    return tuple(one for one in environment.endpoints if one.to.startswith(f"service:{WORKPLACE}:"))


def _workplace_variables(workplace: LiveWorkplace | None) -> tuple[tuple[str, str], ...]:
    return tuple(environment_for(workplace).items()) if workplace is not None else ()


def _exports(own: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the folder of exports by name, if any part of it is mounted; otherwise an empty dict."""
    return {"exports": EXPORTS} if "exports" in own else {}


def verifier_of(
    store: Store, submission: Submission, instance: Instance, grading: Grading, image: CachedImage | None
) -> Verifier | KeptVerification | None:
    """Return the verifier in a grading's settings, with the root file system that the agent left. Return None if the
    settings contain no verifier or the task has no image. If the verifier looks at what the agent left running, return
    the result that it had then.

    Raises ImageError if an image is not available; CaptureError if the agent's changes were not captured; GraderError
    if a command that collects evidence failed.
    """
    settings = grading.settings.get("verifier")
    if settings is None or image is None:
        return None
    if is_live(grading.settings) and (VERIFIED in submission.parts or submission.origin is not Origin.CONTROL):
        return kept_verification(submission, grading, store.folder)
    part = submission.parts.get("root")
    if part is not None and part.status is CaptureStatus.ABSENT:
        raise CaptureError(
            f"the agent's changes to the root were not captured: {part.reason}", where=submission.id, next=_RUN_AGAIN
        )
    collected = submission.parts.get(COLLECTED)
    if collected is not None and collected.status is not CaptureStatus.COMPLETE:
        raise GraderError(collected.reason, cause=Cause.GRADER_COLLECT, next=_RUN_AGAIN)
    last = Verifier(
        settings=settings,
        root=image.root,
        layers=() if part is None else (store.folder(part.manifest) / ROOT_LAYER,),
        grader=store.folder(grading.grader),
        output=instance.work.environment.paths.output,
        delivered=store.folder(submission.parts["output"].manifest),
        limits=instance.work.environment.limits,
    )
    if not settings.get("step"):
        return _with_own_root(last, image)
    left = submission.parts.get(STEPS)
    folder = store.folder(left.manifest) if left is not None else None
    return replace(last, steps=dict(_step_verifiers(last, image, folder)))


def _with_own_root(verifier: Verifier, image: CachedImage) -> Verifier:
    """Return the verifier with its own root file system, if its settings name one, and with the list of base images
    that were replaced. Raises ImageError if the image cannot be prepared.
    """
    name = verifier.settings.get("image")
    own = prepare_image(verifier.grader / name) if name else image if verifier.settings.get("fresh") else None
    told = dict([*image.substituted, *(own.substituted if own is not None else ())])
    return replace(verifier, own=own.root if own is not None else None, substituted=tuple(sorted(told.items())))


def _step_verifiers(verifier: Verifier, image: CachedImage, left: Path | None) -> Iterator[tuple[str, Verifier | str]]:
    """Yield (name, verifier) for each step. The verifier checks the state after its step. If a step has no stored
    state, the last earlier state is used.

    If a step could not be started, the reason is yielded instead of its verifier, and for all later steps as well.
    left: the folder of the submission's part `steps`; None if nobody worked in steps, so that all verifiers check the
    submission. Raises GraderError if evidence of a step could not be collected.
    """
    told = json.loads((left / STEPS_SUMMARY).read_bytes())["steps"] if left is not None else []
    ended = {one["name"]: one for one in told}
    aborted = next((f"step {one['name']} could not be started: {one['lacks']}" for one in told if _is_aborted(one)), "")
    for settings in verifier.settings["step"]:
        name = settings["name"]
        one = ended.get(name)
        if aborted and (one is None or _is_aborted(one)):
            yield name, aborted
            continue
        if one is not None and left is not None:
            if one["lacks"]:
                raise GraderError(f"step {name}: {one['lacks']}", cause=Cause.GRADER_COLLECT, next=_RUN_AGAIN)
            verifier = replace(verifier, layers=(left / name / ROOT_LAYER,), delivered=left / name / STEP_OUTPUT)
        yield name, _with_own_root(replace(verifier, settings=settings), image)


def _is_aborted(told: Mapping[str, Any]) -> bool:
    return bool(told["ended"] == ABORTED)


def _mounts(places: Mapping[str, tuple[str, str]]) -> tuple[Mount, ...]:
    return tuple(Mount(source, target) for target, source in places.values())
