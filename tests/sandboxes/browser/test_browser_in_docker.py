"""The agent's browser in a Docker box."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxes import daemon
from sandboxes.browser.test_browser_trials import failed, package, run, scripted


@pytest.fixture
def _daemon() -> Iterator[str]:
    with daemon.running() as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", url)
        yield url


@pytest.mark.box
@pytest.mark.browser
@pytest.mark.docker
@pytest.mark.long(seconds=60)
@pytest.mark.thorough(quick="sandboxes/browser/test_browser_trials.py::test_model_has_browser_shell_and_python_tools")
def test_scripted_steps_work_in_a_docker_box(_daemon: str, tmp_path: Path) -> None:
    words = ("--agent", "scripted", "--script", scripted(tmp_path / "script"), "--sandbox", "docker")
    grade, submission = run(tmp_path, package(tmp_path), *words)
    assert failed(grade) == []
    assert submission.parts["browser"].files >= 5
