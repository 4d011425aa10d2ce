"""Bradley-Terry fits by arena-rank, in an environment of its own: `by_arena_rank.py GIVEN FOUND ROUNDS`."""

from __future__ import annotations

import sys
import time

import numpy as np


def main() -> None:
    import jax.numpy as jnp
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    given, found, rounds = sys.argv[1:]
    with np.load(given) as told:
        pairs = jnp.column_stack([jnp.array(told["first"]), jnp.array(told["second"])])
        edges, agents = told["edges"], int(told["agents"])
    ones = jnp.ones(pairs.shape[0])
    names = [str(k) for k in range(agents)]

    def strengths() -> np.ndarray:
        out = []
        for edge in edges:
            # A pair that was not compared has no weight, so that every fit has the shape that was compiled.
            seen = jnp.array(~np.isnan(edge), dtype=jnp.float64)
            data = PairDataset(names, pairs, jnp.array(np.nan_to_num(edge, nan=0.5)), ones, seen, seen)
            model = BradleyTerry(agents)
            model.fit(data)
            out.append(np.asarray(model.params["ratings"]))
        return np.stack(out)

    strengths()
    best = float("inf")
    for _ in range(int(rounds)):
        began = time.process_time()
        fitted = strengths()
        best = min(best, time.process_time() - began)
    np.savez(found, strength=fitted, seconds=best)


if __name__ == "__main__":
    main()
