"""References in a record: to other records by their id, and to blobs by their digest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from worksample.records import (
    Amendment,
    AssignmentEvent,
    Environment,
    Evaluation,
    Experiment,
    ImageSource,
    Instance,
    Purpose,
    Record,
    Round,
    Slot,
    SourceFiles,
    Submission,
    Suite,
    Task,
    Trial,
)

_DIGEST = re.compile(r"^[0-9a-f]{64}$")


def ids_of(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the kind and the id of every record to which a record refers. Entrants and authors are names, and not
    ids.
    """
    match record:
        case Task() | Suite():
            yield from (("instance", i) for i in record.instances)
        case Experiment():
            yield from (("agent", a) for a in record.agents)
            yield from (("instance", i) for i in record.lock.instances)
        case Slot():
            yield from (("experiment", record.experiment), ("agent", record.agent), ("instance", record.instance))
            yield from [("slot", record.after)] if record.after else []
        case Trial():
            yield from (("slot", record.slot), ("experiment", record.experiment))
            yield from (("agent", record.agent), ("instance", record.instance))
            if record.fed is not None:
                yield "submission", record.fed.submission
                yield from (("evaluation", e) for e in record.fed.evaluations)
        case AssignmentEvent():
            yield from (("slot", record.slot), ("evaluator", record.person))
        case Submission():
            yield "instance", record.instance
            yield from [("trial", record.trial)] if record.trial else []
            yield from [("experiment", record.experiment)] if record.experiment else []
        case Round():
            about = "instance" if record.purpose is Purpose.QUALIFICATION else "submission"
            yield from ((about, s) for s in record.subjects)
            yield from (("instance", i) for i in record.gradings)
            yield from [("experiment", record.experiment)] if record.experiment else []
        case Evaluation():
            yield from (("round", record.round), ("instance", record.instance))
            yield from [] if record.of_job else [("submission", record.subject)]
            yield "evaluator", record.evaluator
            yield from (("submission", s) for s in (record.second, record.reference) if s)
        case Amendment():
            yield record.target.value, record.target_id
        case _:
            return


def blobs_of(record: Record) -> Iterator[tuple[str, bool]]:
    """Yield the digest of every blob to which a record refers, and whether the blob is a manifest."""
    match record:
        case Task():
            yield record.package, True
        case Instance():
            yield from ((d, True) for d in (record.work.inputs, record.work.software, record.capture.probes))
            yield from ((d, True) for d in _brought(record.work.environment))
            for grading in record.grading.values():
                yield from ((grading.reference, True), (grading.grader, True))
            yield from [(record.shown_reference, True)] if record.shown_reference else []
        case Trial():
            yield from [(record.fed.text, False)] if record.fed and record.fed.text else []
        case AssignmentEvent():
            yield from [(record.output, True)] if record.output else []
            yield from ((digest, False) for digest in (record.terminal, record.text) if digest)
        case Submission():
            yield from ((part.manifest, True) for part in record.parts.values())
        case Evaluation():
            yield from ((digest, False) for digest in _digests(record.record))
        case _:
            return


def _brought(environment: Environment) -> Iterator[str]:
    """Yield the digests of the manifests in an environment: images, files of services, a company, and files of
    steps.
    """
    sources: list[ImageSource | SourceFiles | None] = [environment.image, *(one.files for one in environment.steps)]
    sources += [source for one in environment.served for source in (one.image, one.files)]
    if environment.workplace is not None:
        sources += [environment.workplace.company, environment.workplace.setup, environment.workplace.live]
    yield from (source.files for source in sources if source is not None and source.files is not None)


def _digests(value: object) -> Iterator[str]:
    """Yield every digest in an evaluation's `record`: the grader's output, and the prompts and answers of judges."""
    if isinstance(value, str):
        if _DIGEST.match(value):
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _digests(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _digests(inner)
