"""Harbor's own package runs an exported task in our box, by import path, on a Python that it supports."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from formats.test_harbor import harbor
from sandboxes.images import machine
from worksample.agents.installing.agent_program import PyPI
from worksample.agents.installing.pypi import python_of
from worksample.errors import InstallError
from worksample.formats.harbor import export_harbor, import_harbor
from worksample.sandboxes.toolbox_download import find_uv

HARBOR = "harbor==0.24.0"
OURS = "worksample.formats.harbor.environment:WorksampleEnvironment"
REPOSITORY = Path(__file__).parents[2]
TASK = """
schema_version = "1.4"
[environment]
network_mode = "no-network"
memory_mb = 1024
[environment.healthcheck]
command = "test -d /app"
[agent]
timeout_sec = 300
[verifier]
timeout_sec = 300
"""
FILES = {
    "environment/Dockerfile": "FROM debian:12\nRUN mkdir -p /app && echo given > /app/given\nWORKDIR /app\n",
    "instruction.md": "Write what /app/given says to /app/answer, and a plot.\n",
    "solution/solve.sh": "#!/bin/bash\nset -e\ncat given > /app/answer\nmkdir plots; echo x > plots/one\n",
    "tests/test.sh": """#!/bin/bash
cp -r /app/plots /logs/verifier
test "$(cat /app/answer)" = "$(cat /tests/wanted)"
echo $((1 - $?)) > /logs/verifier/reward.txt
""",
    "tests/wanted": "given\n",
}

pytestmark = [pytest.mark.box, pytest.mark.buildah]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return Harbor's program, installed with the platform in its own environment."""
    uv = find_uv()
    if not uv:
        pytest.skip("uv, which brings Harbor, is not installed: pip install uv")
    try:
        python, _ = python_of(PyPI("harbor", python=(3, 12)))
    except InstallError as error:
        pytest.skip(f"{error.what}: {error.next}")
    place = tmp_path_factory.mktemp("harbor") / "environment"
    subprocess.run([uv, "venv", "-q", "--python", python, place], check=True)
    words = [uv, "pip", "install", "-q", "--python", place / "bin/python", HARBOR, "-e", REPOSITORY]
    subprocess.run(words, check=True)
    return place / "bin/harbor"


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder on a machine that has the task's base image."""
    base = tmp_path / "base.tar"
    base.write_bytes(machine.tarred(machine.make(tmp_path / "root")))
    (tmp_path / "builds.toml").write_text(f'hosts = []\n[bases]\n"debian:12" = "{base}"\n')
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("WORKSAMPLE_BUILDS", str(tmp_path / "builds.toml"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.long(seconds=90)
@pytest.mark.thorough(quick="formats/test_harbor_export.py::test_imported_task_is_exported_unchanged")
@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_harbor_runs_an_exported_task_in_our_box(program: Path, ground: Path, agent: str, reward: float) -> None:
    (package,) = import_harbor(harbor(ground / "task", TASK, **FILES), ground / "packages")
    assert not package.needs
    (made,) = export_harbor(Path(package.package), ground / "out")
    assert not made.lacks
    words = [program, "run", "-p", made.folder, "-a", agent, "--env", OURS, "-o", ground / "jobs", "-n", "1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "160"})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (result,) = ground.glob("jobs/*/*/result.json")
    told = json.loads(result.read_text())
    assert told["exception_info"] is None, told["exception_info"]
    assert told["verifier_result"]["rewards"] == {"reward": reward}
    brought = {path.name: path.read_text() for path in result.parent.glob("verifier/**/*") if path.is_file()}
    assert brought["reward.txt"] == f"{reward:.0f}\n"
    if agent == "oracle":
        assert {path.name: path.read_text() for path in result.parent.glob("verifier/plots/*")} == {"one": "x\n"}
