"""Commands print their first phase at once, interrupts name the next step, and spaces of texts stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.run_cli import SCRIPTS, TINY, here
from worksample.cli.startup_phase import begin, interrupt_text
from worksample.errors import printable as in_errors
from worksample.terminal_text import printable


def test_run_says_what_it_reads_before_planning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("worksample.experiments.config_file.load", stop)
    done = here("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--store", tmp_path / "s")
    assert done.returncode == 130
    assert done.stderr.splitlines()[0] == "reading the tasks ..."
    assert "interrupted while reading the tasks: nothing was started" in done.stderr
    assert "next: " in done.stderr


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (
            "worksample.experiments.planning.plan_preparation.forecast_of",
            "interrupted while planning the trials: no trial was started",
        ),
        (
            "worksample.experiments.experiment_runner.run_experiment",
            "interrupted while starting the trials: the plan and all finished work are in the store",
        ),
        (
            "worksample.cli.run_output._print_result",
            "interrupted while showing the results: all results are in the store",
        ),
    ],
)
def test_interrupt_says_what_it_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, said: str) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if "_tell" in place:
        monkeypatch.setattr("worksample.experiments.experiment_runner.run_experiment", lambda *_: Over())
    monkeypatch.setattr(place, stop)
    done = here("run", "--suite", TINY, "--agent", "scripted", "--script", SCRIPTS / "good", "--store", tmp_path / "s")
    assert done.returncode == 130
    assert said in done.stderr
    assert "next: " in done.stderr.partition(said)[2]


class Over:
    """A run that is over."""


def test_interrupt_between_phases_has_a_next_step() -> None:
    begin("")
    assert interrupt_text() == "interrupted\n  next: run the same command again"


def test_interrupt_during_import_has_a_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("worksample.cli.command_table.importlib.import_module", stop)
    done = here("run", "--suite", "starter")
    assert done.returncode == 130
    assert done.stderr.strip().splitlines() == [
        "interrupted while starting: nothing was started", "  next: run the same command again",
    ]  # fmt: skip


@pytest.mark.parametrize("show", [printable, in_errors])
def test_every_kind_of_space_is_shown_as_one(show: object) -> None:
    assert callable(show)
    assert show("3\u00a0of\u202f4\u2009h\tsoft\u00adly") == "3 of 4 h softly"
    assert (
        show("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645") == "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    )
    assert "\x1b" not in show("\x1b[31m")
    assert "\u202e" not in show("a\u202eb")
