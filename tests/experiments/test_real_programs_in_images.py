"""Programs installed on this machine, in images that lack their dependencies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from experiments.test_real_programs import ABLE, PROGRAMS, asked, ran
from openai_server import Answer, serving
from openai_server.workman import Workman
from sandboxes.images import machine
from sandboxes.images.test_task_with_image import package
from worksample.records import Submission, Trial
from worksample.store import Store

WANTED = "cat /etc/note; ls"
# The engine's, of packages that it uses, and streams that it leaves to the collector.
pytestmark = [
    pytest.mark.box,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def answer(request: dict[str, Any], count: int) -> Answer:
    """Leaves the deliverable, by whatever means a harness gives."""
    path = "/task/output/note.sh"
    return Workman(f"printf '{WANTED}' > {path}", path, f"{WANTED}\n")(request, count)


def bare(folder: Path) -> Path:
    """A root without Python, and without the libraries that Node and agents' own executables need."""
    root = machine.make(folder)
    for pattern in ("libstdc++*", "libgcc_s*", "libssl*", "libffi*", "python3*"):
        for path in [*root.glob(f"usr/lib/**/{pattern}"), *root.glob(f"usr/bin/{pattern}")]:
            if path.is_dir():
                continue
            path.unlink()
    return root


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-of-the-operator")


@pytest.mark.long(seconds=20)
@pytest.mark.thorough(quick="experiments/test_real_programs.py::test_real_program_solves_a_starter_task")
@pytest.mark.parametrize("harness", PROGRAMS)
def test_real_program_works_in_an_image_without_its_dependencies(tmp_path: Path, harness: str) -> None:
    root = package(tmp_path)
    (root / "image.tar").write_bytes(machine.tarred(bare(tmp_path / "root")))
    with serving(answer) as served, Store.open(tmp_path / "store", create=True) as store:
        config = asked(tmp_path, [(harness, ABLE)], served.base_url, suite=None, only=(), tasks=(str(root),))
        frame = ran(store, config)
        (trial,) = store.find(Trial)
        assert frame["passed"].to_list() == [True], (trial.outcome, frame.to_dicts())
        assert trial.usage["agent"].calls > 0
        assert store.get(Submission, trial.id).parts["agent_log"].files
