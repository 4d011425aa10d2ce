"""Common mistakes: each message names fault, place and next command, all in one form."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, cli, here
from worksample.records import Protocol
from worksample.store import Store
from worksample.tasks import scaffold

GOOD = ("--agent", "scripted", "--script", SCRIPTS / "good")
SPEECH = re.compile(r"Traceback|pydantic|Input should|validation error|type=|Errno|Usage:")
"""What no message of ours has in it."""
FILES = {
    "broken.toml": b'suite = "starter"\nagents = [\n',
    "keys.toml": b'suite = "starter"\nrepeat = 3\n[[agents]]\nharness = "worker"\nmodle = "openai/gpt-5"\n',
    "broken.yaml": b"suite: starter\n  agents: [\n",
    "picture.toml": b"\x89PNG\r\n",
    "jobs.csv": b"a,b\n1,2\n",
    "empty.csv": b"",
    "endless.csv": b"id,description,amount\nj1,Write about trees,inf\n",
    "twins.toml": f"""tasks = ["{TINY}/tasks/sums"]
[[agents]]
name = "ann"
harness = "scripted"
script = "{SCRIPTS}/good"
[[agents]]
name = "ann"
harness = "scripted"
script = "{SCRIPTS}/bad"
""".encode(),
}
HANDED = (
    "submit", ".", "--task", TINY / "tasks" / "sums", "--instance", "small", "--entrant", "eva", "--origin", "external",
)  # fmt: skip


def model(name: str, *more: object) -> list[object]:
    return ["run", "--suite", TINY, "--agent", "worker", "--model", name, *more]


# What is typed -> words of the answer, the next step's among them.
MISTAKES: dict[str, tuple[list[object], list[str]]] = {
    "a model without its provider": (model("gpt-5"), ["has no provider", "--model openai/gpt-5"]),
    "a provider misspelt": (model("openia/gpt-5"), ["there is no provider 'openia'", "--model openai/gpt-5"]),
    "a client not installed": (model("mistral/mistral-large"), ["pip install mistralai"]),
    "no key": (model("openai/gpt-5"), ["OPENAI_API_KEY", "export OPENAI_API_KEY="]),
    "no address of a local model": (model("openai-api/local/x"), ["LOCAL_BASE_URL", "--base-url http"]),
    "an address without http": (model("openai/gpt-5", "--base-url", "localhost:1"), ["begins with http://"]),
    "a price for another name": (
        model("openai/gpt-5", "--price", "gpt-5=1,2", "--limit-cost", 1),
        ["openai/gpt-5 has no price", "prices were given for gpt-5", "--price openai/gpt-5="],
    ),
    "half a price": (model("openai/gpt-5", "--price", "openai/gpt-5=1"), ["gives only one figure", "--price openai"]),
    "a model's argument without =": (model("openai/gpt-5", "--model-arg", "x"), ["--model-arg KEY=VALUE"]),
    "a key among arguments": (
        model("openai/gpt-5", "--model-arg", "api_key=x"), ["keep keys out of it", "OPENAI_API_KEY"],
    ),
    "a file that is not there": (["run", "study.toml"], ["FILE: File 'study.toml' does not exist", "run --help"]),
    "a folder as a file": (["run", "."], ["is a directory", "run --help"]),
    "TOML that is none": (["run", "broken.toml"], ["broken.toml", "is not TOML"]),
    "YAML that is none": (["run", "broken.yaml"], ["broken.yaml", "is not YAML", "line 2"]),
    "a picture as a file": (["run", "picture.toml"], ["is not UTF-8"]),
    "a table as a file": (["run", "jobs.csv"], ["must end in .toml", "--suite NAME"]),
    "keys misspelt": (["run", "keys.toml"], ["did you mean 'model'", "did you mean 'repeats'"]),
    "scripts that are not there": (
        ["run", "--suite", TINY, "--agent", "scripted", "--script", "no"],
        ["no is not a folder of scripts"],
    ),
    "a folder without scripts": (
        ["run", "--suite", TINY, "--agent", "scripted", "--script", TINY / "tasks" / "sums"],
        ["unknown key", "folder of scripts"],
    ),
    "an agent's file that is not there": (
        ["run", "--suite", TINY, "--agent", "no.toml"], ["no.toml: no such file", "next: ls "],
    ),
    "a mapping that is not there": (
        ["import", "jobs", "jobs.csv", "out", "--map", "nocol.toml"], ["error: nocol.toml: no such file", "next: ls "],
    ),
    "a mapping misspelt": (
        ["advise", "jobs.csv", "--map", "key.toml"], ["error: key.toml: no such file; did you mean 'keys.toml'?"],
    ),
    "questions that are not there": (["jobs", "qualify", TINY, "--questions", "q.toml"], ["q.toml: no such file"]),
    "a task's file for its folder": (
        ["run", "--task", TINY / "tasks" / "sums" / "task.toml", *GOOD],
        ["a task is a folder", "--task "],
    ),
    "a sandbox that there is not": (["run", "--suite", TINY, *GOOD, "--sandbox", "jail"], ["bubblewrap, docker, none"]),
    "an option that there is not": (["run", "--limit-dollars", 3], ["--limit-dollars", "run --help"]),
    "a verb misspelt": (["task", "chek"], ["Did you mean 'check'", "worksample task --help"]),
    "an argument forgotten": (["compare", "a"], ["Missing argument 'B'", "compare --help"]),
    "an option forgotten": (["amend", "strike", "trial", "x"], ["--reason", "amend --help"]),
    "an agent that did not work": (["compare", "a", "b"], ["no experiment", "worksample"]),
    "an experiment that there is not": (["report", "nope"], ["no experiment", "worksample demo"]),
    "part of another demo": (["demo", "feedback", "--only", "*/shop"], ["--only selects", "worksample demo feedback"]),
    "no digest": (["store", "cat", "x"], ["is not a digest", "copy the whole digest"]),
    "a trial that there is not": (["amend", "strike", "trial", "x", "--reason", "y"], ["no trial", "worksample list"]),
    "a column's name": (["metrics", "--where", "colour=red"], ["'colour'", "--where with agent"]),
    "work without a name": (["submit", ".", "--task", TINY / "tasks" / "sums"], ["--entrant", "worksample submit"]),
    "minutes below none": ([*HANDED, "--minutes", "-5"], ["'-5' is neither a number of 0 or more", "submit --help"]),
    "a cost without end": ([*HANDED, "--cost", "inf"], ["'inf' is neither a number of 0 or more", "submit --help"]),
    "work of a day to come": ([*HANDED, "--date", "2999-01-01"], ["2999-01-01, is in the future", "--date YYYY"]),
    "a price without end": (["import", "jobs", "endless.csv", "out"], ["'inf' is not a number", "--skip-faulty"]),
    "two agents of one name": (["run", "twins.toml"], ["several agents share a name: ann", "its own name"]),
    "a table without names": (
        ["import", "jobs", "empty.csv", "out"],
        ["names no columns", "write the names of the columns into it"],
    ),
    "a suite that there is not": (["suite", "show", "beginner"], ["no suite 'beginner'", "starter"]),
    "an id with a blank": (["task", "new", "My Task"], ["not a task's id", "lower case"]),
    "a task that is there": (["task", "new", "taken"], ["exists already", "another"]),
    "an image that is none": (["image", "check", "taken"], ["neither an OCI layout", "skopeo"]),
    "a store nobody can make": (["run", "--suite", TINY, *GOOD, "--store", "jobs.csv/x"], ["jobs.csv/x", "place"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that are wrong, and a store in which nothing was run."""
    folder = tmp_path_factory.mktemp("mistakes")
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    (folder / "taken").mkdir()
    Store.open(folder / ".worksample", create=True).close()
    return folder


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_reported_with_a_next_command(mistake: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, says = MISTAKES[mistake]
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    if "local" in mistake:
        monkeypatch.setenv("LOCAL_API_KEY", "none")
    elif "no key" not in mistake:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    before = sorted(p.name for p in place.iterdir())
    done = cli(*words, cwd=place)
    lines = done.stderr.splitlines()
    while lines and lines[0].endswith(" ..."):  # what it was at
        del lines[0]
    assert done.returncode in (1, 2), done.stdout
    assert lines[0].startswith("error: ") and lines[-1].startswith("  next: "), done.stderr
    told = " ".join(done.stderr.split())
    assert [word for word in says if word not in told] == [], told
    assert not SPEECH.search(done.stderr), told
    assert sorted(p.name for p in place.iterdir()) == before


def test_unwritable_report_is_refused(place: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert cli("run", "--task", TINY / "tasks" / "sums", *GOOD, "--store", store, "--sandbox", "none").returncode == 0
    done = cli("report", "--out", "jobs.csv/report", "--store", store, cwd=place)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "jobs.csv/report: Not a directory" in done.stderr and "next: give a path" in done.stderr


def test_tasks_without_a_common_protocol_name_possible_runs(tmp_path: Path) -> None:
    for name, protocol in (("read", Protocol.RUBRIC), ("seen", Protocol.HOLISTIC), ("summed", Protocol.PROGRAM)):
        scaffold(tmp_path, name, protocol=protocol)
    words = ["--task", "read", "--task", "seen", "--task", "summed", *GOOD, "--dry-run"]
    done = cli("run", *words, cwd=tmp_path)
    assert done.returncode == 1 and "no protocol in common" in done.stderr
    for run in ("--protocol rubric --only read", "--protocol holistic --only seen", "--protocol program --only summed"):
        assert run in done.stderr
    done = cli("run", *words, "--protocol", "program", cwd=tmp_path)
    assert "has no grading under protocol program" in done.stderr and "4 of 6 instances lack it" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--suite", "startr", "--agent", "worker", "--model", "openai/x"), "did you mean 'starter'?"),
        (("--suite", "starter", "--agent", "workr", "--model", "openai/x"), "did you mean 'worker'?"),
        (("--suite", "starter", "--agent", "upbnch", "--model", "openai/x"), "did you mean 'upbench'?"),
        (("--suite", "starter", "--agent", "worker"), "harness worker needs a model"),
        (("--task", "nowhere", "--agent", "worker", "--model", "openai/x"), "there is no such folder"),
    ],
)
def test_wrong_name_is_reported_before_tasks_are_read(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = here("run", *words, "--store", tmp_path / "s")
    assert done.returncode == 1
    assert said in done.stderr
    assert "planning the trials" not in done.stderr


def test_dry_run_reports_an_unavailable_model(tmp_path: Path) -> None:
    words = ("run", "--suite", TINY, "--agent", "worker", "--model", "nobodys/model", "--dry-run")
    done = here(*words, "--store", tmp_path / "s")
    assert done.returncode == 0, done.stderr
    assert "2 tasks x 1 repeat cannot show any difference between two agents: too few tasks" in done.stderr
    assert "the run would be refused: there is no provider 'nobodys'" in done.stderr
    refused = json.loads(here(*words, "--store", tmp_path / "s", "--json").stdout)["refused"]
    assert refused["next"].startswith("--model PROVIDER/MODEL")
