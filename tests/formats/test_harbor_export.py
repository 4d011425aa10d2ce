"""Packages as Harbor's tasks: complete in themselves, graded there as here, and refused where Harbor has no place."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from worksample.box import BoxConfig, Mount, open_box
from worksample.errors import UsageError
from worksample.formats.harbor import ExportHarbor, export_harbor, import_harbor
from worksample.formats.harbor.bundled_kit import carry_kit
from worksample.tasks import read_package

STARTER = Path(__file__).parents[2] / "src/worksample/suites/starter/tasks"
ASKS = {"bug-fix-invoice"}
"""Their graders run what was delivered."""


async def reward(task: Path, output: Path | None, tmp_path: Path) -> float | None:
    """What the verifier leaves, run as Harbor does: alone in its own root, with the work as an artifact."""
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
        quick=f"formats/test_harbor_export.py::test_a_solution_scores_full_and_nothing_0[{quick}]"
    )
    names = sorted(path.name for path in STARTER.iterdir() if path.name not in ASKS)
    return [pytest.param(name, marks=[] if name == quick else [thorough]) for name in names]


@pytest.mark.box
@pytest.mark.parametrize("name", one_of_each())
async def test_a_solution_scores_full_and_nothing_0(name: str, tmp_path: Path) -> None:
    for made in export_harbor(STARTER / name, tmp_path / "out"):
        task = Path(made.folder)
        assert made.solution and not made.lacks
        assert (task / "instruction.md").read_text().strip()
        assert await reward(task, task / "solution/output", tmp_path) == 1.0
        assert await reward(task, None, tmp_path) == 0.0


@pytest.mark.box
async def test_a_grader_that_fails_leaves_no_reward(tmp_path: Path) -> None:
    [made, _] = export_harbor(STARTER / "incident-report", tmp_path / "out")
    task = Path(made.folder)
    shutil.rmtree(task / "tests/reference")
    assert await reward(task, task / "solution/output", tmp_path) is None


def test_what_is_written_says_what_the_package_says(tmp_path: Path) -> None:
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


def test_what_harbor_has_no_place_for_is_said_and_not_written(tmp_path: Path) -> None:
    found = list(export_harbor(STARTER / "bug-fix-invoice", tmp_path / "out"))
    assert [one.folder for one in found] == ["", ""] and "asks the platform" in found[0].lacks[0]
    assert not (tmp_path / "out").exists()


def test_what_comes_back_is_a_package(tmp_path: Path) -> None:
    [made, _] = export_harbor(STARTER / "sales-cleanup", tmp_path / "out")
    [back] = import_harbor(Path(made.folder), tmp_path / "back")
    assert not back.needs and back.solution
    package = read_package(Path(back.package))
    original = read_package(STARTER / "sales-cleanup").instances[0]
    assert original.brief.strip() in package.instances[0].brief
    assert package.instances[0].environment.limits.time == original.environment.limits.time


def test_the_kit_that_is_carried_stands_alone(tmp_path: Path) -> None:
    carry_kit(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import worksample.kit as kit, worksample.kit.__main__, worksample.records, worksample.manifests\n"
        "[getattr(kit, name) for name in kit.__all__]\n"
        "assert all((one.__file__ or sys.path[0]).startswith(sys.path[0])\n"
        "           for name, one in sys.modules.items() if name.split('.')[0] == 'worksample')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
