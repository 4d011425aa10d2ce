"""Import of Harbor's tasks: each key of the manifest, missing requirements, and untrusted folders."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli.run_cli import cli
from worksample.errors import ImportFailed, UsageError
from worksample.experiments.planning.agent_compatibility import why_incompatible
from worksample.files import HashSink
from worksample.formats import ReportLine, TransferRequest, find_format
from worksample.formats.harbor import ImportedHarborTask, ImportHarbor, import_harbor
from worksample.formats.harbor.format import OBSTACLES
from worksample.formats.harbor.package_layout import with_uv_from_pypi
from worksample.formats.package_writer import FaultyPackages
from worksample.records import Agent, HealthSpec, McpSpec, Protocol
from worksample.tasks import ingest, read_package
from worksample.tasks.package_files import is_grader_file

OLD = """version = "1.0"
[agent]
timeout_sec = 900.0
[verifier]
timeout_sec = 240
[environment]
allow_internet = false
"""
SERVER = '[[environment.mcp_servers]]\nname = "desk"\n'
FILES = {
    "instruction.md": "Write {{answer}} to /app/answer.",
    "environment/Dockerfile": "FROM debian:12\nRUN true\n",
    "environment/data/one.txt": "1",
    "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "echo 42 > /app/answer\n",
}


def harbor(folder: Path, text: str = OLD, **more: str | None) -> Path:
    """Write a Harbor task. None leaves a file out."""
    for path, content in {"task.toml": text, **FILES, **more}.items():
        if content is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
    return folder


def imported(folder: Path, *, without: bool = False) -> tuple[ImportedHarborTask, dict[str, Any], Path]:
    out = folder.parent / "out"
    (made,) = import_harbor(folder, out, ImportHarbor(without_internet=without, overwrite=True))
    root = Path(made.package)
    return made, tomllib.loads((root / "task.toml").read_text()), root


def test_task_of_oldest_schema_becomes_a_package(tmp_path: Path) -> None:
    made, manifest, root = imported(harbor(tmp_path / "My_Task", OLD + 'memory = "3G"\n'))
    assert made == ImportedHarborTask("my_task", str(root), (), (), solution=True)
    assert manifest["environment"]["limits"] == {"time": 900, "memory": 3 << 30, "disk": 10 << 30, "processes": 1024}
    assert "network" not in manifest["environment"] and manifest["capture"] == {"root": True}
    assert manifest["grading"]["program"]["timeout"] == 240
    verifier = manifest["grading"]["program"]["verifier"]
    assert verifier == {
        "command": ["bash", "/tests/test.sh"],
        "tests": "tests",
        "solution": ["bash", "/solution/solve.sh"],
    }
    [instance] = ingest(read_package(root), HashSink()).instances
    assert "Write {{answer}} to /app/answer." in instance.work.brief and instance.capture.root
    assert not why_incompatible(Agent.of("one", "worker"), instance)
    assert instance.work.environment.image is not None and instance.grading[Protocol.PROGRAM].settings["verifier"]


def test_task_of_newest_schema_becomes_a_package(tmp_path: Path) -> None:
    text = """schema_version = "1.4"
