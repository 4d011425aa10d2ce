"""A read-only home folder: Inspect's traces go to a folder of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from worksample.runs.inspect_eval_run import ensure_engine_folder


def test_read_only_home_stops_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai._util.appdirs import inspect_data_dir

    monkeypatch.setenv("HOME", "/dev/null")  # nothing can be made below it, not even by root
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("WORKSAMPLE_RUNTIME_DIR", str(tmp_path / "ours"))
    with pytest.raises(OSError):
        inspect_data_dir("traces")
    ensure_engine_folder()
    assert inspect_data_dir("traces").is_relative_to(tmp_path / "ours")


def test_writable_home_is_left_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai._util.appdirs import inspect_data_dir

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    ensure_engine_folder()
    assert inspect_data_dir("traces").is_relative_to(tmp_path)
