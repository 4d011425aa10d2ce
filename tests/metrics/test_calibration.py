"""Judges corrected by people's labels: against ppi-python and statsmodels, with known truths, and with bad input."""

import numpy as np
import polars as pl
import pytest
from benchmarks.coverage import corrected as benchmark

from worksample import metrics as m
from worksample.errors import UsageError
from worksample.metrics.calibration.label_sample import check_sample
from worksample.metrics.calibration.prediction_powered import Parts
from worksample.metrics.uncertainty.intervals import blaker


def simulated(seed=0, jobs=200, labels=60, rate=0.3, yes=0.9, no=0.2):
    rng = np.random.default_rng(seed)
    people = (rng.random(jobs) < rate).astype(float)
    judge = (rng.random(jobs) < np.where(people == 1, yes, no)).astype(float)
    has = np.isin(np.arange(jobs), rng.choice(jobs, labels, replace=False))
    return judge, people, has


def sample(judge, people, has, project=None, stratum=None):
    told = [float(p) if h else None for p, h in zip(people, has, strict=True)]
    return m.Sample(judge, told, project or [f"p{i}" for i in range(len(judge))], stratum)


@pytest.mark.parametrize("seed", range(5))
def test_estimate_matches_ppi_python(seed):
    from ppi_py import ppi_mean_pointestimate

    judge, people, has = simulated(seed)
    found = m.correct_by_labels(sample(judge, people, has))
    # Ours takes the judge's mean over all rows, theirs over rows without a label: the same up to this factor.
    factor = (~has).mean()
    theirs = ppi_mean_pointestimate(people[has], judge[has], judge[~has], lam=found.tuning * factor)
    assert found.figure.value == pytest.approx(float(np.squeeze(theirs)), abs=1e-12)
    tuned = float(np.squeeze(ppi_mean_pointestimate(people[has], judge[has], judge[~has])))
    assert found.figure.value == pytest.approx(tuned, abs=0.02)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.8])
def test_uninformative_judge_gives_wilson_or_exact_interval_at_93(rate):
    from statsmodels.stats.proportion import proportion_confint

    _, people, has = simulated(jobs=4000, labels=40, rate=rate)
    found = m.correct_by_labels(sample(np.full(len(people), 0.5), people, has))
    passed = int(people[has].sum())
    wilson, exact = proportion_confint(passed, 40, method="wilson"), blaker(passed, 40, 0.93)
    assert found.tuning == 0 and "adds nothing" in " ".join(found.figure.notes)
    ends = min(wilson[0], exact[0]), max(wilson[1], exact[1])
    assert (found.figure.low, found.figure.high) == pytest.approx(ends, abs=2e-4)


