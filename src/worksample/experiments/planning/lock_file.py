"""Lock of an experiment: the versions, the digests, the machine and the complete configuration at the time of
planning.
"""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any

from worksample.records import Agent, digest_of
from worksample.sandboxes import require_kind

from .experiment_plan import Plan

LOCK_NAME = "lock.json"


def installed_versions(sandbox: str = "bubblewrap") -> dict[str, str]:
    """Return the versions of all software that takes part in a trial. The version of a missing program is "absent"."""
    made_by = {"docker": require_kind(sandbox)} if sandbox == "docker" else {}
    return {
        "worksample": importlib.metadata.version("worksample"),
        "inspect_ai": importlib.metadata.version("inspect_ai"),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "bubblewrap": _bubblewrap(),
        **made_by,
    }


def _bubblewrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        return "absent"
    told = subprocess.run(
        [path, "--version"], capture_output=True, text=True, check=False, timeout=10, encoding="utf-8", errors="replace"
    )
    return told.stdout.strip().removeprefix("bubblewrap ") or "unknown"


def lock_table(plan: Plan) -> dict[str, Any]:
    """Return the lock of a plan as JSON types. A comparison of two locks shows whether two runs had the same
    conditions.
    """
    m = plan.inputs
    return {
        "experiment": plan.experiment.id,
        "at": plan.experiment.plain()["at"],
        "author": plan.experiment.author,
        "comparable": plan.experiment.lock.comparable,
        "suite": plan.experiment.lock.suite,
        "sandbox": m.sandbox,
        "protocols": [str(p) for p in m.protocols],
        "roles": m.roles,
        "hosts": {"operator": list(m.allow_hosts), **(m.hosts.plain() if m.hosts else {})},
        "versions": plan.experiment.lock.versions,
        "machine": {"system": platform.system(), "machine": platform.machine(), "libc": "-".join(platform.libc_ver())},
        "agents": {a.id: _agent(a) for a in m.agents},
        "instances": {
            i.id: {
                "work": i.work_digest,
                "capture": i.capture_digest,
                "grading": {str(p): i.grading_digest(p) for p in sorted(i.grading)},
                "about": i.about.digest,
                "version": i.version,
                "canary": i.canary,
            }
            for i in m.instances
        },
        "chain": plan.inputs.chain.plain() if plan.inputs.chain else None,
        "arms": [arm.plain() for arm in plan.inputs.arms],
        "slots": {"planned": len(plan.slots), "attemptable": len(plan.attemptable)},
        "config": plan.experiment.settings,
    }


def _agent(agent: Agent) -> dict[str, Any]:
    """Return the fields of an agent, with its script replaced by a digest."""
    plain = agent.plain()
    if "script" in agent.settings:
        plain["settings"] = {**agent.settings, "script": digest_of(agent.settings["script"])}
    return plain


def write_lock(plan: Plan, folder: Path) -> Path:
    """Write `lock.json` into `folder` and return its path. An existing lock is not changed."""
    path = folder / LOCK_NAME
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        # A unique name, since two runs may begin at once. They write the same content except for the time.
        draft = folder / f".{LOCK_NAME}.{uuid.uuid4().hex}"
        draft.write_text(json.dumps(lock_table(plan), indent=2, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(path)
    return path
