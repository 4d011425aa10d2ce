"""Project bootstraps of Elo scores beside choix, evalica and arena-rank, fed with the same averaged preferences.

    python benchmarks/metrics_elo.py [--agents 50] [--comparisons 200000] [--projects 240] [--peers 100]
                                     [--arena PYTHON]

arena-rank brings JAX, so that it is in no lock of ours: `--arena` names the Python of an environment that has it. Its
0.1.1 compiles every fit anew, which counts. All see the same resamples of projects. The peers get, for each resample,
one edge per pair of agents, already averaged: their time is fitting alone, without the averaging that ours includes.
They run on `--peers` of the 1,000 resamples, and their time is scaled up. Each time is the best of `--rounds`, taken in
turn, in seconds of the processor: set OPENBLAS_NUM_THREADS=1. The largest difference from their scores is printed, so
that speed is not bought with another answer.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from worksample.metrics import EloOptions, PairSums, Resampling, elo_ratings, pair_sums
from worksample.metrics.ratings.elo import POINTS
from worksample.metrics.uncertainty.bootstrap import weights

RESAMPLES = 1000


def simulate(agents: int, comparisons: int, projects: int) -> tuple[np.ndarray, ...]:
    """Comparisons of agents of different strength on projects, a fifth of them ties."""
    rng = np.random.default_rng(1)
    strength = rng.normal(0, 1, agents)
    first = rng.integers(0, agents, comparisons)
    second = (first + rng.integers(1, agents, comparisons)) % agents
    won = (rng.random(comparisons) < 1 / (1 + np.exp(strength[second] - strength[first]))).astype(np.float64)
    won[rng.random(comparisons) < 0.2] = 0.5
    names = np.array(["human", *(f"agent{k:04d}" for k in range(1, agents))], dtype=object)
    return rng.integers(0, projects, comparisons), names[first], names[second], won


def averaged(sums: PairSums, drawn: np.ndarray) -> np.ndarray:
    """Preference per pair in one resample; NaN where it was not compared."""
    won, weight = sums.weigh(by_count=False)
    above = np.bincount(sums.pair, weights=won * drawn[sums.project], minlength=sums.pairs)
    below = np.bincount(sums.pair, weights=weight * drawn[sums.project], minlength=sums.pairs)
    with np.errstate(invalid="ignore"):
        return above / below


def by_choix(sums: PairSums, preference: np.ndarray) -> np.ndarray:
    import choix

    seen = ~np.isnan(preference)
    wins = np.zeros((len(sums.agents),) * 2)
    wins[sums.first[seen], sums.second[seen]] = preference[seen]
    wins[sums.second[seen], sums.first[seen]] = 1 - preference[seen]
    return np.asarray(choix.ilsr_pairwise_dense(wins, alpha=0))


def by_evalica(sums: PairSums, preference: np.ndarray) -> np.ndarray:
    import evalica

    seen = ~np.isnan(preference)
    first, second, share = sums.first[seen], sums.second[seen], preference[seen]
    winners = [evalica.Winner.X] * len(first) + [evalica.Winner.Y] * len(first)
    result = evalica.bradley_terry(
        np.concatenate([first, first]).tolist(),
        np.concatenate([second, second]).tolist(),
        winners,
        weights=np.concatenate([share, 1 - share]).tolist(),
        limit=1000,
    )
    scores: np.ndarray = np.log(result.scores.sort_index().to_numpy())
    return scores


def by_arena_rank(python: str, sums: PairSums, edges: list[np.ndarray], rounds: int) -> tuple[np.ndarray, float]:
    """Strengths by its Python, and the best time of the processor for all edges together."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npz"
        np.savez(given, first=sums.first, second=sums.second, edges=np.stack(edges), agents=len(sums.agents))
        script = Path(__file__).parent / "parts/by_arena_rank.py"
        subprocess.run([python, str(script), str(given), str(found), str(rounds)], check=True)
        with np.load(found) as told:
            return told["strength"], float(told["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = {"agents": 50, "comparisons": 200_000, "projects": 240, "peers": 100, "rounds": 3}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--arena", default="", help="the Python of an environment that has arena-rank")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = simulate(chosen.agents, chosen.comparisons, chosen.projects)
    how = Resampling(RESAMPLES)
    sums = pair_sums(*columns)
    ours = elo_ratings(sums, EloOptions(), how)
    edges = [averaged(sums, row) for row in next(weights(sums.projects, how))[: chosen.peers]]
    found: dict[str, np.ndarray] = {}

    def peer(name: str, fit: Callable[[PairSums, np.ndarray], np.ndarray]) -> None:
        found[name] = np.stack([fit(sums, edge) for edge in edges])

    work: dict[str, Callable[[], object]] = {
        "gathering": lambda: pair_sums(*columns),
        "preview": lambda: elo_ratings(sums, EloOptions(interval="sandwich")),
        "worksample": lambda: elo_ratings(sums, EloOptions(), how),
    }
    if edges:
        work |= {"choix": lambda: peer("choix", by_choix), "evalica": lambda: peer("evalica", by_evalica)}
    best = dict.fromkeys(work, float("inf"))
    for _ in range(chosen.rounds):
        for name, run in work.items():
            began = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - began)
    if chosen.arena:
        found["arena-rank"], best["arena-rank"] = by_arena_rank(chosen.arena, sums, edges, chosen.rounds)
    print(f"{chosen.agents} agents, {sums.comparisons:,} comparisons, {sums.projects} projects, {RESAMPLES} resamples")
    human = sums.agents.index("human")
    assert ours.replicates is not None
    print(f"  {next(e.method for e in ours.ratings.values() if e.level is not None)}")
    for name, seconds in best.items():
        if name not in found:
            print(f"  {name:12}{seconds:9.3f} s")
            continue
        whole = seconds * RESAMPLES / len(edges)
        points = (found[name] - found[name][:, [human]]) * POINTS + 1000
        gap = float(np.nanmax(np.abs(points - ours.replicates[: len(edges)])))
        ratio = whole / best["worksample"]
        print(f"  {name:12}{whole:9.3f} s   {ratio:6.1f} x ours   scores differ by at most {gap:.2g} points")


if __name__ == "__main__":
    main()
