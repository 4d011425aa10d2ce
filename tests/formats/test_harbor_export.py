"""Export of packages as Harbor's tasks: complete, graded as here, and refused if Harbor cannot express them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from formats.test_harbor import STEP_FILES, STEPS, harbor
from worksample.box import BoxConfig, Mount
from worksample.errors import UsageError
from worksample.formats.harbor import ExportHarbor, export_harbor, import_harbor
from worksample.formats.harbor.bundled_kit import copy_kit
from worksample.records import Protocol
from worksample.sandboxes import open_box
from worksample.tasks import read_package

STARTER = Path(__file__).parents[2] / "src/worksample/suites/starter/tasks"
ASKS = {"bug-fix-invoice"}
"""Tasks whose graders run the deliverable."""


async def reward(task: Path, output: Path | None, tmp_path: Path) -> float | None:
    """Return the reward of the verifier, run as Harbor does: in its own root, with the deliverables as an artifact."""
    left = tmp_path / "left"
    shutil.rmtree(left, ignore_errors=True)
    left.mkdir()
    if output is not None:
        shutil.copytree(output, left, dirs_exist_ok=True)
    mounts = (Mount(str(task / "tests"), "/tests"), Mount(str(left), "/task/output"))
    config = BoxConfig(mounts=mounts, python="platform", output="/task/none", writable=("/logs",))
    async with open_box(config) as box:
        done = await box.run(["sh", "/tests/test.sh"], timeout=120)
        if done.returncode:
            return None
        return float(json.loads(await box.read("/logs/verifier/reward.json", 1 << 20))["reward"])


def one_of_each() -> list[object]:
    quick = "incident-report"
    thorough = pytest.mark.thorough(
        quick=f"formats/test_harbor_export.py::test_solution_scores_1_and_no_work_scores_0[{quick}]"
    )
    names = sorted(path.name for path in STARTER.iterdir() if path.name not in ASKS)
    return [pytest.param(name, marks=[] if name == quick else [thorough]) for name in names]


@pytest.mark.box
@pytest.mark.parametrize("name", one_of_each())
async def test_solution_scores_1_and_no_work_scores_0(name: str, tmp_path: Path) -> None:
    for made in export_harbor(STARTER / name, tmp_path / "out"):
        task = Path(made.folder)
        assert made.solution and not made.lacks
        assert (task / "instruction.md").read_text().strip()
        assert await reward(task, task / "solution/output", tmp_path) == 1.0
        assert await reward(task, None, tmp_path) == 0.0


@pytest.mark.box
async def test_failing_grader_writes_no_reward(tmp_path: Path) -> None:
    [made, _] = export_harbor(STARTER / "incident-report", tmp_path / "out")
    task = Path(made.folder)
    shutil.rmtree(task / "tests/reference")
    assert await reward(task, task / "solution/output", tmp_path) is None


def test_exported_manifest_agrees_with_the_package(tmp_path: Path) -> None:
    found = list(export_harbor(STARTER / "incident-report", tmp_path / "out", ExportHarbor(base="base:1")))
    package = read_package(STARTER / "incident-report")
    for made, instance in zip(found, package.instances, strict=True):
        task = Path(made.folder)
        said = tomllib.loads((task / "task.toml").read_text())
        assert said["agent"]["timeout_sec"] == 3600 and said["environment"]["network_mode"] == "no-network"
        assert said["verifier"]["environment_mode"] == "separate" and said["artifacts"] == ["/task/output"]
        assert (task / "instruction.md").read_text() == instance.brief.strip() + "\n"
        assert (task / "environment/Dockerfile").read_text().startswith("FROM base:1\n")
        reference = {path.read_bytes() for path in (task / "tests/reference").rglob("*") if path.is_file()}
        seen = [path for part in ("environment", "instruction.md") for path in [task / part, *(task / part).rglob("*")]]
        assert reference and not any(path.read_bytes() in reference for path in seen if path.is_file())
        grader = [path for path in (task / "tests/grader").rglob("*") if path.is_file()]
        assert not {"cases", "reference", "inputs"} & {
            path.relative_to(task / "tests/grader").parts[0] for path in grader
        }
    with pytest.raises(UsageError, match="exists"):
        list(export_harbor(STARTER / "incident-report", tmp_path / "out"))
    assert len(list(export_harbor(STARTER / "incident-report", tmp_path / "out", ExportHarbor(overwrite=True)))) == 2


def test_features_without_place_in_harbor_are_reported(tmp_path: Path) -> None:
    found = list(export_harbor(STARTER / "bug-fix-invoice", tmp_path / "out"))
    assert [one.folder for one in found] == ["", ""] and "asks the platform" in found[0].lacks[0]
    assert not (tmp_path / "out").exists()


def test_exported_task_imports_as_a_package(tmp_path: Path) -> None:
    [made, _] = export_harbor(STARTER / "sales-cleanup", tmp_path / "out")
    [back] = import_harbor(Path(made.folder), tmp_path / "back")
    assert not back.needs and back.solution
    package = read_package(Path(back.package))
    original = read_package(STARTER / "sales-cleanup").instances[0]
    assert original.brief.strip() in package.instances[0].brief
    assert package.instances[0].environment.limits.time == original.environment.limits.time


def test_bundled_kit_runs_without_worksample(tmp_path: Path) -> None:
    copy_kit(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import worksample.kit as kit, worksample.kit.__main__, worksample.records, worksample.files.config_files\n"
        "[getattr(kit, name) for name in kit.__all__]\n"
        "assert all((one.__file__ or sys.path[0]).startswith(sys.path[0])\n"
        "           for name, one in sys.modules.items() if name.split('.')[0] == 'worksample')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_imported_task_is_exported_unchanged(tmp_path: Path) -> None:
    """Steps, hooks, health checks, tools and skills of a Harbor task survive import, export and import."""
    text = STEPS.replace(
        '[environment]\nnetwork_mode = "no-network"\n',
        """[environment]
