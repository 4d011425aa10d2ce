"""Live checks: the file `live.py` of a task examines the services after the agent is done, while the services still
run.

The result of a live check is evidence and can be graded again at any time. The check itself cannot be repeated. So each
part of a grade that depends on a live check is marked as not regradable.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from worksample.errors import ForeignInputError, SandboxError
from worksample.files import Sink
from worksample.files.untrusted import parse_json
from worksample.records import CaptureStatus, Entry, EntryKind, Environment, Manifest, SubmissionPart, canonical, now
from worksample.sandboxes.services import TrialServices
from worksample.store import put_canonical

from .workplace import LiveWorkplace, operator_environment, services_box

PLACE = "/task/scratch/live"
"""Folder of the live check in the services' box. Its files are copied to this folder only after the agent is done."""
FILE = "live.json"
SECONDS = 120.0
LIMIT = 8 << 20
"""Maximum bytes that a live check may print."""


async def run_live_check(
    services: TrialServices, workplace: LiveWorkplace, folder: Callable[[str], Path], given: Environment
) -> Any:
    """Run the task's `live.py` and return the JSON object that it prints, or None if the task has no `live.py`. A
    failure of the check is reported in the result and raises no error.
    """
    source = given.workplace.live if given.workplace is not None else None
    if source is None or source.files is None:
        return None
    try:
        return {
            "regradable": False,
            "at": now().isoformat(),
            **await _run(services, workplace, folder(source.files)),
        }
    except SandboxError as error:
        return {"regradable": False, "at": now().isoformat(), "failed": error.what[:2000]}


async def _run(services: TrialServices, workplace: LiveWorkplace, root: Path) -> dict[str, Any]:
    box = services_box(services)
    try:
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            await box.write(f"{PLACE}/{path.relative_to(root).as_posix()}", path.read_bytes())
    except OSError as error:
        return {"failed": f"live.py cannot be copied into the box: {error.strerror}"}
    done = await box.run(
        ["python3", f"{PLACE}/live.py"], cwd=PLACE, env=operator_environment(workplace), timeout=SECONDS
    )
    if done.returncode or done.timed_out or done.truncated or len(done.stdout) > LIMIT:
        how = "did not end in time" if done.timed_out else f"ended with exit status {done.returncode}"
        return {"failed": f"live.py {how}: {done.stderr.decode('utf-8', 'replace').strip()[-1000:]}"}
    try:
        found = await parse_json(done.stdout, what="what live.py printed")
    except ForeignInputError:
        found = None
    return {"found": found} if isinstance(found, dict) else {"failed": "live.py printed no JSON object"}


def add_live_result(part: SubmissionPart, manifest: Manifest, found: Any, sink: Sink) -> SubmissionPart:
    """Return the part with the exported states, to which the result of the live check is added."""
    data = canonical(found)
    entry = Entry(path=FILE, kind=EntryKind.FILE, size=len(data), blob=sink.put(data))
    whole = Manifest(entries=tuple(sorted((*manifest.entries, entry), key=lambda one: one.path)))
    digest = put_canonical(sink, whole.plain())
    status = CaptureStatus.PARTIAL if part.status is CaptureStatus.ABSENT else part.status
    return part.replaced(manifest=digest, status=status, files=len(whole.files), size=whole.size)
