"""The broker's verb `verify`: it runs a task's own verifier in a fresh box, or answers with the result that a verifier
had while the agent's box still ran.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worksample.errors import SandboxError
from worksample.files import Sink
from worksample.kit.broker_client import pack
from worksample.sandboxes.live_verification import KeptVerification
from worksample.sandboxes.task_verifier import OUTPUT, Verifier, VerifierRun, run_verifier


@dataclass
class VerifierRequests:
    """The runs of the verifier in one grading. Each run adds an entry to `records`."""

    verifier: Verifier | KeptVerification | None
    sandbox: str
    sink: Sink
    seconds: float
    records: list[dict[str, Any]]

    async def verify(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Run the verifier once. For a task with steps, run the verifier of the requested step. Raises SandboxError if
        the task has no verifier or no box can be started.
        """
        verifier, step = self.verifier, body.get("step")
        if verifier is None:
            raise SandboxError(
                "the task has no verifier, or no image to run it in",
                where="verifier",
                next="set image of [environment] and [grading.PROTOCOL.verifier] in task.toml",
            )
        if isinstance(verifier, KeptVerification):
            return self._kept_reply(verifier)
        if verifier.steps:
            found = verifier.steps.get(str(step))
            if not isinstance(found, Verifier):
                return {"exit": 0, "stdout": "", "stderr": "", "left": found or f"there is no step {step!r:.80}"}
            verifier = found
        seconds = float(verifier.settings.get("timeout") or self.seconds)
        held = verifier.place()
        root = await asyncio.to_thread(held.__enter__)
        try:
            ran = await run_verifier(verifier, root, self.sandbox, seconds)
        finally:
            await asyncio.to_thread(held.__exit__, None, None, None)
        return await asyncio.to_thread(self._reply, verifier, ran)

    def _reply(self, verifier: Verifier, ran: VerifierRun) -> dict[str, Any]:
        done, files = ran.done, ran.files
        record: dict[str, Any] = {
            **({"step": verifier.settings["name"]} if "name" in verifier.settings else {}),
            "argv": list(verifier.settings["command"]),
            "exit": None if done.timed_out else done.returncode,
            "seconds": round(done.seconds, 3),
            "out_of_memory": done.oom,
            "cut": done.truncated,
            "stdout": self.sink.put(done.stdout),
            "stderr": self.sink.put(done.stderr),
            "files": {name: self.sink.put(content) for name, content in files.items()},
        }
        record |= {"substituted": dict(verifier.substituted)} if verifier.substituted else {}
        record |= {"connections": ran.contacts} if ran.contacts else {}
        self.records.append(record)
        return {
            "exit": record["exit"],
            "stdout": pack(done.stdout[-OUTPUT // 8 :]),
            "stderr": pack(done.stderr[-OUTPUT // 8 :]),
            "files": {name: pack(content) for name, content in files.items()},
        }

    def _kept_reply(self, kept: KeptVerification) -> dict[str, Any]:
        """Answer with the result of the verifier that ran while the agent's box still ran."""
        about = {name: value for name, value in kept.about.items() if name != "verifier"}
        self.records.append({"live": True, **about})
        return {
            "exit": kept.about["exit"], "stdout": pack(kept.stdout), "stderr": pack(kept.stderr),
            "files": {name: pack(content) for name, content in kept.files.items()},
        }  # fmt: skip
