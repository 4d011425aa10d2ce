"""A study as large as UpBench's through the whole pipeline: 322 jobs from a table, experts who qualify them and write
their rubrics, an agent in boxes, experts who judge through the app, people's feedback beside a retry, two re-attempts,
the report. Says what each part takes.

`python benchmarks/study.py FOLDER [--jobs 322]`; stopped, it goes on in the same folder where it was.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from worksample.app.judging.scripted_experts import ScriptedExperts
from worksample.cli.demo_studies import SITTINGS, answer_item, qualify_jobs
from worksample.cli.exit_codes import INCOMPLETE
from worksample.cli.run_output import OutputMode, run_config
from worksample.experiments.config import ExperimentConfig
from worksample.experiments.config_file import load
from worksample.formats.jobs import ImportJobs, import_jobs
from worksample.records import Trial
from worksample.reports import write_report
from worksample.reports.sections import measure
from worksample.store import Store

KINDS = (
    ("Web, Mobile & Software Dev", "Web Development"),
    ("Design & Creative", "Graphic, Editorial & Presentation Design"),
    ("Writing", "Business Writing"), ("Admin Support", "Data Entry & Transcription Services"),
    ("Accounting & Consulting", "Financial Planning"), ("Translation", "Translation & Localization Services"),
    ("Sales & Marketing", "Digital Marketing"), ("Legal", "Corporate & Contract Law"),
)  # fmt: skip
FACTS = ("Client", "Price", "Delivery", "Languages", "Rows", "Contact")


def write_jobs(path: Path, jobs: int) -> None:
    """Offers to write, of two to six facts each, which is what makes one hard; prices have a heavy tail."""
    rng = np.random.default_rng(322)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("contract", "title", "description", "category", "subcategory", "amount", "start"))
        for n in range(jobs):
            category, sub = KINDS[int(rng.integers(len(KINDS)))]
            facts = [f"{fact}: {category.split()[0]} {n} {rng.integers(100)}" for fact in FACTS[: rng.integers(2, 7)]]
            brief = "Write a short offer to the client as a text file, one fact a line.\n\n" + "\n".join(
                f"- {fact}" for fact in facts
            )
            price = round(math.exp(rng.normal(math.log(150), 1)), 2)
            out.writerow((f"job-{n}", f"Offer {n}", brief, category, sub, price, f"2026-{1 + n % 9:02}-01"))


class Clock:
    """What each part took: seconds by the clock, and of processor with all children."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []

    def time(self, name: str, part: Callable[[], object]) -> None:
        began, spent = time.perf_counter(), _spent()
        made = part()
        told = made if isinstance(made, int | str) else ""
        self.parts.append({"part": name, "seconds": round(time.perf_counter() - began, 1),
                           "processor": round(_spent() - spent, 1), "made": told})  # fmt: skip
        print(json.dumps(self.parts[-1]), flush=True)


def _spent() -> float:
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, who))


def run_study(folder: Path, jobs: int, *, parallel: int = 4) -> list[dict[str, Any]]:
    """Each part's name, seconds and what it made."""
    folder.mkdir(parents=True, exist_ok=True)
    clock, table, suite, fit = Clock(), folder / "jobs.csv", folder / "jobs", folder / "fit"
    if not table.exists():
        write_jobs(table, jobs)
    clock.time("jobs in", lambda: len(import_jobs(table, suite, ImportJobs(visibility="public")).written))
    store = str(folder / "store")
    clock.time("qualified", lambda: sum(bool(j.passed) for j in qualify_jobs(suite, fit, store, "bubblewrap").jobs))
    study = Path(str(files("worksample").joinpath("suites", "feedback", "study.toml")))
    config = load(study, {"suite": str(fit / "suite.toml"), "store": store, "parallel": parallel})
    for sitting in range(SITTINGS):
        clock.time(f"attempts {sitting + 1}", lambda: _work(config))
        clock.time(f"gradings {sitting + 1}", lambda: _judge(config))
    clock.time("the end", lambda: _work(config))
    with Store.open(config.store) as opened:
        clock.time("figures", lambda: len(measure(opened)))
        clock.time("report", lambda: len(write_report(opened, (config.name,), folder / "report").rows))
    return clock.parts


def _work(config: ExperimentConfig) -> int:
    if run_config(config, OutputMode(quiet=True, hints=False)) > INCOMPLETE:
        raise SystemExit("the run failed")
    with Store.open(config.store) as store:
        return len(store.find(Trial, live=True))


def _judge(config: ExperimentConfig) -> int:
    with Store.open(config.store) as store:
        return ScriptedExperts(store, answer_item).judge()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--jobs", type=int, default=322)
    options.add_argument("--parallel", type=int, default=4)
    given = options.parse_args()
    run_study(given.folder, given.jobs, parallel=given.parallel)


if __name__ == "__main__":
    main()
