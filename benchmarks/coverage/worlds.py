"""Simulated benchmarks of known truth: what a world yields is a row, the figure, and what it should be.

Tasks differ in difficulty, instances and repeats share their task, prices have heavy tails, evaluators err. A new row
of a world comes last and takes its own draws last, so that the others stay what they were.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from benchmarks.coverage.cells import Found, Rng, World
from scipy.special import betaincinv

from worksample import metrics as m


def beta(rng: Rng, size: int, mean: float, alike: float = 1.0) -> np.ndarray:
    """Chances of tasks around `mean`: the smaller `alike`, the more they differ."""
    return rng.beta(mean * alike, (1 - mean) * alike, size)


def prices(rng: Rng, size: int, spread: float = 1.0) -> np.ndarray:
    """US dollars with a heavy tail, 200 in the middle."""
    return np.exp(rng.normal(math.log(200), spread, size))


def rates(rng: Rng, n: int) -> Found:
    for mean in (0.02, 0.1, 0.4):
        yield f"rate, {mean:.0%} pass", m.rate(rng.random(n) < mean), mean
    chance = beta(rng, n, 0.1)
    tasks = np.arange(n)
    for inner, name in ((3, "3 repeats"), (2, "2 instances"), (4, "4 instances")):
        task = tasks.repeat(inner)
        instance = task if "rep" in name else np.arange(n * inner)
        yield f"rate, {name}", m.rate(rng.random(n * inner) < chance[task], task=task, instance=instance), 0.1
    ungraded = rng.random(n) < 0.2
    passed = [None if u else bool(p) for u, p in zip(ungraded, rng.random(n) < 0.3, strict=True)]
    yield "rate, a fifth ungraded at random", m.rate(passed), 0.3


def scores(rng: Rng, n: int) -> Found:
    yield "mean score, symmetric", m.mean_score(rng.beta(2, 2, n)), 0.5
    yield "mean score, mostly 0", m.mean_score(np.where(rng.random(n) < 0.3, rng.beta(3, 2, n), 0.0)), 0.18
    points = rng.binomial(5, rng.beta(2, 2, n)) / 5
    level = 0.5 * points + 0.5 * (points == 1)
    # P(5 of 5) under a beta-binomial of 2 and 2 is 6 / 56.
    yield "S_partial", m.suite_score(level), 0.25 + 0.5 * 6 / 56
    chance = beta(rng, n, 0.3)
    task = np.arange(n).repeat(3)
    trials = m.TrialColumns((rng.random(3 * n) < chance[task]).astype(float), task, task)
    yield "full pass, 3 repeats", m.full_pass(trials), 0.3
    late = rng.random(3 * n) < beta(rng, n, 0.2)[task]
    yield "timeout rate", m.timeout_table(trials, late)["overall"].rate, 0.2
    yield "score of late runs", m.timeout_table(trials, late)["overall"].timed_out, 0.3
    yield (
        "score against budget",
        m.score_against_budget(np.where(late, 2.0, 1.0), trials.score, [1.0], task=task, instance=task)[0].score,
        0.24,
    )
    yield "steps", m.mean_steps(rng.poisson(np.exp(rng.normal(3, 0.5, n)))), math.exp(3.125)


def amounts(rng: Rng, n: int) -> Found:
    cost = np.exp(rng.normal(0, 0.7, n))
    yield "cost per trial", m.mean_score(cost, unit=m.Unit.USD), math.exp(0.245)
    yield "cost per trial, heavy tail", m.mean_score(cost ** (1 / 0.7), unit=m.Unit.USD), math.exp(0.5)


def pairs(rng: Rng, n: int) -> Found:
    for repeats in (1, 3):
        task = np.arange(n).repeat(repeats)
        for gain in (0.0, 0.1):
            chance = rng.beta(1, 1, n)[task] * 0.6
            one, two = (m.TrialColumns((rng.random(len(task)) < chance + g).astype(float), task) for g in (0.0, gain))
            name = f"paired difference, {repeats} repeats, " + ("equal agents" if not gain else "10 points")
            yield name, m.paired_difference(one, two).difference, gain
    base = rng.beta(2, 2, n) * 0.8
    one, two = (
        m.TrialColumns(np.clip(base + g + rng.uniform(-0.1, 0.1, n), -1, 1).clip(0, 1), np.arange(n))
        for g in (0.1, 0.1)
    )
    yield "paired difference, graded, equal agents", m.paired_difference(one, two).difference, 0.0


def money(rng: Rng, n: int) -> Found:
    price = prices(rng, n)
    for mean in (0.02, 0.1, 0.4):
        found = m.dollars_earned(price, rng.random(n) < mean)
        yield f"share of dollars, {mean:.0%} pass", found.share, mean
    yield "dollars earned", found.earned, 0.4 * float(price.sum())
    chance, task = beta(rng, n, 0.2), np.arange(n).repeat(3)
    passed = rng.random(3 * n) < chance[task]
    yield "share of dollars, 3 repeats", m.dollars_earned((price / 3)[task], passed, task=task).share, 0.2
    spent = np.full(3 * n, 1.0)
    each = m.deployable_cost(passed, spent, price[task], task=task)
    human = 200 * math.exp(0.5)
    yield "deployable cost, 3 repeats", each.cost, 1 + 0.8 * human
    yield "saving when deployed, 3 repeats", each.saving, 0.2 - 1 / human
    share = rng.random(n) * 0.5
    flat = m.measure_autoflation(m.Bundle(np.arange(n), price), np.arange(n), price * share, rng.random(n) < 0.1)
    yield "autoflation, 10% pass", flat, 0.075
    low, high = rng.random(n) < 0.3, rng.random(n) < 0.7
    extra = rng.gamma(4, 2.5, n)
    even = m.break_even_from_jobs((low, high), (np.zeros(n), extra), ("AI", "helped"))
    yield "break-even value", even, 25.0


def attempts(rng: Rng, n: int) -> Found:
    chance = beta(rng, n, 0.3, 2.0)
    tries = rng.binomial(5, chance)
    # 1 - E[(1 - p)^2] of a beta of 0.6 and 1.4.
    yield "pass@2 of 5", m.pass_at_k(np.full(n, 5), tries, 2), 1 - 1.4 * 2.4 / (2 * 3)
    first = rng.random(n) < 0.4
    again = [None if f else bool(g) for f, g in zip(first, rng.random(n) < 0.25, strict=True)]
    lifts = m.success_lifts(first, again)
    yield "p overall", lifts.p_overall, 0.55
    yield "rescue rate", lifts.rescue, 0.25
    yield "absolute lift", lifts.absolute, 0.15
    yield "relative lift", lifts.relative, 0.375
    score = rng.beta(2, 2, n)
    rubric = m.rubric_lifts(score, score + (1 - score) * 0.3)
    yield "rubric lift", rubric.absolute, 0.15
    yield "relative rubric lift", rubric.relative, 0.3
    jobs, steps, passed = [], [], []
    for job in range(n):
        for k in (1, 2, 3):
            jobs.append(job)
            steps.append(k)
            passed.append(bool(rng.random() < 0.3))
            if passed[-1]:
                break
    for attempt in m.passed_within(m.histories(jobs, steps, passed))[1:2]:
        yield "hazard of attempt 2", attempt.hazard, 0.3
        yield "passed within 2", attempt.within, 0.51


def votes(rng: Rng, n: int) -> Found:
    truth = rng.random(n) < 0.3
    subject = np.arange(n).repeat(3)
    said = np.where(rng.random(3 * n) < 0.15, ~truth[subject], truth[subject]).astype(int)
    found = m.measure_agreement(m.Ballots(subject, said), m.PASS_FAIL)
    yes = 0.3 * 0.85 + 0.7 * 0.15
    agree = 0.85**2 + 0.15**2
    yield "agreement", found.share, agree
    yield "hard disagreement", found.hard, 1 - agree
    yield "agreement on positives", found.positive, (0.3 * 0.85**2 + 0.7 * 0.15**2) / yes
    yield "alpha (nominal)", found.alpha_nominal, 1 - (1 - agree) / (2 * yes * (1 - yes))
    yield "AC1", found.ac1, (agree - 2 * yes * (1 - yes)) / (1 - 2 * yes * (1 - yes))
    bad = int(rng.binomial(n, 0.05))
    yield "false negatives (one-sided)", m.false_negative_bound(bad, n), 0.05


def elo(rng: Rng, n: int) -> Found:
    strength = {"human": 0.0, "a": -0.6, "b": -1.2, "c": -3.0}
    rows = []
    names = list(strength)
    hard = rng.normal(0, 0.5, (n, len(names)))
    for i, one in enumerate(names):
        for j in range(i + 1, len(names)):
            gap = strength[one] - strength[names[j]] + hard[:, i] - hard[:, j]
            wins = rng.random(n) < 1 / (1 + np.exp(-gap))
            rows += [(p, one, names[j], float(w)) for p, w in enumerate(wins)]
    project, first, second, preference = zip(*rows, strict=True)
    table = m.elo_ratings(m.pair_sums(project, first, second, preference), m.EloOptions(part=True), m.Resampling(300))
    truth = elo_truth(strength)
    for agent in ("a", "c"):
        yield f"Elo of {'a close' if agent == 'a' else 'a weak'} agent", table.ratings[agent], truth[agent]
    yield "Elo difference", table.difference("a", "b"), truth["a"] - truth["b"]


def elo_truth(strength: dict[str, float]) -> dict[str, float]:
    """What the ratings come to with endless projects: difficulties (sd 0.5 each) flatten every preference."""
    if "truth" not in _KEPT:
        nodes, weight = np.polynomial.hermite_e.hermegauss(60)
        names = list(strength)
        rows = []
        for i, one in enumerate(names):
            for j in range(i + 1, len(names)):
                gap = strength[one] - strength[names[j]] + nodes * math.sqrt(0.5)
                rows.append(("p", one, names[j], float((weight / weight.sum() / (1 + np.exp(-gap))).sum())))
        table = m.elo_ratings(m.pair_sums(*zip(*rows, strict=True)), m.EloOptions(interval="none"))
        _KEPT["truth"] = {agent: float(e.value or 0) for agent, e in table.ratings.items()}
    return _KEPT["truth"]


_KEPT: dict[str, dict[str, float]] = {}


def horizon(rng: Rng, n: int) -> Found:
    hours = np.exp(rng.normal(1, 1.5, n))
    passed = rng.random(n) < 1 / (1 + np.exp(0.8 * np.log2(hours / 2)))
    found = m.time_horizon(hours, passed)
    yield "50 % time horizon", found.horizons[0.5], 2.0
    yield "80 % time horizon", found.horizons[0.8], 2 * 4 ** (-math.log(2) / 0.8)
    yield "slope of the horizon's curve", found.slope, -0.8


def spreads(rng: Rng, n: int) -> Found:
    chance = rng.beta(1, 1, n)
    task = np.tile(np.arange(n), 3)
    model = np.repeat(["x", "y", "z"], n)
    lift = np.repeat([0.0, 0.2, 0.4], n)
    credit = (rng.random(3 * n) < chance[task] * 0.6 + lift).astype(float)
    found = m.model_effect(m.Configurations(["h"] * (3 * n), model, task, credit), "h", m.Resampling(300))
    yield "model spread", found.spread, 0.4
    yield "model deviation", found.deviation, 0.2
    x = rng.normal(size=n)
    yield "correlation", m.correlate(x, 0.6 * x + 0.8 * rng.normal(size=n)), 0.6


def rolled(rng: Rng, n: int) -> Found:
    """Of 149 tasks in 55 subdomains 19 stand alone; other sizes likewise."""
    groups = max(2, n * 55 // 149)
    alone = max(1, groups * 19 // 55)
    sizes = np.ones(groups, dtype=int)
    for extra in range(max(0, n - groups)):
        sizes[alone + extra % (groups - alone)] += 1
    sub = np.arange(groups).repeat(sizes)[:n]
    base = 0.15 + 0.4 * (np.arange(groups) % 5) / 4
    domain = np.arange(groups) // 4
    score = (rng.random(n) < base[sub]).astype(float)
    levels = {"task": np.arange(n), "subdomain": sub, "domain": domain[sub]}
    truth = float(np.mean([base[domain == d].mean() for d in np.unique(domain)]))
    found = m.roll_up(score, levels)
    yield "rolled up, all", found["all"]["all"], truth
    yield "rolled up, a domain", found["domain"]["0"], float(base[domain == 0].mean())


def ranked(rng: Rng, n: int) -> Found:
    """Five agents in steps of five points, and five that are equal."""
    chance = beta(rng, n, 0.3, 2)
    steps = {f"a{k}": m.TrialColumns((rng.random(n) < chance + 0.05 * k).astype(float), np.arange(n)) for k in range(5)}
    yield "rank of the middle one of five", m.rank_agents(steps, m.Resampling(20)).ranks["a2"], 3.0
    equal = {f"a{k}": m.TrialColumns((rng.random(n) < chance).astype(float), np.arange(n)) for k in range(5)}
    least = min(pair.holm for pair in m.rank_agents(equal, m.Resampling(20)).pairs if pair.holm is not None)
    told = m.Estimate("all pairs", 0.0, m.Counts(n, n), 1e-6 if least <= 0.05 else -1.0, 1.0, 0.95)
    yield "ten pairs of equal agents, by Holm", told, 0.0


def medians(rng: Rng, n: int) -> Found:
    yield "median cost", m.median_amount(np.exp(rng.normal(0, 1, n)), unit=m.Unit.USD), 1.0


def scales(rng: Rng, n: int) -> Found:
    """Three votes of 1, 2 or 3 on a project; four in five give its label, the others either of the rest."""
    yield from _alphas(rng, n, (0.6, 0.25, 0.15), 0.1)
    yield "preference", m.mean_score(rng.choice([0.0, 0.5, 1.0], n, p=[0.5, 0.3, 0.2])), 0.35


def _alphas(rng: Rng, n: int, share: tuple[float, ...], wrong: float, said: str = "") -> Found:
    """Three votes on a project, each with a chance of `wrong` for either of the labels that are not the project's."""
    shares, noise = np.array(share), np.full((3, 3), wrong) + (1 - 3 * wrong) * np.eye(3)
    label = rng.choice(3, n, p=shares).repeat(3)
    vote = (rng.random(3 * n)[:, None] > noise[label].cumsum(axis=1)).sum(axis=1)
    found = m.measure_agreement(m.Ballots(np.arange(n).repeat(3), vote + 1), m.HOLISTIC)
    both = (noise.T * shares) @ noise
    margin = both.sum(axis=0)
    place = margin.cumsum() - margin / 2
    for name, told, at in (
        ("ordinal", found.alpha_ordinal, place), ("interval", found.alpha_interval, np.arange(3.0))
    ):  # fmt: skip
        apart = (at[:, None] - at) ** 2
        yield f"alpha ({name}){said}", told, 1 - float((both * apart).sum() / (np.outer(margin, margin) * apart).sum())


