"""Wheel and sdist are built by one command, and each works in a fresh environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cli.run_cli import clean_environment
from running.sharing import once
from worksample import __version__

ROOT = Path(__file__).parents[2]


def test_sdist_includes_only_existing_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert included and [name for name in included if not (ROOT / name).exists()] == []
    assert project["project"]["readme"] in included


def test_changelog_dates_this_version_and_opens_the_next() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    [*coming, latest, _] = [line.split() for line in lines if line.startswith("## ")]
    assert [(heading[1] > __version__, heading[2]) for heading in coming] == [(True, "(unreleased)")]
    assert latest[1] == __version__ and date.fromisoformat(latest[2].strip("()")) <= datetime.now(UTC).date()


def test_docs_say_which_version_they_describe() -> None:
    assert f"version {__version__}." in (ROOT / "docs" / "index.md").read_text()


def run(*words: object, cwd: Path, **env: str) -> str:
    """Return what a program prints; its error output fails the test."""
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=clean_environment(**env), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.box
@pytest.mark.long(seconds=240)
@pytest.mark.thorough(quick="repo/test_distributions.py::test_sdist_includes_only_existing_files")
@pytest.mark.parametrize("ending", [".whl", ".tar.gz"])
def test_distribution_works_in_a_fresh_environment(
    ending: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))

    def build(folder: Path) -> Path:
        run(uv, "build", "-q", "--out-dir", folder / "dist", ROOT, cwd=folder)
        return folder / "dist"

    [package] = [file for file in once(tmp_path_factory, "packages", build).iterdir() if file.name.endswith(ending)]
    fresh = tmp_path / "fresh"
    run(uv, "venv", "-q", "--python", sys.executable, fresh, cwd=tmp_path)
    run(uv, "pip", "install", "-q", "--python", fresh, f"{package}[report,toolbox]", cwd=tmp_path)
    assert run(fresh / "bin/worksample", "--version", cwd=tmp_path).split()[-1] == __version__
    shown = run(fresh / "bin/worksample", "demo", "--only", "web-page/*", cwd=tmp_path)
    assert "good" in shown and "100.0 %" in shown
    assert (tmp_path / "worksample-demo/report/index.html").is_file()
    place = run(fresh / "bin/python", "-c", "import worksample; print(worksample.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(fresh)
