"""The tables of the four papers, where their counts are known, to the printed digits."""

from fractions import Fraction
from itertools import product

import polars as pl
import pytest

from worksample import metrics as m

QUICK = m.Resampling(resamples=50)


# --- RLI: Tables 1 and 3, 240 projects

RLI_RATES = {
    "Manus": (6, "2.5"), "Grok 4": (5, "2.1"), "Sonnet 4.5": (5, "2.1"), "GPT-5 (CLI)": (4, "1.7"),
    "ChatGPT agent": (3, "1.3"), "GPT-5 (CUA)": (2, "0.8"), "Gemini 2.5 Pro": (2, "0.8"),
}  # fmt: skip


@pytest.mark.parametrize("agent", RLI_RATES)
def test_rli_automation_rates_are_reproduced(agent):
    passes, printed = RLI_RATES[agent]
    votes = [[2, 3, 1]] * passes + [[1, 1, 2]] * (240 - passes)
    project = [f"p{i}" for i in range(240) for _ in range(3)]
    verdicts = m.holistic_verdicts(project, [v for three in votes for v in three])
    estimate = m.automation_rate(verdicts["passed"])
    assert estimate.format_value() == printed
    assert (estimate.counts.planned, estimate.counts.valid, estimate.counts.special["successes"]) == (240, 240, passes)


RLI_DOLLARS = {
    "Manus": 1720,
    "Sonnet 4.5": 1280,
    "GPT-5 (CLI)": 1180,
    "Grok 4": 858,
    "ChatGPT agent": 520,
    "Gemini": 210,
}


@pytest.mark.parametrize("agent", RLI_DOLLARS)
def test_rli_dollars_earned_are_reproduced(agent):
    """228 of 240 projects have a cost and add up to $143,991; those that passed add up to what was earned."""
    earned, possible = RLI_DOLLARS[agent], 143_991
    prices = [earned - 100, 100, *[500] * 225]
    prices = [*prices, possible - sum(prices), *[None] * 12]
    assert prices[227] > 0 and len(prices) == 240
    passed = [True, True, *[False] * 225, False, True, *[False] * 11]
    table = m.dollars_earned(prices, passed, how=QUICK)
    assert f"${table.earned.value:,.0f}/${table.possible.value:,.0f}" == f"${earned:,}/$143,991"
    assert table.earned.counts.special["without a price"] == 12


def test_rli_false_negatives_are_reproduced():
    assert m.false_negative_bound(0, 50).high == pytest.approx(0.058, abs=5e-4)
    assert m.percent(m.false_negative_bound(0, 50).high) == "5.8"


# --- UpBench: Table 3, 322 jobs. A, M and B are the only whole numbers that print it.

UPBENCH = {
    "Claude Sonnet 4": ((128, 159, 37), ("0.398", "0.512", "0.115", "0.289", "0.233")),
    "Gemini 2.5 Pro": ((64, 222, 40), ("0.199", "0.323", "0.124", "0.625", "0.180")),
    "GPT-5": ((63, 237, 45), ("0.196", "0.335", "0.140", "0.714", "0.190")),
}


@pytest.mark.parametrize("agent", UPBENCH)
def test_upbench_table_3_is_reproduced(agent):
    (passed, retried, rescued), printed = UPBENCH[agent]
    first = [True] * passed + [False] * (322 - passed)
    second = [None] * passed + [True] * rescued + [False] * (retried - rescued) + [None] * (322 - passed - retried)
    table = m.success_lifts(first, second)
    assert tuple(f"{float(m.round_half_up(e.exact, 3)):.3f}" for e in table.all()) == printed
    assert "lower bound" in table.p_overall.notes[0]
    from_counts = m.lifts_from_counts(322, passed, retried, rescued)
    assert from_counts == table


def test_upbench_ceiling_is_infeasible():
    """D.2's 0.57 cannot be reached from 0.398 and 0.512 by its own model."""
    assert m.ceiling_bound(0.398, 0.512) < 0.57
    assert m.ceiling_bound(128 / 322, 165 / 322) < 0.57


# --- ALE: Table 1's overall column. Credits are multiples of 1/6 (averages over one, two or three runs).

