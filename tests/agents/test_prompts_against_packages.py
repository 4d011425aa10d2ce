"""No prompt says anything false about its task: each sentence is held against the package's own files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import worksample
from formats.ale_checkout import add_data, add_package
from formats.job_rows import row, write_csv
from formats.tac_small_repository import write_repository
from formats.test_harbor import OLD, STEP_FILES, STEPS, harbor
from worksample.agents import PRESETS, define, show_prompts
from worksample.files import HashSink
from worksample.files.shown_formats import SHOWN_FORMATS
from worksample.tasks import Package, ingest, read_package

ROOT = Path(worksample.__file__).parents[2]
SHIPPED = [p.parent for p in sorted((ROOT / "src/worksample/suites").glob("*/tasks/*/task.toml"))]
EXAMPLES = [p.parent for p in sorted((ROOT / "examples").glob("*/task.toml"))]


def claims(text: str, table: dict[str, Any], package: Package, name: str) -> Iterator[tuple[str, bool]]:
    """Each claim of the prompt's system part about the task, and whether the package bears it out."""
    told, _, work = text.partition("\n\n# The work\n\n")
    environment, capture = table.get("environment", {}), table.get("capture", {})
    paths = environment.get("paths", {})
    spec = next(one for one in package.instances if one.name == name)
    inputs = any(p.is_file() for p in (package.root / spec.inputs).rglob("*")) if spec.inputs else False
    company = (package.root / environment["company"]).resolve() if "company" in environment else None
    chat = (
        company is not None
        and "chat" in environment.get("services", [])
        and any((company / "colleagues").glob("*.toml"))
    )
    interfaces = environment.get("interfaces", ["terminal"])
    protocols = set(table["grading"])
    changes = capture.get("root") or environment.get("network") == "workplace"
    exported = environment.get("network") == "workplace" or any(
        one.get("export", True) for one in environment.get("service", [])
    )
    yield "the brief is whole", spec.brief.strip().splitlines()[0] in work
    yield "questions", ("Questions in this conversation are not answered" in told) == (not chat)
    yield "colleagues", ("colleagues may answer in the company's chat" in told) == chat
    yield "input files", (f"Input files are in {paths.get('input', '/task/input')} (read-only)" in told) == inputs
    yield "no input files", ("There are no input files" in told) == (not inputs)
    yield "only output", ("only files in that folder are handed in" in told) == (not changes and not exported)
    yield "changes in the system", ("files anywhere in the system" in told) == bool(capture.get("root"))
    yield "services", ("their state is recorded" in told) == exported
    yield "output", paths.get("output", "/task/output") in told
    yield "probes", ("programs examine the state" in told) == bool(package.probes)
    yield "no network", ("There is no internet access" in told) == (environment.get("network", "none") == "none")
    yield "browser", ("You have a browser" in told) == ("browser" in interfaces)
    yield "desktop", ("You have a desktop" in told) == ("desktop" in interfaces)
    yield "skills", ("Skills for this work" in told) == bool(environment.get("skills"))
    seen = bool(protocols & {"rubric", "holistic", "pairwise"}) or 'by = "person"' in _criteria(package.root)
    yield "viewer", ("open your deliverables in a viewer" in told) == seen
    yield "steps", ("It ends this step" in told) == bool(environment.get("step"))
    software = re.search(r"installed for the work: ([^.]*(?:\.\w[^.]*)*)\.", told)
    named = software[1].split(", ") if software else []
    yield "software", sorted(named) == sorted(dict.fromkeys(environment.get("software", [])))
    for host, port in re.findall(r"http://([a-z0-9.-]+):(\d+)(?=\n|$)", told.partition("addresses that only")[2]):
        services = [*environment.get("services", []), *environment.get("dialects", [])]
        own = [(e["name"], e.get("port", 443)) for e in environment.get("endpoint", [])]
        yield f"{host}:{port}", host in services or (host, int(port)) in own


def _criteria(root: Path) -> str:
    path = root / "criteria.toml"
    return path.read_text() if path.is_file() else ""


