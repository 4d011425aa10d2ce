"""Export of trajectories as ATIF (Agent Trajectory Interchange Format, Harbor RFC 0001, version 1.7), with a validator
of documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worksample.agents.agent_definition import OWN, version_of
from worksample.files import materialise
from worksample.records import Agent, Submission, Trial, canonical
from worksample.runs.atif_trajectory import NO_STEP
from worksample.store import Store

VERSION = "ATIF-v1.7"
SOURCES = ("system", "user", "agent")
AGENT_ONLY = ("model_name", "reasoning_content", "reasoning_effort", "tool_calls", "metrics")


def export_trajectories(store: Store, experiment: str, out: Path) -> list[Path]:
    """Write the trajectories of an experiment, with their pictures, to `out/<trial>/`; return the paths of the
    documents.

    A trial without a submission (its sandbox never started) has no trajectory. Raises RecordMissing, OSError.
    """
    trials = {trial.id: trial for trial in store.find(Trial, experiment=experiment)}
    written = []
    for submission in store.find(Submission, experiment=experiment):
        part = submission.parts.get("trajectory")
        if submission.trial not in trials or part is None:
            continue
        folder = out / submission.trial
        folder.mkdir(parents=True)
        materialise(store.manifest(part.manifest), store.blobs.path, folder)
        path = folder / "trajectory.json"
        _correct_version(path, store.get(Agent, trials[submission.trial].agent))
        written.append(path)
    return written


def _correct_version(path: Path, agent: Agent) -> None:
    """Correct a trajectory that an earlier release wrote: its agent version was this package's version.

    If it has no steps, one placeholder step is added, because ATIF requires a step.
    """
    document = json.loads(path.read_bytes())
    version = document["agent"]["version"] if agent.harness in OWN else version_of(agent)
    if document["agent"]["version"] == version and document["steps"]:
        return
    document["agent"]["version"] = version
    document["steps"] = document["steps"] or [NO_STEP]
    path.unlink()  # The file may be a hard link to a blob of the store.
    path.write_bytes(canonical(document))


def find_faults(document: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each violation of ATIF in a document; an empty list if the document is valid."""
    found = []
    if not str(document.get("schema_version", "")).startswith("ATIF-v1."):
        found.append(f"schema_version is {document.get('schema_version')!r}; expected ATIF-v1.x")
    agent = document.get("agent")
    if not isinstance(agent, Mapping) or not agent.get("name") or not agent.get("version"):
        found.append("agent has no name or no version")
    steps = document.get("steps")
    if not isinstance(steps, list):
        return [*found, "steps is not a list"]
    if not steps:
        found.append("steps is empty")
    for number, step in enumerate(steps, 1):
        found += _step_faults(step, number)
    return found


def _step_faults(step: Any, number: int) -> list[str]:
    if not isinstance(step, Mapping):
        return [f"step {number} is not an object"]
    found = []
    if step.get("step_id") != number:
        found.append(f"step {number} has step_id {step.get('step_id')!r}")
    source = step.get("source")
    if source not in SOURCES:
        found.append(f"step {number} has source {source!r}")
    if not isinstance(step.get("message"), str | list):
        found.append(f"step {number} has no message")
    if source != "agent":
        found += [f"step {number} of {source} has {key}" for key in AGENT_ONLY if key in step]
    if step.get("llm_call_count") == 0 and ("metrics" in step or "reasoning_content" in step):
        found.append(f"step {number} called no model and has metrics or reasoning")
    calls = {c.get("tool_call_id") for c in step.get("tool_calls") or ()}
    for result in (step.get("observation") or {}).get("results", ()):
        if result.get("source_call_id") is not None and result["source_call_id"] not in calls:
            found.append(f"step {number} has a result for the call {result['source_call_id']!r}, which it did not make")
    return found