def ceilings(rng: Rng, n: int) -> Found:
    """Six jobs in ten can be done: each attempt passes half of those, or each has a chance of its own, or attempts are
    drawn from a pool of five answers of which one passes."""
    able = rng.random(n) < 0.6
    kinds = {
        "": np.full(n, 0.5),
        ", any chance alike": rng.random(n),
        ", easy and hard jobs": np.where(rng.random(n) < 0.5, 0.15, 0.8),
    }
    for name, chance in kinds.items():
        told = _chains(np.where(able, chance, 0.0)[:, None] > rng.random((n, 4)))
        yield f"ceiling{name}", m.fit_ceiling(told, "independent").ceiling, 0.6
    pool = able[:, None] & (rng.integers(0, 5, n)[:, None] == np.arange(4))
    yield "ceiling, finite pool", m.fit_ceiling(_chains(pool)).ceiling, 0.6


def _chains(passes: np.ndarray[Any, Any]) -> m.Histories:
    """The histories of jobs that stop at their first pass, of a row of attempts each."""
    jobs: list[int] = []
    steps: list[int] = []
    passed: list[bool] = []
    for job, row in enumerate(passes.tolist()):
        last = row.index(True) + 1 if True in row else len(row)
        jobs += [job] * last
        steps += range(1, last + 1)
        passed += row[:last]
    return m.histories(jobs, steps, passed)


