"""Table of all commands, with the module and the line of help of each. Reading the table imports no command."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .format_commands import FormatCommand, FormatCommands

if TYPE_CHECKING:
    import click


@dataclass(frozen=True)
class CommandEntry:
    """A command: its module, its name in the module, and its line of help."""

    module: str
    name: str
    help: str

    def load(self) -> click.Command:
        """Import the module and return its command."""
        command: click.Command = getattr(importlib.import_module(self.module), self.name)
        return command


@dataclass(frozen=True)
class CommandGroup:
    """Group of commands that share their first word, such as `worksample task check` and `worksample task new`."""

    help: str
    commands: Mapping[str, CommandEntry | FormatCommand]


def _entry(place: str, help: str) -> CommandEntry:
    """Return the table entry of a command in `worksample.cli.commands`.

    The place `list` stands for the function `command` in the module `list`. The place `task_list` stands for the
    function `list_command` in the module `task`.
    """
    noun, _, verb = place.partition("_")
    return CommandEntry(f"worksample.cli.commands.{noun}", f"{verb}_command" if verb else "command", help)


COMMANDS: dict[str, CommandEntry | CommandGroup] = {
    "demo": _entry("demo", "Run the starter suite with scripted agents and show the result."),
    "run": _entry("run_run", "Run an experiment: agents on tasks, each trial graded as it closes."),
    "resume": _entry("run_resume", "Continue an experiment that was stopped."),
    "list": _entry("list", "List the experiments in a store."),
    "report": _entry("report", "Print the leaderboard and write the report as a static site."),
    "review": _entry("review", "Judge an experiment's deliverables yourself, in the browser."),
    "serve": _entry("serve", "Serve the review app to a team."),
    "metrics": _entry("metrics", "Print every figure that the store's data support, with counts and intervals."),
    "compare": _entry("compare", "Compare two agents on the same work."),
    "clusters": _entry("clusters", "Group criteria that ask for the same thing, and show which of them agents fail."),
    "advise": _entry("advise", "Advise who should do each job on a firm's list: AI, AI with people, or people."),
    "grade": _entry("grade", "Grade stored submissions again and show what changed."),
    "submit": _entry("submit", "Hand in work that was made elsewhere: a folder or a zip."),
    "amend": _entry("amend", "Strike or restore a trial, submission, evaluation, evaluator or instance."),
    "task": CommandGroup(
        "Write, list and check task packages.",
        {
            "new": _entry("task_new", "Create a task package to start from."),
            "show": _entry("task_show", "Show a task package."),
            "list": _entry("task_list", "List the tasks in a folder or a suite."),
            "load": _entry("task_load", "Call load() of a task package, and keep its instances."),
            "check": _entry("task_check", "Check a task package before it is used."),
        },
    ),
    "agent": CommandGroup(
        "Install command-line agents, list them, and try them.",
        {
            "install": _entry("agent_install", "Install a version of a command-line agent on this machine."),
            "list": _entry("agent_list", "List the command-line agents, and which versions are installed here."),
            "check": _entry("agent_check", "Check that an installed agent acts and answers inside a sandbox."),
            "remove": _entry("agent_remove", "Remove installed versions of command-line agents."),
        },
    ),
    "image": CommandGroup(
        "List, check and remove images that tasks bring.",
        {
            "list": _entry("image_list", "List the images unpacked here."),
            "check": _entry("image_check", "Fetch an image, and show what a sandbox made from it offers."),
            "remove": _entry("image_remove", "Remove unpacked images."),
        },
    ),
    "workplace": CommandGroup(
        "Install a workplace's services, check a company, and run it for people.",
        {
            "install": _entry("workplace_install", "Install the programs of a workplace's services on this machine."),
            "check": _entry("workplace_check", "Read a company's folder, and list everything wrong with it."),
            "audit": _entry("workplace_audit", "Check that a company's colleagues give the right answers."),
            "up": _entry("workplace_up", "Start a company's services and keep them running, for people."),
            "open": _entry("workplace_open", "Open a service of a running workplace in the browser."),
            "status": _entry("workplace_status", "List the workplaces that are running on this machine."),
            "reset": _entry("workplace_reset", "Reset every service of a running workplace."),
            "export": _entry("workplace_export", "Write the state of a running workplace to a folder."),
            "down": _entry("workplace_down", "Stop a running workplace."),
            "seeds": _entry(
                "workplace_seeds", "List the seeds on this machine: companies already loaded into services."
            ),
            "prune": _entry("workplace_prune", "Remove seeds that no workplace uses."),
        },
    ),
    "model": CommandGroup(
        "Check models before you pay for a run.",
        {"check": _entry("model_check", "Try each agent's provider, key, model and settings with one short call.")},
    ),
    "suite": CommandGroup(
        "Show suites and pin their digests.",
        {
            "show": _entry("suite_show", "Show a suite: its instances, tiers and pins."),
            "describe": _entry(
                "suite_describe", "Describe a suite: categories, prices, files and graders, compared with a market."
            ),
            "pin": _entry("suite_pin", "Write the digests of a suite's instances to suite.lock."),
        },
    ),
    "export": CommandGroup("Write tasks and results in the formats of other tools.", FormatCommands("export")),
    "import": CommandGroup("Import tasks that others wrote.", FormatCommands("import")),
    "jobs": CommandGroup(
        "Have experts decide which jobs are fit to be tasks.",
        {
            "add": _entry("jobs_add", "Add a suite's jobs to the store, to open their qualification in the app."),
            "qualify": _entry("jobs_qualify", "Examine a suite's jobs, and ask experts which are fit."),
            "funnel": _entry("jobs_funnel", "Show how many jobs dropped out at each step, and why."),
            "experts": _entry("jobs_experts", "Show how many jobs each set of experts has looked at."),
            "keep": _entry("jobs_keep", "Make a suite of the jobs that qualified, with the experts' rubrics."),
        },
    ),
    "store": CommandGroup(
        "Check, rebuild, merge, read and export a store.",
        {
            "check": _entry("store_check", "Check that objects, blobs and database agree."),
            "rebuild": _entry("store_rebuild", "Rebuild the database from the objects."),
            "merge": _entry("store_merge", "Copy all records of another store into this one."),
            "cat": _entry("store_cat", "Write the bytes of a blob to standard output."),
            "export": _entry("store_export", "Write the tables as Parquet or JSONL, or trajectories as ATIF."),
        },
    ),
    "doctor": _entry("doctor", "Show what this machine has and what it lacks."),
}