artifacts = ["/app/out.json", {source = "/app/plots", exclude = ["*.tmp"]}]
[task]
name = "org/newest"
description = "The newest"
[environment]
memory_mb = 4096
network_mode = "public"
workdir = "/app"
env = {MODE = "${MODE:-fast}", QUOTED = 'a "b"'}
[agent]
user = "app"
network_mode = "allowlist"
allowed_hosts = ["pypi.org", "*.example.com"]
[verifier]
environment_mode = "separate"
user = 0
[verifier.env]
WANTED = "42"
[verifier.environment]
network_mode = "no-network"
[unknown]
key = 1
"""
    dockerfile = "FROM debian:12\nUSER one\n"
    folder = harbor(
        tmp_path / "newest", text, **{"environment/Dockerfile": dockerfile, "tests/Dockerfile": "FROM debian:12\n"}
    )
    made, manifest, root = imported(folder)
    assert made.needs == () and manifest["title"] == "The newest"
    places = [(one["name"], one["port"]) for one in manifest["environment"]["endpoint"]]
    assert places == [("pypi.org", 443), ("pypi.org", 80), ("*.example.com", 443)]
    verifier = manifest["grading"]["program"]["verifier"]
    assert (verifier["image"], verifier["user"], verifier["env"]) == ("tests", "0", {"WANTED": "42"})
    assert verifier["artifacts"] == ["/app/out.json", "/app/plots", "/logs/artifacts"]
    assert "network" not in verifier and "tests" not in verifier
    lines = (root / "image" / "Dockerfile").read_text().splitlines()
    assert lines[lines.index("USER root") + 2 :] == [
        "USER one",
        'ENV MODE="fast"',
        'ENV QUOTED="a \\"b\\""',
        "WORKDIR /app",
        "USER app",
    ]


@pytest.mark.parametrize(
    ("more", "files", "word"),
    [
        ("", {"environment/docker-compose.yaml": "services: {}"}, "harbor-compose"),
        ("", {"environment/Dockerfile": None}, "harbor-image"),
        ("gpus = 1", {}, "harbor-gpu"),
        ('os = "windows"', {}, "harbor-windows"),
        (
            '[[steps]]\nname = "one"\n[steps.agent]\nuser = "other"',
            {"steps/one/instruction.md": "Do it."},
            "harbor-steps",
        ),
        (
            '[[steps]]\nname = "one"\n[steps.agent]\nnetwork_mode = "public"',
            {"steps/one/instruction.md": "Do it."},
            "harbor-steps",
        ),
        (
            '[[steps]]\nname = "one"\n[[steps]]\nname = "two"',
            {
                "steps/one/instruction.md": "Do it.",
                "steps/one/tests/test.sh": "true",
                "steps/two/instruction.md": "And it.",
                "tests/test.sh": None,
            },
            "harbor-verifier",
        ),
        ('[[environment.mcp_servers]]\nname = "desk"', {}, "harbor-mcp"),
        (f"{SERVER}transport = 'sse'\nurl = 'http://desk:8000/sse'", {}, "harbor-mcp"),
        (f"{SERVER}transport = 'streamable-http'\nurl = 'http://desk:8000/mcp'", {}, "harbor-mcp"),
        (f"{SERVER}transport = 'stdio'", {}, "harbor-mcp"),
        ('[[environment.mcp_servers]]\nname = "My Desk"\ntransport = "stdio"\ncommand = "x"', {}, "harbor-mcp"),
        ('[[verifier.collect]]\ncommand = "true"\nservice = "database"', {}, "harbor-collect"),
        ('env = {KEY = "${KEY}"}', {}, "harbor-variable"),
        ('network_mode = "allowlist"\nallowed_hosts = ["10.0.0.0/8"]', {}, "harbor-hosts"),
        ("", {"environment/.git/config": ""}, "harbor-git"),
        ("", {"tests/test.sh": None}, "harbor-verifier"),
        ('network_mode = "public"', {}, "internet"),
    ],
)
def test_missing_requirement_makes_instance_not_attemptable(
    more: str, files: dict[str, str | None], word: str, tmp_path: Path
) -> None:
    made, _, root = imported(harbor(tmp_path / "task", OLD + more, **files))
    assert made.needs == (word,)
    [instance] = ingest(read_package(root), HashSink()).instances
    assert word in why_incompatible(Agent.of("one", "worker"), instance)
    assert word in OBSTACLES and f"`{word}`" in Path("docs/reference/formats.md").read_text()


def test_tools_skills_and_health_check_are_imported(tmp_path: Path) -> None:
    text = (
        OLD.replace("allow_internet = false", 'network_mode = "allowlist"\nallowed_hosts = ["tools.example.com"]')
        + """skills_dir = "/skills/"