def trends(rng: Rng, n: int) -> Found:
    """So many agents over three years; horizons double in 200 days, and agents lie a factor of two around that."""
    released = np.sort(rng.integers(0, 1100, n))
    hours = 2 ** (released / 200 + rng.normal(0, 1, n))
    day = np.datetime64("2024-01-01") + released
    yield "doubling time of horizons", m.doubling_time(hours, day), 200.0


def rare(rng: Rng, n: int) -> Found:
    """Two agents that differ on a few tasks only: one loses what the other passes, or both lose some."""
    task = np.arange(n)
    passed = rng.random(n) < 0.3
    for lost, gained, said in ((2.0, 0.0, "one loses 2 tasks"), (2.0, 0.5, "one loses 2 tasks and gains half of one")):
        drawn = rng.random(n)
        worse, better = drawn < lost / n, drawn > 1 - gained / n
        one = np.where(worse, 1.0, np.where(better, 0.0, passed))
        two = np.where(worse, 0.0, np.where(better, 1.0, passed))
        found = m.paired_difference(m.TrialColumns(one, task), m.TrialColumns(two, task))
        truth = (gained - lost) / n
        yield f"paired difference, {said}", found.difference, truth
        yield f"called not worse, {said}", _claimed(found, -truth), 0.0
    score = rng.beta(2, 2, n)
    # The mean of min(score, 1/2) of a beta of 2 and 2.
    worse = np.where(rng.random(n) < 2 / n, np.maximum(score - 0.5, 0.0), score)
    found = m.paired_difference(m.TrialColumns(score, task), m.TrialColumns(worse, task))
    yield "paired difference, graded, half a point lost on 2 tasks", found.difference, -2 / n * 0.40625
    chance, trials = rng.beta(0.5, 0.5, n), task.repeat(3)
    one, two = (rng.random((2, 3 * n)) < chance[trials]).astype(float)
    two = np.where((rng.random(n) < 2 / n)[trials], 0.0, two)
    found = m.paired_difference(m.TrialColumns(one, trials), m.TrialColumns(two, trials))
    yield "paired difference, 3 repeats, 2 tasks lost", found.difference, -1 / n


