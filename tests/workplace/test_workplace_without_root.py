"""A workplace of an ordinary user: the same services, warm start, reset and evidence; only installing needs root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandboxes.test_escapes import SOURCE, USER, _as_user, _interpreter
from workplace.test_workplace_services import COMPANY, ME
from worksample.sandboxes.host_state import cache_folder

HERE = Path(__file__).parent


@pytest.mark.box
@pytest.mark.workplace
@pytest.mark.thorough(quick="workplace/test_resets.py::test_reset_restores_the_initial_state")
@pytest.mark.long(seconds=60)
@pytest.mark.skipif(os.geteuid() != 0, reason="not applicable: the tests do not run as root")
def test_ordinary_user_has_a_workplace() -> None:
    folder = Path(f"/tmp/worksample-rootless-{os.getpid()}")
    cache = folder / ".cache/worksample"
    cache.mkdir(parents=True)
    try:
        for path in cache_folder().glob("*"):  # what `worksample workplace install` fetched
            if path.name.startswith(("redmine-", "converse-")):
                shutil.copytree(path, cache / path.name, symlinks=True)
        shutil.copytree(COMPANY, folder / "company")
        shutil.copyfile(HERE / "office_work.py", folder / "work.py")
        shutil.copyfile(HERE / "rootless_driver.py", folder / "driver.py")
        for path in (folder, *folder.rglob("*")):
            os.chown(path, USER, USER, follow_symlinks=False)
        packages = [path for path in sys.path if path.endswith("site-packages")]
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
        env["PYTHONPATH"] = ":".join([SOURCE, *packages])
        words = ["driver.py", "company", "work.py", ME, str(folder)]
        done = subprocess.run(
            [*_as_user(), _interpreter(), *words], env=env, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        said = json.loads(done.stdout)
        assert said["user"] == USER
        assert said["boxes"] == ["rootless-0", "spare workplace"]
        assert said["work"][0] == 0, said["work"]
        assert said["export"][0] == "complete" and said["export"][1] > 20
        assert said["files"] > 20 and said["unequal after the reset"] == 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)
