"""What all tests share is in `running`: profiles, shards, needs, locks, counts, skips."""

from __future__ import annotations

pytest_plugins = (
    "running.profiles",
    "running.same_examples",
    "running.needs",
    "running.run_files",
    "running.counts",
    "running.skips",
    "running.costs",
    "running.imported",
    "running.foreign",
    "running.rewriting",
)