network_mode = "allowlist"
allowed_hosts = ["tools.example.com"]
skills_dir = "/skills"
[environment.healthcheck]
command = 'test -e "/srv/ready"'
retries = 7
[[environment.mcp_servers]]
name = "desk"
transport = "stdio"
command = "python3"
args = ["/srv/desk.py", "--quiet"]
[[environment.mcp_servers]]
name = "far"
transport = "streamable-http"
url = "https://tools.example.com/mcp"
[[environment.mcp_servers]]
name = "events"
transport = "sse"
url = "http://localhost:8000/sse"
""",
    )
    [first] = import_harbor(harbor(tmp_path / "in" / "bread", text, **STEP_FILES), tmp_path / "packages")
    assert not first.needs
    [made] = export_harbor(Path(first.package), tmp_path / "out")
    assert made.solution and not made.lacks
    said = tomllib.loads((Path(made.folder) / "task.toml").read_text())
    assert [one["name"] for one in said["steps"]] == ["first-one", "second"]
    assert said["multi_step_reward_strategy"] == "final"
    assert said["steps"][0]["min_reward"] == 0.5 and said["steps"][1]["min_reward"] == {"speed": 0.25}
    assert not (Path(made.folder) / "instruction.md").exists()
    [second] = import_harbor(Path(made.folder), tmp_path / "back")
    assert not second.needs and second.solution
    one, two = (read_package(Path(each.package)) for each in (first, second))
    before, after = one.instances[0].environment, two.instances[0].environment
    same = ("steps", "health", "mcp", "skills", "endpoints", "network", "paths")
    assert {name: getattr(before, name) for name in same} == {name: getattr(after, name) for name in same}
    assert one.collect == two.collect and len(one.collect) == 2
    kept = [package.gradings[Protocol.PROGRAM].settings["verifier"] for package in (one, two)]
    assert kept[0] == kept[1]
    for path in ("tests/first-one/helpers.sh", "steps/first-one/files/setup.sh", "reference/first-one/solve.sh"):
        assert (one.root / path).read_bytes() == (two.root / path).read_bytes()


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('command = ["python3", "/tests/check.py"]\ntests = "tests"', "a verifier other than bash"),
        ('command = ["bash", "/tests/test.sh"]\ntests = "inputs"', "without test.sh"),
        ('command = ["bash", "/tests/test.sh"]\ntests = "tests"\nworkdir = "/srv"', "its own working folder"),
        ('command = ["bash", "/tests/test.sh"]\ntests = "tests"\nsolution = ["make"]', "a solution other than"),
    ],
)
def test_unsupported_verifier_is_reported(table: str, says: str, tmp_path: Path) -> None:
    [made] = import_harbor(harbor(tmp_path / "in" / "bread"), tmp_path / "packages")
    file = Path(made.package) / "task.toml"
    head, _, rest = file.read_text().partition("[grading.program.verifier]\n")
    file.write_text(f"{head}[grading.program.verifier]\n{table}\n\n[[instance]]\n{rest.partition('[[instance]]')[2]}")
    [found] = export_harbor(Path(made.package), tmp_path / "out")
    assert not found.folder and says in " ".join(found.lacks)
