"""Inspect logs of a run: with scores, and exported trajectories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, cli, cli_json
from worksample.formats.atif import find_faults

pytestmark = pytest.mark.box


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_logs_contain_scores_and_trajectories_are_exported(tmp_path: Path) -> None:
    """The store is named by a relative path, as it is by default."""
    from inspect_ai.log import read_eval_log

    made = cli("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    (log,) = (tmp_path / ".worksample" / "logs").rglob("*.eval")
    samples = read_eval_log(str(log)).samples or []
    assert len(samples) == 4
    for sample in samples:
        assert sample.scores
        assert [score.value for score in sample.scores.values()] == [1.0]
    written = [Path(path) for path in cli_json("store", "export", "atif", "--format", "atif", cwd=tmp_path)]
    assert len(written) == 4
    for path in written:
        assert not find_faults(json.loads((tmp_path / path).read_text()))
