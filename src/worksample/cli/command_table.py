"""The table of commands: name -> module and line of help. Reading it imports none of them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .format_verbs import FormatVerb, FormatVerbs

if TYPE_CHECKING:
    import click


@dataclass(frozen=True)
class Verb:
    """A command, which `module` holds under `name`."""

    module: str
    name: str
    says: str

    def load(self) -> click.Command:
        """Import the module and return its command."""
        command: click.Command = getattr(importlib.import_module(self.module), self.name)
        return command


@dataclass(frozen=True)
class Family:
    """Commands that share a noun: `worksample task check`."""

    says: str
    verbs: Mapping[str, Verb | FormatVerb]


def _verb(place: str, says: str) -> Verb:
    """Return a command below `commands`: `command` of module `list`, or for `task_list` `list_command` of `task`."""
    noun, _, verb = place.partition("_")
    return Verb(f"worksample.cli.commands.{noun}", f"{verb}_command" if verb else "command", says)


VERBS: dict[str, Verb | Family] = {
    "demo": _verb("demo", "Run the starter suite with scripted agents and show the result."),
    "run": _verb("run_run", "Run an experiment: agents on tasks, each trial graded as it closes."),
    "resume": _verb("run_resume", "Continue an experiment that was stopped."),
    "list": _verb("list", "List the experiments in a store."),
    "report": _verb("report", "Print the leaderboard and write the report as a static site."),
    "review": _verb("review", "Judge an experiment's deliverables yourself, in the browser."),
    "serve": _verb("serve", "Serve the review app to a team."),
    "metrics": _verb("metrics", "Print every figure that the store's data support, with counts and intervals."),
    "compare": _verb("compare", "Compare two agents on the same work."),
    "clusters": _verb("clusters", "Group criteria that ask for the same thing, and show which of them agents fail."),
    "advise": _verb("advise", "Say who should do each job on a firm's list: AI, AI with people, or people."),
    "grade": _verb("grade", "Grade stored submissions again and show what changed."),
    "submit": _verb("submit", "Hand in work made elsewhere: a folder or a zip."),
    "amend": _verb("amend", "Strike or restore a trial, submission, evaluation, evaluator or instance."),
    "task": Family(
        "Write, list and check task packages.",
        {
            "new": _verb("task_new", "Create a task package to start from."),
            "show": _verb("task_show", "Show what a task package says."),
            "list": _verb("task_list", "List the tasks in a folder or a suite."),
            "check": _verb("task_check", "Check a task package before it is used."),
        },
    ),
    "agent": Family(
        "Install command-line agents, list them, and try them.",
        {
            "install": _verb("agent_install", "Install a version of a command-line agent on this machine."),
            "list": _verb("agent_list", "List the command-line agents, and which versions are installed here."),
            "check": _verb("agent_check", "Have an installed agent answer with one sentence, from inside a sandbox."),
        },
    ),
    "image": Family(
        "List, check and remove images that tasks bring.",
        {
            "list": _verb("image_list", "List the images unpacked here."),
            "check": _verb("image_check", "Fetch an image, and say what a sandbox made from it offers."),
            "remove": _verb("image_remove", "Remove unpacked images."),
        },
    ),
    "workplace": Family(
        "Install a workplace's services, check a company, and run it for people.",
        {
            "install": _verb("workplace_install", "Install the programs of a workplace's services on this machine."),
            "check": _verb("workplace_check", "Read a company's folder, and list everything wrong with it."),
            "audit": _verb("workplace_audit", "Check that a company's colleagues tell what they should."),
            "up": _verb("workplace_up", "Start a company's services and keep them running, for people."),
            "open": _verb("workplace_open", "Open a service of a running workplace in the browser."),
            "status": _verb("workplace_status", "List the workplaces that are running on this machine."),
            "reset": _verb("workplace_reset", "Reset every service of a running workplace."),
            "export": _verb("workplace_export", "Write the state of a running workplace to a folder."),
            "down": _verb("workplace_down", "Stop a running workplace."),
            "seeds": _verb("workplace_seeds", "List the companies that were put into services here."),
            "prune": _verb("workplace_prune", "Remove seeds of workplaces that nobody uses."),
        },
    ),
    "model": Family(
        "Check models before you pay for a run.",
        {"check": _verb("model_check", "Try each agent's provider, key, model and settings with one short call.")},
    ),
    "suite": Family(
        "Show suites and pin their digests.",
        {
            "show": _verb("suite_show", "Show a suite: its instances, tiers and pins."),
            "describe": _verb(
                "suite_describe", "Describe a suite: categories, prices, files and graders, compared with a market."
            ),
            "pin": _verb("suite_pin", "Write the digests of a suite's instances to suite.lock."),
        },
    ),
    "export": Family("Write tasks and results in the formats of other tools.", FormatVerbs("export")),
    "import": Family("Import tasks that others wrote.", FormatVerbs("import")),
    "jobs": Family(
        "Have experts decide which jobs are fit to be tasks.",
        {
            "add": _verb("jobs_add", "Add a suite's jobs to the store, to open their qualification in the app."),
            "qualify": _verb("jobs_qualify", "Examine a suite's jobs, and ask experts which are fit."),
            "funnel": _verb("jobs_funnel", "Show how many jobs dropped out at each step, and why."),
            "experts": _verb("jobs_experts", "Show how sets of experts cover the jobs of their categories."),
            "keep": _verb("jobs_keep", "Make a suite of the jobs that qualified, with the experts' rubrics."),
        },
    ),
    "store": Family(
        "Check, rebuild, merge, read and export a store.",
        {
            "check": _verb("store_check", "Check that objects, blobs and database agree."),
            "rebuild": _verb("store_rebuild", "Rebuild the database from the objects."),
            "merge": _verb("store_merge", "Take in everything that another store holds."),
            "cat": _verb("store_cat", "Write the bytes of a blob to standard output."),
            "export": _verb("store_export", "Write the tables as Parquet or JSONL, or trajectories as ATIF."),
        },
    ),
    "doctor": _verb("doctor", "Say what this machine has and what it lacks."),
}