[environment.healthcheck]
command = "test -e /srv/\\"ready\\""
interval_sec = 1
retries = 5
[[environment.mcp_servers]]
name = "desk"
transport = "stdio"
command = "python3"
args = ["/srv/desk.py", "--quiet"]
[[environment.mcp_servers]]
name = "far"
transport = "http"
url = "https://tools.example.com/mcp"
[[environment.mcp_servers]]
name = "events"
url = "http://localhost:8000/sse"
"""
    )
    made, _, root = imported(harbor(tmp_path / "task", text))
    assert made.needs == ()
    [instance] = ingest(read_package(root), HashSink()).instances
    environment = instance.work.environment
    assert environment.skills == "/skills"
    assert environment.health == HealthSpec(command='test -e /srv/"ready"', interval=1, retries=5)
    assert environment.mcp == (
        McpSpec(name="desk", argv=("python3", "/srv/desk.py", "--quiet")),
        McpSpec(name="far", url="https://tools.example.com/mcp"),
        McpSpec(name="events", url="http://localhost:8000/sse", sse=True),
    )
    assert not why_incompatible(Agent.of("one", "worker"), instance)


STEPS = """
schema_version = "1.4"
multi_step_reward_strategy = "final"
artifacts = ["/app/all"]
[environment]
network_mode = "no-network"
[agent]
timeout_sec = 900
[verifier]
timeout_sec = 240
[verifier.env]
ALL = "x"
[[verifier.collect]]
command = "sync"
[[steps]]
name = "First One"
min_reward = 0.5
[steps.agent]
timeout_sec = 30
[steps.verifier]
timeout_sec = 20
[steps.verifier.env]
WANTED = "1"
[[steps.verifier.collect]]
command = "echo state > /app/state"
timeout_sec = 5
[steps.healthcheck]
command = "true"
[[steps]]
name = "second"
artifacts = ["/app/own"]
[steps.min_reward]
speed = 0.25
[steps.verifier]
user = "grader"
[steps.verifier.environment]
docker_image = "debian:12"
network_mode = "no-network"
"""
STEP_FILES = {
    "instruction.md": None,
    "solution/solve.sh": None,
    "tests/helpers.sh": "shared",
    "steps/First One/instruction.md": "Write 1. {{answer}}",
    "steps/First One/workdir/setup.sh": "echo ready > ready",
    "steps/First One/tests/test.sh": "echo 1 > /logs/verifier/reward.txt",
    "steps/First One/solution/solve.sh": "echo 1 > /app/one",
    "steps/second/instruction.md": "Write 2.",
}


def test_steps_are_imported(tmp_path: Path) -> None:
    made, manifest, root = imported(harbor(tmp_path / "steps", STEPS, **STEP_FILES))
    assert made.needs == () and made.solution
    [instance] = ingest(read_package(root), HashSink()).instances
    first, second = instance.work.environment.steps
    assert (first.name, first.brief, first.time) == ("first-one", "Write 1. {{answer}}", 30)
    assert first.health == HealthSpec(command="true") and first.files is not None and second.files is None
    assert second.time == 900 and instance.work.environment.limits.time == 930 + 120
    assert [(one.command, one.step) for one in instance.capture.collect] == [
        ("sync", ""),
        ("echo state > /app/state", "first-one"),
    ]
    verifier = manifest["grading"]["program"]["verifier"]
    one, two = verifier["step"]
    assert verifier["strategy"] == "final"
    assert (one["tests"], one["min_reward"], one["timeout"], one["env"]) == (
        "tests/first-one",
        0.5,
        20,
        {"ALL": "x", "WANTED": "1"},
    )
    assert one["solution"] and "solution" not in two
    assert (two["image"], two["user"], two["timeout"], two["min_reward"]) == (
        "tests/second",
        "grader",
        240,
        {"speed": 0.25},
    )
    assert two["artifacts"] == ["/app/all", "/app/own", "/logs/artifacts"] and "network" not in two
    assert (root / "tests/first-one/helpers.sh").read_text() == "shared"
    assert (root / "tests/second/test.sh").is_file() and "FROM debian:12" in (
        root / "tests/second/Dockerfile"
    ).read_text()
    assert not why_incompatible(Agent.of("one", "worker"), instance)
    apart = frozenset(read_package(root).apart)
    assert is_grader_file("tests/first-one/test.sh", apart) and not is_grader_file("steps/first-one/brief.md", apart)


def test_unreadable_steps_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=r"(?s)no instruction\.md.*next: correct the task"):
        imported(harbor(tmp_path / "a", OLD + "[[steps]]\nname = 'one'\n", **{"steps/one/tests/test.sh": "true"}))
    two = OLD + "[[steps]]\nname = 'one'\n[[steps]]\nname = 'One'\n"
    files = {"steps/one/instruction.md": "x", "steps/One/instruction.md": "y"}
    with pytest.raises(ImportFailed, match="the same name one"):
        imported(harbor(tmp_path / "b", two, **files))


def test_verifier_with_environment_is_separate_and_without_own_tests_fresh(tmp_path: Path) -> None:
    text = OLD + "[verifier.environment]\nmemory_mb = 512\n"
    verifier = imported(harbor(tmp_path / "task", text))[1]["grading"]["program"]["verifier"]
    assert verifier["fresh"] is True and verifier["tests"] == "tests" and verifier["artifacts"] == ["/logs/artifacts"]


def test_removed_internet_is_reported(tmp_path: Path) -> None:
    text = OLD.replace("allow_internet = false\n", "")  # unset means all of it
    assert imported(harbor(tmp_path / "task", text))[0].needs == ("internet",)
    made, manifest, _ = imported(harbor(tmp_path / "task", text), without=True)
    assert made.needs == () and made.substituted == ("no network for the whole internet",)
    assert "substituted: no network for the whole internet" in manifest["about"]["tags"]
    assert manifest["grading"]["program"]["verifier"]["network"] == "registries"  # unset for the verifier, too


@pytest.mark.parametrize(
    "line",
    [
        "curl -LsSf https://astral.sh/uv/0.9.5/install.sh | sh",
        "RUN curl -LsSf https://astral.sh/uv/install.sh | env UV_INSTALL_DIR=/usr/local/bin sh",
        "wget -qO- https://astral.sh/uv/install.sh | sh && source $HOME/.local/bin/env",
    ],
)
def test_uv_by_curl_is_replaced_by_pypi(line: str, tmp_path: Path) -> None:
    text, changed = with_uv_from_pypi(f"apt-get install -y curl\n{line}\nuvx pytest\n")
    assert changed and "astral.sh" not in text and "pip install" in text and "uvx pytest" in text
    assert text.endswith("source $HOME/.local/bin/env\nuvx pytest\n") == ("source" in line)
    assert imported(harbor(tmp_path / "task", **{"tests/test.sh": line}))[0].substituted == ("uv from PyPI",)
    assert with_uv_from_pypi("curl https://example.com | sh") == ("curl https://example.com | sh", False)


def test_untrusted_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    folder = harbor(tmp_path / "task")
    (folder / "environment" / "out").symlink_to(tmp_path / "secret")
    with pytest.raises(ImportFailed, match="leads out of the folder"):
        imported(folder)
    (folder / "environment" / "out").unlink()
    (folder / "environment" / "inside").symlink_to("data/one.txt")
    assert (imported(folder)[2] / "image" / "inside").read_text() == "1"
    for text, says in (("agent = 3", "agent"), ("[agent", "TOML"), (OLD + 'memory = "much"', "not a size")):
        with pytest.raises(
            ImportFailed, match=rf"(?s){says}.*next: correct the task, then worksample import harbor --overwrite"
        ):
            imported(harbor(folder, text))


def test_names_stay_distinct_and_existing_packages_are_kept(tmp_path: Path) -> None:
    for path in ("a/Same Name", "b/same-name"):
        harbor(tmp_path / "in" / path)
    made = import_harbor(tmp_path / "in", tmp_path / "out")
    names = {one.name for one in made}
    assert "same-name" in names and len(names) == 2 and made[0].name.startswith("same-name")
    note = tmp_path / "out" / "same-name" / "mine.txt"
    note.write_text("kept")
    again = import_harbor(tmp_path / "in", tmp_path / "out")
    assert (again.written, set(again.there), note.read_text()) == ((), names, "kept")
    assert len(import_harbor(tmp_path / "in", tmp_path / "out", ImportHarbor(overwrite=True))) == 2
    assert not note.exists()
    with pytest.raises(UsageError, match="no Harbor task"):
        import_harbor(tmp_path / "out2", tmp_path / "out")


def test_faulty_task_stops_no_other_and_next_import_continues(tmp_path: Path) -> None:
    for name in ("one", "three"):
        harbor(tmp_path / "in" / name)
    broken = harbor(tmp_path / "in" / "a-broken", "[agent")
    latin = harbor(tmp_path / "in" / "latin")
    (latin / "instruction.md").write_bytes(b"Gr\xfc\xdfe")
    with pytest.raises(FaultyPackages) as caught:
        import_harbor(tmp_path / "in", tmp_path / "out")
    found = caught.value.packages
    assert [one.name for one in found] == ["one", "three"] and set(found.faults) == {"a-broken", "latin"}
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"one", "three"}
    assert import_harbor(tmp_path / "in", tmp_path / "out", ImportHarbor(skip_faulty=True)).there == ("one", "three")
    (broken / "task.toml").write_text(OLD)
    (latin / "instruction.md").write_text("Greet", encoding="utf-8")
    again = import_harbor(tmp_path / "in", tmp_path / "out")
    assert ([one.name for one in again], again.there) == (["a-broken", "latin"], ("one", "three"))


def test_report_proposes_only_packages_that_can_be_attempted(tmp_path: Path) -> None:
    harbor(tmp_path / "in" / "a-gpu", OLD + "gpus = 1")
    alone = cli("import", "harbor", tmp_path / "in", tmp_path / "out")
    assert "none of them can be attempted here; the reason for a-gpu: harbor-gpu (a GPU or TPU)" in alone.stdout
    assert "next:" not in alone.stdout
    harbor(tmp_path / "in" / "b-plain", OLD)
    both = cli("import", "harbor", tmp_path / "in", tmp_path / "out", "--overwrite")
    assert f"next: worksample task check {tmp_path}/out/b-plain" in " ".join(both.stdout.split())


@pytest.mark.parametrize(
    ("test", "live"),
    [
        ("curl -f http://localhost:8080/x", True),
        ("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 80))'", True),
        ("exec 3<>/dev/tcp/0.0.0.0/80", True),
        ("grep -q 127.0.0.10 /app/hosts", False),
        ("test -e /app/out", False),
    ],
)
def test_tests_that_name_the_loopback_run_while_the_agents_programs_run(tmp_path: Path, test: str, live: bool) -> None:
    found, _, _ = imported(harbor(tmp_path / "task", **{"tests/test.sh": test}))
    assert found.live is live


def test_tasks_that_need_the_internet_are_counted_with_the_option_that_helps(tmp_path: Path) -> None:
    harbor(tmp_path / "in" / "one", "[environment]\nallow_internet = true\n")
    importer = find_format("harbor").importer
    assert importer is not None
    report = importer.run(TransferRequest(tmp_path / "in", tmp_path / "out", {}))
    lines = [part.text for part in report.parts if isinstance(part, ReportLine)]
    assert "1 more can be attempted without the internet: --without-internet" in lines