SIZES, CLI_SIZES = (59, 55, 35), (42, 42, 22)
ALE = [
    ((42.4, 20.0, 8.6), 26.2), ((35.6, 21.8, 8.6), 24.2), ((36.4, 20.0, 2.9), 22.5), ((32.2, 20.0, 5.7), 21.5),
    ((30.5, 16.4, 8.6), 20.1), ((30.5, 18.2, 2.9), 19.5), ((31.4, 12.7, 0.0), 17.1), ((23.7, 12.7, 0.0), 14.1),
    ((29.7, 3.6, 2.9), 13.8), ((23.7, 9.1, 0.0), 12.8), ((15.3, 3.6, 0.0), 7.4), ((10.2, 7.3, 0.0), 6.7),
    ((39.0, 18.2, 2.9), 22.8), ((34.7, 19.4, 5.7), 22.3), ((28.8, 10.9, 2.9), 16.1), ((29.7, 10.9, 0.0), 15.8),
    ((23.7, 13.6, 2.9), 15.1), ((20.9, 10.9, 2.9), 13.0), ((21.2, 9.1, 2.9), 12.4), ((16.9, 7.3, 2.9), 10.1),
    ((16.9, 6.4, 1.4), 9.4), ((14.4, 8.2, 0.0), 8.7), ((12.7, 9.1, 1.4), 8.7), ((11.9, 3.6, 0.0), 6.0),
    ((7.6, 3.6, 0.0), 4.4),
]  # fmt: skip
ALE_CLI = [
    ((42.9, 21.4, 4.5), 26.4), ((27.4, 14.3, 0.0), 16.5), ((23.0, 8.7, 3.0), 13.2), ((21.8, 8.7, 4.5), 13.1),
    ((20.2, 8.3, 2.3), 11.8), ((15.5, 7.1, 0.0), 9.0),
]  # fmt: skip


def credits(percent, size):
    """The sums of credits over a tier's tasks that print `percent`."""
    return [Fraction(k, 6) for k in range(6 * size + 1) if m.percent(Fraction(k, 6 * size)) == f"{percent:.1f}"]


def runs(total, tasks):
    """Six runs per task with `total` credit in all: (task, passed) rows."""
    passes = int(total * 6)
    return [(f"{tasks[0]}-{i // 6}", i < passes) for i in range(6 * tasks[1])]


def overall(totals, sizes):
    rows = [row for place, total in enumerate(totals) for row in runs(total, (place, sizes[place]))]
    task, passed = zip(*rows, strict=True)
    tier = [name[0] for name in task]
    trials = m.TrialColumns(score=[float(p) for p in passed], task=task, instance=task)
    table = m.tier_table(trials, tier, how=m.Resampling(resamples=2))
    return [part.full_pass.format_value() for part in table]


@pytest.mark.parametrize(("row", "sizes"), [*((r, SIZES) for r in ALE), *((r, CLI_SIZES) for r in ALE_CLI)])
def test_ale_overall_is_pooled_over_tasks(row, sizes):
    """Some credits that print the tiers print the overall rate too; with one choice it is that one."""
    tiers, printed = row
    choices = list(product(*(credits(p, size) for p, size in zip(tiers, sizes, strict=True))))
    assert choices
    fitting = [c for c in choices if m.percent(sum(c) / sum(sizes)) == f"{printed:.1f}"]
    assert fitting, "no credits print this row"
    assert overall(fitting[0], sizes) == [*(f"{p:.1f}" for p in tiers), f"{printed:.1f}"]
    if len(choices) == 1:
        mean_of_tiers = sum(Fraction(str(p)) for p in tiers) / 300
        assert m.percent(mean_of_tiers) != f"{printed:.1f}", "the pooled rate is not the mean of the tiers"


# --- ALE: Table 6. Its counts are not printed; with 30 runs per task these whole numbers print all of it.

TIMEOUTS = {"Near-Term": (59, 42, "2.4", 0.42063, 0.46840), "Full-Spectrum": (55, 41, "2.5", 0.20263, 0.21440),
            "Last-Exam": (35, 46, "4.4", 0.01963, 0.04640)}  # fmt: skip
TABLE_6 = {"Near-Term": ("42.1", "46.8"), "Full-Spectrum": ("20.3", "21.4"), "Last-Exam": ("2.0", "4.6")}


def test_ale_table_6_is_reproduced():
    tier, late, score = [], [], []
    for name, (tasks, timeouts, _, timed, other) in TIMEOUTS.items():
        total = 30 * tasks
        tier += [name] * total
        late += [True] * timeouts + [False] * (total - timeouts)
        score += [timed] * timeouts + [other] * (total - timeouts)
    table = m.timeout_table(m.TrialColumns(score), late, tier, how=QUICK)
    for name, (_, _, rate, _, _) in TIMEOUTS.items():
        found = table[name]
        assert (found.rate.format_value(), found.timed_out.format_value(), found.others.format_value()) == (
            rate,
            *TABLE_6[name],
        )
    pooled = table["overall"]
    assert (pooled.rate.format_value(), pooled.timed_out.format_value(), pooled.others.format_value()) == (
        "2.9",
        "20.8",
        "27.7",
    )


