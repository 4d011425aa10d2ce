"""Jobs of a table before they are tasks: a program looks, scripted experts say which are fit and write the rubrics."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from worksample.app.judging.scripted_experts import ManualClock
    from worksample.people.quality.qualification_funnel import Funnel

FACT = re.compile(r"^- (\w+: .+)$", re.MULTILINE)
ATTACHED = re.compile(r"attached (\w+\.\w+)")
ADDRESS = re.compile(r"[\w.]+@[\w.]+")
EXPERTS = ("expert-1", "expert-2", "expert-3")


@dataclass
class Qualifies:
    """Answers about a job: whether its files are here, whether it names anybody, and what its lines must be.

    Who looks first overlooks an address, so that a second expert says otherwise and a third decides.
    """

    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, item: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
        from worksample.people.rounds.job_questions import CONTEXT, CRITERIA, IDENTIFIERS, QUALITY, WHY

        self.seen[item["instance"]] += 1
        said = {CONTEXT: "yes", QUALITY: "not_applicable", IDENTIFIERS: "yes"}
        attached = ATTACHED.search(item["brief"])
        if attached and f"`{attached[1]}`" in item["notes"].partition("Named and not here")[2]:
            said |= {CONTEXT: "no", CONTEXT + WHY: "a file that it speaks of is not here"}
        if ADDRESS.search(item["brief"]) and self.seen[item["instance"]] > 1:
            said |= {IDENTIFIERS: "no", IDENTIFIERS + WHY: "it names a person, with an address"}
        if "no" not in said.values():
            said[CRITERIA] = "\n".join(
                f'{"important" if n else "critical"} - Has the line "{fact}"'
                for n, fact in enumerate(FACT.findall(item["brief"]))
            )
        return said


def qualify_jobs(suite: Path, out: Path, store: str, clock: ManualClock, sandbox: str) -> Funnel:
    """Have a suite's jobs qualified through the app, and what is fit copied to `out`. What is done already is kept."""
    from worksample.app.judging.scripted_experts import ScriptedExperts
    from worksample.cli.output import open_store
    from worksample.people.quality.qualification_funnel import rounds_of_jobs
    from worksample.python_api.job_qualification import Qualifying, funnel, keep_qualified, qualify
    from worksample.store import Store

    with Store.open(store, create=True) as opened:
        begun = bool(rounds_of_jobs(opened))
    if not begun:
        qualify(suite, Qualifying(sandbox=sandbox), store=store)
    if not out.exists():
        with open_store(store) as opened:
            ScriptedExperts(opened, Qualifies(), clock, names=EXPERTS).judge()
        keep_qualified(suite, out, store=store)
    return funnel(store=store)