def _claimed(found: m.PairedComparison, margin: float) -> m.Estimate:
    """Whether the worse one is called not worse, as an interval that misses if so."""
    wrong = (found.not_worse(margin).value or 0.0) >= 0.975
    return m.Estimate("not worse", 0.5, found.difference.counts, 0.5 if wrong else 0.0, 1.0, 0.95)


def equals(rng: Rng, n: int) -> Found:
    """Two, four and seven models that are equal, and seven of which one is better."""
    for models, gain in ((2, 0.0), (4, 0.0), (7, 0.0), (7, 0.15)):
        chance = rng.beta(1, 1, n) * 0.7
        lift = np.where(np.arange(models) == 0, gain, 0.0)[:, None]
        credit = (rng.random((models, n)) < chance + lift).astype(float).ravel()
        names = np.repeat([f"m{k}" for k in range(models)], n)
        rows = m.Configurations(["h"] * (models * n), names, np.tile(np.arange(n), models), credit)
        found, said = m.model_effect(rows, "h"), f"{models} {'equal models' if not gain else 'models, one ahead'}"
        yield f"model spread, {said}", found.spread, gain
        yield f"model deviation, {said}", found.deviation, gain / math.sqrt(models)


def ties(rng: Rng, n: int) -> Found:
    """An agent that ties with the human on all but two projects in the mean, which it wins; another ties with both."""
    rows = [(p, "a", "human", float(won)) for p, won in enumerate(np.where(rng.random(n) < 2 / n, 1.0, 0.5))]
    even = rows + [(p, "b", other, 0.5) for p in range(n) for other in ("a", "human")]
    better = 400 * math.log10((0.5 + 1 / n) / (0.5 - 1 / n)) if n > 2 else 0.0
    usual, preview = m.EloOptions(), m.EloOptions(interval="sandwich")
    for options, said in ((usual, "mostly ties"), (preview, "mostly ties, sandwich")):
        table = m.elo_ratings(m.pair_sums(*zip(*rows, strict=True)), options, m.Resampling(300))
        yield f"Elo of an agent that {said}", table.ratings["a"], 1000 + better
    table = m.elo_ratings(m.pair_sums(*zip(*even, strict=True)), how=m.Resampling(300))
    yield "Elo difference, mostly ties", table.difference("a", "b"), _apart(1 / n)