def test_ale_model_and_harness_effects_are_reproduced():
    """D.4: 18.0 points over models, 6.0 and 5.3 over harnesses, from the rates on 150 tasks."""

    def spread(passes, held, varied):
        rows = [(f"c{c}", f"t{t}", float(t < p)) for c, p in enumerate(passes) for t in range(150)]
        choice, task, credit = zip(*rows, strict=True)
        fixed = ["x"] * len(rows)
        columns = {varied: choice, held: fixed}
        trials = m.Configurations(columns["harness"], columns["model"], task, credit)
        measure = m.model_effect if varied == "model" else m.harness_effect
        return measure(trials, "x", how=QUICK)

    effect = spread([35, 8, 20], "harness", "model")
    assert effect.spread.format_value() == "18.0"
    assert effect.rates == {"c0": 35 / 150, "c1": 8 / 150, "c2": 20 / 150}
    assert spread([29, 38], "model", "harness").spread.format_value() == "6.0"
    assert spread([22, 30, 25], "model", "harness").spread.format_value() == "5.3"


# --- TAC: Table 3 from Table 5

CATEGORIES = {"SDE": 69, "PM": 28, "DS": 14, "Admin": 15, "HR": 29, "Finance": 12, "Other": 8}
TAC = {
    "Claude-3.5-Sonnet": (
        "30.43 38.02 35.71 51.31 14.29 21.70 0.00 11.59 24.14 34.49 8.33 25.17 12.50 22.40",
        "24.0",
        "34.4",
    ),
    "Gemini-2.0-Flash": (
        "13.04 18.99 17.86 31.71 0.00 6.49 6.67 15.20 17.24 23.08 0.00 4.31 0.00 10.05",
        "11.4",
        "19.0",
    ),
    "GPT-4o": (
        "13.04 19.18 17.86 32.27 0.00 4.70 6.67 13.89 0.00 8.28 0.00 7.36 0.00 10.78",
        "8.6",
        "16.7",
    ),
    "Gemini-1.5-Pro": (
        "4.35 5.64 3.57 13.19 0.00 4.82 6.67 9.92 3.45 11.42 0.00 2.78 0.00 8.07",
        "3.4",
        "8.0",
    ),
    "Amazon-Nova-Pro-v1": (
        "2.90 6.07 3.57 12.54 0.00 3.27 0.00 0.00 0.00 4.27 0.00 2.78 0.00 2.86",
        "1.7",
        "5.7",
    ),
    "Llama-3.1-405b": (
        "5.80 11.33 21.43 35.62 0.00 5.42 0.00 3.33 6.90 12.56 0.00 5.00 12.50 17.45",
        "7.4",
        "14.1",
    ),
    "Llama-3.3-70b": (
        "11.59 16.49 7.14 19.83 0.00 4.70 0.00 1.67 6.90 11.38 0.00 5.69 0.00 7.03",
        "6.9",
        "12.8",
    ),
    "Qwen-2.5-72b": (
        "7.25 11.99 10.71 22.90 0.00 5.42 0.00 2.14 6.90 12.36 0.00 7.15 0.00 5.99",
        "5.7",
        "11.8",
    ),
    "Llama-3.1-70b": (
        "1.45 4.77 3.57 15.16 0.00 5.42 0.00 2.42 3.45 7.19 0.00 3.82 0.00 2.86",
        "1.7",
        "6.5",
    ),
    "Qwen-2-72b": (
        "2.90 3.68 0.00 7.44 0.00 4.70 0.00 0.56 0.00 4.14 0.00 3.61 0.00 4.95",
        "1.1",
        "4.2",
    ),
}


@pytest.mark.parametrize("model", TAC)
def test_tac_table_3_follows_from_table_5(model):
    figures, success, score = TAC[model]
    cells = [Fraction(x) / 100 for x in figures.split()]
    full, partial, category = [], [], []
    for place, (name, tasks) in enumerate(CATEGORIES.items()):
        rate, mean = cells[2 * place], cells[2 * place + 1]
        passes = round(rate * tasks)
        assert abs(rate - Fraction(passes, tasks)) <= Fraction(5, 10**5) + Fraction(1, 10**9)
        rest = max(Fraction(0), mean * tasks - passes) / (tasks - passes)
        full += [1.0] * passes + [0.0] * (tasks - passes)
        partial += [1.0] * passes + [float(rest)] * (tasks - passes)
        category += [name] * tasks
    assert m.success_rate(full).format_value() == success
    assert m.suite_score(partial, how=QUICK).format_value() == score
    groups = m.by_group(full, partial, category, how=QUICK)
    printed = [figure.format_value(2) for name in CATEGORIES for figure in groups[name]]
    assert printed == figures.split()


def test_tac_worked_example_is_reproduced():
    """Figure 2: 4 of 8 points give 0.25."""
    table = m.checkpoint_scores(["t"] * 5, [2, 1, 1, 0, 0], [2, 1, 2, 2, 1])
    assert table.row(0, named=True) == {"trial": "t", "result": 4.0, "total": 8.0, "full": 0.0, "partial": 0.25}


def test_frames_are_polars():
    assert isinstance(m.tabulate([m.rate([True])]), pl.DataFrame)
