"""The generated pages are current, and every setting stands in one."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.run_cli import cli
from worksample.experiments.config import AgentConfig, ArmConfig, ChainConfig, ExperimentConfig, LimitsConfig
from worksample.models import Price
from worksample.models.service_config import ServiceConfig

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("script", ["build_api.py", "build_cli.py", "build_concepts.py", "build_settings.py"])
def test_the_page_is_current(script: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


TABLES = (ExperimentConfig, AgentConfig, ArmConfig, ChainConfig, LimitsConfig, Price, ServiceConfig)


@pytest.mark.parametrize("model", TABLES)
def test_every_key_is_documented(model) -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    assert [key for key in model.model_fields if f"| `{key}` |" not in page] == []


def test_every_variable_is_documented() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    source = "".join(p.read_text() for p in (ROOT / "src" / "worksample").rglob("*.py"))
    used = set(re.findall(r"[\"'$](WORKSAMPLE_[A-Z_]+)", source))
    assert used and [name for name in sorted(used) if name not in page] == []


def test_the_walk_shows_what_the_plan_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "walk.md").read_text()
    command = re.search(r"^\$ worksample (run .+?--dry-run)", page, re.MULTILINE | re.DOTALL)
    shown = re.search(r"<!-- walk -->\n```text\n(.+?)\n```", page, re.DOTALL)
    assert command and shown
    words = shlex.split(command[1].replace("\\\n", " "))
    said = cli(*words, "--store", tmp_path / "none")
    assert said.returncode == 0, said.stderr
    assert [line for line in shown[1].splitlines() if line not in said.stderr.splitlines()] == []
