"""Evaluation by people: accounts, rounds, queues, drafts, votes and verdicts. This package has no HTTP code."""

# SQLAlchemy and argon2 are slow to import, so they are imported on first use.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
