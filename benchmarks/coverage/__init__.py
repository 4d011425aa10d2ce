"""How often intervals hold the truth, on simulated worlds whose truth is known: `python -m benchmarks.coverage`."""
