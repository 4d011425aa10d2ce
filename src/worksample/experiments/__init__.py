"""Experiments: plan, run and resume them, and grade or regrade their submissions."""

# Inspect, which `run_experiment` needs, takes seconds to import: names are loaded when they are first used.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