def test_project_variance_is_the_clustered_one_of_statsmodels():
    from statsmodels.api import OLS

    rng = np.random.default_rng(4)
    project = np.repeat(np.arange(40), 3)
    people = np.clip(rng.normal(0.5, 0.2, 40)[project] + rng.normal(0, 0.05, 120), 0, 1)
    data = check_sample(m.Sample(np.full(120, 0.5), people, project), m.LabelKind.SCORE)
    parts = Parts(data, m.LabelKind.SCORE, 0.95)
    parts.grown = 1.0
    fit = OLS(people, np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": project, "use_correction": False})
    assert parts.at(0.0)[1] == pytest.approx(float(fit.cov_params()[0, 0]) * 40 / 39, rel=1e-9)


def test_intervals_cover_the_truth_where_plain_ones_do_not():
    worlds = [
        benchmark.World(m.LabelKind.RATE, 300, 20, 0.3, "kind"),
        benchmark.World(m.LabelKind.RATE, 150, 20, 0.1, "noisy"),
        benchmark.World(m.LabelKind.SCORE, 150, 20, 0.6, "harsh"),
        benchmark.World(m.LabelKind.PREFERENCE, 150, 20, 0.6, "kind"),
        benchmark.World(m.LabelKind.RATE, 100, 60, 0.1, "harsh", agents=3, lean=0.5),
    ]
    for world in worlds:
        found = benchmark.measure(world, 250)
        # Three standard errors of 250 draws at 95 % are 4 points.
        assert 0.91 <= found.covered <= 0.995, found
    assert benchmark.measure(worlds[1], 250).normal < 0.9


def test_fewer_than_twenty_labels_give_only_their_own_interval():
    from statsmodels.stats.proportion import proportion_confint

    judge, people, has = simulated(labels=19)
    found = m.correct_by_labels(sample(judge, people, has))
    assert found.figure.value is None and "19 labels; a corrected figure needs at least 20" in found.figure.reason
    passed = int(people[has].sum())
    assert found.best_figure == found.labels and "exact" in found.labels.method
    assert (found.labels.low, found.labels.high) == pytest.approx(proportion_confint(passed, 19, method="beta"))


def test_twenty_labels_of_six_projects_are_too_few():
    judge, people, has = simulated(jobs=60, labels=24)
    found = m.correct_by_labels(sample(judge, people, has, [f"p{i % 6}" for i in range(60)]))
    assert found.figure.value is None and "6 projects" in found.figure.reason
    assert found.labels.high - found.labels.low > 0.5


def test_calibration_sets_of_three_and_zero_are_handled():
    three = m.correct_by_labels(m.Sample([1, 1, 0, 1], [1, 0, 1, None], list("abcd")))
    assert three.figure.value is None and three.labels.low < 0.1 and three.labels.high > 0.99
    none = m.correct_by_labels(m.Sample([None] * 3, [None] * 3, list("abc")))
    assert none.best_figure.value is None and none.best_figure.reason and none.judge.value is None
    assert m.correct_by_labels(m.Sample([], [], [])).best_figure.value is None
    assert m.prove(m.Sample([None] * 3, [None] * 3, list("abc"))).why == "no label yet"


def test_unanimous_labels_are_reported_and_have_a_width():
    judge, people, has = simulated(rate=0.0, labels=30)
    found = m.correct_by_labels(sample(judge, people, has)).figure
    assert "all labels agree" in " ".join(found.notes)
    assert found.low == 0 and found.high > 0.08


def test_empty_stratum_is_named_and_corrects_nothing():
    judge, people, has = simulated()
    stratum = ["new" if i >= 180 else "old" for i in range(200)]
    has[180:] = False
    found = m.correct_by_labels(sample(judge, people, has, stratum=stratum))
    assert found.figure.value is None and "no label in new" in found.figure.reason
    assert "none in new" in found.labels.conditional_on[0]


def test_unequal_strata_are_weighted_by_rows():
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        stratum = np.repeat([0, 1], [160, 40])
        people = (rng.random(200) < np.where(stratum == 1, 0.8, 0.2)).astype(float)
        judge = (rng.random(200) < np.where(people == 1, 0.9, 0.3)).astype(float)
        has = np.zeros(200, dtype=bool)
        has[rng.choice(160, 20, replace=False)] = True
        has[160 + rng.choice(40, 20, replace=False)] = True
        found = m.correct_by_labels(sample(judge, people, has, stratum=stratum)).figure
        held += found.low <= 0.32 <= found.high
    assert 0.91 <= held / 200 <= 1.0


def test_rows_routed_to_people_stay_out_of_the_estimate():
    judge, people, has = simulated()
    before = m.correct_by_labels(sample(judge, people, has))
    disagreed = ~has & (judge != people)
    told = [float(p) if h or d else None for p, h, d in zip(people, has, disagreed, strict=True)]
    project = [f"p{i}" for i in range(200)]
    after = m.correct_by_labels(m.Sample(judge, told, project, drawn=has))
    assert after.figure.value == before.figure.value and after.figure.low == before.figure.low
    assert after.figure.counts.special["labels not drawn and left out"] == int(disagreed.sum())


def test_silent_judge_causes_no_bias():
    judge, people, has = simulated(rate=0.5)
    quiet = [None if i % 4 == 0 else float(j) for i, j in enumerate(judge)]
    found = m.correct_by_labels(sample(quiet, people, has))
    assert found.figure.low < 0.5 < found.figure.high
    assert found.figure.counts.special["no answer of the judge"] == 50


def test_wrong_columns_are_refused():
    with pytest.raises(UsageError, match="above 1"):
        m.correct_by_labels(m.Sample([2.0], [1], ["a"]))
    with pytest.raises(UsageError, match="is not possible for kind = 'rate'"):
        m.correct_by_labels(m.Sample([1.0], [0.5], ["a"]))
    with pytest.raises(UsageError, match="different lengths"):
        m.correct_by_labels(m.Sample([1.0], [1, 0], ["a"]))
    with pytest.raises(UsageError, match="threshold"):
        m.CalibrationRules(threshold=0.2)


def test_labels_are_drawn_at_random_within_strata_by_seed():
    stratum = ["a"] * 100 + ["b"] * 50 + ["c"] * 3
    drawn = m.draw_labels(stratum, 30, seed=5)
    per = pl.DataFrame({"s": stratum, "d": drawn}).group_by("s", maintain_order=True).agg(pl.col("d").sum())
    assert drawn.sum() == 30 and dict(per.iter_rows())["a"] in (19, 20)
    assert drawn.equals(m.draw_labels(stratum, 30, seed=5)) and not drawn.equals(m.draw_labels(stratum, 30, seed=6))
    assert m.draw_labels(stratum, 30, least=3)[150:].all()
    often = sum(m.draw_labels(["x"] * 10, 3, seed=s).to_numpy() for s in range(1000))
    assert often.min() > 240 and often.max() < 360
    assert m.draw_labels([], 0).len() == 0
    with pytest.raises(UsageError, match="11 labels"):
        m.draw_labels(["x"] * 10, 11)


def test_overshoot_of_a_lenient_judge_has_an_interval():
    held = known = 0
    for seed in range(200):
        judge, people, has = simulated(seed, 300, 90, rate=0.1, yes=1.0, no=0.2)
        found = m.overshoot_of(sample(judge, people, has))
        if found.value is None:
            continue
        known += 1
        held += found.low <= 2.8 and (found.high is None or found.high >= 2.8)
    assert known > 190 and held / known >= 0.91
    judge, people, has = simulated(rate=0.0, no=0.3)
    assert "any factor" in m.overshoot_of(sample(judge, people, has)).reason
    assert "needs at least 20" in m.overshoot_of(sample(*simulated(labels=10))).reason


def test_judge_is_proven_refused_or_unproven_by_cell():
    rng = np.random.default_rng(2)
    people = (rng.random(300) < 0.4).astype(float)
    flip = rng.random(300) < np.repeat([0.02, 0.45, 0.02], 100)
    judge = np.where(flip, 1 - people, people)
    told = [float(p) if i < 200 or i % 20 == 0 else None for i, p in enumerate(people)]
    kinds = ["facts"] * 100 + ["taste"] * 100 + ["layout"] * 100
    proofs = m.prove_by(m.Sample(judge, told, [f"p{i}" for i in range(300)]), [["j"] * 300, kinds])
    assert {cell[1]: str(proof.standing) for cell, proof in proofs.items()} == {
        "facts": "proven", "taste": "refused", "layout": "unproven",
    }  # fmt: skip
    assert not m.route(("j", "facts"), proofs).people
    assert m.route(("j", "taste"), proofs).people and m.route(("j", "layout"), proofs).people
    new = m.route(("another", "facts"), proofs)
    assert new.people and new.standing is m.JudgeStanding.UNPROVEN and "new" in new.why


def test_judge_that_always_passes_is_not_proven_by_lenient_people():
    people = [1.0] * 97 + [0.0] * 3
    proof = m.prove(m.Sample([1.0] * 100, people, [f"p{i}" for i in range(100)]))
    assert proof.agreement.value == pytest.approx(0.97) and proof.standing is m.JudgeStanding.UNPROVEN
    assert "3 of people's fails" in proof.why


def test_judge_that_favours_one_agent_is_named_with_label_counts():
    named = alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        agent = rng.integers(0, 4, 400)
        people = (rng.random(400) < np.array([0.1, 0.2, 0.4, 0.6])[agent]).astype(float)
        even = rng.random(400) < np.where(people == 1, 0.85, 0.15)
        kind = np.where(agent == 0, rng.random(400) < np.where(people == 1, 0.97, 0.5), even)
        names = [f"a{k}" for k in agent]
        alarms += any(k.named for k in m.kindness_of(even.astype(float), people, names))
        found = {k.agent: k for k in m.kindness_of(kind.astype(float), people, names) if k.named}
        named += set(found) == {"a0"}
        assert "a0" not in found or ("kinder to a0" in found["a0"].finding_text and found["a0"].labels <= 400)
    assert named >= 55 and alarms <= 4


def test_favour_needs_two_agents_and_answers():
    with pytest.raises(UsageError, match="has only one agent"):
        m.kindness_of([1, 0], [1, 0], ["a", "a"])
    assert m.kindness_of([None, None], [1, 0], ["a", "b"]) == ()


def test_person_who_copies_the_judge_is_named():
    rng = np.random.default_rng(1)
    judge = (rng.random(90) < 0.5).astype(float)
    people = judge.copy()
    people[:60] = np.where(rng.random(60) < 0.25, 1 - judge[:60], judge[:60])
    person = ["ann"] * 30 + ["bob"] * 30 + ["eve"] * 30
    assert [c.person for c in m.find_copying(person, judge, people)] == ["eve"]
    words = "The table on page 2 lacks the totals of March."
    texts = [(words.upper() if i in (3, 4) else f"my own view {i} of this work", words) for i in range(90)]
    found = {c.person: c.why for c in m.find_copying(person, judge, people, said=texts)}
    assert set(found) == {"ann", "eve"} and "word for word" in found["ann"]
    # Where everybody agrees with the judge, agreeing is no sign.
    assert m.find_copying(person, judge, judge) == ()


def league(seed, judge_errs, agents=4, projects=40, each=20, share=0.3, favours=0.3):
    """Pairs of agents whose strengths are known: project, first, second, judge, people (null without a label)."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-0.8, 0.8, agents)
    rows = []
    for one in range(agents):
        for two in range(one + 1, agents):
            chance = 1 / (1 + np.exp(strength[two] - strength[one]))
            where = rng.permutation(projects)[:each]
            people = (rng.random(each) < chance).astype(float)
            # It errs, and favours the last agent.
            judge = np.where(rng.random(each) < judge_errs, 1 - people, people)
            judge = np.where((two == agents - 1) & (rng.random(each) < favours), 0.0, judge)
            has = np.isin(np.arange(each), rng.permutation(each)[: round(share * each)])
            told = [float(p) if h else None for p, h in zip(people, has, strict=True)]
            rows += zip([f"p{n}" for n in where], [f"a{one}"] * each, [f"a{two}"] * each, judge, told, strict=True)
    frame = pl.DataFrame(rows, schema=["project", "first", "second", "judge", "people"], orient="row")
    truth = {f"a{n}": 1000 + x * 400 / np.log(10) for n, x in enumerate(strength)}
    return frame.with_columns(couple=pl.col("first") + pl.col("second")), truth


def corrected_elo(frame):
    each = m.rectify_preferences(m.Sample(frame["judge"], frame["people"], frame["project"]), frame["couple"])
    sums = m.pair_sums(frame["project"], frame["first"], frame["second"], each, bounded=False)
    return m.elo_ratings(sums, m.EloOptions(anchor=None), m.Resampling(resamples=300, seed=1))


def test_rectified_preferences_without_a_judge_are_the_labels():
    frame, _ = league(1, 0.1)
    blank = m.rectify_preferences(m.Sample([0.5] * frame.height, frame["people"], frame["project"]), frame["couple"])
    told = frame.with_columns(each=blank).group_by("couple").agg(pl.col("each").mean(), pl.col("people").mean())
    assert told["each"].to_list() == pytest.approx(told["people"].to_list())
    labels = frame.drop_nulls("people")
    alone = m.elo_ratings(
        m.pair_sums(labels["project"], labels["first"], labels["second"], labels["people"]), m.EloOptions(anchor=None)
    )
    found = corrected_elo(frame.with_columns(judge=pl.lit(0.5)))
    for agent, rating in found.ratings.items():
        assert rating.value == pytest.approx(alone.ratings[agent].value, abs=0.1)


def test_elo_of_a_judge_that_favours_an_agent_is_corrected():
    held, apart, own = 0, [], []
    for seed in range(24):
        frame, truth = league(seed, 0.1, favours=0.8)
        found = corrected_elo(frame)
        sums = m.pair_sums(frame["project"], frame["first"], frame["second"], frame["judge"])
        judge = m.elo_ratings(sums, m.EloOptions(anchor=None, interval="none"))
        for agent, rating in found.ratings.items():
            held += rating.low <= truth[agent] <= rating.high
        apart.append(found.ratings["a3"].value - truth["a3"])
        own.append(judge.ratings["a3"].value - truth["a3"])
    assert held >= 86, "of 96"
    assert abs(np.mean(apart)) < np.mean(own) / 3


def test_pair_with_one_label_is_not_corrected():
    frame, _ = league(2, 0.1)
    few = pl.when((pl.col("couple") == "a0a1") & (pl.int_range(pl.len()).over("couple") > 0)).then(None)
    frame = frame.with_columns(people=few.otherwise("people"))
    each = m.rectify_preferences(m.Sample(frame["judge"], frame["people"], frame["project"]), frame["couple"])
    assert each.filter(frame["couple"] == "a0a1").null_count() == 20 and each.null_count() == 20


def test_judge_with_a_single_answer_is_named_with_label_counts():
    people = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, *[None] * 20]
    found = m.one_answer_of([1.0] * 27, people)
    assert found == m.OneAnswer(1.0, 27, 6, 3, named=True) and found.finding_text.startswith("passes all 27")
    assert m.one_answer_of([1.0] * 27, [1.0] * 27) == m.OneAnswer(1.0, 27, 27, 0, named=False)
    assert m.one_answer_of([0.0] * 27, people).labels == 5 and m.one_answer_of([1.0] * 19, people[:19]) is None
    assert m.one_answer_of([1.0] * 26 + [0.0], people) is None
    # Who must agree less often is doubted later.
    assert m.one_answer_of([1.0] * 27, people, threshold=0.5).named is False
