"""A trajectory (ATIF) as steps of a page. Its content comes from the agent: it is shown as text and shortened if
long.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from worksample.records import Submission
from worksample.store import Store

LIMIT = 64 << 20
CUT = 6_000
STEPS = 400


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: str
    result: str = ""


@dataclass(frozen=True, slots=True)
class TranscriptStep:
    source: str
    text: str
    calls: tuple[Call, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TrialTranscript:
    steps: tuple[TranscriptStep, ...]
    note: str = ""


def transcript(store: Store, submission: Submission | None) -> TrialTranscript:
    """Return the steps of a submission's trajectory, or a note that says why there are none."""
    part = submission.parts.get("trajectory") if submission else None
    if part is None:
        return TrialTranscript((), "No trajectory: the work was done elsewhere or left none.")
    files = [e for e in store.manifest(part.manifest).files if e.path.endswith(".json") and e.blob]
    if not files or files[0].blob is None:
        return TrialTranscript((), part.reason or "The trajectory holds no file.")
    try:
        document = json.loads(store.blobs.read(files[0].blob, limit=LIMIT))
    except (ValueError, RecursionError):
        return TrialTranscript((), "The trajectory is larger than is shown, or not readable.")
    raw = [s for s in document.get("steps", []) if isinstance(s, dict)]
    note = f"The first {STEPS} of {len(raw)} steps." if len(raw) > STEPS else ""
    return TrialTranscript(tuple(_step(s) for s in raw[:STEPS]), note)


def _step(raw: dict[str, Any]) -> TranscriptStep:
    observation = raw.get("observation") or {}
    results = {r.get("source_call_id"): _words(r.get("content")) for r in observation.get("results", [])}
    calls = tuple(
        Call(
            str(c.get("function_name", "")),
            _shorten(_arguments(c.get("arguments"))),
            _shorten(results.pop(c.get("tool_call_id"), "")),
        )
        for c in raw.get("tool_calls") or []
    )
    text = "\n".join(
        t for t in (_words(raw.get("reasoning_content")), _words(raw.get("message")), *results.values()) if t
    )
    return TranscriptStep(str(raw.get("source", "")), _shorten(text), calls, _moment(raw.get("timestamp")))


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.astimezone(UTC) if found is not None and found.tzinfo is not None else None


def _arguments(value: object) -> str:
    if isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        if isinstance(only, str):
            return only
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(
            _words(v.get("text", f"[{v.get('type', 'part')}]") if isinstance(v, dict) else v) for v in value
        )
    return json.dumps(value, ensure_ascii=False)


def _shorten(text: str) -> str:
    if len(text) <= CUT:
        return text
    return f"{text[: CUT * 2 // 3]}\n… ({len(text) - CUT:,} characters left out) …\n{text[-CUT // 3 :]}"