def _apart(lead: float) -> float:
    """Points between a and b where a's preference over the human is 1/2 + lead and b ties with both."""
    rows = [("p", "a", "human", 0.5 + lead), ("p", "b", "a", 0.5), ("p", "b", "human", 0.5)]
    table = m.elo_ratings(m.pair_sums(*zip(*rows, strict=True)), m.EloOptions(interval="none"))
    return (table.ratings["a"].value or 0.0) - (table.ratings["b"].value or 0.0)


def few_good(rng: Rng, n: int) -> Found:
    """Three votes of pass or fail on items of which few are good, and of 1, 2 or 3 where most are a 1."""
    subject = np.arange(n).repeat(3)
    for good, wrong in ((0.02, 0.05), (0.05, 0.05), (0.1, 0.05)):
        truth = rng.random(n) < good
        said = (truth[subject] ^ (rng.random(3 * n) < wrong)).astype(int)
        found = m.measure_agreement(m.Ballots(subject, said), m.PASS_FAIL)
        yes, agree = good * (1 - wrong) + (1 - good) * wrong, (1 - wrong) ** 2 + wrong**2
        name, chance = f"{good:.0%} good", 2 * yes * (1 - yes)
        yield f"alpha (nominal), {name}", found.alpha_nominal, 1 - (1 - agree) / chance
        yield f"AC1, {name}", found.ac1, (agree - chance) / (1 - chance)
        yield f"agreement on positives, {name}", found.positive, (good * (1 - wrong) ** 2 + (1 - good) * wrong**2) / yes
    yield from _alphas(rng, n, (0.94, 0.04, 0.02), 0.05, ", mostly 1")