def false_claims(folder: Path) -> list[str]:
    package = read_package(folder)
    table = tomllib.loads((folder / "task.toml").read_text())
    agent, found = define(harness="worker", model="provider/model"), []
    for instance in ingest(package, HashSink()).instances:
        own: dict[str, Any] = next((one for one in table.get("instance", []) if one["name"] == instance.name), {})
        whole = table.get("environment", {})
        paths = {**whole.get("paths", {}), **own.get("paths", {})}
        merged = {**table, "environment": {**whole, "paths": paths}}
        steps = [one.brief for one in instance.work.environment.steps]
        for number, text in enumerate(show_prompts(agent, instance)):
            for claim, true in claims(text, merged, package, instance.name):
                if not true and not (steps and claim == "the brief is whole"):
                    found.append(f"{instance.key}: {claim}")
            if steps and steps[number].strip() not in text:
                found.append(f"{instance.key}: the step's instruction")
    return found


@pytest.mark.parametrize("folder", [*SHIPPED, *EXAMPLES], ids=lambda folder: folder.name)
def test_prompt_of_a_shipped_task_is_true(folder: Path) -> None:
    assert not false_claims(folder)


@pytest.mark.parametrize("task", ["old", "steps", "skills"])
def test_prompt_of_an_imported_harbor_task_is_true(task: str, tmp_path: Path) -> None:
    from worksample.formats.harbor import ImportHarbor, import_harbor

    more: dict[str, Any] = {"steps": {"text": STEPS, **STEP_FILES}, "old": {}}.get(task, {})
    if task == "skills":
        more = {"text": OLD + 'skills_dir = "/srv/skills"\n'}
    [made] = import_harbor(harbor(tmp_path / task, **more), tmp_path / "out", ImportHarbor(overwrite=True))
    assert not false_claims(Path(made.package))


def test_prompts_of_imported_company_tasks_are_true(tmp_path: Path) -> None:
    from worksample.formats.tac.original_import import import_original

    made = import_original(write_repository(tmp_path / "copy"), tmp_path / "tac")
    assert made
    assert not [claim for root in made for claim in false_claims(Path(root))]


def test_prompt_of_an_imported_ale_task_is_true(tmp_path: Path) -> None:
    from worksample.formats.ale import list_packages, read_checkout
    from worksample.formats.ale.task_import import import_ale

    checkout = tmp_path / "ale"
    add_package(checkout, "finance/sums")
    add_data(tmp_path / "data", "finance/sums", input__numbers_csv="1,2\n")
    listings = list_packages(read_checkout(checkout), checkout)
    assert import_ale(listings, checkout, tmp_path / "out", data=tmp_path / "data")
    for one in tmp_path.glob("out/**/task.toml"):
        assert not false_claims(one.parent)


def test_prompts_of_imported_jobs_are_true(tmp_path: Path) -> None:
    from worksample.formats.jobs import ImportJobs, import_jobs

    import_jobs(write_csv(tmp_path / "jobs.csv", [row(attachments="[]")]), tmp_path / "out", ImportJobs())
    folders = [one.parent for one in tmp_path.glob("out/**/task.toml")]
    assert folders
    assert not [claim for folder in folders for claim in false_claims(folder)]


def test_prompt_names_each_format_of_the_viewer(tmp_path: Path) -> None:
    from worksample.records import Protocol
    from worksample.tasks import scaffold

    made = scaffold(tmp_path, "poster", title="A poster", protocol=Protocol.HOLISTIC)
    [instance, *_] = ingest(read_package(made), HashSink()).instances
    [text] = show_prompts(define(harness="worker", model="provider/model"), instance)
    for one in SHOWN_FORMATS:
        assert f"{one.title} ({' '.join(one.extensions)})" in text
    assert "Programs check the result" not in text


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_each_preset_has_a_prompt(preset: str) -> None:
    [instance, *_] = ingest(read_package(SHIPPED[0]), HashSink()).instances
    [text] = show_prompts(define(preset=preset, model="provider/model"), instance)
    assert instance.work.brief.strip() in text
