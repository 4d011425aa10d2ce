"""Evaluation by people: accounts, rounds, queues, drafts, votes, verdicts. No HTTP."""

# SQLAlchemy and argon2 take a while to import, so they wait until one of these is wanted.
from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
