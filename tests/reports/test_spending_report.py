"""Cost of judges and colleagues, and the unsettled part of agents' cost, on board and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from reports.measuring import sections
from store.test_model_costs import CUT, ESTIMATED, SETTLED, UNPRICED, store_with
from worksample.cli.commands.list import cost_text
from worksample.experiments.run_listener import RunTally
from worksample.experiments.run_progress import cost_so_far
from worksample.experiments.status import status_of
from worksample.metrics import Counts, Estimate, Unit
from worksample.records import Experiment, Trial, Usage
from worksample.reports.cost_notes import cost_words
from worksample.reports.figure_formatting import figure
from worksample.reports.leaderboard_frame import leaderboard
from worksample.store.model_costs import Spending
from worksample.terminal_text import dollars


def test_board_shows_the_cost_of_judges(tmp_path: Path) -> None:
    board = leaderboard(store_with(tmp_path, [SETTLED], colleague=UNPRICED, judges=[SETTLED]))
    assert "Judges: 4 model calls, $0.50; not in the agents' cost." in board.notes
    assert "Colleagues: 2 model calls, cost not known (no price); not in the agents' cost." in board.notes
    assert [row["who"] for row in board.plain()["spending"]] == ["agents", "colleagues", "judges"]


def test_each_reason_for_unsettled_cost_is_named_once(tmp_path: Path) -> None:
    cached = Usage(calls=1, cache_read_tokens=40, input_tokens=9, cost=0.1, priced=True, cached_as_input=1)
    store = store_with(tmp_path, [CUT, ESTIMATED, UNPRICED, cached])
    notes = leaderboard(store).notes
    for said in (
        "1 trials made model calls without a known price", "1 trials have cached tokens (40 read) charged",
        "1 trials have tokens that are estimated", "2 requests whose outcome is unknown, and that may have cost at",
    ):  # fmt: skip
        assert sum(said in note for note in notes) == 1, said
    found = sections(store)["spending"]
    rows = {row.label: row for row in found.rows}
    assert rows["ann"].cells[found.columns.index("cache read")] in ("0", "40")
    assert sum(int(str(row.cells[found.columns.index("cache read")]).replace(",", "")) for row in found.rows) == 40
    assert any("outcome is unknown" in note for note in found.notes)


def test_cost_without_a_price_is_no_figure(tmp_path: Path) -> None:
    found = sections(store_with(tmp_path, [SETTLED], judges=[UNPRICED]))["spending"]
    judges = next(row for row in found.rows if row.label == "judges")
    cost = judges.cells[found.columns.index("cost")]
    assert isinstance(cost, Estimate)
    assert (cost.value, cost.reason, judges.cells[0]) == (None, "no price is known", "2")


def test_list_shows_unknown_costs() -> None:
    assert cost_text(Spending("judges")) == ""
    assert cost_text(Spending("agents")) == "$0.00"
    assert cost_text(Spending("judges", 2, None, None, 1, 1)) == "not known"
    assert cost_text(Spending("judges", 6, 0.5, None, 2, 1)) == "$0.50 + 1 unpriced"
    assert cost_text(Spending("agents", 6, 0.5, 0.9, 2, 0, 1)) == "$0.50, at most $0.90"
    assert cost_text(Spending("agents", 6, 0.5, 0.5, 2, full_price=1)) == "at most $0.50"


def test_cached_tokens_at_full_price_mark_costs_everywhere(tmp_path: Path) -> None:
    cached = Usage(calls=1, cache_read_tokens=40, input_tokens=9, cost=0.1, priced=True, cached_as_input=1)
    store = store_with(tmp_path, [SETTLED, cached])
    (agents, *_) = status_of(store, store.find(Experiment)[0]).spending
    assert cost_text(agents) == "at most $0.60"
    tally = RunTally(planned=2)
    for trial in store.find(Trial):
        tally.add_trial(trial)
    assert cost_so_far(tally) == "at most $0.60"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.0, "0.00"), (0.0001, "0.0001"), (0.00003, "0.00003"), (0.009, "0.0090"), (0.01, "0.01"), (12.345, "12.35"),
        (1e-12, "0.00000000"),
    ],
)  # fmt: skip
def test_small_amount_is_equal_on_board_figures_and_lists(amount: float, text: str) -> None:
    estimate = Estimate("cost", amount, Counts(1, 1), unit=Unit.USD)
    assert estimate.format_value() == text
    if amount != 12.345:  # its nearest binary number lies below the half
        assert figure(amount, "dollars") == dollars(amount) == f"${text}"


def test_trial_page_says_how_far_its_cost_is_known() -> None:
    settled = {"cost": 0.5, "priced": True, "cost_at_most": 0.5}
    assert cost_words(settled) == ""
    assert cost_words({**settled, "cost": None, "priced": False, "cost_at_most": None}) == "no price known"
    assert cost_words({**settled, "priced": False, "cost_at_most": None}) == "some calls had no price"
    assert cost_words({**settled, "priced": False, "estimated_calls": 1}) == "tokens are estimated"
    cut = {**settled, "priced": False, "unsettled_calls": 1, "cost_at_most": 0.9, "cached_as_input": 2}
    assert cost_words(cut) == (
        "at most $0.90: the outcome of some calls is unknown; an upper bound: cached tokens at the price of fresh ones"
    )
