"""The plan, the lock, running and resuming it, rounds over what is stored."""

# The engine behind `run_experiment` takes seconds to import, so it waits until one of these is wanted.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
