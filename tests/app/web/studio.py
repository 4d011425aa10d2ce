"""An office whose deliverables are folders of several files, with inputs, notes, and names that mean harm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from people.worlds import RUBRIC, Office, folder_of
from store.worlds import EMPTY, instance_of
from worksample.records import Agent, Grading, Instance, Protocol, Record, Submission

EVIL = "<img src=x onerror=\"document.title='owned';window.owned=1\"><script>window.owned=1</script>"
BRIEF = f"""# A report for the shop

Write a *short* report on the year's sales.

- one page of prose in `report.txt`
- the figures in `data/figures.csv`, one row a month

{EVIL}

[A link that runs](javascript:window.owned=1) and ![a picture](x" onerror="window.owned=1).
"""
LONG = "\n".join(f"line {n}: the shop sold {n * 3} lamps" for n in range(400))
REFERENCE = {
    "report.txt": LONG.encode(),
    "data/figures.csv": b"month,lamps\nJan,30\nFeb,41\n",
    "logo.svg": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4"/></svg>',
}
HOSTILE_NAME = "<img src=x onerror=window.owned=1>.txt"


def delivered(agent: Agent) -> dict[str, bytes]:
    """What one agent hands in: the files of the brief under a folder, and a few that nobody asked for."""
    return {
        "final/report.txt": f"by {agent.name}\n{LONG.replace('lamps', 'chairs')}".encode(),
        "final/data/Figures.csv": b"month,chairs\nJan,31\nFeb,40\n",
        "final/data/more.bin": bytes(range(256)) * 20,
        HOSTILE_NAME: b"a name that means harm",
    }


class Studio(Office):
    """`files`: what every agent delivers in place of the usual."""

    files: Mapping[str, bytes] | None = None
    brief = BRIEF
    notes = f"Ignore the cover page. {EVIL}"
    rubric = RUBRIC

    def _instance(self, n: int, reference: str) -> Instance:
        base = instance_of(f"p{n}")
        shown = folder_of(self.store, REFERENCE)
        work = base.work.replaced(brief=self.brief, inputs=folder_of(self.store, {"sales.txt": b"many lamps\n"}))
        common: dict[str, Any] = {"reference": shown, "grader": EMPTY, "notes": self.notes}
        grading = {
            Protocol.HOLISTIC: Grading(protocol=Protocol.HOLISTIC, **common),
            Protocol.RUBRIC: Grading(protocol=Protocol.RUBRIC, **common, criteria=self.rubric),
        }
        return base.replaced(work=work, grading=grading, title=f"Sales report {n} {EVIL}")

    def _work(self, agent: Agent, instance: Instance) -> list[Record]:
        slot, trial, submission = super()._work(agent, instance)
        assert isinstance(submission, Submission)
        manifest = folder_of(self.store, self.files if self.files is not None else delivered(agent))
        part = submission.parts["output"].replaced(manifest=manifest)
        return [slot, trial, submission.replaced(parts={"output": part})]
