"""Prices, wages and checks on the command line, and tables that a narrow terminal does not cut."""

from __future__ import annotations

import pytest

from worksample.cli.figure_options import money_settings, read_checking
from worksample.errors import ManifestError, UsageError
from worksample.metrics import Checking
from worksample.reports.terminal_leaderboard import column_blocks


def test_check_is_parsed_key_by_key() -> None:
    assert read_checking("cost=5,accepts_bad=0.1") == Checking(cost=5, accepts_bad=0.1)
    assert read_checking(" cost = 5 , loss=200") == Checking(cost=5, loss=200)


@pytest.mark.parametrize("text", ["price=5", "cost", "cost=much", "", "cost=5,,loss=1", "accepts_bad=2", "cost=-1"])
def test_invalid_check_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_checking(text)


def test_only_given_options_become_settings() -> None:
    assert money_settings({"hourly": None, "checking": None, "prices": None}) == {}
    found = money_settings({"hourly": 60.0, "checking": "cost=5", "prices": ("m/1=2,10",)})
    assert found["hourly"] == 60 and found["checking"].cost == 5
    assert (found["prices"]["m/1"].input, found["prices"]["m/1"].output) == (2, 10)
    with pytest.raises((UsageError, ManifestError)):
        money_settings({"prices": ("m/1=2,-10",)})


def test_columns_that_do_not_fit_are_listed_below() -> None:
    heads, rows = ("agent", "pass", "score"), [("ann", "x" * 30, "y" * 30), ("bob", "1", "2")]
    assert column_blocks(heads, rows, 80) == [[0, 1, 2]]
    assert column_blocks(heads, rows, 60) == [[0, 1], [0, 2]]
    assert column_blocks(heads, rows, 10) == [[0, 1], [0, 2]]
    assert column_blocks(("agent",), [], 10) == [[0]]
