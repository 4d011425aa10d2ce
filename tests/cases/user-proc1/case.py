"""In a plain box of an ordinary user a program set process 1's `oom_score_adj` and autogroup."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandboxes.test_escapes import ROOT, SOURCE, USER, _as_user, _interpreter, _let_in


def check(room: Path, request: pytest.FixtureRequest) -> None:
    words = [sys.executable]
    if ROOT:
        _let_in()
        words = [*_as_user(), _interpreter()]
        os.chown(room, USER, USER)
        for folder in room.parents:
            if str(folder).startswith(str(request.getfixturevalue("tmp_path_factory").getbasetemp().parent)):
                folder.chmod(folder.stat().st_mode | 0o111)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    env = {"PATH": os.environ["PATH"], "HOME": str(room), "PYTHONPATH": ":".join([SOURCE, *packages])}
    program = Path(__file__).with_name("box.py")
    done = subprocess.run([*words, str(program)], capture_output=True, text=True, check=False, env=env, cwd="/")
    assert "oom_score_adj" in done.stdout, done.stderr
    assert "written" not in done.stdout, done.stdout
