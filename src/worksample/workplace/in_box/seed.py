"""Program that fills the state of the services with a company, once. It uses the services' own importers, or writes the
files that the services use.

    python3 -m in_box.seed STATE --plan PLAN.json --company FOLDER --services chat,tracker,...

It runs in a box and imports only the standard library. `worksample.workplace.seed_plan` makes the plan.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from .company_time import CompanyTime, preload_variables
from .file_trees import copy_writable
from .ports import RUN
from .seed_dialects import write_tables
from .supervisor import HERE

Plan = dict[str, Any]
TRACKER_IDS = Path("/tmp/tracker-ids.json")
"""File with the numbers that the tracker gave to what the plan names."""


def run_or_exit(argv: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a program. If it fails, exit this process with the program's output."""
    done = subprocess.run(argv, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, check=False)
    if done.returncode:
        said = (done.stderr + done.stdout).decode("utf-8", "replace").strip()
        sys.exit(f"{argv[0]} ended with exit status {done.returncode}: {said[:2000]}")


def seed_chat(state: Path, plan: Plan, plan_file: Path) -> None:
    """Create the accounts and rooms of the chat through the chat's own interfaces."""
    folder = state / "chat"
    folder.mkdir()
    keys = ("id", "name", "role", "responsibilities", "project", "bio", "admin")
    shown = [{key: one[key] for key in keys} for one in plan["people"]]
    (folder / "people.json").write_text(json.dumps(shown, ensure_ascii=False), encoding="utf-8")
    lines = "".join(f"{one['id']}@workplace={one['name']}\n" for one in plan["people"])
    (folder / "groups.txt").write_text(f"[+{plan['name'].replace(']', '')}]\n{lines}", encoding="utf-8")
    env = {"WORKPLACE_STATE": str(state), "WORKPLACE_PROGRAMS": str(HERE), "WORKPLACE_PLAN": str(plan_file)}
    done = subprocess.run(
        ["prosody", "--config", str(HERE / "prosody" / "prosody.cfg.lua"), "-F"],
        env={**os.environ, **env, **preload_variables()}, capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    if "seeded" not in done.stdout.decode("utf-8", "replace").splitlines():
        sys.exit(f"the chat could not be seeded: {said[-2000:]}")


def seed_tracker(state: Path, plan: Plan, plan_file: Path) -> None:
    """Fill the tracker's database through Redmine's own models."""
    (state / "tracker").mkdir()
    home = Path("/var/lib/redmine/default")
    for name in ("config", "log", "tmp", "files"):
        (home / name).mkdir(parents=True, exist_ok=True)
    (home / "config" / "database.yml").write_text(
        f"production:\n  adapter: sqlite3\n  database: {state}/tracker/tracker.sqlite\n", encoding="utf-8"
    )
    run_or_exit(
        ["ruby", str(HERE / "redmine.rb"), "seed", str(plan_file), str(TRACKER_IDS)],
        env={"SECRET_KEY_BASE": os.urandom(64).hex()},
    )


def seed_files(state: Path, company: Path) -> None:
    """Copy the company's documents to the documents service."""
    if (company / "files").is_dir():
        copy_writable(company / "files", state / "files")
    else:
        (state / "files").mkdir()


def seed_repositories(state: Path, plan: Plan, company: Path) -> None:
    """Create the repositories with their history. The same company folder always gives the same commits."""
    (state / "git").mkdir()
    people = {one["id"]: one for one in plan["people"]}
    for repository in plan["repositories"]:
        bare, work = state / "git" / f"{repository['id']}.git", Path("/tmp/git") / repository["id"]
        work.mkdir(parents=True)
        env = {"HOME": "/tmp/git", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TEMPLATE_DIR": ""}
        main = repository["default"]
        run_or_exit(["git", "init", "-q", "-b", main, str(work)], env=env)
        begun = {main}
        for commit in repository["commits"]:
            branch = commit["branch"] or main
            if len(begun) > 1 or branch != main:
                start = [branch] if branch in begun else ["-b", branch, main]
                run_or_exit(["git", "checkout", "-q", *start], cwd=work, env=env)
            begun.add(branch)
            if commit["files"]:
                copy_writable(company / "repositories" / repository["id"] / commit["files"], work)
            for gone in commit["remove"]:
                (work / gone).unlink()
            run_or_exit(["git", "add", "-A"], cwd=work, env=env)
            by = people[commit["by"]]
            author = {
                f"GIT_{role}_{key}": value
                for role in ("AUTHOR", "COMMITTER")
                for key, value in (("NAME", by["name"]), ("EMAIL", by["mail"]), ("DATE", commit["at"]))
            }
            run_or_exit(
                ["git", "commit", "-q", "--allow-empty", "-m", commit["message"]], cwd=work, env={**env, **author}
            )
            if commit["tag"]:
                # A release is an annotated tag, as in GitLab's dialect.
                notes = ["-a", "-m", commit["release"]] if commit["release"] else []
                run_or_exit(["git", "tag", *notes, commit["tag"]], cwd=work, env={**env, **author})
        if len(begun) > 1:
            run_or_exit(["git", "checkout", "-q", main], cwd=work, env=env)
        run_or_exit(["git", "clone", "-q", "--bare", str(work), str(bare)], env=env)
        for key, value in (("http.receivepack", "true"), ("gc.auto", "0"), ("receive.autogc", "false")):
            run_or_exit(["git", "config", key, value], cwd=bare, env=env)
        run_or_exit(["git", "config", "--remove-section", "remote.origin"], cwd=bare, env=env)
        (bare / "description").write_text(repository["about"] + "\n", encoding="utf-8")


def seed_dialects(state: Path, plan: Plan) -> None:
    """Write people's names for the pages, and the further names and tokens that `dialects/accounts.py` reads."""
    known = {
        "names": {name: one["id"] for one in plan["people"] for name in one["also"]},
        "tokens": {token: one["id"] for one in plan["people"] for token in one["tokens"]},
    }
    (state / "dialects").mkdir()
    shown = [
        {"id": n, "login": one["id"], "name": one["name"], "mail": one["mail"]}
        for n, one in enumerate(plan["people"], 1)
    ]
    (state / "dialects" / "people.json").write_text(json.dumps(shown, ensure_ascii=False), encoding="utf-8")
    if any(known.values()):
        (state / "dialects" / "accounts.json").write_text(json.dumps(known), encoding="utf-8")


def seed_calendar(state: Path, plan: Plan) -> None:
    """Write a calendar for each person in Radicale's file format."""
    root = state / "calendar" / "collection-root"
    root.mkdir(parents=True)
    for one in plan["calendars"]:
        folder = root / one["owner"] / "calendar"
        folder.mkdir(parents=True)
        props = {"tag": "VCALENDAR", "D:displayname": one["name"]}
        (folder / ".Radicale.props").write_text(json.dumps(props), encoding="utf-8")
        for event in one["events"]:
            (folder / f"{event['uid']}.ics").write_bytes(event["ics"].encode())


def main() -> None:
    """Fill the state of the services that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    for name in ("plan", "company", "services"):
        parser.add_argument(f"--{name}", required=True, type=Path if name != "services" else str)
    given = parser.parse_args()
    plan = json.loads(given.plan.read_text(encoding="utf-8"))
    state: Path = given.state
    state.mkdir(exist_ok=True)
    RUN.mkdir(exist_ok=True)
    CompanyTime().set(datetime.fromisoformat(f"{plan['today']}+00:00").timestamp())
    fill: dict[str, Callable[[], None]] = {
        "git": lambda: seed_repositories(state, plan, given.company),
        "tracker": lambda: seed_tracker(state, plan, given.plan),
        "chat": lambda: seed_chat(state, plan, given.plan),
        "files": lambda: seed_files(state, given.company),
        "calendar": lambda: seed_calendar(state, plan),
    }
    for name, work in fill.items():
        if name in given.services.split(","):
            work()
    seed_dialects(state, plan)
    write_tables(state, plan, json.loads(TRACKER_IDS.read_bytes()) if TRACKER_IDS.exists() else {})
    shutil.rmtree("/tmp/git", ignore_errors=True)


if __name__ == "__main__":
    main()
