"""A language-model service of our own on loopback: OpenAI's chat completions, with faults on demand."""

from .answers import Answer, Call, Fault, calls, says
from .server import Served, serving

__all__ = ["Answer", "Call", "Fault", "Served", "calls", "says", "serving"]