def dear_pass(rng: Rng, n: int) -> Found:
    """Dear jobs pass more often than cheap ones; the share of the dollars of all such jobs, not of those drawn."""
    for middle, slope in ((-1.0, 1.0), (-2.0, 1.0), (-3.0, 1.5)):
        size = rng.normal(0, 1, n)
        chance = 1 / (1 + np.exp(-(middle + slope * size)))
        # A log-normal price shifts the normal by its spread.
        nodes, weight = np.polynomial.hermite_e.hermegauss(80)
        truth = float((weight / weight.sum() / (1 + np.exp(-(middle + slope * (nodes + 1))))).sum())
        found = m.dollars_earned(200 * np.exp(size), rng.random(n) < chance)
        yield f"share of dollars, dear jobs pass more, {truth:.0%}", found.share, truth


def rare_dear(rng: Rng, n: int) -> Found:
    """Costs of which one in a hundred is 30 times as high."""
    cost = np.exp(rng.normal(0, 1, n)) * np.where(rng.random(n) < 0.01, 30.0, 1.0)
    mean = math.exp(0.5) * 1.29
    yield "cost per trial, 1% 30 times as dear", m.mean_score(cost, unit=m.Unit.USD), mean
    passed = rng.random(n) < 0.3
    yield "deployable cost, 1% 30 times as dear", m.deployable_cost(passed, cost, np.ones(n)).cost, mean + 0.7
    even = m.break_even_from_jobs((passed, passed | (rng.random(n) < 0.7)), (np.zeros(n), cost), ("AI", "helped"))
    yield "break-even value, 1% of the dearer approach 30 times as dear", even, mean / 0.49


PLANS = {
    "2.5% pass": (0.025, 0.5, 0.5, 1),
    "25% pass": (0.25, 0.5, 0.5, 1), "25% pass, 3 repeats": (0.25, 0.5, 0.5, 3), "10% pass": (0.1, 0.5, 0.5, 1),
    "50% pass, tasks apart": (0.5, 0.5, 0.0, 1), "50% pass, hard or easy, 3 repeats": (0.5, 0.8, 1.0, 3),
}  # fmt: skip
"""Designs by name: the pass rate, the part of its variance between tasks, the part of that which is shared, repeats."""


@cache
def planned_points(design: str, n: int) -> float | None:
    """The difference that is seen four times in five by the plan; None where no agents of that rate can differ so."""
    rate, between, shared, repeats = PLANS[design]
    points = m.detectable(m.planned_variances(rate, between, shared), n, repeats=repeats)
    return points


def planned(rng: Rng, n: int) -> Found:
    """Studies of the size and difference that a plan says are found four times in five."""
    for design, (rate, between, shared, repeats) in PLANS.items():
        points, name = planned_points(design, n), f"planned for 80 %: {design}"
        if points is None:
            yield name, m.Estimate(name, None, m.Counts(0, 0), reason="no such difference"), 0.0
            continue
        easy, size = rng.random(n), 1 / between - 1
        other = np.where(rng.random(n) < shared, easy, rng.random(n))
        task, sides = np.arange(n).repeat(repeats), []
        for at, mean in ((easy, rate), (other, min(rate + points, 1 - 1e-9))):
            chance = betaincinv(mean * size, (1 - mean) * size, at)
            sides.append(m.TrialColumns((rng.random(len(task)) < chance[task]).astype(float), task))
        yield name, m.paired_difference(*sides).difference, points


WORLDS: tuple[World, ...] = (
    rates, scores, amounts, pairs, money, attempts, votes, elo, horizon, spreads, rolled, ranked, medians,
    scales, ceilings, trends, planned, rare, equals, ties, few_good,
    dear_pass, rare_dear,
)  # fmt: skip
