"""Advice for a firm's own list of jobs: AI, AI with people, people, or not enough data."""

from .advise import Advice, AdviceConfig, Advised, advise
from .evidence import Evidence, evidence_of
from .listed import Listed, read_list

__all__ = ["Advice", "AdviceConfig", "Advised", "Evidence", "Listed", "advise", "evidence_of", "read_list"]
